"""A wrong command line is refused with exit code 2 and a plain reason; help, version and completion are quick."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import typer

from cli import __version__
from cli.__main__ import main
from cli.command_line import SECTIONS
from tests.cluster_files import REFERENCE
from tests.unit.cli.commands import COMMANDS, HELP
from tests.unit.cli.import_cluster.originals import DATA

PROJECT = Path(__file__).parents[3]
DEFAULT = {"status", "events", "nodes", "drift", "retained", "preflight", "cost", "kubeconfig", "logs", "ssh", "outputs"}
"""Commands without an effect at AWS and on nodes; a name may only be omitted here, so that no other cluster is changed."""


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("validat reference", "Error: No such command 'validat'. Did you mean 'validate'?"),
        ("apply prod", "Error: No such command 'apply'. Did you mean 'rerun-scripts'?"),
        ("check prod workers", "Error: No such command 'check'. Did you mean 'health-check'?"),
        ("--clusters x validate", "Error: No such option: --clusters"),
        ("validate --cluster x", "Error: No such option: --cluster (Possible options: --clusters)"),
        ("cost one two", "Error: Got unexpected extra argument(s) (two)"),
        ("adopt", "Error: Missing argument 'CLUSTER|FILE'."),
    ],
)
def test_a_wrong_command_line_is_refused_with_a_reason(words: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words.split()) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.startswith("Usage: hpod ")


@pytest.fixture
def chosen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], Any]:
    """Return the cluster and the next argument that a command line chooses in a folder with these files."""

    def choose(files: str, line: str) -> Any:
        for name in files.split():
            (tmp_path / f"{name}.yaml").touch()
        command, *words = line.split()
        monkeypatch.chdir(tmp_path)
        taken = COMMANDS[command].make_context(command, [*words, "--clusters", "."]).params
        return taken["cluster"], taken.get("node", taken.get("nodes", taken.get("name")))

    return choose


@pytest.mark.parametrize(
    ("line", "cluster", "other"),
    [
        *(
            (command, "prod", None)
            for command in ["status", "events", "nodes", "drift", "retained", "preflight", "cost", "kubeconfig"]
        ),
        *((command, "prod", None) for command in ["logs", "ssh", "outputs"]),
        ("logs workers-1", "prod", "workers-1"),
        ("ssh login", "prod", "login"),
        ("outputs VpcId", "prod", "VpcId"),
        ("ssh prod login", "prod", "login"),
        ("ssh prdo", "prdo", None),  # a misspelled cluster is not a node
        ("status other", "other", None),
        ("ssh other/dev.yaml", "other/dev.yaml", None),
    ],
)
def test_the_only_cluster_file_need_not_be_named(
    chosen: Callable[[str, str], Any], line: str, cluster: str, other: str | None
) -> None:
    assert chosen("prod", line) == (cluster, other)


@pytest.mark.parametrize(("files", "fix"), [("dev prod", "pass one of dev or prod"), ("", "write one with `./hpod init NAME`")])
def test_without_exactly_one_file_a_cluster_must_be_named(chosen: Callable[[str, str], Any], files: str, fix: str) -> None:
    with pytest.raises(typer.BadParameter, match=f"cluster files; {fix}"):
        chosen(files, "status")


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_only_a_command_that_changes_something_must_name_its_cluster(command: str) -> None:
    required = [each.required for each in COMMANDS[command].params if each.name == "cluster"]
    assert required in ([], [command not in DEFAULT | {"snapshot"}]), "add a command to DEFAULT only if it changes nothing"


def test_a_node_is_never_taken_for_the_cluster_of_a_command_that_changes_something(chosen: Callable[[str, str], Any]) -> None:
    assert chosen("prod", "replace other workers-1") == ("other", ["workers-1"])


def test_without_a_command_the_help_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    assert "continue-rollback" in "".join(capsys.readouterr())


def test_help_lists_every_command_in_80_columns_without_cutting_any_off(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    for name, text in HELP.items():
        assert any(line.split(maxsplit=1) == [name, text] for line in lines), name
    assert any("Exit codes: 0 " in line for line in lines)


def test_help_lists_every_command_once_in_the_section_of_its_module(capsys: pytest.CaptureFixture[str]) -> None:
    assert {command.callback.__module__ for command in COMMANDS.values()} == SECTIONS.keys()
    assert main(["--help"]) == 0
    shown = capsys.readouterr().out
    sections = {title: shown.partition(f"\n{title}:\n")[2].partition("\n\n")[0].splitlines() for title in SECTIONS.values()}
    for name, command in COMMANDS.items():
        own = SECTIONS[command.callback.__module__]
        assert [title for title, lines in sections.items() if any(line.split()[0] == name for line in lines)] == [own]


@pytest.mark.parametrize("command", ["validate", "import", "drain", "run", "scale"])
def test_help_shows_no_types_of_python(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, "--help"]) == 0
    arguments = capsys.readouterr().out.partition("\nArguments:\n")[2].partition("\n\n")[0]
    assert arguments
    assert "<" not in arguments


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_options_that_commands_share_are_last_and_in_one_order(command: str) -> None:
    names = [param.name for param in COMMANDS[command].params if param.param_type_name == "option" and param.name != "help"]
    shared = [name for name in ("yes", "clusters", "profile", "region", "output") if name in names]
    assert names[-len(shared) :] == shared


def test_the_version_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"hyperpod-cdk {__version__}\n"


def test_help_starts_in_half_a_second_without_reading_cluster_files_or_aws() -> None:
    code = "import sys; from cli.__main__ import main; main(['--help']); print(*sys.modules, file=sys.stderr)"
    times = []
    for _ in range(5):
        before = os.times()
        ran = subprocess.run([sys.executable, "-c", code], cwd=PROJECT, capture_output=True, text=True, check=True)
        after = os.times()
        times.append(after.children_user + after.children_system - before.children_user - before.children_system)
    assert {"boto3", "yaml", "pydantic", "rich"}.isdisjoint(ran.stderr.split())
    assert min(times) < 0.5


LOADED = """
import sys
from cli.__main__ import main
status = main(sys.argv[1:])
print(*{name.partition(".")[0] for name in sys.modules}, file=sys.stderr)
sys.exit(status)
"""
PAIR = [str(DATA / "login-node" / name) for name in ("create_cluster.json", "provisioning_parameters.json")]


@pytest.mark.parametrize(
    "words", [["validate", str(REFERENCE)], ["cost", str(REFERENCE)], ["import", *PAIR]], ids=lambda words: words[0]
)
def test_a_command_without_questions_to_aws_loads_neither_its_sdk_nor_the_cdk(words: list[str]) -> None:
    command = [sys.executable, "-c", LOADED, *words]
    ran = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=True)
    loaded = set(ran.stderr.splitlines()[-1].split())
    assert "cli" in loaded
    assert {"boto3", "botocore", "aws_cdk", "jsii", "constructs", "moto", "cluster_resource"} & loaded == set()


def test_names_of_clusters_are_completed(checkout: Path) -> None:
    line = {"_HPOD_COMPLETE": "complete_bash", "COMP_WORDS": "hpod status ref", "COMP_CWORD": "2", "PYTHONPATH": str(PROJECT)}
    command = [sys.executable, "-c", "import sys; from cli.__main__ import main; sys.exit(main())"]
    ran = subprocess.run(command, env={**os.environ, **line}, cwd=checkout, capture_output=True, text=True, check=False)
    assert ran.stdout.split() == ["reference"]


def test_ctrl_c_ends_a_command_quietly(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def interrupted(**_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("cli.validate.validate", interrupted)
    assert main(["validate"]) == 130
    assert capsys.readouterr() == ("", "")
