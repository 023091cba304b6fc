"""Whatever CreateCluster can be asked for is asked for by the file that an import gives."""

from dataclasses import replace
from typing import Any, cast

import pytest

from cli.import_cluster import Choices, Keep, Original, imported
from cluster_request.request import RequestValues, cluster_request
from config.errors import ConfigError, Path, dotted
from config.instance_group import InstanceGroup
from tests.unit.cli.import_cluster.originals import valid
from tests.unit.cluster_request.request_leaves import SAMPLES, holding, leaves

EKS = ("Orchestrator", "Eks", "ClusterArn")
KEPT = Choices(keep=Keep.EVERYTHING, zone="usw2-az4", vpc_id="vpc-0123456789abcdef0")


def original(leaf: Path) -> Original:
    """A request with the field in it, a network, and a controller behind the group that there may be."""
    wanted: dict[str, Any] = holding(leaf)
    for group in wanted.get("InstanceGroups", ()):
        if "InstanceRequirements" not in group:
            group["InstanceType"] = "ml.p5.48xlarge"
        script = {} if "OnInitComplete" in leaf else {"OnCreate": SAMPLES["OnCreate"]}
        group["LifeCycleConfig"] = {"SourceS3Uri": SAMPLES["SourceS3Uri"], **script, **group.get("LifeCycleConfig", {})}
    head = {**holding(("InstanceGroups", 0, "InstanceType"))["InstanceGroups"][0], "InstanceGroupName": "head"}
    head["LifeCycleConfig"] = {name: SAMPLES[name] for name in ("SourceS3Uri", "OnCreate")}
    names = [group["InstanceGroupName"] for group in wanted.get("InstanceGroups", ())]
    request = {**holding(("VpcConfig",)), **wanted, "InstanceGroups": [*wanted.get("InstanceGroups", ()), head]}
    workers = [{"instance_group_name": name, "partition_name": "dev"} for name in names]
    return Original(request, {"controller_group": "head", "worker_groups": workers})


@pytest.mark.parametrize("leaf", sorted(set(leaves()) - {EKS}, key=str), ids=dotted)
def test_the_field_is_the_same_in_the_imported_files_request(leaf: Path) -> None:
    given = original(leaf)
    config = valid(imported(given, KEPT))
    request = cluster_request(config, values=RequestValues.samples(config))
    assert {"ClusterName": config.cluster_name, **request} == given.request


def test_parameters_of_slurm_with_an_eks_cluster_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"Orchestrator\.Eks\.ClusterArn: .* uses EKS, which has no provisioning parameters"):
        imported(original(EKS), KEPT)


ROLE = "arn:aws:iam::123456789012:role/scaling"
SLURM_ONLY = {"SlurmConfig", "Slurm"}
NEEDS_A_SIZE = {"InstanceStorageConfigs.EbsVolumeConfig.VolumeKmsKeyId"}


def has_field(leaf: Path) -> bool:
    """Whether a field of the group sets this member of the request, or a part of it."""
    member = ".".join(name for name in leaf[1:] if isinstance(name, str))
    extras = [cast("dict[str, str]", field.json_schema_extra) for field in InstanceGroup.model_fields.values()]
    members = [extra["api"].partition(" InstanceGroups[].")[2].replace("[]", "") for extra in extras]
    return (
        leaf[0] == "InstanceGroups"
        and member not in NEEDS_A_SIZE
        and f"{member}.".startswith(tuple(f"{m}." for m in members if m))
    )


@pytest.mark.parametrize("leaf", sorted((leaf for leaf in leaves() if not SLURM_ONLY & {*leaf}), key=str), ids=dotted)
def test_the_field_of_a_cluster_with_eks_is_the_same_in_the_imported_files_request(leaf: Path) -> None:
    given = replace(original(leaf), parameters=None)
    # What CreateCluster demands of a cluster that scales.
    scaling = {"NodeProvisioningMode": "Continuous", "ClusterRole": ROLE} if leaf[0] == "AutoScaling" else {}
    request = {**given.request, **scaling, "Orchestrator": {"Eks": {"ClusterArn": SAMPLES["ClusterArn"]}}}
    config = valid(imported(replace(given, request=request), KEPT))
    assert config.eks is not None
    assert config.role_names() == {}
    assert not has_field(leaf) or leaf[2] not in config.instance_groups[0].overrides
    values = replace(RequestValues.samples(config), eks_cluster_arn=SAMPLES["ClusterArn"])
    assert {"ClusterName": config.cluster_name, **cluster_request(config, values=values)} == request
