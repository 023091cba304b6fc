"""docs/operate/lifecycle-eks.md says what happens on a node of Amazon EKS: what it says is what the scripts do."""

from pathlib import Path

from hyperpod_node.kubernetes import kubernetes_plan
from hyperpod_node.kubernetes.container_disk import DISK_TIMEOUT_S, NVME, SECOND_VOLUME, UNIT
from hyperpod_node.node_settings import EKS, orchestrator_of
from stacks.clusters_app import PROJECT
from validation.rules.common.lifecycle import KUBERNETES_FOLDERS

PAGE = (PROJECT / "docs" / "operate" / "lifecycle-eks.md").read_text()


def cells(heading: str) -> list[str]:
    """The first cells of the table below the row of headings that begins so."""
    table = PAGE[PAGE.index(f"| {heading} |") :].partition("\n\n")[0]
    return [line.strip("|").split("|")[0].strip(" `/") for line in table.splitlines()[2:]]


def test_the_steps_stand_in_their_order() -> None:
    assert cells("step") == list(kubernetes_plan.STEPS)


def test_each_point_of_extra_scripts_is_described_and_run() -> None:
    assert cells("folder") == list(KUBERNETES_FOLDERS)
    applied = list(kubernetes_plan.STEPS.values())
    assert all(getattr(kubernetes_plan, point) in applied for point in KUBERNETES_FOLDERS)


def test_each_variable_of_extra_scripts_is_described() -> None:
    assert cells("variable") == list(kubernetes_plan.KubernetesContext(Path()).environment)


def test_paths_and_times_are_those_of_the_scripts() -> None:
    for text in (str(NVME), str(SECOND_VOLUME), UNIT, f"up to {DISK_TIMEOUT_S} s"):
        assert text in PAGE


def test_the_settings_that_the_deployment_uploads_are_those_that_the_scripts_read(tmp_path: Path) -> None:
    (tmp_path / "node_settings.json").write_text('{\n  "orchestrator": "eks",\n  "version": 1\n}\n')
    assert orchestrator_of(tmp_path / "node_settings.json") == EKS
