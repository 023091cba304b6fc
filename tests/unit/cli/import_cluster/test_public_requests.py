"""Requests from public repositories and AWS's documentation import, validate, and ask for the same.

tests/data/requests has a reduction of each, with its source and date: ids, accounts, roles and buckets are renamed, and variables
of scripts have values.
"""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from cli.import_cluster import Choices, Imported, Keep, Original, imported
from cluster_request.request import RequestValues, cluster_request
from config.errors import ConfigError, Level
from tests.unit.cli.import_cluster.originals import DATA, Json, by_scripts, sorted_storage

REQUESTS: dict[str, Any] = {file.stem: json.loads(file.read_text()) for file in sorted((DATA.parent / "requests").glob("*.json"))}
ZONES = {"us-west-2": "usw2-az2", "us-east-1": "use1-az2", "us-east-2": "use2-az2"}
RULE = "resources-of-another-network"


def import_of(public: Json, keep: Keep) -> Imported:
    """Import the request as its user would."""
    text = json.dumps(public)
    zone = next((zone for region, zone in ZONES.items() if f"{region}." in text or f":{region}:" in text), "usw2-az2")
    vpc = "vpc-0a1b2c3d4e5f67890" if keep is Keep.NETWORK else None
    choices = Choices(keep=keep, zone=zone, vpc_id=vpc, drop_unknown_groups=public.get("drop_unknown_groups", False))
    return imported(Original(public["request"], public.get("parameters"), "create_cluster.json"), choices)


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield each value without parts, with its path."""
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    yield from (leaf for key, part in parts for leaf in leaves(part, f"{path}/{key}")) if parts else [(path, value)]


def asked_for(made: Imported, request: Json, keep: Keep) -> Json:
    """Return the request of the file, where the values that a deployment decides are those of the original."""
    assert made.config is not None
    group, network = request["InstanceGroups"][0], request.get("VpcConfig", {"SecurityGroupIds": ["sg"], "Subnets": ["subnet"]})
    has_lustre = any(each.mount_path == "/fsx" for each in made.config.storage.file_systems)
    mounts = [
        each["FsxLustreConfig"] for each in group.get("InstanceStorageConfigs", []) if has_lustre and "FsxLustreConfig" in each
    ]
    values = RequestValues(
        execution_role_arn=group["ExecutionRole"],
        source_s3_uri=group.get("LifeCycleConfig", {}).get("SourceS3Uri", "s3://none"),
        subnet_ids=network["Subnets"],
        security_group_ids=network["SecurityGroupIds"] if keep is Keep.NOTHING else network["SecurityGroupIds"][:1],
        file_system_dns_name=mounts[0]["DnsName"] if mounts else "fs-new" if has_lustre else None,
        file_system_mount_name=mounts[0]["MountName"] if mounts else "new" if has_lustre else None,
        eks_cluster_arn=request.get("Orchestrator", {}).get("Eks", {}).get("ClusterArn"),
    )
    found = cluster_request(made.config, values=values)
    return {**found, **({"ClusterName": made.config.cluster_name} if made.config.cluster_name else {})}


@pytest.mark.parametrize("name", [name for name, each in REQUESTS.items() if "refused" not in each])
@pytest.mark.parametrize("keep", [Keep.NOTHING, Keep.NETWORK])
def test_a_public_request_gives_a_valid_file_that_asks_for_the_same(name: str, keep: Keep) -> None:
    public = REQUESTS[name]
    request = json.loads(json.dumps(public["request"]))
    if keep is Keep.NETWORK and "VpcConfig" not in request:
        pytest.skip("there is no network to keep")
    made = import_of(public, keep)
    if keep is Keep.NOTHING and public.get("names_another_network"):
        assert {each.rule for each in made.problems if each.level is Level.ERROR} == {RULE}
        return
    assert made.problems == ()
    found = asked_for(made, request, keep)
    if "parameters" in public and keep is Keep.NOTHING and made.config and made.config.uses_slurm_api:
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
    assert dict(leaves(sorted_storage(found))) == dict(leaves(sorted_storage(request)))


@pytest.mark.parametrize("name", [name for name, each in REQUESTS.items() if "refused" in each])
def test_a_public_request_that_no_file_describes_is_refused_in_its_own_words(name: str) -> None:
    with pytest.raises(ConfigError) as told:
        import_of(REQUESTS[name], Keep.NOTHING)
    assert REQUESTS[name]["refused"] in str(told.value)


def test_there_are_forty_requests_of_each_kind_with_their_sources() -> None:
    assert len(REQUESTS) >= 40
    assert {name.partition("-")[0] for name in REQUESTS} == {"slurm", "api", "eks"}
    assert all(each["source"] and each["date"][:2] == "20" for each in REQUESTS.values())
