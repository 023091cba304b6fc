"""Other users of this machine, and web pages in its browsers, get nothing from an embedded AWS that runs."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from local_aws.environment import PROJECT
from tests.simulator.machinery import as_nobody
from tests.simulator.machinery.test_process import Cli, cli_of, endpoint_of

BUCKET = "assets-bucket"
MAKE_BUCKET = f"""import boto3
boto3.client("s3").create_bucket(Bucket="{BUCKET}", CreateBucketConfiguration={{"LocationConstraint": "us-west-2"}})"""
LIST = f"""import boto3
print([o["Key"] for o in boto3.client("s3").list_objects_v2(Bucket="{BUCKET}").get("Contents", [])])"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that every user can reach, as a checkout in /srv."""
    folder = tmp_path_factory.mktemp("open")
    for parent in (folder, folder.parent, folder.parent.parent):
        parent.chmod(0o755)
    return folder


@pytest.fixture(scope="module")
def up(folder: Path) -> Iterator[Cli]:
    """The command line of an embedded AWS that is up and has a bucket."""
    run = cli_of(folder)
    started = run("up")
    assert started.returncode == 0, started.stderr
    made = run("run", "--", "python", "-c", MAKE_BUCKET)
    assert made.returncode == 0, made.stderr
    yield run
    run("down")


def test_a_user_without_rights_can_do_nothing_with_it(up: Cli, folder: Path) -> None:
    endpoint, state = endpoint_of(up("status").stdout), folder / "home" / "state.json"
    command = [sys.executable, "-m", as_nobody.__name__, endpoint, str(state), BUCKET]
    ran = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, timeout=60, check=False)
    assert ran.returncode == 0, ran.stderr
    shown = json.loads(ran.stdout)
    assert shown["uid"] == as_nobody.NOBODY
    assert {name: outcome for name, outcome in shown["attempts"].items() if not outcome.startswith("refused")} == {}
    assert up("run", "--", "python", "-c", LIST).stdout == "[]\n", "its owner still can, and nothing was planted or emptied"


def test_only_the_owner_can_read_its_files(up: Cli, folder: Path) -> None:
    assert up("status").returncode == 0
    home = folder / "home"
    assert {path.name: oct(path.stat().st_mode & 0o777) for path in (home, home / "state.json", home / "server.log")} == {
        "home": "0o700",
        "state.json": "0o600",
        "server.log": "0o600",
    }
