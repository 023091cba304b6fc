"""The only place that runs this machine's programs."""

import os
import subprocess
from collections.abc import MutableMapping

from local_aws.builds.errors import HostError

_TAIL = 2000
_OF_ROOT = ("/usr/local/sbin", "/usr/sbin", "/sbin")


def find_programs_of_root(environment: MutableMapping[str, str] = os.environ) -> None:
    """Add the folders of root's programs to PATH: `su` without a dash keeps the user's PATH, which on Debian lacks them."""
    folders = environment.get("PATH", os.defpath).split(os.pathsep)
    environment["PATH"] = os.pathsep.join([*folders, *(folder for folder in _OF_ROOT if folder not in folders)])


def run(*argv: str, stdin: str | None = None) -> str:
    """Run a program and return its output; raise HostError with the output if it fails."""
    done = _run(argv, stdin)
    if done.returncode:
        printed = done.stdout.strip()[-_TAIL:]
        raise HostError(f"{' '.join(argv)} ended with status {done.returncode}: {printed}")
    return done.stdout


def succeeds(*argv: str) -> bool:
    """Run a program that may fail, and return whether it succeeded."""
    return _run(argv, None).returncode == 0


def _run(argv: tuple[str, ...], stdin: str | None) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            argv,
            input=stdin,
            stdin=subprocess.DEVNULL if stdin is None else None,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            check=False,
        )
    except FileNotFoundError as error:
        raise HostError(f"no program '{argv[0]}' on this machine; install it with `python -m local_aws.nodes setup`") from error
