"""The cache of built images, each named by a hash of its recipe."""

import fcntl
import hashlib
import os
import shutil
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

RECIPE = Path(__file__).parent
ENVIRONMENT = "HYPERPOD_NODES_DEBIAN"  # a release of Debian instead of the newest of these
SUITES = ("trixie", "bookworm")  # Slurm 24.11, as on HyperPod's nodes, and 22.05
KEPT_DAYS = 7
PART = ".part"
_OF_IMAGE = ("packages", "bootstrap.sh", "overlay", "extra")
_OF_LAYER = ("packages-training", "add_packages.sh")
_OF_KUBERNETES = ("packages-kubernetes", "add_kubernetes.sh", "kubernetes")


def place() -> Path:
    """Return the folder for images and for their packages."""
    caches = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return caches.resolve() / "hyperpod-cdk"


def suites() -> tuple[str, ...]:
    """Return the releases of Debian to build from, the preferred one first."""
    named = os.environ.get(ENVIRONMENT)
    return (named,) if named else SUITES


def image_of(suite: str) -> Path:
    """Return the path of the current recipe's image for a release of Debian, built or not."""
    return place() / "images" / f"{suite}-{_hash(_OF_IMAGE)}"


def find() -> Path | None:
    """Return the image of the current recipe, or None if it is not built."""
    return next((image_of(suite) for suite in suites() if image_of(suite).is_dir()), None)


def training_layer(image: Path) -> Path:
    """Return the path of the PyTorch layer for ``image``, built or not."""
    return image.with_name(f"{image.name}-training-{_hash(_OF_LAYER)}")


def kubernetes_layer(image: Path, kubelet: Path) -> Path:
    """Return the path of the layer for nodes of EKS clusters, built or not; ``kubelet`` is the folder of its program."""
    return image.with_name(f"{image.name}-kubernetes-{_hash(_OF_KUBERNETES)}-{kubelet.name.rpartition('-')[2]}")


def layers(image: Path, kubelet: Path | None = None) -> list[Path]:
    """Return the layers below a root volume, uppermost first: one on the image, if built, and the image.

    It is the layer with PyTorch or, with the folder of a ``kubelet``, the layer for nodes of EKS clusters.
    """
    upper = kubernetes_layer(image, kubelet) if kubelet else training_layer(image)
    return [layer for layer in (upper, image) if layer.is_dir()]


def note_use(image: Path, kubelet: Path | None = None) -> None:
    """Record that nodes boot from an image, so that it is kept."""
    for layer in {*layers(image, kubelet), *layers(image)}:
        note(layer)


def note(folder: Path) -> None:
    """Record that a folder of the cache is in use."""
    folder.with_name(f"{folder.name}.used").touch()


def discard(folder: Path) -> None:
    """Delete a folder of the cache; it looks unfinished first, so that a killed deletion leaves nothing that looks complete.

    Hold the lock, after ``remove_parts``.
    """
    part = unfinished(folder)
    folder.rename(part)
    shutil.rmtree(part)


def remove_parts(cache: Path) -> None:
    """Delete what killed builds and deletions left in ``cache``. Hold its lock."""
    for part in cache.glob(f"*{PART}"):
        shutil.rmtree(part, ignore_errors=True)


def unfinished(folder: Path) -> Path:
    """Return where a folder of the cache is built."""
    return folder.with_name(f"{folder.name}{PART}")


def unused(cache: Path | None = None) -> list[Path]:
    """Return the folders in ``cache``, by default images and layers, that have not been used for a long time."""
    since = time.time() - KEPT_DAYS * 86400
    notes = (cache or place() / "images").glob("*.used")
    return [note.with_suffix("") for note in notes if note.stat().st_mtime < since and note.with_suffix("").is_dir()]


def packages(name: str) -> list[str]:
    """Return the packages in a file of the recipe."""
    return [line for line in (RECIPE / name).read_text().splitlines() if line and not line.startswith("#")]


def image_packages() -> list[str]:
    """Return the packages of the image, with those that the user adds."""
    added = packages("extra/packages") if (RECIPE / "extra" / "packages").is_file() else []
    return list(dict.fromkeys([*packages("packages"), *added]))


def _hash(parts: tuple[str, ...]) -> str:
    files = [file for part in parts for file in (RECIPE / part, *sorted((RECIPE / part).rglob("*"))) if file.is_file()]
    digest = hashlib.sha256()
    for file in files:
        kind = "program" if file.stat().st_mode & stat.S_IXUSR else "file"
        digest.update(f"{file.relative_to(RECIPE)} {kind} ".encode() + file.read_bytes())
    return digest.hexdigest()[:12]


@contextmanager
def lock(waiting: Callable[[], None], path: Path | None = None) -> Iterator[None]:
    """Hold the lock in ``path``, by default the images', for the block; call ``waiting`` first if another build holds it."""
    place().mkdir(parents=True, exist_ok=True)
    with (path or place() / "lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            waiting()
            fcntl.flock(file, fcntl.LOCK_EX)
        yield
