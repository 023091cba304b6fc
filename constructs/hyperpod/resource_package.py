"""The package of the custom resource's functions: our code and the service model that it speaks."""

import atexit
import shutil
import tempfile
from functools import cache
from pathlib import Path

from config.service_model import FILE, FOLDER, slim_model

SOURCE = Path(__file__).resolve().parents[2] / "lambda_assets" / "cluster_resource"


@cache
def resource_package() -> str:
    """A folder that holds the package, the same to the byte wherever it is made; it lasts as long as the process."""
    folder = Path(tempfile.mkdtemp(prefix="cluster-resource-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    package = folder / "cluster_resource"
    shutil.copytree(SOURCE, package, ignore=shutil.ignore_patterns("__pycache__", "*.pyc", "service_model"))
    model = package / "service_model" / FOLDER / FILE
    model.parent.mkdir(parents=True)
    model.write_bytes(slim_model())
    return str(folder)
