"""The same sources give the same templates, in any folder and with any bytecode cache."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from cli.snapshot.readable import ASSET_HASH, BUNDLE_HASH
from stacks.clusters_app import PROJECT
from tests import cluster_files
from tests.synth.synthesized import CLUSTER, Synthesized, read_assembly

SOURCES = ("app.py", "config", "cluster_request", "validation", "constructs", "lambda_assets", "lifecycle_assets", "stacks")


def copy_of_the_sources(folder: Path) -> Path:
    """Copy the sources to another folder."""
    folder.mkdir(parents=True)
    for name in SOURCES:
        source = PROJECT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, folder / name)
    shutil.copytree(cluster_files.CLUSTERS, folder / "clusters")
    return folder


def synthesized_in(folder: Path) -> Synthesized:
    """Synthesize there in a separate process."""
    # Other tests validate the templates.
    environment = {
        **os.environ,
        "CDK_VALIDATION": "false",
        "CDK_OUTDIR": str(folder / "out"),
        "CDK_CONTEXT_JSON": '{"nag": "false"}',
    }
    subprocess.run([sys.executable, "app.py"], cwd=folder, env=environment, check=True, timeout=120)
    return Synthesized(read_assembly(folder / "out"))


def reference_texts(synthesized: Synthesized) -> dict[str, str]:
    return {stack: template.text for (cluster, stack), template in synthesized.templates.items() if cluster == "reference"}


def test_two_checkouts_give_templates_that_are_identical_byte_for_byte(shipped: Synthesized, tmp_path: Path) -> None:
    folder = copy_of_the_sources(tmp_path / "another" / "checkout")
    for package in ("lifecycle_assets/hyperpod_node", "lambda_assets/cluster_resource"):
        left_by_python = folder / package / "__pycache__"
        left_by_python.mkdir()
        (left_by_python / "errors.cpython-311.pyc").write_bytes(os.urandom(8))
    assert reference_texts(synthesized_in(folder)) == reference_texts(shipped)


@pytest.mark.fault(49)
def test_an_edited_script_moves_the_scripts_and_changes_nothing_else(shipped: Synthesized, tmp_path: Path) -> None:
    folder = copy_of_the_sources(tmp_path / "edited")
    with (folder / "lifecycle_assets" / "on_create.sh").open("a") as script:
        script.write("# edited\n")
    before, after = (reference_texts(each) for each in (shipped, synthesized_in(folder)))
    old, new = (set(BUNDLE_HASH.findall(texts[CLUSTER])) for texts in (before, after))
    assert len(old) == len(new) == 1
    assert old != new
    assert {stack: _without_hashes(text) for stack, text in before.items()} == {
        stack: _without_hashes(text) for stack, text in after.items()
    }


def _without_hashes(template: str) -> str:
    return BUNDLE_HASH.sub("", ASSET_HASH.sub("", template))
