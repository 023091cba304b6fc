"""The committed templates are up to date, so that pull requests show what changes."""

import difflib
from pathlib import Path

import pytest

from cli.snapshot.readable import ASSET_HASH, BUNDLE_HASH, REQUEST_HASH, readable
from tests.snapshots.files import FOLDER, REWRITE, committed, expected
from tests.synth.synthesized import Synthesized


@pytest.fixture(scope="module")
def current(shipped: Synthesized) -> dict[Path, str]:
    """What the app writes."""
    return expected(shipped)


@pytest.mark.parametrize("file", sorted(committed()), ids=lambda file: str(file.relative_to(FOLDER)))
def test_the_committed_template_is_up_to_date(current: dict[Path, str], file: Path) -> None:
    old, new = file.read_text(), current[file]
    if old != new:
        lines = difflib.unified_diff(old.splitlines(), new.splitlines(), "committed", "synthesized", lineterm="")
        pytest.fail(f"{file.relative_to(FOLDER)} is stale; `{REWRITE}` rewrites it\n" + "\n".join(lines), pytrace=False)


def test_every_stack_of_the_examples_has_a_committed_template(current: dict[Path, str]) -> None:
    assert committed() == current.keys()


@pytest.mark.parametrize("cluster", ["reference", "resilient-p5"])
def test_an_edit_of_a_packaged_file_does_not_show(shipped: Synthesized, cluster: str) -> None:
    text = shipped[cluster, "Cluster"].text
    edited = BUNDLE_HASH.sub(f"lifecycle/{'f' * 16}/", ASSET_HASH.sub("f" * 64, text))
    edited = REQUEST_HASH.sub(f'\\1"{"f" * 16}"', edited)  # hash of the request, which contains the scripts' prefix
    assert edited != text
    assert readable(edited) == readable(text)


def test_everything_else_shows(shipped: Synthesized) -> None:
    for template in shipped.templates.values():
        snapshot = readable(template.text)
        for name in (*template.resources, *template.outputs):
            assert f"\n  {name}:\n" in snapshot


def test_functions_and_definitions_are_written_in_readable_form(shipped: Synthesized) -> None:
    snapshot = readable(shipped["reference", "Cluster"].text)
    assert "ExecutionRole: !GetAtt NodeRole" in snapshot
    assert 'DefinitionString: !Sub |-\n        {\n          "StartAt": "Step",' in snapshot
    assert "Fn::" not in snapshot
