"""What a node makes of node_settings.json, and what it says of one that is not whole."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hyperpod_node.errors import NodeError
from hyperpod_node.node_settings import NodeSettings, User
from tests.node_settings import LOCAL_DATABASE, P5_TYPE, node_settings, user


def whole() -> dict[str, Any]:
    return node_settings(
        groups=[{"name": "team", "gid": 5000}],
        users=[user("alice", 4001, groups=["team"])],
        accounting=LOCAL_DATABASE,
        instance_types=P5_TYPE,
    )


def load(tmp_path: Path, content: dict[str, Any]) -> NodeSettings:
    path = tmp_path / "node_settings.json"
    path.write_text(json.dumps(content))
    return NodeSettings.load(path)


def test_a_whole_file_is_read(tmp_path: Path) -> None:
    settings = load(tmp_path, whole())
    assert settings.users == (User("alice", 4001, ("team",), (), sudo=False),)
    assert settings.instance_types["ml.p5.48xlarge"].gpu == "h100"


@pytest.mark.parametrize("key", whole())
def test_a_missing_section_is_named(tmp_path: Path, key: str) -> None:
    content = whole()
    del content[key]
    with pytest.raises(NodeError, match=rf"node_settings\.json has no '{key}'"):
        load(tmp_path, content)


PLACES = [
    (("groups", 0, "gid"), "groups[0]"),
    (("users", 0, "uid"), "users[0]"),
    (("users", 0, "ssh_public_keys"), "users[0]"),
    (("accounting", "port"), "accounting"),
    (("slurm", "topology"), "slurm"),
    (("instance_types", "ml.p5.48xlarge", "efa"), "instance_types.ml.p5.48xlarge"),
]


@pytest.mark.parametrize(("keys", "place"), PLACES)
def test_a_missing_field_is_named_with_its_place(tmp_path: Path, keys: tuple[Any, ...], place: str) -> None:
    content = whole()
    part: Any = content
    for key in keys[:-1]:
        part = part[key]
    del part[keys[-1]]
    with pytest.raises(NodeError) as caught:
        load(tmp_path, content)
    assert str(caught.value).startswith(f"{tmp_path}/node_settings.json, {place}, has no '{keys[-1]}', only [")


@pytest.mark.parametrize(
    ("section", "value", "problem"),
    [
        ("users", {}, "has a dict at 'users', not a list"),
        ("slurm", [], "slurm, is a list, not an object"),
        ("instance_types", [], r"node_settings\.json has a list at 'instance_types', not an object"),
    ],
)
def test_a_list_and_an_object_are_not_taken_for_each_other(tmp_path: Path, section: str, value: object, problem: str) -> None:
    with pytest.raises(NodeError, match=problem):
        load(tmp_path, {**whole(), section: value})
