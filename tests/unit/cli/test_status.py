"""`hpod status` shows each node by the API, by Slurm and by its agent, and what else an operator looks for."""

import json
from typing import Any

import pytest

from cli.result import Json
from cli.status.command import status, watch
from tests.unit.cli.fake_operations import DRAINED, NEW, NOW, OLD, FakeOperations, node, slurm


@pytest.fixture
def account() -> FakeOperations:
    return FakeOperations()


def shown(account: FakeOperations, **options: Any) -> str:
    return str(status(account.deployment(), now=NOW, **options))


def data(account: FakeOperations) -> Json:
    found = status(account.deployment(), now=NOW).data
    assert found
    return dict(found)


def row(text: str, instance: str) -> list[str]:
    """The cells of a node's row."""
    return next(line.split() for line in text.splitlines() if line.startswith(instance))


WORK, OTHER = "i-00000000000000002", "i-00000000000000003"


def test_without_an_agent_slurms_state_is_unknown(account: FakeOperations) -> None:
    text = shown(account)
    assert row(text, WORK) == [WORK, "work", "Running", "unknown", "none", "-"]
    assert "3 of 3 nodes have no agent" in text
    assert "Slurm: unknown; no controller has reported in 15 minutes" in text


def test_a_node_that_slurm_drained_is_shown_with_the_reason_though_the_api_has_it_running(account: FakeOperations) -> None:
    account.state("head", 1, **slurm(DRAINED))
    account.state("work", 2)
    account.state("work", 3)
    text = shown(account)
    assert row(text, OTHER) == [OTHER, "work-1", "Running", "idle+drain", "1", NEW[:8]]
    assert row(text, WORK)[3] == "ok"
    assert f"{OTHER}: Slurm: idle+drain: gres/gpu count reported lower" in text
    assert "Slurm: 2 nodes: 1 idle, 0 allocated, 1 drained, 0 down\n" in text


def test_slurms_state_of_a_node_that_does_not_run_is_unknown(account: FakeOperations) -> None:
    account.nodes.append(node("work", 4, "Pending"))
    account.state("head", 1, **slurm())
    assert row(shown(account), "i-00000000000000004")[2:4] == ["Pending", "unknown"]


def test_a_node_that_never_started_is_counted_and_needs_no_agent(account: FakeOperations) -> None:
    for group, number in (("head", 1), ("work", 2), ("work", 3)):
        account.state(group, number)
    account.nodes.append(node("work", 4, "Pending", "Lifecycle scripts did not run successfully"))
    text = shown(account)
    assert "hpod rerun-scripts" not in text
    assert next(line for line in text.splitlines() if line.startswith("work ")).split()[3:] == [
        "2",
        "of",
        "2,",
        "1",
        "Pending",
        "InService",
    ]


def test_a_reason_of_several_nodes_is_printed_once_with_all_of_them(account: FakeOperations) -> None:
    failed = "Lifecycle scripts did not run successfully"
    account.nodes += [node("work", number, "Pending", failed) for number in (4, 5)]
    assert [line for line in shown(account).splitlines() if failed in line] == [
        f"i-00000000000000004, i-00000000000000005: {failed}"
    ]


def test_slurms_view_is_dated_when_it_is_older_than_three_minutes_and_the_latest_counts(account: FakeOperations) -> None:
    account.state("head", 1, minutes=9, **slurm(DRAINED))
    account.state("head", 1, minutes=4, **slurm(slurmctld=0))
    assert "0 drained, 0 down; down: slurmctld, 4 min ago" in shown(account)


def test_of_two_controllers_the_latest_report_counts(account: FakeOperations) -> None:
    account.state("head", 9, minutes=1, **slurm(DRAINED))
    account.state("head", 1, minutes=2, **slurm())
    assert "1 idle, 0 allocated, 1 drained" in shown(account)


def older(account: FakeOperations) -> list[str]:
    """The nodes with an older bundle."""
    return [node["instance_id"] for node in data(account)["nodes"] if node["has_older_bundle"]]


def test_nodes_with_an_older_bundle_are_counted(account: FakeOperations) -> None:
    account.pointer = json.dumps({"version": 1, "sha256": NEW})
    account.state("head", 1)
    account.state("work", 2, sha256=OLD)
    text = shown(account)
    assert f"script bundle: {NEW[:8]}; 1 of 3 nodes have not applied it" in text
    assert row(text, WORK)[-2:] == [OLD[:8], "(older)"]
    assert data(account)["bundle_sha256"] == NEW
    assert older(account) == [WORK]


def test_a_dead_slurmctld_leaves_slurms_states_unknown(account: FakeOperations) -> None:
    unknown = dict.fromkeys(("nodes", "idle", "allocated", "drained", "down", "problems"))
    account.state("head", 1, **slurm(slurmctld=0, **unknown))
    text = shown(account)
    assert row(text, WORK)[2:4] == ["Running", "unknown"]
    assert "Slurm: states of nodes unknown; down: slurmctld" in text


def test_nodes_beyond_the_problems_of_a_report_are_unknown_and_listed(account: FakeOperations) -> None:
    account.nodes = [node("work", number) for number in range(1, 202)]
    down = [{"host": f"ip-10-1-0-{number}", "state": "down", "reason": "x"} for number in range(1, 51)]
    account.state("head", 999, **slurm(*down, nodes=201, idle=1, drained=0, down=200))
    text = shown(account)
    assert row(text, WORK)[3] == "down"
    assert row(text, "i-00000000000000200")[3] == "unknown"
    assert "more nodes" not in text


def test_a_node_that_could_not_apply_the_bundle_is_listed_with_step_and_message(account: FakeOperations) -> None:
    account.pointer = json.dumps({"version": 1, "sha256": NEW})
    account.state("work", 2, sha256="")
    account.bundle("work", 2, "failed", minutes=70, step="create users", message="useradd: exit 9")
    account.bundle("work", 3, "failed", minutes=70, message="applied since then")
    account.state("work", 3)
    text = shown(account)
    assert row(text, WORK)[-1] == "incomplete"
    assert f"{WORK}: bundle failed: create users: useradd: exit 9" in text
    assert f"{OTHER}: bundle" not in text
    assert older(account) == [WORK]


def test_records_of_a_node_in_another_nodes_stream_change_nothing(account: FakeOperations) -> None:
    account.pointer = json.dumps({"version": 1, "sha256": NEW})
    account.state("head", 1, **slurm(DRAINED))
    account.state("work", 2, sha256="")
    account.bundle("work", 2, "failed", step="create users", message="useradd: exit 9")
    before = data(account)
    for record in ("state", "bundle"):
        account.forge("work/i-00000000000000003", record, 2, minutes=0, result="applied", **slurm(slurmctld=0))
    assert data(account) == before


def test_a_state_ahead_of_its_ingestion_is_not_newer(account: FakeOperations) -> None:
    account.pointer = json.dumps({"version": 1, "sha256": NEW})
    account.state("work", 2, minutes=-90)
    account.state("work", 2, minutes=0, sha256="")
    account.ingested = NOW
    assert row(shown(account), WORK)[-1] == "incomplete"


def test_only_controllers_report_slurms_view(account: FakeOperations) -> None:
    account.state("head", 1, minutes=2, **slurm(DRAINED))
    account.state("work", 2, role="controller", **slurm(slurmctld=0))
    assert "1 idle, 0 allocated, 1 drained" in shown(account)


def test_a_node_whose_users_reach_its_role_is_listed(account: FakeOperations) -> None:
    account.nodes = [node("work", number) for number in range(1, 65)]
    account.state("work", 2, warning="all users of this node can use the node role")
    assert f"{WORK}: all users of this node can use the node role" in shown(account)


def test_a_node_with_a_full_root_volume_is_listed_and_a_shared_file_system_is_no_problem_of_a_node(
    account: FakeOperations,
) -> None:
    account.nodes = [node("work", number) for number in range(1, 65)]
    account.state("work", 2, disks=[{"path": "/", "free_percent": 9.5}, {"path": "/fsx", "free_percent": 50}])
    account.state("work", 3, disks=[{"path": "/", "free_percent": 10.5}, {"path": "/fsx", "free_percent": 1}])
    text = shown(account)
    assert f"{WORK}: 9.5 % free on /" in text
    assert OTHER not in text.partition("more nodes")[0]
    account.file += "monitoring: {free_disk_percent: 5}\n"
    assert f"{WORK}: 9.5 % free" not in shown(account)


def test_without_agents_by_the_file_apply_is_not_proposed(account: FakeOperations) -> None:
    account.file += "lifecycle: {follow: new_nodes}\n"
    text = shown(account)
    assert "agents: none, by `lifecycle.follow` or `lifecycle.source` in the cluster file" in text
    assert "hpod rerun-scripts" not in text


def test_an_agent_that_stopped_reporting_is_not_a_missing_agent(account: FakeOperations) -> None:
    account.state("head", 1)
    account.state("work", 2, minutes=30)
    text = shown(account)
    assert "1 of 3 nodes have no agent; `./hpod rerun-scripts draft` installs it" in text
    assert "1 of 3 agents stopped reporting: run `journalctl -u hyperpod-follow` on the node" in text


def test_actions_of_events_name_the_cluster(account: FakeOperations) -> None:
    account.state("head", 1, **slurm(DRAINED))
    [event] = data(account)["events"]
    assert event["fix"].startswith("`./hpod replace draft ip-10-1-0-3`")


def test_images_are_shown_with_their_state(account: FakeOperations) -> None:
    account.nodes[1] |= {"CurrentImageReleaseVersion": "1.1.0", "ImageVersionStatus": "SecurityUpdateRequired"}
    assert "image: 1.1.0 (SecurityUpdateRequired), 1.2.3 (UpToDate)" in shown(account)


def test_of_a_large_cluster_only_nodes_with_a_problem_are_listed(account: FakeOperations) -> None:
    account.nodes = [node("work", number) for number in range(1, 65)]
    account.nodes[6] = node("work", 7, "Failure", "no capacity")
    text = shown(account)
    assert row(text, "i-00000000000000007")[2] == "Failure"
    assert "i-00000000000000007: no capacity" in text
    assert WORK not in text
    assert "63 more nodes have no known problem; `--all` lists them" in text
    assert WORK in shown(account, show_all=True)


def test_a_file_system_is_shown_with_its_free_space_and_associations(account: FakeOperations) -> None:
    account.associations = [
        {
            "AssociationId": "dra-1",
            "FileSystemPath": "/data",
            "DataRepositoryPath": "s3://data",
            "Lifecycle": "MISCONFIGURED",
            "FailureDetails": {"Message": "the bucket is gone"},
        }
    ]
    account.state("head", 1, disks=[{"path": "/", "free_percent": 90}, {"path": "/fsx", "free_percent": 4.5}])
    text = shown(account)
    assert "fs-00000001  /fsx  AVAILABLE  1200 GiB  4.5 %" in text
    assert "/data        s3://data  MISCONFIGURED" in text
    assert "the bucket is gone" in text
    account.free_gib = 300
    assert "1200 GiB  300 GiB (25 %)" in shown(account)


def test_alarms_in_alarm_are_shown_and_those_of_a_cluster_with_a_longer_name_are_not(account: FakeOperations) -> None:
    for name, state in (("draft-SlurmctldDown", "ALARM"), ("draft-DiskSpaceLow", "OK"), ("draft-big-SlurmctldDown", "ALARM")):
        account.alarms.append({"AlarmName": name, "StateValue": state, "AlarmDescription": "why", "StateUpdatedTimestamp": NOW})
    assert [each["name"] for each in data(account)["alarms"]] == ["draft-SlurmctldDown"]
    assert "ALARM draft-SlurmctldDown: why" in shown(account)


def test_an_alarm_without_data_is_shown_if_it_notifies_of_that(account: FakeOperations) -> None:
    for name, actions in (("SlurmctldDown", ["topic"]), ("FileSystemSpaceLow", [])):
        alarm = {"AlarmName": f"draft-{name}", "StateValue": "INSUFFICIENT_DATA", "InsufficientDataActions": actions}
        account.alarms.append(alarm | {"AlarmDescription": "why", "StateUpdatedTimestamp": NOW})
    assert [(each["name"], each["state"]) for each in data(account)["alarms"]] == [("draft-SlurmctldDown", "INSUFFICIENT_DATA")]
    assert "INSUFFICIENT_DATA draft-SlurmctldDown: why" in shown(account)


def test_a_new_alarm_that_never_had_data_is_not_shown(account: FakeOperations) -> None:
    alarm = {"AlarmName": "draft-SlurmctldDown", "StateValue": "INSUFFICIENT_DATA", "InsufficientDataActions": ["topic"]}
    more = {"AlarmDescription": "why", "StateUpdatedTimestamp": NOW, "StateReason": "Unchecked: Initial alarm creation"}
    account.alarms.append(alarm | more)
    assert data(account)["alarms"] == []


def test_the_last_events_are_shown_with_their_verdict(account: FakeOperations) -> None:
    account.state("head", 1, **slurm(DRAINED))
    text = shown(account)
    assert "act      slurm   ip-10-1-0-3: idle+drain: gres/gpu count" in text
    assert "`./hpod events draft` shows more" in text


def test_a_part_that_aws_refuses_is_missing_with_the_reason_and_the_others_are_shown(account: FakeOperations) -> None:
    account.refused = {"describe_file_systems", "describe_alarms"}
    result = status(account.deployment(), now=NOW)
    assert row(str(result), WORK)
    assert "file systems: cannot run `status`: An error occurred (AccessDeniedException)" in str(result)
    assert {each["level"] for each in result.problems} == {"warning"}
    assert result.failure == ""


def test_text_fits_80_columns(account: FakeOperations) -> None:
    account.pointer = json.dumps({"version": 1, "sha256": NEW})
    account.state("head", 1, **slurm(DRAINED))
    account.state("work", 2, sha256=OLD)
    lines = shown(account).splitlines()
    assert [line for line in lines if len(line) > 80 and "gres" not in line] == []


def test_watch_draws_again_until_ctrl_c(account: FakeOperations) -> None:
    pauses: list[float] = []
    drawn: list[str] = []

    def sleep(seconds: float) -> None:
        pauses.append(seconds)
        account.nodes.pop()
        if len(pauses) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        watch(account.deployment(), draw=lambda result: drawn.append(str(result)), sleep=sleep)
    assert [OTHER in text for text in drawn] == [True, False]
