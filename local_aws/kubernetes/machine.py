"""What this machine lacks to build or run a control plane."""

import shutil
import sys

_FOR_RUNNING = {"setpriv": "util-linux"}  # program -> its Debian package
_FOR_BUILDING = {**_FOR_RUNNING, "apt-get": "apt", "dpkg-deb": "dpkg", "gpgv": "gpgv", "tar": "tar", "gzip": "gzip"}


def missing_for_running() -> list[str]:
    """Return why no control plane can run here, apart from its programs, each reason with its fix."""
    return _missing(_FOR_RUNNING)


def missing_for_building() -> list[str]:
    """Return why the programs cannot be built here, each reason with its fix."""
    return _missing(_FOR_BUILDING)


def _missing(programs: dict[str, str]) -> list[str]:
    if sys.platform != "linux":
        return [f"a control plane needs Linux, this is {sys.platform}; use a virtual machine with Debian 12 or 13"]
    return [f"no program {name}; install package {package}" for name, package in programs.items() if not shutil.which(name)]
