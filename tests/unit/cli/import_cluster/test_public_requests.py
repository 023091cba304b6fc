"""Requests from public repositories and AWS's documentation import, validate, and ask for the same.

tests/data/requests has a reduction of each, with its source and date: ids, accounts, roles and buckets are renamed, and variables
of scripts have values.
"""

import copy
import json
from typing import Any

import pytest

from cli.import_cluster import Choices, Imported, Keep, Original, imported
from cluster_request.request import RequestValues, cluster_request
from config.errors import ConfigError
from config.model import ClusterConfig
from tests.unit.cli.import_cluster.originals import DATA, Json, by_scripts, sorted_storage

REQUESTS: dict[str, Any] = {each.stem: json.loads(each.read_text()) for each in (DATA.parent / "requests").glob("*.json")}
REFUSED = sorted(name for name, each in REQUESTS.items() if "refused" in each)
ZONES = {"us-east-1": "use1-az2", "us-east-2": "use2-az2"}
NO_NETWORK = {"SecurityGroupIds": ["sg"], "Subnets": ["subnet"]}


def import_of(public: Json, keep: Keep) -> Imported:
    """Import the request as its user would."""
    zone = next((zone for region, zone in ZONES.items() if region in json.dumps(public)), "usw2-az2")
    vpc = "vpc-0a1b2c3d4e5f67890" if keep is Keep.NETWORK else None
    choices = Choices(keep=keep, zone=zone, vpc_id=vpc, drop_unknown_groups=public.get("drop_unknown_groups", False))
    return imported(Original(public["request"], public.get("parameters"), "create_cluster.json"), choices)


def asked_for(config: ClusterConfig, request: Json, keep: Keep) -> Json:
    """Return the request of the file, where the values that a deployment decides are those of the original."""
    group, network = request["InstanceGroups"][0], request.get("VpcConfig", NO_NETWORK)
    mounts = [each["FsxLustreConfig"] for each in group.get("InstanceStorageConfigs", []) if "FsxLustreConfig" in each]
    mount = (mounts or [{"DnsName": "fs-new", "MountName": "new"}])[0] if config.storage.file_systems else {}
    values = RequestValues(
        execution_role_arn=group["ExecutionRole"],
        source_s3_uri=group.get("LifeCycleConfig", {}).get("SourceS3Uri", ""),
        subnet_ids=network["Subnets"],
        security_group_ids=network["SecurityGroupIds"][: None if keep is Keep.NOTHING else 1],
        file_system_dns_name=mount.get("DnsName"),
        file_system_mount_name=mount.get("MountName"),
        eks_cluster_arn=request.get("Orchestrator", {}).get("Eks", {}).get("ClusterArn"),
    )
    name = {"ClusterName": config.cluster_name} if config.cluster_name else {}
    return {**name, **cluster_request(config, values=values)}


@pytest.mark.parametrize("name", sorted(REQUESTS.keys() - REFUSED))
@pytest.mark.parametrize("keep", [Keep.NOTHING, Keep.NETWORK])
def test_a_public_request_gives_a_valid_file_that_asks_for_the_same(name: str, keep: Keep) -> None:
    public, request = REQUESTS[name], copy.deepcopy(REQUESTS[name]["request"])
    if keep is Keep.NETWORK and "VpcConfig" not in request:
        return  # there is none to keep
    made = import_of(public, keep)
    if keep is Keep.NOTHING and public.get("names_another_network"):
        assert {each.rule for each in made.problems} == {"resources-of-another-network"}
        return
    assert made.config is not None, made.problems
    found = asked_for(made.config, request, keep)
    if "parameters" in public and made.config.uses_slurm_api:
        found = by_scripts(found)
    if "VpcConfig" not in request:
        assert "# A new network; the original has none." in made.text
        del found["VpcConfig"]
    for group, had in zip(found["InstanceGroups"], request["InstanceGroups"], strict=True):
        if "OnInitComplete" in group.get("LifeCycleConfig", {}):  # as the file's head and the documentation say
            group["LifeCycleConfig"]["OnCreate"] = group["LifeCycleConfig"].pop("OnInitComplete")
        if keep is Keep.NOTHING:  # a new network has one subnet
            had.pop("OverrideVpcConfig", None)
            assert "subnet-" not in json.dumps(group)
    assert sorted_storage(found) == sorted_storage(request)  # leaf by leaf


@pytest.mark.parametrize("name", REFUSED)
def test_a_public_request_that_no_file_describes_is_refused_in_its_own_words(name: str) -> None:
    with pytest.raises(ConfigError) as told:
        import_of(REQUESTS[name], Keep.NOTHING)
    assert REQUESTS[name]["refused"] in str(told.value)


def test_there_are_forty_requests_with_their_sources() -> None:
    assert len(REQUESTS) >= 40
    assert all(each["source"] and each["date"].startswith("20") for each in REQUESTS.values())
