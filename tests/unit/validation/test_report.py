"""The report in each format."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from config.errors import ABSENT, Level, Place, Problem
from validation.catalog import catalog
from validation.checked_file import CheckedFile
from validation.report import FORMATS, counted, counts, problems

ERROR = Problem(("a", 0, "b c"), "x,y", "100% wrong: no", "mend it", rule="zone-region", place=Place(3, 5))
WARNING = Problem(("tags",), ABSENT, "is odd", "think again", rule="reserved-tag-prefix", level=Level.WARNING, place=Place(7, 1))
SUPPRESSED = Problem(
    ("wait",),
    1,
    "is odd, too",
    "think again",
    rule="reserved-tag-prefix",
    level=Level.WARNING,
    place=Place(8, 1),
    suppressed="we thought",
)
NOTE = Problem((), ABSENT, "is empty", "fill it", rule="file.empty", level=Level.INFO)
FILES = (
    CheckedFile("clusters/one, two.yaml", None, (ERROR, WARNING, SUPPRESSED)),
    CheckedFile("/tmp/ä b.yaml", None, (NOTE,)),
    CheckedFile("clusters/good.yaml", None, ()),
)


def said(form: str) -> str:
    return FORMATS[form](FILES)


def test_the_count_omits_suppressed_warnings() -> None:
    assert counted(FILES) == "1 error and 1 warning in 3 files"


def test_text_has_a_line_for_the_problem_and_one_for_the_reason() -> None:
    assert said("text").splitlines() == [
        'clusters/one, two.yaml:3:5: error: a[0]["b c"]: "x,y": 100% wrong: no; mend it [zone-region]',
        f"    {catalog()['zone-region'].why}",
        "clusters/one, two.yaml:7:1: warning: tags: is odd; think again [reserved-tag-prefix]",
        f"    {catalog()['reserved-tag-prefix'].why}",
        "/tmp/ä b.yaml: info: is empty; fill it [file.empty]",
        f"    {catalog()['file.empty'].why}",
    ]


def test_programs_get_all_that_is_known() -> None:
    assert counts(FILES) == {"error": 1, "warning": 1, "info": 1}
    first, _, suppressed, note = problems(FILES)
    assert first == {
        "file": "clusters/one, two.yaml",
        "line": 3,
        "column": 5,
        "path": 'a[0]["b c"]',
        "value": '"x,y"',
        "level": "error",
        "rule": "zone-region",
        "message": "100% wrong: no",
        "fix": "mend it",
        "why": catalog()["zone-region"].why,
        "suppressed": None,
    }
    assert suppressed["suppressed"] == "we thought"
    assert (note["line"], note["column"], note["value"], note["level"]) == (None, None, None, "info")


# What a runner takes: https://github.com/actions/toolkit/blob/main/packages/core/src/command.ts
COMMAND = re.compile(r"::(error|warning|notice) ((?:\w+=[^:,\r\n]*,?)+)::([^\r\n]*)")


def decoded(text: str) -> str:
    for code, character in (("%3A", ":"), ("%2C", ","), ("%0D", "\r"), ("%0A", "\n"), ("%25", "%")):
        text = text.replace(code, character)
    return text


def test_github_has_a_command_for_each_that_its_runner_reads_back() -> None:
    found = [COMMAND.fullmatch(line) for line in said("github").splitlines()]
    parts = [match.groups() for match in found if match]
    assert len(parts) == len(found) == 3
    assert [kind for kind, _, _ in parts] == ["error", "warning", "notice"]
    properties = [{name: decoded(value) for name, value in (each.split("=", 1) for each in part[1].split(","))} for part in parts]
    assert properties == [
        {"file": "clusters/one, two.yaml", "line": "3", "col": "5", "title": "zone-region"},
        {"file": "clusters/one, two.yaml", "line": "7", "col": "1", "title": "reserved-tag-prefix"},
        {"file": "/tmp/ä b.yaml", "title": "file.empty"},
    ]
    assert decoded(parts[0][2]) == f'a[0]["b c"]: "x,y": 100% wrong: no; mend it\n{catalog()["zone-region"].why}'


@pytest.fixture
def run() -> Any:
    content = json.loads(said("sarif"))
    assert content["version"] == "2.1.0"
    [found] = content["runs"]
    return found


def test_each_sarif_result_has_the_required_members(run: Any) -> None:
    rules = run["tool"]["driver"]["rules"]
    assert run["tool"]["driver"]["name"]
    assert len(run["results"]) == 4
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["level"] in ("none", "note", "warning", "error")
        assert result["message"]["text"]
        [location] = result["locations"]
        assert re.fullmatch(r"[!-~]+", location["physicalLocation"]["artifactLocation"]["uri"])
    assert len({rule["id"] for rule in rules}) == len(rules)


def test_sarif_names_the_file_and_the_place(run: Any) -> None:
    first, *_, last = (result["locations"][0]["physicalLocation"] for result in run["results"])
    assert first["artifactLocation"]["uri"] == "clusters/one%2C%20two.yaml"
    assert first["region"] == {"startLine": 3, "startColumn": 5}
    assert last == {"artifactLocation": {"uri": "file:///tmp/%C3%A4%20b.yaml"}}
    assert [result["level"] for result in run["results"]] == ["error", "warning", "warning", "note"]


def test_suppressed_warnings_are_suppressed_in_sarif(run: Any) -> None:
    suppressed = [result.get("suppressions") for result in run["results"]]
    assert suppressed == [None, None, [{"kind": "inSource", "justification": "we thought"}], None]


@pytest.mark.parametrize("form", ["text", "github"])
def test_of_good_files_there_is_nothing_to_say(form: str) -> None:
    assert FORMATS[form]([CheckedFile(str(Path("good.yaml")), None, ())]) == ""
