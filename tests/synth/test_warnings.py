"""Warnings of a file are annotations of its stack, which the `cdk` command line prints; they change no template."""

from pathlib import Path

from aws_cdk.assertions import Annotations, Match, Template

from stacks.cluster_stack import ClusterStack
from stacks.clusters_app import ClustersApp
from tests import cluster_files

REFERENCE = cluster_files.REFERENCE.read_text()
SUPPRESS = "suppress:\n  - {rule: untested-trust-policy, reason: it has been tried}\n"


def stack(folder: Path, text: str) -> ClusterStack:
    """Return the cluster stack of a file with this text."""
    folder.mkdir()
    (folder / "warned.yaml").write_text(text)
    app = ClustersApp(context={"clusters": str(folder), "nag": "false"}, outdir=str(folder / "out"))
    found = app.node.find_child("warned").node.find_child("Cluster")
    assert isinstance(found, ClusterStack)
    return found


def warnings(stack: ClusterStack) -> list[str]:
    found = Annotations.from_stack(stack).find_warning("*", Match.any_value())
    return [str(message.entry.data) for message in found]


def test_a_warning_annotates_the_stack_unless_the_file_suppresses_it(tmp_path: Path) -> None:
    text = REFERENCE + "trust_source_account: true\n"
    warned, suppressed = stack(tmp_path / "one", text), stack(tmp_path / "two", text + SUPPRESS)
    line = len(text.splitlines())
    assert warnings(warned) == [
        f"{tmp_path}/one/warned.yaml:{line}:1: trust_source_account: true: not confirmed to work with HyperPod; test it on a "
        "small cluster, then suppress this warning [ack: untested-trust-policy]"
    ]
    assert warnings(suppressed) == []
    assert Template.from_stack(warned).to_json() == Template.from_stack(suppressed).to_json()
