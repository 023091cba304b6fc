"""Every command is documented, with every option."""

import argparse
import re
import shlex
from pathlib import Path

import pytest
import yaml

from local_aws.__main__ import parser as local_aws_parser
from tests.unit.cli.commands import ARGUMENTS, COMMANDS, EXAMPLES, HELP, OPTIONS

PROJECT = Path(__file__).parents[3]
COMMANDS_PAGE = (PROJECT / "docs" / "reference" / "commands.md").read_text()


@pytest.mark.parametrize("command", HELP)
def test_every_operators_command_is_documented_with_what_its_help_says(command: str) -> None:
    takes = " CLUSTER\\|FILE" if ARGUMENTS[command][:1] == ["CLUSTER|FILE"] and command != "validate" else ""
    assert re.search(rf"\| `./hpod {command}{re.escape(takes)}[ `].*\| {re.escape(HELP[command])} \|", COMMANDS_PAGE)


def test_the_page_names_every_command_that_may_omit_the_cluster() -> None:
    sentence = re.search(r"you may omit `CLUSTER\|FILE` in (.+?):", COMMANDS_PAGE, flags=re.DOTALL)
    omit = {
        name for name, command in COMMANDS.items() if any("the only one" in str(getattr(p, "help", "")) for p in command.params)
    }
    assert sentence
    assert set(re.findall("`([a-z-]+)`", sentence[1])) == omit


@pytest.mark.parametrize("command", HELP)
def test_every_operators_command_has_a_section_with_a_link_to_a_page(command: str) -> None:
    text = COMMANDS_PAGE.partition(f"\n### {command}\n")[2].partition("\n#")[0]
    pages = re.findall(r"\]\(([^)#]+\.md)", text)
    assert pages, f"docs/reference/commands.md: no section `### {command}` with a link to a page"
    assert all((PROJECT / "docs" / "reference" / page).exists() for page in pages)


@pytest.mark.parametrize("command", HELP)
def test_every_operators_command_has_examples_in_its_help_that_it_accepts(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "clusters").mkdir()
    (tmp_path / "clusters" / "prod.yaml").touch()
    monkeypatch.chdir(tmp_path)
    assert EXAMPLES[command], "epilog=examples(...) is missing"
    for example in EXAMPLES[command]:
        name, *words = shlex.split(example)
        assert name == command
        COMMANDS[command].make_context(command, words)  # raises a UsageError for an unknown option


def test_alarms_name_commands_that_show_reasons_or_repair_nodes() -> None:
    template = (PROJECT / "tests" / "snapshots" / "starter" / "Monitoring.template.yaml").read_text()
    page = (PROJECT / "docs" / "operate" / "monitoring.md").read_text()
    named = set(re.findall(r"`?\./hpod\s+([a-z-]+)", template + page))
    assert named <= {"status", "events", "health-check", "reboot", "resume", "replace"}
    assert {"status", "events"} <= named


def test_contributing_lists_every_place_of_a_command() -> None:
    [row] = [
        line for line in (PROJECT / "CONTRIBUTING.md").read_text().splitlines() if line.startswith("| an operator command |")
    ]
    places = re.findall(r"`([^`]+)`", row)
    assert {path.name for path in (PROJECT / "cli").glob("*_commands.py")} == {
        Path(place).name for place in places if place.endswith("_commands.py")
    }
    assert {"schema/commands/NAME.schema.json", "tests/unit/cli/sample_results.py", "docs/reference/commands.md"} <= {*places}
    assert [place for place in places if "NAME" not in place and not (PROJECT / place).exists()] == []


@pytest.mark.parametrize("target", re.findall(r"^([a-z-]+):.*##", (PROJECT / "Makefile").read_text(), flags=re.MULTILINE))
def test_every_target_of_make_is_documented(target: str) -> None:
    assert target == "help" or f"`make {target}`" in COMMANDS_PAGE


def test_the_nightly_workflow_runs_every_part_of_make_nightly() -> None:
    [parts] = re.findall(r"^NIGHTLY := (.+)$", (PROJECT / "Makefile").read_text(), flags=re.MULTILINE)
    workflow = yaml.safe_load((PROJECT / ".github" / "workflows" / "nightly.yml").read_text())
    assert workflow["jobs"]["rare-bugs"]["strategy"]["matrix"]["part"] == parts.split()


def section(title: str) -> str:
    """The part of the page below this title."""
    return COMMANDS_PAGE.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def options(top: argparse.ArgumentParser) -> dict[str, set[str]]:
    """The options of each command, as its own help shows them."""
    [commands] = [action for action in top._actions if isinstance(action, argparse._SubParsersAction)]
    found = {name: re.findall(r"^  (--[a-z-]+)", parser.format_help(), re.MULTILINE) for name, parser in commands.choices.items()}
    return {name: set(names) for name, names in found.items()}


LOCAL_AWS = options(local_aws_parser())
assert LOCAL_AWS["up"] == {"--port", "--speed", "--nodes"}


@pytest.mark.parametrize("command", OPTIONS)
def test_every_option_of_an_operators_command_is_documented(command: str) -> None:
    assert OPTIONS[command]
    for option in OPTIONS[command]:
        assert re.search(rf"\| `{option}[ `]", section("./hpod"))


@pytest.mark.parametrize("command", LOCAL_AWS)
def test_every_command_of_the_embedded_aws_is_documented_with_its_options(command: str) -> None:
    [row] = [
        line for line in section("python -m local_aws").splitlines() if re.match(rf"\| `python -m local_aws {command}\b", line)
    ]
    for option in LOCAL_AWS[command]:
        assert re.search(rf"`{option}[ `]", row), row


def test_every_context_that_the_app_reads_is_documented() -> None:
    read = set(re.findall(r'try_get_context\("(\w+)"\)', (PROJECT / "stacks" / "clusters_app.py").read_text()))
    assert read >= {"cluster", "clusters", "nag"}
    for name in read:
        assert f" -c {name}=" in section("cdk")


def test_every_variable_that_make_takes_is_documented() -> None:
    makefile = (PROJECT / "Makefile").read_text()
    variables = {*re.findall(r"^([A-Z]+) \?=", makefile, re.MULTILINE), *re.findall(r"\$\((BENCH)\)", makefile)}
    assert variables >= {"PYTHON", "CLUSTER", "BENCH"}
    for name in variables:
        assert f"(`{name}=" in section("make")
