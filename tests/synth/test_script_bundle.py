"""Files for nodes: default scripts, `lifecycle.extra` and `lifecycle.source`."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from constructs.hyperpod.lifecycle.script_bundle import DEFAULT_SCRIPTS, ScriptBundle
from stacks.clusters_app import PROJECT
from tests.cluster_files import REFERENCE
from tests.synth.synthesized import CLUSTER, Synthesized, synthesize
from validation.load import load_cluster

OWN = {
    "on_create.sh": "#!/bin/bash\nbash lib/start.sh\n",
    "start_all.sh": "#!/bin/bash\n",
    "lib/start.sh": "echo started\n",
    "provisioning_parameters.json": "{}",
    "node_settings.json": "{}",
    "lib/__pycache__/x.pyc": "x",
    ".git/HEAD": "ref",
}
EXTRA = {"before_slurm/10-one.sh": "echo one\n", "controller_ready/two.py": "print(2)\n", "node_settings.json": "{}"}
GENERATED = "node_settings.json"


def lay(folder: Path, files: dict[str, str]) -> None:
    """Write files below the folder."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


class Files:
    """Cluster files in a folder with their scripts."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        lay(folder / "own", OWN)
        lay(folder / "extra", {name: text for name, text in EXTRA.items() if "/" in name})
        (folder / "clusters").mkdir()

    def add(self, name: str, **content: object) -> None:
        """Write a cluster file."""
        file = {**yaml.safe_load(REFERENCE.read_text()), **content}
        (self.folder / "clusters" / f"{name}.yaml").write_text(yaml.safe_dump(file))

    def bundle(self, name: str) -> ScriptBundle:
        """Return the bundle of a cluster."""
        return ScriptBundle.of(load_cluster(self.folder / "clusters" / f"{name}.yaml"))


@pytest.fixture
def files(tmp_path: Path) -> Files:
    files = Files(tmp_path)
    files.add("plain")
    files.add("extra", lifecycle={"extra": "../extra"})
    files.add("own", lifecycle={"source": "../own", "on_create": "start_all.sh"})
    return files


def ours() -> Iterator[str]:
    for path in DEFAULT_SCRIPTS.rglob("*"):
        if path.is_file() and "__pycache__" not in path.parts:
            yield path.relative_to(DEFAULT_SCRIPTS).as_posix()


def test_by_default_the_bundle_has_the_default_scripts_and_the_node_settings(files: Files) -> None:
    assert files.bundle("plain").files.keys() == {*ours(), GENERATED}


def test_extra_scripts_are_in_a_separate_folder(files: Files) -> None:
    bundle = files.bundle("extra").files
    assert bundle.keys() == {*ours(), GENERATED, "extra/before_slurm/10-one.sh", "extra/controller_ready/two.py"}
    assert bundle["extra/before_slurm/10-one.sh"] == b"echo one\n"


def test_source_replaces_the_default_scripts(files: Files) -> None:
    """Except for the two generated files."""
    bundle = files.bundle("own").files
    assert bundle.keys() == {"on_create.sh", "start_all.sh", "lib/start.sh", GENERATED}
    assert bundle[GENERATED] != b"{}"


def test_files_are_written_unchanged(files: Files, tmp_path: Path) -> None:
    bundle = files.bundle("extra")
    bundle.write(tmp_path / "written")
    written = {
        path.relative_to(tmp_path / "written").as_posix(): path.read_bytes()
        for path in (tmp_path / "written").rglob("*")
        if path.is_file()
    }
    assert written == bundle.files


@pytest.mark.fault(49)
@pytest.mark.parametrize(
    ("cluster", "file", "text"),
    [
        ("extra", "extra/before_slurm/10-one.sh", "echo two\n"),
        ("extra", "extra/before_slurm/20-new.sh", ""),
        ("own", "own/lib/start.sh", "echo again\n"),
    ],
)
def test_an_edited_script_changes_the_fingerprint(files: Files, cluster: str, file: str, text: str) -> None:
    before = files.bundle(cluster).fingerprint
    lay(files.folder, {file: text})
    assert files.bundle(cluster).fingerprint != before


def test_a_renamed_script_changes_the_fingerprint(files: Files) -> None:
    before = files.bundle("extra").fingerprint
    folder = files.folder / "extra" / "before_slurm"
    (folder / "10-one.sh").rename(folder / "20-one.sh")
    assert files.bundle("extra").fingerprint != before


def test_the_fingerprint_does_not_depend_on_the_folder(files: Files, tmp_path: Path) -> None:
    elsewhere = shutil.copytree(tmp_path, tmp_path / "elsewhere", ignore=shutil.ignore_patterns("elsewhere"))
    for cluster in ("plain", "extra", "own"):
        config = load_cluster(elsewhere / "clusters" / f"{cluster}.yaml")
        assert ScriptBundle.of(config).fingerprint == files.bundle(cluster).fingerprint


@pytest.mark.parametrize(
    "change",
    [
        {"users": [{"name": "alice", "uid": 10001, "sudo": True}]},
        {"user_groups": [{"name": "vision", "gid": 20001}]},
        {"slurm": {"restrict_ssh": True}},
        {"slurm": {"metadata_access": "all"}},
        {"slurm": {"accounting": {"database": "none"}}},
        {"lifecycle": {"message_of_the_day": "hello"}},
    ],
)
def test_node_settings_change_the_fingerprint(files: Files, change: dict[str, object]) -> None:
    files.add("changed", **change)
    assert files.bundle("changed").fingerprint != files.bundle("plain").fingerprint


@pytest.fixture
def synthesized(files: Files, tmp_path: Path) -> Synthesized:
    return synthesize(tmp_path / "out", files.folder / "clusters")


def test_groups_run_the_script_of_the_file(synthesized: Synthesized) -> None:
    for cluster, script in (("own", "start_all.sh"), ("extra", "on_create.sh")):
        request = synthesized[cluster, CLUSTER].properties("Custom::HyperPodCluster")["Request"]
        assert {group["LifeCycleConfig"]["OnCreate"] for group in request["InstanceGroups"]} == {script}


def test_the_example_has_extra_scripts_for_each_point() -> None:
    bundle = ScriptBundle.of(load_cluster(PROJECT / "examples/clusters/research-team.yaml"))
    extra = {name for name in bundle.files if name.startswith("extra/")}
    assert {name.split("/")[1] for name in extra} == {"before_slurm", "after_slurm", "controller_ready"}
