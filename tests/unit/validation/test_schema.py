"""The JSON schema for editors."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft7Validator

from config.fields import section_of
from config.model import ClusterConfig
from config.section import Section
from tests import cluster_files
from tools.configuration_page_texts import EKS_EXAMPLES, EXAMPLES, LEVELS_EXAMPLE, MINIMAL, MINIMAL_EKS, OVERRIDES_EXAMPLE
from validation.schema import FILE, cluster_schema, render

SCHEMA = cluster_schema()


def wrong(content: object) -> list[str]:
    """Return the paths of the schema's errors."""
    return ["/".join(map(str, error.absolute_path)) for error in Draft7Validator(SCHEMA).iter_errors(content)]


def test_the_file_is_fresh() -> None:
    assert FILE.read_text() == render(), "run `make docs`"


def sections(model: type[Section]) -> set[type[Section]]:
    """Return the section and those in it."""
    below = {found for field in model.model_fields.values() if (found := section_of(field.annotation))}
    return {model}.union(*(sections(each) for each in below))


def test_every_field_is_in_the_schema() -> None:
    for model in sections(ClusterConfig) - {ClusterConfig}:
        assert SCHEMA["definitions"][model.__name__]["properties"].keys() == model.model_fields.keys()


def test_it_is_a_schema() -> None:
    Draft7Validator.check_schema(json.loads(FILE.read_text()))


@pytest.mark.parametrize("path", cluster_files.ALL, ids=lambda path: path.stem)
def test_a_shipped_file_names_the_schema_and_keeps_to_it(path: Path) -> None:
    first = path.read_text().splitlines()[0]
    named = re.fullmatch(r"# yaml-language-server: \$schema=(\S+)", first)
    assert named
    assert (path.parent / named[1]).resolve() == FILE
    assert wrong(yaml.safe_load(path.read_text())) == []


@pytest.mark.parametrize("example", [*EXAMPLES.values(), LEVELS_EXAMPLE, OVERRIDES_EXAMPLE])
def test_the_documentations_examples_match_the_schema(example: str) -> None:
    assert wrong({**yaml.safe_load(MINIMAL), **yaml.safe_load(example)}) == []


@pytest.mark.parametrize("example", ["{}", *EKS_EXAMPLES.values()])
def test_the_examples_for_eks_match_the_schema(example: str) -> None:
    assert wrong({**yaml.safe_load(MINIMAL_EKS), **yaml.safe_load(example)}) == []


def test_only_groups_of_slurm_need_a_role() -> None:
    content = yaml.safe_load(MINIMAL_EKS)
    assert wrong({**content, "eks": None}) == ["instance_groups/0"]
    assert wrong({key: value for key, value in content.items() if key != "eks"}) == ["instance_groups/0"]


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("region",), "us-wset-2"),
        (("region",), 7),
        (("account",), "1234"),
        (("colour",), "red"),
        (("name",), "reference"),
        (("wait_hours",), 13),
        (("wait",), "all"),
        (("network", "availability_zone_id"), "us-west-2a"),
        (("network", "node_cidr"), "10.0.0.0"),
        (("storage", "lustre", "version"), 2.15),
        (("storage", "lustre", "compression"), "ZIP"),
        (("instance_groups", 0, "instance_count"), -1),
        (("instance_groups", 0, "instance_type"), "ml.p5.48xlrge"),
        (("instance_groups", 0, "role"), "boss"),
        (("instance_groups", 0, "overrides"), {"Nmae": 1}),
        (("instance_groups", 0, "overrides"), {"InstanceCount": 1}),
        (("instance_groups", 0, "overrides"), {"LifeCycleConfig": {"SourceS3URI": "s3://a/b"}}),
        (("instance_groups", 0, "overrides"), {"ThreadsPerCore": 3}),
        (("instance_groups",), []),
        (("overrides",), {"NodeProvisioningMode": "Sometimes"}),
        (("overrides",), {"VpcConfig": {"Subnets": ["s n"]}}),
        (("suppress",), [{"rule": "zone-region", "reason": "why not"}]),
    ],
)
def test_a_mistake_in_a_field_is_seen_in_the_editor(path: tuple[Any, ...], value: object) -> None:
    content: Any = yaml.safe_load(MINIMAL)
    place = content
    for part in path[:-1]:
        place = place[part]
    place[path[-1]] = value
    assert len(wrong(content)) >= 1


@pytest.mark.parametrize(
    "given",
    [
        {"overrides": {"NodeRecovery": None, "VpcConfig": None}},
        {"cluster_name": None, "storage": {"lustre": None}},
        {"overrides": {"VpcConfig": {"Subnets": None}, "NodeProvisioningMode": "Continuous"}},
    ],
)
def test_null_is_accepted_where_it_removes_a_member(given: dict[str, Any]) -> None:
    assert wrong({**yaml.safe_load(MINIMAL), **given}) == []


def test_every_field_describes_the_effect_of_a_change() -> None:
    sections = [SCHEMA, *(each for name, each in SCHEMA["definitions"].items() if not name.startswith("api."))]
    fields = {name: field for section in sections for name, field in section.get("properties", {}).items()}
    assert len(fields) > 60
    for name, field in fields.items():
        assert re.search(r"\. On change: [a-z ]+\.$", field["description"]), name
