"""What nodes get: our scripts with the user's extra ones, or the user's own instead."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from constructs.hyperpod.lifecycle.script_bundle import OURS, ScriptBundle
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
    """Cluster files like the reference, in a folder with the scripts that they name."""

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
        """What the nodes of this cluster get."""
        return ScriptBundle.of(load_cluster(self.folder / "clusters" / f"{name}.yaml"))


@pytest.fixture
def files(tmp_path: Path) -> Files:
    files = Files(tmp_path)
    files.add("plain")
    files.add("extra", lifecycle={"extra": "../extra"})
    files.add("own", lifecycle={"source": "../own", "on_create": "start_all.sh"})
    return files


def ours() -> Iterator[str]:
    for path in OURS.rglob("*"):
        if path.is_file() and "__pycache__" not in path.parts:
            yield path.relative_to(OURS).as_posix()


def test_our_scripts_and_the_nodes_settings_are_what_nodes_get(files: Files) -> None:
    assert files.bundle("plain").files.keys() == {*ours(), GENERATED}


def test_extra_scripts_lie_in_a_folder_of_their_own_beside_ours(files: Files) -> None:
    bundle = files.bundle("extra").files
    assert bundle.keys() == {*ours(), GENERATED, "extra/before_slurm/10-one.sh", "extra/controller_ready/two.py"}
    assert bundle["extra/before_slurm/10-one.sh"] == b"echo one\n"


def test_scripts_of_ones_own_replace_ours(files: Files) -> None:
    """With the two files that tell them of the cluster, whatever lay there under these names."""
    bundle = files.bundle("own").files
    assert bundle.keys() == {"on_create.sh", "start_all.sh", "lib/start.sh", GENERATED}
    assert bundle[GENERATED] != b"{}"


def test_the_files_are_written_as_they_are(files: Files, tmp_path: Path) -> None:
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
def test_an_edited_script_of_ones_own_is_other_content(files: Files, cluster: str, file: str, text: str) -> None:
    before = files.bundle(cluster).fingerprint
    lay(files.folder, {file: text})
    assert files.bundle(cluster).fingerprint != before


def test_a_renamed_script_is_other_content(files: Files) -> None:
    before = files.bundle("extra").fingerprint
    folder = files.folder / "extra" / "before_slurm"
    (folder / "10-one.sh").rename(folder / "20-one.sh")
    assert files.bundle("extra").fingerprint != before


def test_the_same_content_elsewhere_has_the_same_fingerprint(files: Files, tmp_path: Path) -> None:
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
        {"slurm": {"accounting": {"database": "none"}}},
        {"lifecycle": {"message_of_the_day": "hello"}},
    ],
)
def test_what_the_file_says_of_nodes_is_part_of_the_content(files: Files, change: dict[str, object]) -> None:
    files.add("changed", **change)
    assert files.bundle("changed").fingerprint != files.bundle("plain").fingerprint


@pytest.fixture
def synthesized(files: Files, tmp_path: Path) -> Synthesized:
    return synthesize(tmp_path / "out", files.folder / "clusters")


def test_groups_start_with_the_script_that_the_file_names(synthesized: Synthesized) -> None:
    for cluster, script in (("own", "start_all.sh"), ("extra", "on_create.sh")):
        request = synthesized[cluster, CLUSTER].properties("Custom::HyperPodCluster")["Request"]
        assert {group["LifeCycleConfig"]["OnCreate"] for group in request["InstanceGroups"]} == {script}


def test_the_deployment_unpacks_two_assets(synthesized: Synthesized) -> None:
    """The scripts, and what is known at deployment only: each more would take time in every synthesis."""
    for cluster in ("plain", "extra", "own"):
        deployment = synthesized[cluster, CLUSTER].properties("Custom::CDKBucketDeployment")
        assert len(deployment["SourceObjectKeys"]) == 2


def test_the_example_of_extra_scripts_is_whole() -> None:
    bundle = ScriptBundle.of(load_cluster(PROJECT / "examples/clusters/research-team.yaml"))
    extra = {name for name in bundle.files if name.startswith("extra/")}
    assert {name.split("/")[1] for name in extra} == {"before_slurm", "after_slurm", "controller_ready"}
