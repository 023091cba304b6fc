"""Each field of the network, the storage and the chat channels is changed once: word, preflight and CloudFormation agree."""

import json
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TypeAlias

import pytest
import yaml
from aws_cdk import App, CrossStackReferences, Environment, ReferenceStrength, Stack, Stage

from cli.preflight.account import Account
from cli.preflight.changes import changes
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
from tests.synth.variants import TOPIC
from validation.load import parse_cluster

pytestmark = pytest.mark.local

Json: TypeAlias = dict[str, Any]
Templates: TypeAlias = Mapping[str, Mapping[str, Json]]
STACKS = ("Network", "Storage", "Monitoring")
FAILS, NEW_FILE_SYSTEM, IN_PLACE = "fails", "new file system", "in place"
WORDS = {
    FAILS: ("at creation", "in two deployments"),
    NEW_FILE_SYSTEM: ("replaces the file system", "replaces cluster and file system"),
}
OUTCOMES = {FAILS: {"error"}, NEW_FILE_SYSTEM: {"warning"}}
MORE = """
storage: {data_repository_associations: [{path: /data}]}
monitoring:
  slack: {workspace_id: T0123ABCD, channel_id: C0123ABCD}
  teams: {tenant_id: &id 01234567-89ab-cdef-0123-456789abcdef, team_id: *id, channel_id: 19%3Aabc%40thread.tacv2}
"""
BEFORE = merged(yaml.safe_load(cluster_files.REFERENCE.read_text()), yaml.safe_load(MORE))
# The last cannot be undone: its old subnet is retained and keeps its range.
REPLACING: Json = yaml.safe_load("""
{network.availability_zone_id: usw2-az2, network.vpc_cidr: 10.0.0.0/17, network.public_subnet_cidr: 10.0.1.0/24,
storage.lustre.deployment_type: PERSISTENT_1, storage.lustre.throughput_mbps_per_tib: 500, storage.lustre.version: "2.12",
storage.data_bucket.existing: others, LINK.path: /other, LINK.bucket: others, LINK.prefix: sets,
LINK.import_metadata_on_create: false, monitoring.slack.workspace_id: T9876ABCD,
monitoring.teams.tenant_id: &id 11111111-89ab-cdef-0123-456789abcdef, monitoring.teams.team_id: *id,
network.node_cidr: 10.2.0.0/16}
""")
UPDATED: Json = yaml.safe_load("""
{network.flow_logs_retention_days: 90, storage.lustre.storage_capacity_gib: 2400, storage.lustre.compression: NONE,
storage.lustre.removal: destroy, LINK.imported_file_chunk_size_mib: 512, LINK.auto_import: [NEW], LINK.auto_export: [],
monitoring.slack.channel_id: C9876ABCD, monitoring.teams.channel_id: 19%3Axyz%40thread.tacv2}
""")
CHANGES: dict[str, Json] = {"before": {}, **{field: {field: value} for field, value in REPLACING.items()}, "updated": UPDATED}


def path_of(field: str) -> list[str | int]:
    """Return the path of a field in the file; LINK is the association."""
    above: list[str | int] = ["storage", "data_repository_associations", 0] if field.startswith("LINK") else []
    return [*above, *field.removeprefix("LINK.").split(".")]


def config_of(values: Json, **more: Any) -> ClusterConfig:
    """Return the file with other values of some fields."""
    content: Any = json.loads(json.dumps(merged(BEFORE, more)))
    for field, value in values.items():
        *above, name = path_of(field)
        section = content
        for part in above:
            section = section[part] if isinstance(part, int) else section.setdefault(part, {})
        section[name] = value
        if value == "PERSISTENT_1":
            section["throughput_mbps_per_tib"] = 100
    config = parse_cluster(yaml.safe_dump(content).encode(), "mine")
    assert isinstance(config, ClusterConfig), [str(problem) for problem in config]
    return config


def promised(field: str) -> str:
    """Return the effect that the word of a field promises."""
    found: Any = field_at(ClusterConfig, tuple(path_of(field)))
    word = found.json_schema_extra["change"]
    return next((effect for effect, words in WORDS.items() if word in words), word)


@pytest.fixture(scope="module")
def templates(tmp_path_factory: pytest.TempPathFactory) -> Templates:
    """Return the templates of each file, and of the one without the association."""
    folder = tmp_path_factory.mktemp("out")
    app = App(outdir=str(folder), context=json.loads(FEATURE_FLAGS.read_text()), post_cli_context=TEMPLATES, tree_metadata=False)
    files = {name: config_of(values) for name, values in CHANGES.items()}
    files["unlinked"] = config_of({}, storage={"data_repository_associations": []})
    for number, config in enumerate(files.values()):
        stage = Stage(app, f"file-{number}", env=Environment(account=ACCOUNT, region=REGION))
        CrossStackReferences.of(stage).consume(ReferenceStrength.WEAK)
        network = NetworkStack(stage, "Network", config=config, stack_name="mine-Network")
        StorageStack(stage, "Storage", config=config, network=network.network, stack_name="mine-Storage")
        ChatChannels(Stack(stage, "Monitoring", stack_name="mine-Monitoring"), "Chat", config=config, topic_arn=TOPIC)
    app.synth()
    return {name: _read(folder / f"assembly-file-{number}") for number, name in enumerate(files)}


def _read(assembly: Path) -> dict[str, Json]:
    read = {stack: json.loads(next(assembly.glob(f"*{stack}*.template.json")).read_text()) for stack in STACKS}
    return {stack: {name: read[stack].get(name, {}) for name in ("Resources", "Outputs")} for stack in STACKS}


def deploy(world: World, desired: Mapping[str, Json], deployed: Mapping[str, Json]) -> set[str]:
    """Deploy the stacks whose templates differ, up to the first failure; return the statuses."""
    statuses = set[str]()
    for stack in (stack for stack in STACKS if desired[stack] != deployed.get(stack)):
        outputs = {"Outputs": desired[stack]["Outputs"]}
        statuses.add(world.deploy(desired[stack]["Resources"], f"mine-{stack}", template=outputs))
        if not statuses <= {"CREATE_COMPLETE", "UPDATE_COMPLETE"}:
            break
    return statuses


def effect(world: World, desired: Mapping[str, Json], deployed: Mapping[str, Json]) -> str:
    """Deploy another file; return what happened."""
    before = world.outputs("mine-Storage")["FileSystemId"]
    if deploy(world, desired, deployed) != {"UPDATE_COMPLETE"}:
        return FAILS
    return IN_PLACE if world.outputs("mine-Storage")["FileSystemId"] == before else NEW_FILE_SYSTEM


@pytest.fixture
def deployed(world: World, templates: Templates) -> World:
    """Return the account in which the file is deployed."""
    world.client("s3").create_bucket(Bucket="others", CreateBucketConfiguration={"LocationConstraint": REGION})
    assert deploy(world, templates["before"], {}) == {"CREATE_COMPLETE"}
    return world


def test_each_word_is_what_a_deployment_does(deployed: World, templates: Templates) -> None:
    found, current = dict[str, str](), "before"
    for field in REPLACING:
        if current != "before":
            assert deploy(deployed, templates["before"], templates[current]) == {"UPDATE_COMPLETE"}
        found[field] = effect(deployed, templates[field], templates["before"])
        current = "before" if found[field] == FAILS else field
    assert found == {field: promised(field) for field in REPLACING}


def test_preflight_refuses_what_would_fail_and_warns_of_an_empty_file_system(deployed: World) -> None:
    session = SimpleNamespace(region_name=REGION, client=lambda service, **_: deployed.client(service))
    found = {name: list(changes(Account(config_of(values), session))) for name, values in CHANGES.items()}
    outcomes = {name: {each.outcome.value for each in results} for name, results in found.items()}
    assert outcomes == {**{field: OUTCOMES[promised(field)] for field in REPLACING}, "before": {"ok"}, "updated": {"change"}}
    assert "`network.flow_logs_retention_days`: 30 -> 90: in place" in [each.message for each in found["updated"]]
    kept = f"file system: the new file system is empty, and {deployed.outputs('mine-Storage')['FileSystemId']} is "
    assert found["storage.lustre.version"][0].message.endswith(f"{kept}kept")
    doomed = config_of({"storage.lustre.version": "2.12", "storage.lustre.removal": "destroy"})
    assert next(changes(Account(doomed, session))).message.endswith(f"{kept}deleted with its data")


def test_fields_that_change_in_place_keep_the_file_system(deployed: World, templates: Templates) -> None:
    assert effect(deployed, templates["updated"], templates["before"]) == IN_PLACE
    assert {field: promised(field) for field in UPDATED} == dict.fromkeys(UPDATED, IN_PLACE)


def test_an_association_changes_in_two_deployments(deployed: World, templates: Templates) -> None:
    assert effect(deployed, templates["unlinked"], templates["before"]) == IN_PLACE
    assert effect(deployed, templates["LINK.prefix"], templates["unlinked"]) == IN_PLACE
