"""`./hpod snapshot` shows in a pull request what a change of a cluster file does."""

from pathlib import Path

import pytest

from cli.errors import CommandError
from cli.snapshot.command import snapshot
from tests import cluster_files
from tests.synth.synthesized import STACKS

EXTRA = """
lifecycle:
  extra: ../scripts
"""


@pytest.fixture
def clusters(tmp_path: Path) -> Path:
    """A folder of cluster files, one of them with a script."""
    script = tmp_path / "scripts" / "before_slurm" / "10-limits.sh"
    script.parent.mkdir(parents=True)
    script.write_text("echo limits\n")
    folder = tmp_path / "clusters"
    folder.mkdir()
    (folder / "mine.yaml").write_text((cluster_files.EXAMPLES / "starter.yaml").read_text() + EXTRA)
    return folder


def test_it_writes_templates_settings_and_scripts_as_text_beside_the_file(clusters: Path) -> None:
    result = snapshot(clusters=clusters)
    written = {path.relative_to(clusters).as_posix() for path in (clusters / "mine.snapshot").rglob("*") if path.is_file()}
    templates = {f"mine.snapshot/{stack}.template.yaml" for stack in STACKS}
    assert written == {
        *templates,
        "mine.snapshot/nodes/node_settings.json",
        "mine.snapshot/nodes/slurm_groups.json",
        "mine.snapshot/nodes/extra/before_slurm/10-limits.sh",
    }
    assert len(result.data["changed"]) == len(written) if result.data else False
    assert "InstanceCount: 2" in (clusters / "mine.snapshot" / "Cluster.template.yaml").read_text()
    assert '"alice"' in (clusters / "mine.snapshot" / "nodes" / "node_settings.json").read_text()


def test_a_new_user_and_an_edited_script_show_in_the_snapshot_and_a_stale_one_fails_the_check(clusters: Path) -> None:
    snapshot(clusters=clusters)
    file = clusters / "mine.yaml"
    file.write_text(file.read_text().replace("users:", "users:\n  - name: bob\n    uid: 10002"))
    (clusters.parent / "scripts" / "before_slurm" / "10-limits.sh").write_text("echo other\n")
    stale = snapshot(clusters=clusters, check=True)
    assert stale.failure == "2 stale files; run `./hpod snapshot` and commit the result"
    assert '"bob"' not in (clusters / "mine.snapshot" / "nodes" / "node_settings.json").read_text()
    snapshot(clusters=clusters)
    assert '"bob"' in (clusters / "mine.snapshot" / "nodes" / "node_settings.json").read_text()


def test_the_snapshot_of_a_removed_file_goes(clusters: Path) -> None:
    (clusters / "old.snapshot").mkdir()
    (clusters / "old.snapshot" / "Network.template.yaml").touch()
    snapshot(clusters=clusters)
    assert [path.name for path in sorted(clusters.glob("*.snapshot"))] == ["mine.snapshot"]


def test_a_mistake_in_a_file_is_the_error_of_synth_and_nothing_is_written(clusters: Path) -> None:
    file = clusters / "mine.yaml"
    file.write_text(file.read_text().replace("role: compute", "role: computer"))
    with pytest.raises(CommandError, match=r"mine\.yaml:\d+:\d+: instance_groups\[2\]\.role"):
        snapshot(clusters=clusters)
    assert not list(clusters.glob("*.snapshot"))


def test_the_snapshot_of_one_cluster_reads_and_changes_no_other(clusters: Path) -> None:
    (clusters / "broken.yaml").write_text("region: 5\n")
    (clusters / "other.snapshot").mkdir()
    (clusters / "other.snapshot" / "Network.template.yaml").touch()
    snapshot(clusters=Path("nowhere"), cluster=str(clusters / "mine.yaml"))
    assert snapshot(clusters=clusters, cluster="mine", check=True).failure == ""
    assert (clusters / "other.snapshot" / "Network.template.yaml").exists()
    with pytest.raises(CommandError, match="mien"):
        snapshot(clusters=clusters, cluster="mien")
