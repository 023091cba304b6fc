"""The field's reference clusters, imported and synthesized, ask for what they asked for before."""

from pathlib import Path
from typing import Any

import pytest

from cli.import_cluster import Choices, Keep, imported
from tests.contract.deployed import Deployed
from tests.synth.synthesized import CLUSTER, Synthesized, synthesize
from tests.unit.cli.import_cluster.originals import API_ZONES, ZONES, by_scripts, reference, sorted_storage


@pytest.fixture(scope="module")
def synthesized(tmp_path_factory: pytest.TempPathFactory) -> Synthesized:
    """Each pair twice: with a role, scripts and a network of its own, and with those that it had."""
    folder: Path = tmp_path_factory.mktemp("clusters")
    for pair, zone in (ZONES | API_ZONES).items():
        (folder / f"{pair}.yaml").write_text(imported(reference(pair), Choices(zone=zone)).text)
        kept = imported(reference(pair), Choices(keep=Keep.EVERYTHING, vpc_id="vpc-0123456789abcdef0", zone=zone)).text
        (folder / f"{pair}-kept.yaml").write_text(kept.replace("cluster_name: ", "cluster_name: old-"))
    return synthesize(tmp_path_factory.mktemp("out"), folder)


def request_of(synthesized: Synthesized, cluster: str) -> tuple[str, dict[str, Any]]:
    """The name and the rest of the request that the template has."""
    properties = Deployed(synthesized, cluster).properties(CLUSTER, "Custom::HyperPodCluster")
    return properties["ClusterName"], properties["Request"]


@pytest.mark.parametrize("pair", ZONES)
def test_what_is_kept_is_in_the_template_as_it_was(synthesized: Synthesized, pair: str) -> None:
    name, request = request_of(synthesized, f"{pair}-kept")
    request.pop("Tags", None)
    assert {"ClusterName": name.removeprefix("old-"), **request} == reference(pair).request


@pytest.mark.parametrize("pair", ZONES)
def test_a_new_clusters_template_differs_only_in_what_the_deployment_decides(synthesized: Synthesized, pair: str) -> None:
    original = reference(pair)
    name, request = request_of(synthesized, pair)
    request.pop("Tags", None)
    assert request["VpcConfig"].keys() == original.request["VpcConfig"].keys()
    for group, had in zip(request["InstanceGroups"], original.groups, strict=True):
        assert group["LifeCycleConfig"]["SourceS3Uri"].startswith("s3://scripts/lifecycle/")
        group["LifeCycleConfig"]["SourceS3Uri"] = had["LifeCycleConfig"]["SourceS3Uri"]
        group["ExecutionRole"] = had["ExecutionRole"]
    assert {"ClusterName": name, **by_scripts(request), "VpcConfig": original.request["VpcConfig"]} == original.request


@pytest.mark.parametrize("name", API_ZONES)
def test_a_request_with_slurm_configs_is_in_the_template_as_it_was(synthesized: Synthesized, name: str) -> None:
    cluster_name, request = request_of(synthesized, f"{name}-kept")
    request.pop("Tags", None)
    assert sorted_storage({"ClusterName": cluster_name.removeprefix("old-"), **request}) == sorted_storage(
        reference(name).request
    )


@pytest.mark.parametrize("name", API_ZONES)
def test_a_new_cluster_of_such_a_request_differs_in_named_values(synthesized: Synthesized, name: str) -> None:
    original = reference(name)
    cluster_name, request = request_of(synthesized, name)
    request.pop("Tags", None)
    for group, had in zip(request["InstanceGroups"], original.groups, strict=True):
        # The script runs after HyperPod's set-up, which its steps complete.
        assert group["LifeCycleConfig"].keys() == {"SourceS3Uri", "OnInitComplete"}
        group["LifeCycleConfig"], group["ExecutionRole"] = had["LifeCycleConfig"], had["ExecutionRole"]
        for entry in (each["FsxLustreConfig"] for each in group.get("InstanceStorageConfigs", []) if "FsxLustreConfig" in each):
            [theirs] = [each["FsxLustreConfig"] for each in had["InstanceStorageConfigs"] if "FsxLustreConfig" in each]
            assert entry["MountPath"] == theirs["MountPath"]
            assert entry["DnsName"] != theirs["DnsName"]
            entry.update(theirs)
    made = {"ClusterName": cluster_name, **request, "VpcConfig": original.request["VpcConfig"]}
    assert sorted_storage(made) == sorted_storage(original.request)
