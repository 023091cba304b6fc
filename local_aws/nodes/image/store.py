"""The cache of built images, each named by a hash of its recipe."""

import hashlib
import stat
from pathlib import Path

from local_aws.builds import cache
from local_aws.builds.sources import suites

RECIPE = Path(__file__).parent
_OF_IMAGE = ("packages", "bootstrap.sh", "overlay", "extra")
_OF_LAYER = ("packages-training", "add_packages.sh")
_OF_KUBERNETES = ("packages-kubernetes", "add_kubernetes.sh", "kubernetes")


def image_of(suite: str) -> Path:
    """Return the path of the current recipe's image for a release of Debian, built or not."""
    return cache.place() / "images" / f"{suite}-{_hash(_OF_IMAGE)}"


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
        cache.note(layer)


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
