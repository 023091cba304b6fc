"""The add-ons of a file: which, in which version, with which settings."""

import json
from typing import Any

import pytest

from cluster_request.eks_addons import BEFORE_NODES, addons_after_nodes, addons_before_nodes, enabled_addons, versions
from config.eks import AddonName
from config.model import ClusterConfig
from local_aws.eks.addon_versions import ADDONS

LUSTRE = {"lustre": {"storage_capacity_gib": 1200}}


def file(storage: dict[str, Any] | None = None, taints: Any = (), **eks: Any) -> ClusterConfig:
    group = {"name": "workers", "instance_type": "ml.g5.xlarge", "instance_count": 2, "taints": taints}
    content = {
        "name": "eks",
        "network": {"availability_zone_id": "usw2-az2"},
        "storage": storage or {},
        "eks": {"version": "1.34", **eks},
        "instance_groups": [group],
    }
    return ClusterConfig.model_validate(content)


def names(config: ClusterConfig) -> set[str]:
    return {addon.name.value for addon in (*addons_before_nodes(config), *addons_after_nodes(config))}


def test_the_file_system_and_quotas_bring_their_addons() -> None:
    plain = names(file())
    assert "aws-fsx-csi-driver" not in plain
    assert names(file(LUSTRE)) - plain == {"aws-fsx-csi-driver"}
    assert names(file(teams=[{"name": "a", "quota": {}}])) - plain == {"amazon-sagemaker-hyperpod-taskgovernance"}
    assert names(file(scheduling={})) - plain == {"amazon-sagemaker-hyperpod-taskgovernance"}


def test_an_existing_cluster_gets_only_addons_that_the_file_enables() -> None:
    existing = {"existing": {"name": "theirs"}, "version": None}
    assert names(file(LUSTRE, **existing)) == set()
    assert names(file(**existing, addons={"coredns": {"enabled": True}})) == {"coredns"}


def test_the_file_disables_addons_and_sets_versions_and_settings() -> None:
    addons = {
        "metrics-server": {"enabled": False},
        "coredns": {"version": "v1.12.3-eksbuild.1", "configuration": {"replicaCount": 3}},
    }
    found = {addon.name.value: addon for addon in addons_after_nodes(file(addons=addons))}
    assert "metrics-server" not in found
    assert found["coredns"].version == "v1.12.3-eksbuild.1"
    assert json.loads(found["coredns"].configuration_values)["replicaCount"] == 3


def test_pods_of_addons_tolerate_only_the_taints_of_the_file() -> None:
    """A pod that tolerates node.kubernetes.io/unschedulable would return to a node that is drained."""
    taints = [{"key": "team", "value": "a", "effect": "NoSchedule"}, {"key": "gpu", "effect": "NoExecute"}]
    found = {addon.name.value: addon.configuration for addon in addons_after_nodes(file(LUSTRE, taints))}
    own = [
        {"key": "CriticalAddonsOnly", "operator": "Exists"},
        {"key": "gpu", "operator": "Exists", "effect": "NoExecute"},
        {"key": "team", "operator": "Equal", "value": "a", "effect": "NoSchedule"},
    ]
    for name in ("coredns", "metrics-server", "amazon-cloudwatch-observability"):
        assert found[name] == {"tolerations": own}
    assert found["cert-manager"] == {"tolerations": own, "webhook": {"tolerations": own}, "cainjector": {"tolerations": own}}
    assert found["aws-fsx-csi-driver"] == {"controller": {"tolerations": own}, "node": {"tolerateAllTaints": True}}


def test_without_taints_addons_keep_their_own_settings() -> None:
    """EKS refuses a setting that an add-on's schema lacks, and not all schemas are public."""
    ignored = {"key": "team", "effect": "PreferNoSchedule"}
    for taints in ([], [ignored]):
        assert {addon.configuration_values for addon in addons_after_nodes(file(LUSTRE, taints))} == {"{}"}


def test_settings_of_the_file_are_merged_at_every_depth() -> None:
    taints = [{"key": "team", "effect": "NoSchedule"}]
    configuration = {"webhook": {"replicaCount": 2}, "cainjector": {"tolerations": []}}
    addons = addons_after_nodes(file(taints=taints, addons={"cert-manager": {"configuration": configuration}}))
    found = {addon.name.value: addon for addon in addons}
    own = [{"key": "CriticalAddonsOnly", "operator": "Exists"}, {"key": "team", "operator": "Exists", "effect": "NoSchedule"}]
    assert found["cert-manager"].configuration == {
        "tolerations": own,
        "webhook": {"replicaCount": 2, "tolerations": own},
        "cainjector": {"tolerations": []},
    }


def test_only_addons_that_are_healthy_without_nodes_come_before_them() -> None:
    assert {name.value for name in BEFORE_NODES} == {name for name, addon in ADDONS.items() if not addon.needs_nodes}


@pytest.mark.parametrize("kubernetes", versions())
def test_the_table_has_a_version_of_each_addon_that_exists(kubernetes: str) -> None:
    known = versions()[kubernetes]
    assert set(known) == {name.value for name in AddonName}
    for name, version in known.items():
        assert version in [None, *(each.name for each in ADDONS[name].for_kubernetes(kubernetes))], name


def test_eks_chooses_what_no_source_names() -> None:
    unknown = {name for name, version in versions()["1.35"].items() if version is None}
    assert {"vpc-cni", "kube-proxy", "coredns"} & unknown == set()
    chosen = {name.value for name, version in enabled_addons(file(LUSTRE, version="1.35", scheduling={})).items() if not version}
    assert chosen == unknown
    assert {*enabled_addons(file(version="1.36")).values()} == {None}
