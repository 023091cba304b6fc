"""Requests from public repositories and AWS's documentation import, validate, and ask for the same.

tests/data/requests has a reduction of each, with its source and date: ids, accounts, roles and buckets are renamed, and variables
of scripts have values.
"""

import copy
import json
import re
from typing import Any

import pytest
import yaml

from cli.import_cluster import Choices, Imported, Keep, Original, imported
from cluster_request.request import RequestValues, cluster_request
from config.errors import ConfigError, Level
from config.model import ClusterConfig
from tests.unit.cli.import_cluster.originals import DATA, Json, by_scripts, sorted_storage

REQUESTS: dict[str, Any] = {each.stem: json.loads(each.read_text()) for each in (DATA.parent / "requests").glob("*.json")}
REFUSED = sorted(name for name, each in REQUESTS.items() if "refused" in each)
ELSEWHERE = sorted(name for name, each in REQUESTS.items() if "names_another_network" in each)
NEW = [(name, Keep.NOTHING) for name in sorted(REQUESTS.keys() - REFUSED - {*ELSEWHERE})]
KEPT = [(name, Keep.NETWORK) for name in sorted(REQUESTS.keys() - REFUSED) if "VpcConfig" in REQUESTS[name]["request"]]
NO_NETWORK: Json = {"SecurityGroupIds": ["sg"], "Subnets": ["subnet"]}


def import_of(public: Json, keep: Keep) -> Imported:
    """Import the request as its user would."""
    vpc = "vpc-0a1b2c3d4e5f67890" if keep is Keep.NETWORK else None
    choices = Choices(
        keep=keep, zone=public.get("zone", "usw2-az2"), vpc_id=vpc, drop_unknown_groups="drop_unknown_groups" in public
    )
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


def roles_in(parameters: Json) -> set[tuple[str, str, str | None]]:
    """Return the groups in provisioning parameters, with role and partition."""
    workers = {(each["instance_group_name"], "compute", each["partition_name"]) for each in parameters["worker_groups"]}
    return workers | {
        (parameters[f"{role}_group"], role, None) for role in ("controller", "login") if f"{role}_group" in parameters
    }


@pytest.mark.parametrize(("name", "keep"), [*NEW, *KEPT])
def test_a_public_request_gives_a_valid_file_that_asks_for_the_same(name: str, keep: Keep) -> None:
    public, request = REQUESTS[name], copy.deepcopy(REQUESTS[name]["request"])
    made, parameters = import_of(public, keep), public.get("parameters", {})
    assert made.config is not None, made.problems
    assert not [each for each in made.problems if each.level is Level.ERROR or each.rule == "resources-of-another-network"]
    found = asked_for(made.config, request, keep)
    if "parameters" in public:
        assert {(each.name, str(each.role), each.partition) for each in made.config.instance_groups} <= roles_in(parameters)
        assert bool(made.config.storage.lustre or made.config.storage.existing) == ("fsx_dns_name" in parameters)
        found = by_scripts(found) if made.config.uses_slurm_api else found
    if "VpcConfig" not in request:
        assert "# A new network; the original has none." in made.text
        del found["VpcConfig"]
    for group, had in zip(found["InstanceGroups"], request["InstanceGroups"], strict=True):
        if "OnInitComplete" in group.get("LifeCycleConfig", {}):  # as the file's head and the documentation say
            group["LifeCycleConfig"]["OnCreate"] = group["LifeCycleConfig"].pop("OnInitComplete")
        if keep is Keep.NOTHING:  # a new network has one subnet
            own = had.pop("OverrideVpcConfig", {})
            assert all(set(ids) <= set(request["VpcConfig"][kind]) for kind, ids in own.items())
    if keep is Keep.NOTHING:
        assert not re.search("(subnet|sg|fs|vpc)-[0-9a-f]{8}", json.dumps(yaml.safe_load(made.text)))
    assert sorted_storage(found) == sorted_storage(request)  # leaf by leaf


@pytest.mark.parametrize("name", ELSEWHERE)
def test_a_public_request_that_names_another_network_is_reported_with_a_new_one(name: str) -> None:
    problems = import_of(REQUESTS[name], Keep.NOTHING).problems
    assert {each.rule for each in problems} == {"resources-of-another-network"}


@pytest.mark.parametrize("name", REFUSED)
def test_a_public_request_that_no_file_describes_is_refused_in_its_own_words(name: str) -> None:
    with pytest.raises(ConfigError) as told:
        import_of(REQUESTS[name], Keep.NOTHING)
    assert REQUESTS[name]["refused"] in str(told.value)


def test_forty_requests_with_their_sources_are_compared() -> None:
    assert len(NEW) >= 40
    assert len(KEPT) >= 40
    assert all(each["source"] and each["date"].startswith("20") for each in REQUESTS.values())
