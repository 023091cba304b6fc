"""Tools in virtual environments of their own, each made once from the package index."""

import fcntl
import subprocess
import venv
from pathlib import Path

from local_aws.environment import PROJECT


def programs_of(tool: str, version: str, *requirements: str) -> Path:
    """Return the folder of the tool's programs; ``requirements`` are further arguments for pip."""
    folder = PROJECT / ".venv" / "tools" / f"{tool}-{version}"
    folder.parent.mkdir(exist_ok=True)
    with (folder.parent / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "ready").exists():
            venv.create(folder, with_pip=True, clear=True)
            install = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
            subprocess.run([*install, f"{tool}=={version}", *requirements], check=True)
            (folder / "ready").touch()
    return folder / "bin"
