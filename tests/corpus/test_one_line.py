"""One line of a good file changed is one problem, whichever line it is: what follows from it is not told."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.corpus.case import BASES
from validation.checked_file import check_source

FILES = ("small", "existing")
# The list below the lost line goes on with the text above it: two lines look wrong, each in its way.
TWO = {"line 10, 'node_subnet_ids:', lost"}
FIELD = re.compile(r"^(\s*(?:- )?)(\w)(\w+):(.*)$")


def one_line_changed(lines: list[str]) -> Iterator[tuple[str, list[str]]]:
    """What was done to which line, and the lines after it."""
    for number, line in enumerate(lines):
        found = FIELD.match(line)
        changes: dict[str, list[str]] = {"lost": []}
        if found:
            begin, first, rest, value = found.groups()
            changes |= {"without a value": [f"{begin}{first}{rest}:"], "of another kind": [f"{begin}{first}{rest}: [x]"]}
            changes |= {"without a letter": [f"{begin}{rest}:{value}"], "unknown": [f"{begin}zzz:{value}"]}
        for what, changed in changes.items():
            yield f"line {number + 1}, {line.strip()!r}, {what}", [*lines[:number], *changed, *lines[number + 1 :]]


@pytest.mark.parametrize("file", FILES)
def test_one_line_changed_is_one_problem_at_most(file: str) -> None:
    lines = (BASES / f"{file}.yaml").read_text(encoding="utf-8").splitlines()
    told = {
        what: check_source("\n".join(changed).encode(), "draft", Path()).problems for what, changed in one_line_changed(lines)
    }
    assert len(told) > 100
    assert {what: list(map(str, problems)) for what, problems in told.items() if len(problems) > 1 and what not in TWO} == {}
