"""docs/operate/jobs.md says what hyperpod-precheck does, and shows what it prints."""

import re
from pathlib import Path

import pytest

from hyperpod_node.precheck import checks, command_line, script_rules
from hyperpod_node.precheck.sbatch_script import SbatchScript
from hyperpod_node.precheck.slurm_cluster import SlurmCluster

from .conftest import captured

PAGE = (Path(__file__).parents[4] / "docs" / "operate" / "jobs.md").read_text()


@pytest.mark.parametrize("name", checks.CHECKS)
def test_every_check_is_described(name: str) -> None:
    assert f"\n| {name} | " in PAGE


def test_every_option_is_described(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        command_line.read(["--help"])
    options = set(re.findall(r"--[a-z]+", capsys.readouterr().out)) - {"--help"}
    assert {option for option in options if option not in PAGE} == set()


def test_the_problems_on_the_page_are_those_that_the_command_prints() -> None:
    shown = re.search(r"\$ cat train\.sbatch\n(.*?)\$ hyperpod-precheck --script train\.sbatch\n(.*?)\n```", PAGE, re.DOTALL)
    assert shown
    cluster = SlurmCluster({"dev": 4, "gpu": 4}, False, frozenset({"none", "pmix"}), captured("srun-help.txt"))
    found = script_rules.check(SbatchScript(shown[1]), cluster)
    assert command_line.as_text(Path("train.sbatch"), found) == shown[2]
