"""The unpacked code of functions: their packages, their layers, and the libraries of Lambda's Python."""

import io
import shutil
import sysconfig
import tempfile
import threading
import zipfile
from pathlib import Path
from typing import Any

from moto.awslambda.models import lambda_backends

# Imports available in Lambda's Python runtimes besides the standard library and the package itself.
_RUNTIME_PACKAGES = ("boto3", "botocore", "s3transfer", "jmespath", "dateutil", "urllib3", "six.py")

_lock = threading.Lock()
_root: Path | None = None
_unpacked: dict[str, Path] = {}


def code_folder(function: Any) -> Path:
    """Return the folder with the function's deployed package."""
    return _folder(f"code-{function.code_sha_256.replace('/', '_')}", [function.code_bytes])


def layers_folder(function: Any) -> Path | None:
    """Return the folder with all layers of the function, merged as below /opt; None without layers."""
    arns = [layer["Arn"] for layer in function.layers or []]
    if not arns:
        return None
    layers = lambda_backends[function.account_id][function.region]
    versions = [layers.layers_versions_by_arn(arn) for arn in arns]
    name = "opt-" + "-".join(version.code_sha_256.replace("/", "_")[:24] for version in versions)
    return _folder(name, [version.code_bytes for version in versions])


def runtime_packages_folder() -> Path:
    """Return a folder from which only boto3 and its dependencies can be imported."""
    with _lock:
        folder = _root_folder() / "runtime"
        if not folder.exists():
            folder.mkdir()
            installed = Path(sysconfig.get_path("purelib"))
            for name in _RUNTIME_PACKAGES:
                (folder / name).symlink_to(installed / name)
        return folder


def home_folder() -> Path:
    """Return an empty home folder, which hides the user's settings."""
    with _lock:
        folder = _root_folder() / "home"
        folder.mkdir(exist_ok=True)
        return folder


def remove_all() -> None:
    """Delete everything unpacked. A reset keeps it: folders are named by their content, and layers are large."""
    global _root  # noqa: PLW0603  one folder per process, created on first use
    with _lock:
        if _root:
            shutil.rmtree(_root, ignore_errors=True)
        _root = None
        _unpacked.clear()


def _root_folder() -> Path:
    global _root  # noqa: PLW0603
    _root = _root or Path(tempfile.mkdtemp(prefix="local-aws-functions-"))
    return _root


def _folder(name: str, archives: list[bytes]) -> Path:
    with _lock:
        if name not in _unpacked:
            folder = _root_folder() / name
            for archive in archives:
                _unpack(archive, folder)
            _unpacked[name] = folder
        return _unpacked[name]


def _unpack(archive: bytes, folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    with zipfile.ZipFile(io.BytesIO(archive)) as files:
        for info in files.infolist():
            path = Path(files.extract(info, folder))
            mode = (info.external_attr >> 16) & 0o777  # which extract() does not set
            if mode and path.is_file():
                path.chmod(mode | 0o400)
