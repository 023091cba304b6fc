"""The package sources: this machine's own apt sources that carry Debian's signature."""

import os
import re
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from local_aws.builds.errors import HostError
from local_aws.builds.programs import run, succeeds

ENVIRONMENT = "HYPERPOD_NODES_DEBIAN"  # a release of Debian instead of the newest of these
SUITES = ("trixie", "bookworm")  # Slurm 24.11, as on HyperPod's nodes, and 22.05
KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
_NAMES = ("stable", "oldstable")
_POCKETS = ("", "-updates", "-security")
_FORMAT = "$(REPO_URI) $(RELEASE) $(COMPONENT)"


@dataclass(frozen=True)
class Source:
    """A repository and a release."""

    uri: str
    release: str

    @property
    def line(self) -> str:
        """Return the source as a line for apt. Only Debian's keys are accepted."""
        return f"deb [signed-by={KEYRING}] {self.uri} {self.release} main"


def suites() -> tuple[str, ...]:
    """Return the releases of Debian to build from, the preferred one first."""
    named = os.environ.get(ENVIRONMENT)
    return (named,) if named else SUITES


def choose(targets: Iterable[str], own: str, has: Callable[[Source], bool]) -> tuple[str, list[Source]]:
    """Return the newest Debian release that a machine's ``targets`` offer, with its sources; ``own`` is its codename."""
    listed = list(targets)
    for suite in suites():
        sources = [source for source in candidates(listed, own, suite) if has(source)]
        if any(source.release == suite for source in sources):
            return suite, sources
    raise HostError(
        f"nodes need Debian {' or '.join(suites())}, but no apt source here ({own or 'no Debian'}) offers it; "
        "on another distribution, add a Debian source to /etc/apt/sources.list.d and pin it to priority -1"
    )


def own_targets() -> list[str]:
    """Return the package lists that this machine's apt would fetch: lines of address, release and component."""
    return run("apt-get", "indextargets", "--no-release-info", "--format", _FORMAT, "Created-By: Packages").splitlines()


def candidates(targets: Iterable[str], own: str, suite: str) -> list[Source]:
    """Return the sources of ``suite`` on the servers in ``targets``: the machine's own sources with the release replaced."""
    found: dict[Source, None] = {}
    known = "|".join(re.escape(name) for name in (own, suite, *_NAMES) if name)
    for target in targets:
        uri, release, component = target.rsplit(" ", 2)
        named = re.fullmatch(rf"(?:{known})({'|'.join(_POCKETS)})", release)
        if named and component == "main":
            found[Source(uri, f"{suite}{named[1]}")] = None
    return list(found)


def is_signed(source: Source) -> bool:
    """Return whether the source is reachable and signed with one of Debian's keys."""
    if not KEYRING.exists():
        raise HostError(f"no {KEYRING}; install package debian-archive-keyring")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "InRelease"
        fetch = ["/usr/lib/apt/apt-helper", "download-file", f"{source.uri.rstrip('/')}/dists/{source.release}/InRelease"]
        verify = ["gpgv", "--quiet", "--keyring", str(KEYRING), str(file)]
        return succeeds(*fetch, str(file)) and succeeds(*verify)


def codename() -> str:
    """Return the codename of this machine's release."""
    for line in Path("/etc/os-release").read_text().splitlines():
        if line.startswith("VERSION_CODENAME="):
            return line.partition("=")[2].strip('"')
    return ""
