"""The download of lifecycle scripts."""

import io
from collections.abc import Iterator
from typing import Any

import pytest
from botocore.exceptions import ClientError

from local_aws.builds.errors import HostError
from local_aws.hyperpod.lifecycle_scripts import LifecycleScripts
from local_aws.nodes.agent import bundle
from local_aws.nodes.agent.bundle import Store
from local_aws.nodes.specs import NodeFile

SCRIPTS = LifecycleScripts("s3://b/lifecycle/1/", "b", "lifecycle/1", "on_create.sh")
OBJECTS = {"lifecycle/1/": b"", "lifecycle/1/on_create.sh": b"#!/bin/sh\n", "lifecycle/1/lib/a.py": b"a", "lifecycle/10/x": b"x"}


class Bucket:
    """A bucket whose reader is refused some keys, or the list."""

    def __init__(self, objects: dict[str, bytes], refused: tuple[str, ...] = ()) -> None:
        self.objects, self.refused = objects, refused
        self.fetched: list[str] = []

    def get_paginator(self, operation: str) -> "Bucket":
        return self

    def paginate(self, **of: str) -> Iterator[dict[str, Any]]:
        if "list" in self.refused:
            raise ClientError({"Error": {"Code": "AccessDenied", "Message": "no list"}}, "ListObjectsV2")
        keys = [key for key in sorted(self.objects) if key.startswith(of["Prefix"])]
        for key in keys:  # a page for each
            yield {"Contents": [{"Key": key, "ETag": str(hash(self.objects[key]))}]}

    def get_object(self, **of: str) -> dict[str, Any]:
        key = of["Key"]
        if key in self.refused:
            raise ClientError({"Error": {"Code": "AccessDenied", "Message": f"no {key}"}}, "GetObject")
        self.fetched.append(key)
        return {"Body": io.BytesIO(self.objects[key])}


def test_everything_below_the_folder_is_fetched_and_nothing_beside_it() -> None:
    assert Store().fetch(Bucket(OBJECTS), "role", SCRIPTS) == {"on_create.sh": b"#!/bin/sh\n", "lib/a.py": b"a"}


def test_a_whole_bucket_can_be_the_folder() -> None:
    whole = LifecycleScripts("s3://b", "b", "", "on_create.sh")
    assert Store().fetch(Bucket({"on_create.sh": b"1"}), "role", whole) == {"on_create.sh": b"1"}


def test_a_second_node_of_the_role_fetches_its_entry_script_and_what_has_changed() -> None:
    store, bucket = Store(), Bucket(dict(OBJECTS))
    store.fetch(bucket, "role", SCRIPTS)
    bucket.fetched.clear()
    store.fetch(bucket, "role", SCRIPTS)
    assert bucket.fetched == ["lifecycle/1/on_create.sh"]
    bucket.objects["lifecycle/1/lib/a.py"] = b"b"
    assert store.fetch(bucket, "role", SCRIPTS)["lib/a.py"] == b"b"


def test_what_one_role_may_read_is_not_given_to_another() -> None:
    store = Store()
    store.fetch(Bucket(OBJECTS), "role", SCRIPTS)
    with pytest.raises(
        HostError, match=r"could not download s3://b/lifecycle/1/lib/a\.py: AccessDenied: no lifecycle/1/lib/a\.py"
    ):
        store.fetch(Bucket(OBJECTS, ("lifecycle/1/lib/a.py",)), "other", SCRIPTS)


def test_a_role_that_may_not_list_gets_that_error() -> None:
    with pytest.raises(HostError, match="could not list s3://b/lifecycle/1/: AccessDenied: no list"):
        Store().fetch(Bucket(OBJECTS, ("list",)), "role", SCRIPTS)


def test_a_missing_entry_script_is_named() -> None:
    with pytest.raises(HostError, match=r"s3://b/lifecycle/1/on_create\.sh: there is no such object"):
        Store().fetch(Bucket({"lifecycle/1/x": b""}), "role", SCRIPTS)


def test_on_the_node_only_the_entry_script_can_be_executed() -> None:
    laid = bundle.on_node({"on_create.sh": b"1", "lib/a.py": b"2"}, "/tmp/x/src", "on_create.sh")
    assert laid == {"/tmp/x/src/on_create.sh": NodeFile(b"1", 0o755), "/tmp/x/src/lib/a.py": NodeFile(b"2", 0o644)}


@pytest.mark.parametrize(
    ("content", "command"),
    [(b"#!/usr/bin/python3\n", ("/src/go",)), (b"echo 1\n", ("/bin/bash", "/src/go")), (b"", ("/bin/bash", "/src/go"))],
)
def test_a_script_is_run_by_its_first_line_or_else_by_bash(content: bytes, command: tuple[str, ...]) -> None:
    assert bundle.command("/src", "go", content) == command
