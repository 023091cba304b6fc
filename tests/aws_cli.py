"""The AWS CLI, in a virtual environment of its own that is made once from the package index: it needs another botocore."""

import fcntl
import subprocess
import venv
from pathlib import Path

from local_aws.environment import PROJECT

VERSION = "1.46.3"


def aws_cli() -> Path:
    """The folder of the program."""
    folder = PROJECT / ".venv" / "tools" / f"awscli-{VERSION}"
    folder.parent.mkdir(exist_ok=True)
    with (folder.parent / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "ready").exists():
            venv.create(folder, with_pip=True, clear=True)
            install = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
            subprocess.run([*install, f"awscli=={VERSION}"], check=True)
            (folder / "ready").touch()
    return folder / "bin"
