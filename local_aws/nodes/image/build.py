"""Build the image, and the layer with PyTorch on top. A failed or killed build leaves nothing that looks like an image."""

import shutil
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from local_aws.builds import cache, logged, sources
from local_aws.builds.errors import HostError
from local_aws.nodes.image import store
from local_aws.nodes.protocol import read_plan
from local_aws.nodes.registry import Registry

# Builders mount /dev and others into the image: in a separate mount namespace these mounts cannot outlive them. Builders end with
# this process, because its lock protects the folder in which they write.
_ALONE = ("setpriv", "--pdeathsig", "KILL", "unshare", "--mount", "--pid", "--fork", "--mount-proc", "--kill-child")

_REPORTED = tuple(
    f"I: {word}" for word in ("running apt-get", "downloading", "extracting", "installing", "overlaying", "importing", "keeping")
)

Report = Callable[[str], None]


def build(report: Report) -> Path:
    """Return the image of the current recipe; build it if needed, and ``report`` the progress."""
    with cache.lock(lambda: report("waiting for another process that is building the image")):
        image = store.find() or _build_image(report)
        cache.note(image)
        return image


def build_training(report: Report) -> Path:
    """Return the layer with PyTorch for the current image; build both if needed."""
    image = build(report)
    with cache.lock(lambda: report("waiting for another process that is building the layer")):
        layer = store.training_layer(image)
        if not layer.is_dir():
            _drop_unused(report)
            report("adding a layer with PyTorch for the training examples; this takes about half a minute")
            make(layer, [str(store.RECIPE / "add_packages.sh"), str(image)], store.packages("packages-training"), report)
        cache.note(layer)
        return layer


def build_kubernetes(kubelet: Path, report: Report) -> Path:
    """Return the layer for nodes of EKS clusters for the current image; build both if needed. ``kubelet`` is its folder."""
    image = build(report)
    with cache.lock(lambda: report("waiting for another process that is building the layer")):
        layer = store.kubernetes_layer(image, kubelet)
        if not layer.is_dir():
            _drop_unused(report)
            report("adding a layer with containerd and the kubelet; this takes about a quarter of a minute")
            builder = [str(store.RECIPE / "add_kubernetes.sh"), str(image), str(kubelet / "kubelet")]
            make(layer, builder, store.packages("packages-kubernetes"), report)
        cache.note(layer)
        return layer


def _build_image(report: Report) -> Path:
    report("looking for Debian in this machine's apt sources")
    suite, chosen = sources.choose(sources.own_targets(), sources.codename(), sources.is_signed)
    image = store.image_of(suite)
    _drop_unused(report)
    report(f"building the node image, Debian {suite}, in {image}; this takes one to three minutes")
    lines = "\n".join(source.line for source in chosen)
    make(image, [str(store.RECIPE / "bootstrap.sh"), suite, lines], store.image_packages(), report)
    return image


def make(result: Path, builder: list[str], packages: Iterable[str], report: Report) -> None:
    """Run ``builder`` to create the folder ``made`` in a given folder, and rename it when it is complete.

    Its arguments also include the package cache and the packages to install.
    """
    start = time.monotonic()
    with _unfinished(result) as part:
        command = [*builder, str(part), str(_package_cache()), *packages]
        _run(command, lambda text: report(f"  {time.monotonic() - start:4.0f} s  {text}"))
        (part / "made").rename(result)
    report(f"  {time.monotonic() - start:4.0f} s  done")


def _drop_unused(report: Report) -> None:
    cache.remove_parts(cache.place() / "images")
    in_use = {layer for entry in Registry().entries() if entry.lives for layer in _layers_of(Path(entry.folder))}
    for folder in set(cache.unused(cache.place() / "images")) - in_use:
        report(f"removing {folder}, not used for {cache.KEPT_DAYS} days")
        cache.discard(folder)


def _layers_of(hub: Path) -> tuple[Path, ...]:
    """Return the layers of a living hub's nodes; none if its folder is gone, as after `make clean`."""
    try:
        return read_plan(hub)[1]
    except FileNotFoundError:
        return ()


def _package_cache() -> Path:
    packages = cache.place() / "packages"
    packages.mkdir(exist_ok=True)
    return packages


@contextmanager
def _unfinished(result: Path) -> Iterator[Path]:
    part = cache.unfinished(result)
    _remove(part)
    part.mkdir(parents=True)
    try:
        yield part
    finally:
        _remove(part)


def _remove(folder: Path) -> None:
    if folder.exists():
        shutil.rmtree(folder)


def _run(command: list[str], report: Report) -> None:
    def read(line: str) -> None:
        if line.startswith(_REPORTED):
            report(line.removeprefix("I: ").rstrip("\n."))

    try:
        logged.run([*_ALONE, *command], cache.place() / "build.log", ("PYTHON",), read)
    except logged.BuilderError as error:
        raise HostError(f"{Path(command[0]).name} {error}") from error
