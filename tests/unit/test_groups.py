"""Groups of tests, which stay on one worker of pytest-xdist, name existing files."""

from pathlib import Path

from tests.groups import ALONE, APART, LONGEST, TOGETHER

ROOT = Path(__file__).parents[2]


def test_groups_name_existing_files() -> None:
    files = {group for group in LONGEST if group not in TOGETHER.values()}
    assert [path for path in (*TOGETHER, *ALONE, APART, *files) if not (ROOT / path.partition("::")[0]).exists()] == []
