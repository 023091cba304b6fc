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
from cli.preflight.changes import RESOURCES, changes
from cluster_request.request import merged
from config.fields import field_at, section_at
from config.model import ClusterConfig
from constructs.hyperpod.monitoring.notifications import ChatChannels
from local_aws.testing import ACCOUNT, REGION
from stacks.clusters_app import FEATURE_FLAGS, TEMPLATES
from stacks.network_stack import NetworkStack
from stacks.storage_stack import StorageStack
from tests import cluster_files
from tests.simulator.cloudformation.conftest import World
from tests.synth.variants import TOPIC
from tests.unit.conftest import Draft

pytestmark = [pytest.mark.local, pytest.mark.long]

Json: TypeAlias = dict[str, Any]
Templates: TypeAlias = Mapping[str, Mapping[str, Json]]
STACKS = ("Network", "Storage", "Monitoring")
FAILS, NEW_FILE_SYSTEM, IN_PLACE = "fails", "new file system", "in place"
WORDS = {"at creation": FAILS, "in two deployments": FAILS, "replaces the file system": NEW_FILE_SYSTEM}
WORDS["replaces cluster and file system"] = NEW_FILE_SYSTEM
OUTCOMES = {FAILS: "error", NEW_FILE_SYSTEM: "warning"}
MORE = """
storage: {lustre: {storage_capacity_gib: 2400}, data_repository_associations: [{path: /data}]}
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
{network.flow_logs_retention_days: 90, storage.lustre.storage_capacity_gib: 4800, storage.lustre.compression: NONE,
storage.lustre.removal: destroy, LINK.imported_file_chunk_size_mib: 512, LINK.auto_import: [NEW], LINK.auto_export: [],
monitoring.slack.channel_id: C9876ABCD, monitoring.teams.channel_id: 19%3Axyz%40thread.tacv2}
""")
CHANGES: dict[str, Json] = {"before": {}, **{field: {field: value} for field, value in REPLACING.items()}, "updated": UPDATED}
CHANGES["storage.lustre.deployment_type"]["storage.lustre.throughput_mbps_per_tib"] = 100
CHANGES["unlinked"] = {"storage.data_repository_associations": []}


def path_of(field: str) -> list[str | int]:
    """Return the path of a field in the file; LINK is the association."""
    path = field.replace("LINK", "storage.data_repository_associations.0").split(".")
    return [int(part) if part == "0" else part for part in path]


def config_of(values: Json) -> ClusterConfig:
    """Return the file with other values of some fields."""
    draft = Draft(Path(), yaml.safe_dump(BEFORE))
    for field, value in values.items():
        draft.set(*path_of(field), value)
    return draft.config()


def promised(field: str) -> str:
    """Return the effect that the word of a field promises."""
    found: Any = field_at(ClusterConfig, tuple(path_of(field)))
    return str(WORDS.get(found.json_schema_extra["change"], found.json_schema_extra["change"]))


@pytest.fixture(scope="module")
def templates(tmp_path_factory: pytest.TempPathFactory) -> Templates:
    """Return the templates of each file."""
    folder = tmp_path_factory.mktemp("out")
    app = App(outdir=str(folder), context=json.loads(FEATURE_FLAGS.read_text()), post_cli_context=TEMPLATES, tree_metadata=False)
    files = {name: config_of(values) for name, values in CHANGES.items()}
    for number, config in enumerate(files.values()):
        stage = Stage(app, f"file-{number}", env=Environment(account=ACCOUNT, region=REGION), stage_name="draft")
        CrossStackReferences.of(stage).consume(ReferenceStrength.WEAK)
        network = NetworkStack(stage, "Network", config=config)
        StorageStack(stage, "Storage", config=config, network=network.network)
        ChatChannels(Stack(stage, "Monitoring"), "Chat", config=config, topic_arn=TOPIC)
    app.synth()
    found = {
        name: {stack: folder.glob(f"*file-{number}/*{stack}*.template.json") for stack in STACKS}
        for number, name in enumerate(files)
    }
    return {name: {stack: json.loads(next(paths).read_text()) for stack, paths in of.items()} for name, of in found.items()}


def deploy(world: World, desired: Mapping[str, Json], deployed: Mapping[str, Json]) -> set[str]:
    """Deploy the stacks whose templates differ, up to the first failure; return the statuses."""
    statuses = set[str]()
    for stack in (stack for stack in STACKS if desired[stack] != deployed.get(stack)):
        outputs = {"Outputs": desired[stack].get("Outputs", {})}
        # The cleanup acts on deletion only, and its function has an asset.
        resources = {name: each for name, each in desired[stack]["Resources"].items() if "Cleanup" not in name}
        statuses.add(world.deploy(resources, f"draft-{stack}", template=outputs))
        if not statuses <= {"CREATE_COMPLETE", "UPDATE_COMPLETE"}:
            break
    return statuses


def effect(world: World, desired: Mapping[str, Json], deployed: Mapping[str, Json]) -> str:
    """Deploy another file; return what happened."""
    before = world.outputs("draft-Storage")["FileSystemId"]
    if deploy(world, desired, deployed) != {"UPDATE_COMPLETE"}:
        return FAILS
    return IN_PLACE if world.outputs("draft-Storage")["FileSystemId"] == before else NEW_FILE_SYSTEM


@pytest.fixture
def deployed(world: World, templates: Templates) -> World:
    """Return the account in which the file is deployed."""
    world.client("s3").create_bucket(Bucket="others", CreateBucketConfiguration={"LocationConstraint": REGION})
    assert deploy(world, templates["before"], {}) == {"CREATE_COMPLETE"}
    return world


def test_each_field_of_these_resources_is_changed() -> None:
    operations, fields = {*RESOURCES, "fsx:CreateDataRepositoryAssociation"}, set[str]()
    for place in ("network", "storage.lustre", "LINK", "monitoring.slack", "monitoring.teams"):
        found: Any = section_at(ClusterConfig, (*path_of(place), ""))
        apis = {name: field.json_schema_extra["api"].partition(" ")[0] for name, field in found.model_fields.items()}
        fields |= {f"{place}.{name}" for name, operation in apis.items() if operation in operations}
    assert fields
    assert fields <= REPLACING.keys() | UPDATED.keys()


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
    expected = {field: {OUTCOMES[promised(field)]} for field in REPLACING}
    assert outcomes == expected | {"before": {"ok"}, "unlinked": {"ok"}, "updated": {"change"}}
    assert "`network.flow_logs_retention_days`: 30 -> 90: in place" in [each.message for each in found["updated"]]
    kept = f"file system: the new file system is empty, and {deployed.outputs('draft-Storage')['FileSystemId']} is "
    assert found["storage.lustre.version"][0].message.endswith(f"{kept}kept")
    unused = config_of({"storage.lustre": None, "storage.data_repository_associations": []})
    [removed] = [each for each in changes(Account(unused, session)) if each.outcome.value == "warning"]
    assert "leaves the deployment" in removed.message
    doomed = {"storage.lustre.version": "2.12", "storage.lustre.removal": "destroy"}
    smaller = {"storage.lustre.storage_capacity_gib": 1200}
    outcome = [
        [each.outcome.value for each in changes(Account(config_of(values), session))] for values in (smaller, smaller | doomed)
    ]
    assert outcome == [["error"], ["warning"]]
    assert next(changes(Account(config_of(doomed), session))).message.endswith(f"{kept}deleted")


def test_all_others_change_in_place_and_an_association_in_two_deployments(deployed: World, templates: Templates) -> None:
    assert effect(deployed, templates["unlinked"], templates["before"]) == IN_PLACE
    assert effect(deployed, templates["LINK.prefix"], templates["unlinked"]) == IN_PLACE
    assert effect(deployed, templates["unlinked"], templates["LINK.prefix"]) == IN_PLACE
    assert effect(deployed, templates["updated"], templates["unlinked"]) == IN_PLACE
    assert {promised(field) for field in UPDATED} == {IN_PLACE}
