"""When nodes fail, the Reason shows which, why, the end of a log, and how to read the rest."""

import re
from types import SimpleNamespace
from typing import Any

import pytest

from cluster_resource.cluster_api import ClusterApi
from cluster_resource.diagnostics import CALL_S, sanitize
from tests.unit.cluster_resource.fake_call import fake_call
from tests.unit.cluster_resource.world import World, group, properties, request

Json = dict[str, Any]
NODE = "i-00000000000000000"
SCRIPTS_FAILED = (
    f'Instance {NODE} failed to provision with the following error: "Lifecycle scripts did not run successfully." '
    "Note that multiple instances may be impacted."
)
CONTINUOUS = request(NodeProvisioningMode="Continuous")


def stream(group_name: str, node: str = NODE) -> str:
    return f"LifecycleConfig/{group_name}/{node}"


def fails(world: World, message: str = SCRIPTS_FAILED, **more: Any) -> str:
    """The reason of a creation whose nodes fail."""
    world.sagemaker.creation_fails = message
    done = world.finish(world.event("Create", properties(**more)))
    assert done["Status"] == "FAILED"
    return str(done["Reason"])


def test_a_failed_creation_shows_the_end_of_the_failed_nodes_log_and_the_command_for_the_rest(world: World) -> None:
    world.logs.write(stream("controller"), *(f"line {number}" for number in range(30)), "step fsx: mount: no such host")
    reason = fails(world, wanted=request(Tags=[{"Key": "hyperpod-cdk:cluster", "Value": "reference"}]))
    assert SCRIPTS_FAILED in reason
    assert f"node {NODE} of controller" in reason
    assert reason.endswith("line 28\nline 29\nstep fsx: mount: no such host")
    assert "line 10" not in reason
    cluster = world.sagemaker.all[0]
    group_name = f"/aws/sagemaker/Clusters/{cluster.name}/{cluster.arn.rsplit('/', 1)[-1]}"
    assert f"aws logs tail {group_name} --log-stream-names {stream('controller')} --since 1d --region us-west-2" in reason
    assert f"./hpod logs reference {NODE}" in reason


@pytest.mark.only_mode("scripts", reason="HyperPod fails only such a cluster for a worker")
def test_the_script_s_output_is_written_once_and_only_the_node_that_failed_is_named(world: World) -> None:
    last = "lifecycle script failed: step 'your scripts before Slurm': 20-tools.sh: E: Unable to locate package nosuchpackage"
    log = f"See log stream {stream('workers', 'i-0b66516c4a8bfcea4')} in log group g"
    message = f"Instance group 'workers', instance i-0b66516c4a8bfcea4: on_create.sh ended with status 1: {last}. {log}"
    world.logs.write(stream("workers", "i-0b66516c4a8bfcea4"), "E: Unable to locate package nosuchpackage", last)
    raw = world.deliver(world.event("Create", properties()))
    world.run(60)
    world.sagemaker.all[0].node_message = message
    world.sagemaker.all[0].become("Failed", message)
    world.run(60)
    reason = world.response(raw)["Reason"]
    assert reason.count("nosuchpackage") == 1, reason
    assert "of controller: Instance group" not in reason
    assert "fix the script" in reason


def test_a_node_that_a_rollback_removed_is_found_by_the_failure_message(world: World) -> None:
    name = world.create()["PhysicalResourceId"]
    gone = "i-0b66516c4a8bfcea4"
    world.sagemaker.update_fails = SCRIPTS_FAILED.replace(NODE, gone)
    world.logs.write(stream("more", gone), "the new group's script failed")
    wanted = properties(request(group("controller", 1), group("workers", 4, "ml.trn1.32xlarge"), group("more", 2)))
    done = world.finish(world.event("Update", wanted, properties(), name))
    assert done["Status"] == "FAILED"
    assert done["Reason"].endswith("the new group's script failed")


def test_a_wait_of_another_hour_shows_diagnostics_too(world: World) -> None:
    world.sagemaker.creation_s = 5000
    world.sagemaker.creation_fails = SCRIPTS_FAILED
    name = world.finish(world.event("Create", properties(WaitHours=2)))["PhysicalResourceId"]
    world.logs.write(stream("controller"), "why it failed")
    wanted = {"PropertiesVersion": "1", "ClusterName": name, "Hour": 2, "Last": True, "Trigger": "t"}
    waited = world.event("Create", wanted, ResourceType="Custom::HyperPodWait", LogicalResourceId="Wait2")
    assert world.finish(waited)["Reason"].endswith("why it failed")


def test_a_late_creation_shows_the_log_of_a_node_that_does_not_run_yet(world: World) -> None:
    world.sagemaker.creation_s = 99_999
    world.logs.write(stream("controller"), "waiting for the file system")
    done = world.finish(world.event("Create", properties()))
    assert "still Creating after 57 minutes" in done["Reason"]
    assert "controller 0 of 1 (1 Pending)" in done["Reason"]
    assert done["Reason"].endswith("waiting for the file system")


@pytest.mark.fault(15)
@pytest.mark.only_mode("api", reason="only a continuous cluster has events")
def test_with_continuous_provisioning_the_cluster_events_are_shown(world: World) -> None:
    def event(number: int, level: str, metadata: Json) -> Json:
        about: Json = {"InstanceId": NODE, "InstanceGroupName": "workers", "Description": "Instance did not start"}
        about |= {"EventTime": world.clock.after(60)}
        return {"EventId": f"00000000-0000-0000-0000-{number:012}", "EventLevel": level, **about, "EventDetails": metadata}

    failure = {"EventMetadata": {"Instance": {"FailureMessage": "no capacity for ml.trn1.32xlarge"}}}
    raw = world.deliver(world.event("Create", properties(CONTINUOUS)))
    world.run(1800)
    [cluster] = world.sagemaker.all
    cluster.running["workers"] = 0
    cluster.events += [event(1, "Error", failure), event(2, "Info", {}), event(3, "Error", failure)]
    cluster.become("InService")
    assert raw["RequestId"] in world.responses, "the cluster came up before its workers were taken away"
    six = request(group("controller", 1), group("workers", 6, "ml.trn1.32xlarge"), NodeProvisioningMode="Continuous")
    world.sagemaker.update_s = 99_999
    cluster.become("InService")
    done = world.finish(world.event("Update", properties(six), properties(CONTINUOUS), cluster.name))
    text = f"cluster event: {NODE} workers: Instance did not start: no capacity for ml.trn1.32xlarge"
    assert done["Status"] == "FAILED"
    assert done["Reason"].count(text) == 1, "faults come in pairs"


def test_a_node_without_a_log_is_reported(world: World) -> None:
    reason = fails(world)
    assert "the node wrote no log: its lifecycle script did not start" in reason
    assert "--log-stream-name-prefix LifecycleConfig/ " in reason


def test_a_missing_permission_is_named_and_the_rest_of_the_reason_is_sent(world: World) -> None:
    world.logs.error = "AccessDeniedException"
    reason = fails(world)
    assert "the step function's role must allow logs:GetLogEvents" in reason
    assert SCRIPTS_FAILED in reason
    assert len(world.logs.asked) == 1, "what is refused once is refused for every stream"


@pytest.mark.parametrize("error", ["ThrottlingException", "ConnectTimeout"])
def test_a_log_that_cannot_be_read_does_not_prevent_the_response(world: World, error: str) -> None:
    world.logs.error = error
    assert "could not be read" in fails(world)


def test_an_error_in_the_diagnostics_does_not_prevent_the_response(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    world.logs.streams[stream("controller")] = [None]  # type: ignore[list-item]  # no message can be None
    assert SCRIPTS_FAILED in fails(world)
    assert "no diagnostics of the nodes" in capsys.readouterr().out


def test_nothing_is_read_just_before_the_function_times_out(world: World) -> None:
    world.seconds_left = 10
    reason = fails(world)
    assert SCRIPTS_FAILED in reason
    assert "wrote no log" not in reason, "nobody looked"
    assert world.logs.asked == []


def test_a_slow_service_is_called_only_while_there_is_time(world: World) -> None:
    asked: list[str] = []
    left = [59.0]

    def list_slowly() -> Json:
        asked.append("ListClusterEvents")
        left[0] -= 20
        return {"Events": [{"EventId": str(number), "EventLevel": "Error"} for number in range(3)]}

    def describe() -> Json:
        asked.append("DescribeClusterEvent")
        return {"EventDetails": {}}

    api = ClusterApi(
        SimpleNamespace(
            list_cluster_events=fake_call("sagemaker", "ListClusterEvents", list_slowly),
            describe_cluster_event=fake_call("sagemaker", "DescribeClusterEvent", describe),
        )
    )
    assert list(api.failures("ml", world.clock.now, lambda: left[0] > CALL_S)) == []
    assert asked == ["ListClusterEvents"]


def test_no_log_is_read_without_a_failure_of_nodes(world: World) -> None:
    world.create()
    world.create_outside("theirs", **request())
    done = world.finish(world.event("Create", properties(ClusterName="theirs"), LogicalResourceId="Other"))
    assert done["Status"] == "FAILED"
    assert world.logs.asked == []


def test_an_empty_first_page_of_a_log_is_not_its_end(world: World) -> None:
    world.logs.first_pages_are_empty = True
    world.logs.write(stream("controller"), "the last line")
    assert fails(world).endswith("the last line")


@pytest.mark.fault(32)
@pytest.mark.parametrize("letter", ["x", "ü", "語", '"'])
def test_the_oldest_log_lines_are_cut_and_the_command_stays(world: World, letter: str) -> None:
    world.logs.write(stream("controller"), *(f"{number} " + letter * 300 for number in range(20)), "the last line")
    reason = fails(world, message=f"Instance {NODE} failed: " + letter * 900)
    assert f"--log-stream-names {stream('controller')}" in reason
    assert reason.endswith("the last line")
    shown = [int(number) for number in re.findall(rf"^(\d+) {letter}", reason, flags=re.MULTILINE)]
    assert shown == list(range(20 - len(shown), 20))
    assert len(shown) < 20


@pytest.mark.fault(32)
def test_a_too_long_reason_is_cut_and_the_command_stays(world: World) -> None:
    reason = fails(world, message=f"Instance {NODE} failed: " + "語" * 5000)
    assert "aws logs tail" in reason.splitlines()[-1]
    assert "... (cut)" in reason


SECRETS: list[tuple[str, str]] = [
    ("get https://b.s3.amazonaws.com/k?X-Amz-Date=1&X-Amz-Signature=abc123 failed", "abc123"),
    ("GET https://b.s3.amazonaws.com/k?X-Amz-Security-Token=abc123 timed out", "abc123"),
    ("export AWS_SESSION_TOKEN=abc123", "abc123"),
    ("StoragePass=hunter2 in slurmdbd.conf", "hunter2"),
    ('{"password": "hunter2", "user": "slurm"}', "hunter2"),
    ("mysql://slurm:hunter2@db.internal/acct", "hunter2"),
    ("export HF_TOKEN=hf_hunter2", "hunter2"),
    ("cloning with ghp_hunter2 as the user", "hunter2"),
    ("WANDB_API_KEY=hunter2", "hunter2"),
    ("NGC_API_KEY: nvapi-hunter2", "hunter2"),
    ("curl -H 'Authorization: Bearer hunter2' https://api", "hunter2"),
    ("+ mysql --user slurm --password hunter2", "hunter2"),
    ("AKIAIOSFODNN7HUNTER2 is no valid key", "HUNTER2"),
]


@pytest.mark.fault(57)
@pytest.mark.parametrize(("line", "secret"), SECRETS)
def test_likely_secrets_in_a_log_are_masked(world: World, line: str, secret: str) -> None:
    world.logs.write(stream("controller"), line)
    reason = fails(world)
    assert secret not in reason
    assert "***" in reason


@pytest.mark.parametrize(
    "text",
    ["step password_policy done in 3 s", "see https://docs.aws.amazon.com/x?y=1", "tokens: 4096 of 8192", "no bearing on it"],
)
def test_text_about_secrets_is_shown(text: str) -> None:
    assert sanitize(text) == text


def test_colours_and_control_characters_do_not_reach_the_console() -> None:
    assert sanitize("\x1b[31mred\x1b[0m \x07bell\n") == "red bell"
    assert sanitize("\x9b31mred \u202eright to left\u2066") == "31mred right to left"


@pytest.mark.parametrize(
    "text",
    [
        "mysql -u slurm -pHunter2 slurm_acct_db",
        "docker login -u me -p Hunter2 registry",
        "curl -H 'Authorization: Basic SHVudGVyMg=='",
        "token eyJhbGciOiJIUzI1NiJ9.SHVudGVyMg.c2ln",
        "export KEY=sk-Hunter2Hunter2Hunter2",
        "wandb login Hunter2Hunter2",
    ],
)
def test_secrets_of_common_commands_are_masked(text: str) -> None:
    assert not re.search("(?i)hunter2|SHVudGVyMg", sanitize(text))
