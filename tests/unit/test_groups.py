"""pytest-xdist's workers get whole groups of tests."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.groups import ALONE, APART, LONGEST, TOGETHER, group_of

ROOT = Path(__file__).parents[2]
FILES = ("tests/unit/hyperpod_node/test_node.py", "tests/unit/hyperpod_node/test_retry.py")


@pytest.mark.parametrize(
    ("nodeid", "group"),
    [
        ("tests/synth/test_nag.py::test_one", "synth"),
        ("tests/contract/test_tags.py::test_one[a::b]", "synth"),
        ("tests/snapshots/test_snapshot_command.py::test_one", "tests/snapshots/test_snapshot_command.py"),
        ("tests/local/fsx/test_associations.py::test_one", "tests/local/fsx/test_associations.py"),
        ("tests/local/walk/test_walk.py::test_one", "tests/local/walk/test_walk.py::test_one"),
    ],
)
def test_a_test_belongs_to_its_folder_its_file_or_itself(nodeid: str, group: str) -> None:
    assert group_of(nodeid) == group


def test_groups_name_existing_files() -> None:
    files = {group for group in LONGEST if group not in TOGETHER.values()}
    assert [path for path in (*TOGETHER, *ALONE, APART, *files) if not (ROOT / path.partition("::")[0]).exists()] == []


def test_all_tests_of_a_file_run_on_one_worker() -> None:
    command = (sys.executable, "-m", "pytest", "-v", "-p", "no:cacheprovider", "-n", "2", *FILES)
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, timeout=120)
    ran = re.findall(r"^\[(gw\d)\] .* PASSED (\S+?)::", done.stdout, re.MULTILINE)
    assert {file for _, file in ran} == set(FILES)
    assert len(set(ran)) == len(FILES), ran
