"""Any name of a node finds it, and sessions and DescribeClusterNode are used only where needed."""

from typing import Any

import pytest
from botocore.exceptions import ClientError

from cli import node_directory as module
from cli.errors import CommandError
from cli.node_directory import NodeDirectory, node_directory
from cli.remote.sessions import SessionError
from cli.remote.shell import Output
from tests.unit.cli.fake_nodes import NODES, FakeNodes, FakeShell, resource_config, summary

WORKER = "i-0000000000000000c"


def directory(*outputs: Output | Exception) -> tuple[NodeDirectory, FakeShell]:
    shell = FakeShell(*(outputs or (Output(0, resource_config()),)))
    return node_directory(FakeNodes().deployment(), shell), shell


TARGET = f"sagemaker-cluster:abcdefghijkl_workers-{WORKER}"


@pytest.mark.parametrize("name", [WORKER, "ip-10-1-0-9", "10.1.0.9", "workers-1", TARGET])
def test_every_name_finds_the_node(name: str) -> None:
    found, _ = directory()
    assert found.one(name).instance == WORKER


@pytest.mark.parametrize(("name", "last_letters"), [("workers", "cd"), ("login", "b"), ("controller", "a"), ("entry", "b")])
def test_groups_and_roles_find_their_nodes(name: str, last_letters: str) -> None:
    found, shell = directory()
    assert sorted(node.instance[-1] for node in found.find(name)) == sorted(last_letters)
    assert shell.calls == []


def test_all_nodes_are_found_only_where_all_is_accepted() -> None:
    found, shell = directory()
    assert sorted(node.instance[-1] for node in found.find("all", accept_all=True)) == ["a", "b", "c", "d"]
    with pytest.raises(
        CommandError, match=r"^'all': only `./hpod run` and `./hpod rerun-scripts` accept it; pass nodes or groups$"
    ):
        found.find("all")
    assert shell.calls == []


@pytest.mark.parametrize(
    ("output", "problem"),
    [
        (Output(0, resource_config()), "is both a group and a node; pass instance ids or host names"),
        (SessionError("ended"), "is a group and may be a node, whose names are unknown: ended; pass instance ids"),
    ],
)
def test_a_name_of_a_group_and_a_node_is_refused(output: Output | Exception, problem: str) -> None:
    account = FakeNodes()
    account.summaries.append(summary("workers-1", "i-0000000000000000e", "10.1.0.11"))
    found = node_directory(account.deployment(), FakeShell(output))
    with pytest.raises(CommandError, match=f"^'workers-1' {problem}"):
        found.find("workers-1")
    assert [node.instance for node in found.find("10.1.0.11")] == ["i-0000000000000000e"]


def test_a_group_whose_name_ends_with_a_number_is_found() -> None:
    account = FakeNodes()
    account.summaries.append(summary("workers-9", "i-0000000000000000e", "10.1.0.11"))
    found = node_directory(account.deployment(), FakeShell(Output(0, resource_config())))
    assert [node.instance for node in found.find("workers-9")] == ["i-0000000000000000e"]


def test_hyperpods_names_are_read_once_from_the_controller() -> None:
    found, shell = directory()
    assert [found.one("workers-2").name, found.one("entry-1").name] == ["workers-2", "entry-1"]
    assert shell.calls == [("i-0000000000000000a", "cat /opt/ml/config/resource_config.json")]
    assert [node.name for node in found.nodes] == ["entry-1", "head-1", "workers-1", "workers-2"]


REPORTED = {instance: f"{group}-{number}" for group, number, instance, _ in NODES}


def test_names_that_all_nodes_report_need_no_session() -> None:
    account, shell = FakeNodes(), FakeShell()
    account.reported = REPORTED
    account.summaries.append({**summary("workers", "i-0000000000000000e", ""), "InstanceStatus": {"Status": "Pending"}})
    found = node_directory(account.deployment(), shell)
    assert (found.one("workers-2").instance, found.unnamed_reason) == ("i-0000000000000000d", None)
    assert shell.calls == []


@pytest.mark.parametrize("claimed", ["workers-1", "head-1", "workers-1; reboot", f"workers-{'9' * 10_000}", ""])
def test_a_node_cannot_take_the_name_of_another(claimed: str) -> None:
    account = FakeNodes()
    account.reported = {**REPORTED, "i-0000000000000000d": claimed}
    found = node_directory(account.deployment(), FakeShell(Output(0, resource_config())))
    assert [node.instance for node in found.find("workers-1")] == [WORKER]
    assert found.one("workers-2").instance == "i-0000000000000000d"


@pytest.mark.parametrize(
    ("count", "nodes"), [(2, "ip-10-1-0-10, ip-10-1-0-4, .* or ip-10-1-0-9"), (30, "listed by `./hpod nodes draft`")]
)
def test_a_name_like_none_is_answered_with_the_groups_and_the_nodes(count: int, nodes: str) -> None:
    account = FakeNodes()
    account.summaries += [summary("workers", f"i-{number:017x}", f"10.1.1.{number}") for number in range(100, 98 + count)]
    found = node_directory(account.deployment(), FakeShell(SessionError("ended")))
    with pytest.raises(CommandError, match=rf"^unknown node 'x'; use a group: entry, head or workers, or a node: {nodes}; "):
        found.one("x")


def test_an_unknown_name_has_near_matches() -> None:
    found, _ = directory()
    with pytest.raises(CommandError, match=r"^unknown node 'worker-1'; did you mean workers-1.*\?$"):
        found.one("worker-1")


@pytest.mark.parametrize(
    ("output", "reason"),
    [
        (SessionError("the session ended"), "the session ended"),
        (Output(1, "cat: no such file"), "unexpected content: cat: no such file"),
        (Output(0, "[]"), r"unexpected content: \[\]"),
    ],
)
def test_an_error_says_why_hyperpods_names_are_unknown(output: Output | Exception, reason: str) -> None:
    found, _ = directory(output)
    with pytest.raises(CommandError, match=f"HyperPod's names are unknown: .*{reason}"):
        found.one("workers-1")
    assert {node.name for node in found.named} == {""}


def test_without_the_plugin_the_other_names_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "missing_plugin", lambda: CommandError("no plugin", "install it"))
    found = node_directory(FakeNodes().deployment())
    assert found.one("ip-10-1-0-9").instance == WORKER
    assert str(found.unnamed_reason) == "no plugin; install it"


def test_without_a_controller_the_other_names_are_known() -> None:
    account = FakeNodes()
    account.summaries = account.summaries[1:]
    assert str(node_directory(account.deployment(), FakeShell()).unnamed_reason) == "the cluster has no controller"


def test_several_nodes_are_not_one() -> None:
    found, _ = directory()
    with pytest.raises(CommandError, match=r"^'workers' has 2 nodes; pass one of ip-10-1-0-9, ip-10-1-0-10$"):
        found.one("workers")


def test_the_entrance_is_the_login_node_or_else_the_controller() -> None:
    account = FakeNodes()
    assert node_directory(account.deployment(), FakeShell()).entrance().group == "entry"
    account.summaries = [each for each in account.summaries if each["InstanceGroupName"] != "entry"]
    assert node_directory(account.deployment(), FakeShell()).entrance().group == "head"
    account.summaries = account.summaries[1:]
    with pytest.raises(CommandError, match="no login node and no controller; pass the name of a node"):
        node_directory(account.deployment(), FakeShell()).entrance()


def test_the_entrance_is_running() -> None:
    account = FakeNodes()
    second: dict[str, Any] = {**account.summaries[1], "InstanceId": "i-0000000000000000e"}
    account.summaries[1]["InstanceStatus"] = {"Status": "Failure"}
    account.summaries.append(second)
    assert node_directory(account.deployment(), FakeShell()).entrance().instance == second["InstanceId"]


def test_only_nodes_without_a_host_name_are_described() -> None:
    account = FakeNodes()
    for each in account.summaries[2:]:
        del each["PrivateDnsHostname"]
    account.summaries[3]["InstanceId"] = "i-deleted"
    found = node_directory(account.deployment(), FakeShell())
    assert account.described == [WORKER, "i-deleted"]
    assert found.one("ip-10-1-0-9").address == "10.1.0.9"
    assert (found.one("i-deleted").host, found.one("i-deleted").address) == ("", "")


def test_another_error_of_describe_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    account = FakeNodes()
    del account.summaries[0]["PrivateDnsHostname"]

    def refuse(**_: str) -> None:
        raise ClientError({"Error": {"Code": "AccessDeniedException", "Message": "no"}}, "DescribeClusterNode")

    monkeypatch.setattr(account, "describe_cluster_node", refuse)
    with pytest.raises(ClientError, match="AccessDenied"):
        node_directory(account.deployment(), FakeShell())
