"""Each field of the network, the storage and the chat channels is changed once; CloudFormation does what its word says."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

import pytest
import yaml
from aws_cdk import App, CrossStackReferences, Environment, ReferenceStrength, Stack, Stage

from cluster_request.request import merged
from config.fields import field_at
from config.model import ClusterConfig
from constructs.hyperpod.monitoring.chat_channels import ChatChannels
from local_aws.testing import ACCOUNT, REGION
from stacks.clusters_app import FEATURE_FLAGS, TEMPLATES
from stacks.network_stack import NetworkStack
from stacks.storage_stack import StorageStack
from tests import cluster_files
from tests.local.cloudformation.conftest import World
from tests.synth.variants import TEAMS_ID, TOPIC
from validation.load import parse_cluster

pytestmark = pytest.mark.local

Json: TypeAlias = dict[str, Any]
Templates: TypeAlias = Mapping[str, Mapping[str, Json]]
STACKS = ("Network", "Storage", "Chat")
CHAT = {
    "slack": {"workspace_id": "T0123ABCD", "channel_id": "C0123ABCD"},
    "teams": {"tenant_id": TEAMS_ID, "team_id": TEAMS_ID, "channel_id": "19%3Aabc%40thread.tacv2"},
}
BEFORE = merged(
    yaml.safe_load(cluster_files.REFERENCE.read_text()),
    {"storage": {"data_repository_associations": [{"path": "/data"}]}, "monitoring": CHAT},
)
OTHER_TEAM = TEAMS_ID.replace("0", "1")
LINK = "storage.data_repository_associations.0."
REPLACING: dict[str, Any] = {
    "network.availability_zone_id": "usw2-az2",
    "network.vpc_cidr": "10.0.0.0/17",
    "network.public_subnet_cidr": "10.0.1.0/24",
    "storage.lustre.deployment_type": "PERSISTENT_1",
    "storage.lustre.throughput_mbps_per_tib": 500,
    "storage.lustre.version": "2.12",
    "storage.data_bucket.existing": "others",
    f"{LINK}path": "/other",
    f"{LINK}bucket": "others",
    f"{LINK}prefix": "sets",
    f"{LINK}import_metadata_on_create": False,
    "monitoring.slack.workspace_id": "T9876ABCD",
    "monitoring.teams.tenant_id": OTHER_TEAM,
    "monitoring.teams.team_id": OTHER_TEAM,
    "network.node_cidr": "10.2.0.0/16",  # the last: the retained subnet keeps its range, so it cannot be undone
}
UPDATED: dict[str, Any] = {
    "network.flow_logs_retention_days": 90,
    "storage.lustre.storage_capacity_gib": 2400,
    "storage.lustre.compression": "NONE",
    "storage.lustre.removal": "destroy",
    f"{LINK}imported_file_chunk_size_mib": 512,
    f"{LINK}auto_import": ["NEW"],
    f"{LINK}auto_export": [],
    "monitoring.slack.channel_id": "C9876ABCD",
    "monitoring.teams.channel_id": "19%3Axyz%40thread.tacv2",
}
CHANGES = {**{field: {field: value} for field, value in REPLACING.items()}, "all others": UPDATED}
FAILS, OTHER_FILE_SYSTEM, IN_PLACE = "fails", "other file system", "in place"
# What a deployment does if no preflight refuses the change.
MEANING = {
    "at creation": FAILS,
    "in two deployments": FAILS,
    "replaces the file system": OTHER_FILE_SYSTEM,
    "replaces cluster and file system": OTHER_FILE_SYSTEM,
    "in place": IN_PLACE,
}


def changed(values: Json) -> Json:
    """Return the file with other values of some fields."""
    content: Any = json.loads(json.dumps(BEFORE))
    for field, value in values.items():
        *above, name = (int(part) if part.isdigit() else part for part in field.split("."))
        section = content
        for part in above:
            section = section.setdefault(part, {}) if isinstance(section, dict) else section[int(part)]
        section[name] = value
        if value == "PERSISTENT_1":
            section["throughput_mbps_per_tib"] = 100
    return dict(content)


@pytest.fixture(scope="module")
def templates(tmp_path_factory: pytest.TempPathFactory) -> Templates:
    """Return the templates of the file before and after each change, and without the association."""
    folder = tmp_path_factory.mktemp("out")
    app = App(outdir=str(folder), context=json.loads(FEATURE_FLAGS.read_text()), post_cli_context=TEMPLATES, tree_metadata=False)
    unlinked = {**BEFORE, "storage": {**BEFORE["storage"], "data_repository_associations": []}}
    files = {"before": BEFORE, "unlinked": unlinked, **{name: changed(values) for name, values in CHANGES.items()}}
    for number, content in enumerate(files.values()):
        config = parse_cluster(yaml.safe_dump(content).encode(), "mine")
        assert isinstance(config, ClusterConfig), [str(problem) for problem in config]
        stage = Stage(app, f"file-{number}", env=Environment(account=ACCOUNT, region=REGION))
        CrossStackReferences.of(stage).consume(ReferenceStrength.WEAK)
        network = NetworkStack(stage, "Network", config=config, stack_name="Network")
        StorageStack(stage, "Storage", config=config, network=network.network, stack_name="Storage")
        ChatChannels(Stack(stage, "Chat", stack_name="Chat"), "Chat", config=config, topic_arn=TOPIC)
    app.synth()
    return {name: _read(folder / f"assembly-file-{number}") for number, name in enumerate(files)}


def _read(assembly: Path) -> dict[str, Json]:
    read = {stack: json.loads(next(assembly.glob(f"*{stack}*.template.json")).read_text()) for stack in STACKS}
    return {stack: {name: read[stack].get(name, {}) for name in ("Resources", "Outputs")} for stack in STACKS}


def deploy(world: World, desired: Mapping[str, Json], deployed: Mapping[str, Json]) -> set[str]:
    """Deploy the stacks whose templates differ, up to the first failure; return the statuses."""
    statuses = set[str]()
    for stack in (stack for stack in STACKS if desired[stack] != deployed.get(stack)):
        statuses.add(world.deploy(desired[stack]["Resources"], stack, template={"Outputs": desired[stack]["Outputs"]}))
        if not statuses <= {"CREATE_COMPLETE", "UPDATE_COMPLETE"}:
            break
    return statuses


def file_system(world: World) -> str:
    """Return the id of the stack's file system."""
    found = world.cloudformation.describe_stack_resources(StackName="Storage")["StackResources"]
    return next(str(each["PhysicalResourceId"]) for each in found if each["ResourceType"] == "AWS::FSx::FileSystem")


def effect(world: World, desired: Mapping[str, Json], deployed: Mapping[str, Json]) -> str:
    """Deploy another file; return what happened."""
    before = file_system(world)
    if deploy(world, desired, deployed) != {"UPDATE_COMPLETE"}:
        return FAILS
    return IN_PLACE if file_system(world) == before else OTHER_FILE_SYSTEM


@pytest.fixture
def deployed(world: World, templates: Templates) -> World:
    """Return the account in which the file is deployed."""
    world.client("s3").create_bucket(Bucket="others", CreateBucketConfiguration={"LocationConstraint": REGION})
    assert deploy(world, templates["before"], {}) == {"CREATE_COMPLETE"}
    return world


def word(field: str) -> str:
    """Return the word of a field."""
    found = field_at(ClusterConfig, tuple(field.replace(".0", "").split(".")))
    extra: Any = found and found.json_schema_extra
    return str(extra["change"])


def test_each_word_is_what_the_embedded_aws_does(deployed: World, templates: Templates) -> None:
    found, current = dict[str, str](), "before"
    for field in REPLACING:
        if current != "before":
            assert deploy(deployed, templates["before"], templates[current]) == {"UPDATE_COMPLETE"}
        found[field] = effect(deployed, templates[field], templates["before"])
        current = "before" if found[field] == FAILS else field
    assert found == {field: MEANING.get(word(field), word(field)) for field in REPLACING}


def test_fields_that_change_in_place_keep_the_file_system(deployed: World, templates: Templates) -> None:
    assert effect(deployed, templates["all others"], templates["before"]) == IN_PLACE
    assert {field: word(field) for field in UPDATED} == dict.fromkeys(UPDATED, IN_PLACE)


def test_an_association_changes_in_two_deployments(deployed: World, templates: Templates) -> None:
    before = file_system(deployed)
    for desired, previous in (("unlinked", "before"), (f"{LINK}prefix", "unlinked")):
        assert deploy(deployed, templates[desired], templates[previous]) == {"UPDATE_COMPLETE"}
    assert file_system(deployed) == before
