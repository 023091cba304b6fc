"""An invalid value skips only the rules that need it."""

from typing import Any

import pytest


def told(draft: Any) -> set[tuple[str, str]]:
    return {(problem.rule, ".".join(map(str, problem.path))) for problem in draft.problems()}


def test_a_wrong_entry_of_a_list_hides_no_mistake_of_another(draft: Any) -> None:
    users = [{"name": "no name", "uid": 10001}, {"name": "eve", "uid": 10002}, {"name": "bob", "uid": 10002}]
    assert told(draft.set("users", users)) == {("pattern", "users.0.name"), ("unique-account-ids", "users.2.uid")}
    [line] = [line for line in draft.lines() if "uid" in line]
    assert "already used by users[1]" in line


def test_a_wrong_group_hides_no_mistake_of_another(draft: Any) -> None:
    draft.set("instance_groups", 0, "role", "boss").set("instance_groups", 1, "instance_count", 0)
    draft.set("instance_groups", 2, "overrides", "MinInstanceCount", 5)
    assert told(draft) == {
        ("choice", "instance_groups.0.role"),
        ("empty-login-group", "instance_groups.1.instance_count"),
        ("min-instance-count", "instance_groups.2.overrides.MinInstanceCount"),
    }


def test_rules_on_all_groups_need_all_groups_to_be_valid(draft: Any) -> None:
    assert told(draft.set("instance_groups", 0, "role", "boss")) == {("choice", "instance_groups.0.role")}


@pytest.mark.parametrize(
    ("path", "value"), [(("lustre", "version"), 2), (("data_bucket", "removal"), "keep"), (("openzfs",), {}), (("zzz",), 1)]
)
def test_a_wrong_value_in_a_section_hides_no_mistake_beside_it(draft: Any, path: tuple[str, ...], value: object) -> None:
    draft.set("storage", "lustre", "storage_capacity_gib", 1300)
    draft.set(
        "storage", "data_repository_associations", [{"path": "no slash"}, {"path": "/a"}, {"path": "/a/b", "bucket": "ours"}]
    )
    draft.set("storage", *path, value)
    assert ("storage-capacity", "storage.lustre.storage_capacity_gib") in told(draft)
    assert ("overlapping-associations", "storage.data_repository_associations.2.path") in told(draft)


def test_a_misspelled_field_is_not_also_missing(draft: Any) -> None:
    draft.content["storage"]["lustr"] = draft.content["storage"].pop("lustre")
    assert told(draft) == {("unknown-field", "storage.lustr")}


def test_a_wrong_value_of_the_network_hides_no_wrong_range(draft: Any) -> None:
    draft.set("network", "flow_logs_retention_days", "long").set("network", "node_cidr", "10.0.128.0/17")
    assert told(draft) == {("type", "network.flow_logs_retention_days"), ("node-cidr-conflict", "network.node_cidr")}


def test_a_request_error_in_one_group_hides_no_warning_in_another(draft: Any) -> None:
    draft.set("instance_groups", 1, "overrides", {"Nmae": 1}).set("instance_groups", 2, "overrides", {"MinInstanceCount": 2})
    assert told(draft) == {
        ("request.unknown-member", "instance_groups.1.overrides.Nmae"),
        ("requires-continuous-provisioning", "instance_groups.2.overrides.MinInstanceCount"),
    }


def test_a_warning_that_follows_from_a_request_error_is_omitted(draft: Any) -> None:
    draft.set("overrides", {"NodeProvisioning": "Continuous"}).set("instance_groups", 2, "overrides", {"MinInstanceCount": 2})
    assert told(draft) == {("request.unknown-member", "overrides.NodeProvisioning")}
