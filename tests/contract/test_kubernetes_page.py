"""docs/operate/eks.md describes what a deployment installs in an EKS cluster and what teams may do there."""

import re

import yaml

from cluster_request.kubernetes_objects.dependencies import dependencies
from cluster_request.kubernetes_objects.device_plugins import EFA_TAG, NEURON_IMAGE, NVIDIA_IMAGE
from cluster_request.kubernetes_objects.health_agent import TAG
from cluster_request.kubernetes_objects.team_objects import GROUP_PREFIX, team_roles
from config.eks import AddonName
from config.model import ClusterConfig
from config.teams import Team
from kubernetes_resource.objects import MANAGER
from stacks.clusters_app import PROJECT
from tools.configuration_page_texts import MINIMAL_EKS
from validation.load import parse_cluster

PAGE = (PROJECT / "docs" / "operate" / "eks.md").read_text()


def section(title: str) -> str:
    """Return a section with its subsections."""
    return PAGE.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def names_in(text: str) -> set[str]:
    return set(re.findall(r"`([^`]+)`", text))


def test_each_object_of_hyperpod_is_listed_in_its_namespace() -> None:
    rows = [line for line in section("Installed software").splitlines() if line.startswith("| ")]
    for item in dependencies("us-west-2"):
        metadata = item["metadata"]
        [row] = [row for row in rows if metadata["name"] in names_in(row.split("|")[1]) and item["kind"] in _kinds(row)]
        assert metadata.get("namespace", "aws-hyperpod") in row or "namespace" not in metadata


def _kinds(row: str) -> set[str]:
    text = row.replace("service account", "ServiceAccount").replace("namespace", "Namespace")
    kinds = {kind for kind in ("Namespace", "ServiceAccount", "ClusterRole", "DaemonSet") if kind in text}
    return {*kinds, *({"ClusterRoleBinding"} if "ClusterRole" in kinds else ())}


def test_versions_of_the_objects_are_those_that_are_installed() -> None:
    versions = {line.split("|")[-2].strip() for line in section("Installed software").splitlines() if line.startswith("| ")}
    assert {TAG, EFA_TAG, NVIDIA_IMAGE.rpartition(":")[2], NEURON_IMAGE.rpartition(":")[2]} <= versions
    assert f"`{MANAGER}-hyperpod`" in section("Installed software")


def test_each_addon_is_listed() -> None:
    table = section("Installed software").partition("| add-on |")[2]
    assert {name.value for name in AddonName} <= names_in(table)


def test_the_rights_of_a_team_are_listed() -> None:
    text = section("Teams").replace("port-forward", "portforward")
    for item in team_roles([Team(name="research")]):
        for rule in item.get("rules", ()):
            for resource in rule["resources"]:
                assert resource.partition("/")[2] in text, resource
                assert re.search(rf"\b{resource.partition('/')[0]}\b", text), resource
    assert f"`{GROUP_PREFIX}NAME`" in text


def examples(title: str) -> list[str]:
    """Return the YAML examples of a subsection."""
    return re.findall(r"```yaml\n(.*?)```", PAGE.partition(f"\n### {title}\n")[2].partition("\n##")[0], re.DOTALL)


def with_minimum(example: str) -> ClusterConfig:
    """Return the cluster of an example, completed with the minimal file."""
    config = parse_cluster(yaml.safe_dump({**yaml.safe_load(MINIMAL_EKS), **yaml.safe_load(example)}).encode(), "example")
    assert isinstance(config, ClusterConfig)
    return config


def test_the_pod_of_the_example_runs_on_the_nodes_of_its_group() -> None:
    cluster, pod = examples("Labels and taints")
    [group], spec = with_minimum(cluster).instance_groups, yaml.safe_load(pod)["spec"]
    assert spec["nodeSelector"] == group.labels
    [taint], [toleration] = group.taints, spec["tolerations"]
    tolerated = (toleration["key"], toleration["value"], toleration["effect"])
    assert tolerated == (taint.key, taint.value, taint.effect.value)


def test_the_groups_of_karpenter_are_those_of_its_example() -> None:
    cluster, manifests = examples("Karpenter")
    config = with_minimum(cluster)
    node_class, node_pool = yaml.safe_load_all(manifests)
    [scaled] = [group for group in config.instance_groups if group.name in node_class["spec"]["instanceGroups"]]
    assert scaled.instance_count == 0
    template = node_pool["spec"]["template"]["spec"]
    assert template["nodeClassRef"]["name"] == node_class["metadata"]["name"]
    assert template["requirements"][0]["values"] == [scaled.instance_type]
