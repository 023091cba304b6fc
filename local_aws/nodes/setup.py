"""Set-up of this machine for nodes: install missing programs, and build the image."""

import shutil
import subprocess
from collections.abc import Callable

from local_aws.builds import sources
from local_aws.builds.errors import HostError
from local_aws.builds.programs import find_programs_of_root
from local_aws.kubernetes.programs import build as programs
from local_aws.kubernetes.programs.store import NODE, find
from local_aws.nodes import support
from local_aws.nodes.image import build

_FOR_BUILDING = {"gpgv": "gpgv", "mmdebstrap": "mmdebstrap"}
_TAIL_LINES = 20

Report = Callable[[str], None]


def setup(report: Report, *, training: bool, pods: bool = False) -> None:
    """Install and build what is missing; with ``training`` also the layer with PyTorch, with ``pods`` the kubelet's."""
    reasons = support.missing_of_machine()
    if reasons:
        raise HostError("; ".join(reasons))
    find_programs_of_root()
    packages = missing_packages()
    if packages:
        _install(packages, report)
    (build.build_training if training else build.build)(report)
    if pods:
        _build_kubernetes(report)
    left = support.missing()
    if left:
        raise HostError("; ".join(left))


def _build_kubernetes(report: Report) -> None:
    if find(NODE) is None:
        report("the kubelet is built once: 3 to 10 minutes, 150 MB of downloads, 3 GB of disk meanwhile")
    build.build_kubernetes(programs.build(NODE, report), report)


def missing_packages() -> list[str]:
    """Return the Debian packages of missing programs."""
    required = support.PROGRAMS | _FOR_BUILDING
    packages = {package for program, package in required.items() if not shutil.which(program)}
    if not sources.KEYRING.exists():
        packages.add("debian-archive-keyring")
    return sorted(packages)


def _install(packages: list[str], report: Report) -> None:
    named = " ".join(packages)
    if not shutil.which("apt-get"):
        raise HostError(f"no apt-get on this machine to install {named}; use Debian or a distribution based on it")
    report(f"installing on this machine: {named}")
    if not _apt("install", "--simulate", *packages):
        report("  fetching the package lists first")
        _apt_or_fail("update")
    _apt_or_fail("install", *packages)


def _apt_or_fail(*words: str) -> None:
    done = _run(words)
    if done.returncode:
        tail = "\n".join(done.stdout.splitlines()[-_TAIL_LINES:])
        raise HostError(f"apt-get {' '.join(words)} ended with status {done.returncode}:\n{tail}")


def _apt(*words: str) -> bool:
    return _run(words).returncode == 0


def _run(words: tuple[str, ...]) -> subprocess.CompletedProcess[str]:
    command = ["env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "--yes", "--no-install-recommends", *words]
    return subprocess.run(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
