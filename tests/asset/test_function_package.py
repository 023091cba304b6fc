"""The functions' asset: small, complete, and the same on every machine."""

import io
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from cluster_request.service_model import FOLDER, OPERATIONS, SLIM_FILE, slim_model
from constructs.hyperpod.cluster.function_package import PACKAGE, write_package
from stacks.clusters_app import PROJECT

LARGEST_ZIP = 76_500
FINGERPRINT = """
import os, sys
from pathlib import Path
from aws_cdk import FileSystem
from constructs.hyperpod.cluster.function_package import write_package
folder = Path(sys.argv[1])
write_package(folder)
for number, file in enumerate(sorted(folder.rglob("*"))):
    os.utime(file, (int(sys.argv[2]) + number,) * 2)
print(FileSystem.fingerprint(str(folder)))
"""


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package as it is deployed."""
    folder = tmp_path_factory.mktemp("package")
    write_package(folder)
    return folder


def zipped(folder: Path) -> bytes:
    """The folder as the cdk command line zips it: deflate at its usual level, DOS times, no directories."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as file:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                file.write(path, path.relative_to(folder))
    return archive.getvalue()


def test_the_asset_is_at_most_77_500_bytes(package: Path) -> None:
    size = len(zipped(package))
    print(f"asset: {size} bytes zipped")
    assert size <= LARGEST_ZIP


def test_the_asset_holds_every_module_and_the_service_model_and_nothing_else(package: Path) -> None:
    modules = {module for module in PACKAGE.rglob("*.py") if module.name not in ("fenced_step.py", "property_values.py")}
    expected = {f"cluster_resource/{module.relative_to(PACKAGE)}" for module in modules}
    expected |= {f"cluster_resource/service_model/{FOLDER}/{SLIM_FILE}"}
    assert {str(path.relative_to(package)) for path in package.rglob("*") if path.is_file()} == expected


def test_every_module_of_the_asset_can_be_imported(package: Path) -> None:
    modules = (package / "cluster_resource").glob("*.py")
    names = [f"cluster_resource.{module.stem}" for module in modules if module.stem != "__init__"]
    environment = {**os.environ, "PYTHONPATH": str(package), "PYTHONDONTWRITEBYTECODE": "1"}
    subprocess.run([sys.executable, "-c", f"import {', '.join(names)}"], cwd=package, env=environment, check=True)
    subprocess.run(["ruff", "check", "--isolated", "--no-cache", "--select", "F821,F822,F811", str(package)], check=True)


def test_the_asset_can_be_read_by_lambda_whatever_the_umask(tmp_path: Path) -> None:
    """The zip carries the files' modes, and a function is not their owner."""
    before = os.umask(0o077)
    try:
        write_package(tmp_path)
    finally:
        os.umask(before)
    assert {path.stat().st_mode & 0o777 for path in tmp_path.rglob("*") if path.is_file()} == {0o644}


def test_the_model_in_the_asset_is_the_slim_one_for_what_the_code_calls(package: Path) -> None:
    model = package / "cluster_resource" / "service_model" / FOLDER / SLIM_FILE
    assert model.read_bytes() == slim_model()
    assert set(json.loads(model.read_bytes())["operations"]) == set(OPERATIONS)


def test_two_machines_build_the_same_asset(tmp_path: Path) -> None:
    """Other hash seeds, time zones, locales and file times."""
    machines = (
        {"PYTHONHASHSEED": "1", "TZ": "UTC", "LC_ALL": "C"},
        {"PYTHONHASHSEED": "2", "TZ": "Asia/Kolkata", "LC_ALL": "C.UTF-8"},
    )
    fingerprints = {_fingerprint(tmp_path / str(number), number * 10**9, machine) for number, machine in enumerate(machines)}
    assert len(fingerprints) == 1


def _fingerprint(folder: Path, time: int, environment: dict[str, str]) -> str:
    command = [sys.executable, "-c", FINGERPRINT, str(folder), str(time)]
    done = subprocess.run(command, cwd=PROJECT, env={**os.environ, **environment}, check=True, stdout=subprocess.PIPE, text=True)
    fingerprint = done.stdout.strip()
    assert len(fingerprint) == 64
    return fingerprint
