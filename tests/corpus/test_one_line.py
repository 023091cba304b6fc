"""One changed line of a valid file causes at most one problem."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.corpus.case import BASES
from validation.checked_file import check_source

FILES = ("small", "existing")
# Without this line, the list below continues the text above, and both are wrong.
TWO = {"line 10, 'node_subnet_ids:', lost"}
FIELD = re.compile(r"^(\s*(?:- )?)(\w)(\w+):(.*)$")


def one_line_changed(lines: list[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield a description of each change, and the changed lines."""
    for number, line in enumerate(lines):
        match = FIELD.match(line)
        changes: dict[str, list[str]] = {"lost": []}
        if match:
            begin, first, rest, value = match.groups()
            changes |= {"without a value": [f"{begin}{first}{rest}:"], "of another kind": [f"{begin}{first}{rest}: [x]"]}
            changes |= {"without a letter": [f"{begin}{rest}:{value}"], "unknown": [f"{begin}zzz:{value}"]}
        for what, changed in changes.items():
            yield f"line {number + 1}, {line.strip()!r}, {what}", [*lines[:number], *changed, *lines[number + 1 :]]


@pytest.mark.parametrize("file", FILES)
def test_one_line_changed_is_one_problem_at_most(file: str) -> None:
    lines = (BASES / f"{file}.yaml").read_text(encoding="utf-8").splitlines()
    found = {
        what: check_source("\n".join(changed).encode(), "draft", Path()).problems for what, changed in one_line_changed(lines)
    }
    assert len(found) > 100
    assert {what: list(map(str, problems)) for what, problems in found.items() if len(problems) > 1 and what not in TWO} == {}
