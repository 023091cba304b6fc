"""Without a terminal, the text and the help of every command fit into 80 columns, also with long names and reasons."""

import re
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cli.__main__ import main
from cli.render import fitted, line_printer, render
from cli.result import Block, Result, Table, Verbatim
from tests.unit.cli.commands import HELP
from tests.unit.cli.node_actions import samples
from tests.unit.cli.sample_results import SAMPLES, SHOWN

assert samples  # it registers its samples

WIDTH = 80
REASON = "the kernel driver did not come back from a reset of the device, so that slurmd reports one generic resource less"
LONG = {
    "draft-1": "language-model-pretraining-platform-in-us-west-2-275c2990920b16",
    "workers": "accelerated-workers-with-eight-gpus-each-in-the-placement-group",
    "head": "controller-machines-of-the-shared-cluster-of-the-research-group",
    "not connected": f"not connected: {REASON}",
    "no space": f"no space: {REASON}",
    "FaultyInstance.": f"FaultyInstance: {REASON}.",
    "gres/gpu count": f"gres/gpu count of {REASON}: count",
    "too few": f"too few: {REASON}",
    "research": "research-team-of-the-language-model-platform",
    "Running": f"Failure: {REASON}",
}
COPIED = re.compile(r" *(?:\S+ +)?(?:`[^`]*`|arn:|https?://|\S*[:/_-])\S*| +(?:\./hpod|cdk|aws) .*")
AS_IT_IS = {"kubeconfig", "validate", "import", "retained", "run", "logs", "delete", "scale"}
"""Commands that print files, logs, programs' output, or a line for each problem, as editors read it."""


def longer(block: Block) -> Block:
    """The block with long names and reasons."""
    if isinstance(block, Table):
        return Table(block.head, [[_longer(str(cell)) for cell in row] for row in block.rows])
    return block if isinstance(block, Verbatim) else _longer(block)


def _longer(text: str) -> str:
    for short, long in LONG.items():
        text = text.replace(short, long)
    return text


def printed(command: str, result: Result, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """The lines that a command prints into a pipe, while it runs and at its end."""
    for block in filter(_is_laid_out, SHOWN):
        line_printer("text")(longer(block))
    text = [longer(block) for block in result.text if _is_laid_out(block)]
    render(command, Result(result.data, text, failure=str(longer(result.failure))), "text")
    found = capsys.readouterr()
    return [*found.out.splitlines(), *found.err.splitlines()]


def _is_laid_out(block: Block) -> bool:
    return not isinstance(block, Verbatim)


@pytest.mark.parametrize("command", HELP)
def test_the_text_of_a_command_fits(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", str(WIDTH))
    kept: list[Block] = []
    SHOWN.clear()
    for result in SAMPLES[command](tmp_path, monkeypatch):
        lines = printed(command, result, capsys)
        assert [line for line in lines if len(line) > WIDTH and not COPIED.fullmatch(line)] == []
        kept += [block for block in (*SHOWN, *result.text) if isinstance(block, Verbatim)]
        SHOWN.clear()
    assert command in AS_IT_IS or not kept


def test_a_failure_fits_with_its_command_in_one_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("COLUMNS", str(WIDTH))
    command = f"`./hpod replace prod {LONG['workers']}-1`"
    render("health-check", Result(None, failure=f"1 of 2 nodes faulty: {REASON}; run {command}"), "text")
    lines = capsys.readouterr().err.splitlines()
    assert [line for line in lines if len(line) > WIDTH] == [f"  {command}"]
    assert " ".join(line.strip() for line in lines) == f"1 of 2 nodes faulty: {REASON}; run {command}"


@pytest.mark.parametrize("command", HELP)
def test_the_help_of_a_command_fits(command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("COLUMNS", str(WIDTH))
    assert main([command, "--help"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if len(line) > WIDTH and not line.startswith("  ./hpod ")] == []


def test_a_cell_that_does_not_fit_has_a_line_of_its_own_and_the_table_stays_a_table() -> None:
    group = LONG["workers"]
    table = Table(("NODE", "GROUP", "REASON"), [("i-1", group, f"down: {REASON}"), ("i-2", "workers", "")])
    assert fitted(table, WIDTH) == [
        "NODE  GROUP    REASON",
        "i-1            down: the kernel driver did not come back from a reset of the",
        "               device, so that slurmd reports one generic resource less",
        f"  GROUP: {group}",
        "i-2   workers",
    ]


def test_a_joining_node_does_not_widen_the_table() -> None:
    rows = [(f"i-0123456789abcdef{n}", "workers", f"workers-{n}", "Running", "idle", "Schedulable") for n in range(2)]
    rows.append(("i-0123456789abcdef9", "workers", "-", "Running", "unknown+not_responding", "Schedulable"))
    lines = fitted(Table(("NODE", "GROUP", "NAME", "STATUS", "SLURM", "HEALTH"), rows), WIDTH)
    assert lines[0] == "NODE                 GROUP    NAME       STATUS   SLURM  HEALTH"
    assert lines[3:] == [
        "i-0123456789abcdef9  workers  -          Running         Schedulable",
        "  SLURM: unknown+not_responding",
    ]


def test_a_column_of_text_becomes_narrower_before_names_do() -> None:
    table = Table(("NODE", "REASON", "STATUS"), [("i-0123456789abcdef0", REASON, "Running")])
    assert fitted(table, WIDTH) == [
        "NODE                 REASON                                              STATUS",
        "i-0123456789abcdef0  the kernel driver did not come back from a reset    Running",
        "                     of the device, so that slurmd reports one generic",
        "                     resource less",
    ]


def test_commands_and_names_stay_whole_and_other_lines_break_between_words() -> None:
    command = f"`./hpod resume prod {LONG['workers']}-1 {LONG['workers']}-2`"
    assert fitted(f"to take jobs again: {command}, after you have read the reasons", WIDTH) == [
        "to take jobs again:",
        f"  {command},",
        "  after you have read the reasons",
    ]
    copied = f"  aws cloudformation continue-update-rollback --stack-name {LONG['workers']} --region us-west-2"
    assert fitted(copied, WIDTH) == [copied]
    assert fitted(Verbatim(REASON), WIDTH) == [REASON]


words = st.text(st.characters(codec="ascii", categories=["L", "N", "P"], exclude_characters="`"), min_size=1, max_size=30)
texts = st.lists(words, max_size=30).map(" ".join)


@given(st.lists(st.tuples(texts, texts, texts), max_size=4), st.integers(40, 120))
@example([("0000 00000000000000", "0 00000000", ""), ("", "0 0 0 0", "00000000000")], 40)  # another row's long word is moved
def test_no_word_is_lost_and_only_a_long_word_is_wider_than_the_width(rows: list[tuple[str, str, str]], width: int) -> None:
    lines = fitted(Table(("NODE", "GROUP", "REASON"), rows), width)
    cells = " ".join(" ".join(row) for row in rows).split()
    assert Counter(cells) - Counter(" ".join(lines).split()) == Counter()
    assert [line for line in lines if len(line) > width and len(line.split()[-1]) + len("REASON  ") <= width] == []
