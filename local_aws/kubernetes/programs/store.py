"""The cache of built programs, each build named by hashes of its recipe and of its inputs."""

import hashlib
from dataclasses import dataclass
from pathlib import Path

from local_aws.builds import cache

RECIPE = Path(__file__).parent
SUITE = "bookworm"  # the only release of Debian whose source package of Kubernetes has a server
_TOOLS = ("golang-1.19-go", "golang-1.19-src", "golang-github-modern-go-reflect2-dev")
_SCRIPTS = ("inputs.sh", "build.sh")


@dataclass(frozen=True)
class ProgramSet:
    """Programs that are built together. ``binary_packages`` are the Debian packages of those that are not built here."""

    name: str
    programs: tuple[str, ...]
    binary_packages: tuple[str, ...] = ()

    @property
    def packages(self) -> tuple[str, ...]:
        """Return the packages that a build uses, apart from the source."""
        return *_TOOLS, *self.binary_packages


CONTROL_PLANE = ProgramSet(
    "control-plane",
    ("etcd", "kubectl", "kube-apiserver", "kube-controller-manager", "kube-scheduler"),
    ("etcd-server", "kubernetes-client"),
)
NODE = ProgramSet("node", ("kubelet",))
SETS = {each.name: each for each in (CONTROL_PLANE, NODE)}


def place() -> Path:
    """Return the folder for builds."""
    return cache.place() / "kubernetes"


def find(programs: ProgramSet) -> Path | None:
    """Return the newest build of the current recipe, or None if there is none."""
    builds = [path for path in place().glob(f"{_prefix(programs)}-*") if path.is_dir() and path.suffix != cache.PART]
    return max(builds, key=lambda path: path.stat().st_mtime, default=None)


def build_of(programs: ProgramSet, inputs: str) -> Path:
    """Return the path of the build of the current recipe from ``inputs``, built or not."""
    return place() / f"{_prefix(programs)}-{_short(inputs.encode())}"


def note_use(build: Path) -> None:
    """Record that a build is in use, so that it is kept."""
    cache.note(build)


def _prefix(programs: ProgramSet) -> str:
    recipe = b"".join((RECIPE / name).read_bytes() for name in _SCRIPTS)
    return f"{programs.name}-{_short(recipe + repr((SUITE, programs)).encode())}"


def _short(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:12]
