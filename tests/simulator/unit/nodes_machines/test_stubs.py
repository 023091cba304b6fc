"""The stubs of programs that a simulated node cannot run."""

import subprocess
from pathlib import Path

import pytest

from local_aws.nodes.image import store

KERNEL = store.RECIPE / "overlay" / "stubs" / "kernel"


@pytest.mark.parametrize(
    ("command", "output", "status"),
    [
        ("modinfo lustre", "version:        2.15.6\n", 0),
        ("modinfo -F version lustre", "2.15.6\n", 0),
        ("modinfo kefalnd", "version:        2.15.6\n", 0),
        ("modinfo -F version nvidia", "modinfo: ERROR: Module nvidia not found.\n", 1),
        ("modprobe -v lnet", "modprobe: simulated: -v lnet\n", 0),
    ],
)
def test_a_module_that_is_no_module_of_lustre_is_not_found(tmp_path: Path, command: str, output: str, status: int) -> None:
    program, *arguments = command.split()
    (tmp_path / program).symlink_to(KERNEL)
    done = subprocess.run(
        ["bash", tmp_path / program, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    assert (done.stdout, done.returncode) == (output, status)
