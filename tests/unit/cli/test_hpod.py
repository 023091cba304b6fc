"""`./hpod`, as `make setup` writes it, works in a fresh shell and from any folder; the documentation's commands exist."""

import re
import shlex
import subprocess
from itertools import takewhile
from pathlib import Path

import pytest

from tests import cluster_files
from tests.unit.cli.commands import HELP, OPTIONS

PROJECT = Path(__file__).parents[3]
PAGES = [PROJECT / "README.md", PROJECT / "examples/team-repository/README.md", *sorted((PROJECT / "docs").rglob("*.md"))]
TOP = {"--help", "-h", "--version", "--install-completion", "--show-completion"}
OFFLINE = ("validate", "cost", "--help", "--version")


@pytest.fixture(scope="module")
def hpod(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The command that the Makefile writes for this checkout."""
    folder = tmp_path_factory.mktemp("hpod")
    make = ["make", "-s", "-f", str(PROJECT / "Makefile"), "-o", ".venv/ready", "-o", "Makefile", f"CURDIR={PROJECT}", "hpod"]
    subprocess.run(make, cwd=folder, check=True)
    return folder / "hpod"


def in_fresh_shell(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the command without any of this shell's variables."""
    return subprocess.run(["env", "-i", "sh", "-c", command], cwd=folder, capture_output=True, text=True, check=False, timeout=60)


def commands(page: Path) -> list[list[str]]:
    """Return the words of every `./hpod ...` in the page."""
    code = re.findall(r"(?:`|^(?:    |\$ )?)(\./hpod [^`\n]*)", page.read_text(), re.MULTILINE)
    return [shlex.split(each.replace("\\|", " "), comments=True) for each in code]


def test_it_works_from_any_folder_with_the_checkouts_cluster_files(hpod: Path, tmp_path: Path) -> None:
    ran = in_fresh_shell(f"{hpod} validate --clusters {cluster_files.CLUSTERS} reference", tmp_path)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "0 errors and 0 warnings in 1 file\n", "")


def test_modules_in_the_working_folder_are_not_imported(hpod: Path, tmp_path: Path) -> None:
    for name in ("cli", "config", "typer"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit(9)")
    assert in_fresh_shell(f"{hpod} --version", tmp_path).returncode == 0


def test_ctrl_c_while_python_starts_prints_no_traceback(hpod: Path, tmp_path: Path) -> None:
    ran = in_fresh_shell(f"timeout --signal INT 0.05 {hpod} validate reference", tmp_path)
    assert "Traceback" not in ran.stderr


def test_the_commands_of_a_page_are_found() -> None:
    page = next(page for page in PAGES if page.name == "commands.md")
    assert {words[1] for words in commands(page) if len(words) > 1} >= HELP.keys()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(PROJECT)))
def test_every_command_and_option_in_the_documentation_exists(page: Path) -> None:
    for words in commands(page):
        options = {
            word.partition("=")[0].strip("[]")
            for word in takewhile(lambda word: word != "--", words[1:])
            if word.startswith(("-", "[-"))
        }
        if len(words) > 1 and not words[1].startswith("-") and words[1] != "COMMAND":
            assert words[1] in HELP, words
            assert options <= OPTIONS[words[1]] | {"-h", "--help"}, words
        else:
            assert options <= TOP, words


def test_the_commands_of_the_readme_that_need_no_account_run_in_a_fresh_shell(hpod: Path) -> None:
    for words in commands(PROJECT / "README.md"):
        if len(words) > 1 and words[1] in OFFLINE and "--live" not in words and not set("[]|") & set(" ".join(words)):
            ran = in_fresh_shell(shlex.join([str(hpod), *words[1:]]), PROJECT)
            assert ran.returncode == 0, (words, ran.stderr)
