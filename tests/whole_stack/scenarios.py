"""What goes wrong while `cdk deploy` and `cdk destroy` run, and how it must end."""

import json
import threading
from collections.abc import Callable
from dataclasses import dataclass

from local_aws import durations
from local_aws.hyperpod import quotas
from tests.whole_stack.assemblies import LARGE, SMALL
from tests.whole_stack.world import CUSTOM_RESOURCE, ENTRY, GONE, STACK, WATCHER, World

CREATED, UPDATED = "CREATE_COMPLETE", "UPDATE_COMPLETE"
NOT_CREATED, NOT_UPDATED = "ROLLBACK_COMPLETE", "UPDATE_ROLLBACK_COMPLETE"
WORKER = "ml.g5.2xlarge"


@dataclass(frozen=True)
class Scenario:
    """One fault: what happens, the status that the stack must end in, and the words that must be found among its events."""

    title: str
    rows: tuple[int, ...]
    happens: Callable[[World], None]
    ends: str
    reason: str = ""
    is_live_before: bool = False
    workers: int = SMALL


def _reply_lost(world: World) -> None:
    world.fault("sagemaker:CreateCluster", kind="lose")
    world.deploy(SMALL)


def _killed_after_create(world: World) -> None:
    world.fault("sagemaker:CreateCluster", kind="kill")
    world.deploy(SMALL)


def _throttled(world: World) -> None:
    world.fault(
        "sagemaker:DescribeCluster",
        code="ThrottlingException",
        message="Rate exceeded",
        times=12,
        after=2,
        caller=WATCHER,
    )
    world.deploy(SMALL)


def _execution_aborted(world: World) -> None:
    world.fault("states:Run", kind="abort", after=4, code="Stopped", message="by somebody in the console", target=STACK)
    world.deploy(SMALL)


def _execution_timed_out(world: World) -> None:
    world.fault("states:Run", kind="time_out", after=4, target=STACK)
    world.deploy(SMALL)


def _responder_killed(world: World) -> None:
    world.fault("lambda:Run", kind="kill", at="before", target="ProviderResponder")
    _execution_aborted(world)


def _entry_killed(world: World) -> None:
    world.fault("lambda:Run", kind="kill", at="before", target=ENTRY)
    world.deploy(SMALL)


def _delivered_twice(world: World) -> None:
    world.fault("lambda:Invoke", kind="repeat", caller="cloudformation", target=ENTRY)
    world.deploy(SMALL)


def _answer_refused(world: World) -> None:
    world.fault("cloudformation:Answer", status=503, times=2, target=CUSTOM_RESOURCE)
    world.deploy(SMALL)


def _no_capacity(world: World) -> None:
    text = f"We currently do not have sufficient capacity to launch new {WORKER} instances. Please try again."
    world.fault("sagemaker:CreateCluster", kind="fail", message=text)
    world.deploy(SMALL)


def _quota(world: World) -> None:
    quotas.limit({f"{WORKER} for cluster usage": 0})
    world.deploy(SMALL)


def _long_error(world: World) -> None:
    text = f"1 validation error detected: the lifecycle script's name is wrong: {'ü' * 5000}"
    world.fault("sagemaker:CreateCluster", code="ValidationException", message=text)
    world.deploy(SMALL)


def _update_undone(world: World) -> None:
    world.fault("sagemaker:UpdateCluster", kind="fail", message=f"no capacity for {WORKER} in usw2-az4")
    world.deploy(LARGE)


def _update_cancelled(world: World) -> None:
    durations.change({"hyperpod.node.boot": 1200})
    deployment = threading.Thread(target=world.deploy, args=(LARGE,))
    deployment.start()
    try:
        world.until(lambda: {each["ClusterStatus"] for each in world.clusters().values()} == {"Updating"}, seconds=240)
        world.client("cloudformation").cancel_update_stack(StackName=STACK)
    finally:
        deployment.join()  # or it goes on beside the next fault


def _delete_conflicts(world: World) -> None:
    text = "Cluster is being patched"
    world.fault("sagemaker:DeleteCluster", code="ConflictException", message=text, times=3, caller=STACK)
    world.destroy()


def _role_without_rights(world: World) -> None:
    """The role loses its policy, the destroy fails, and works once the policy is back."""
    iam = world.client("iam")
    [role] = [each["RoleName"] for each in iam.list_roles()["Roles"] if each["RoleName"].startswith(f"{STACK}-NodeRole")]
    policy = iam.get_role_policy(RoleName=role, PolicyName="Node")
    iam.delete_role_policy(RoleName=role, PolicyName="Node")
    world.destroy()
    iam.put_role_policy(RoleName=role, PolicyName="Node", PolicyDocument=_text(policy["PolicyDocument"]))
    world.until(lambda: not world.clusters())
    world.destroy()


def _text(document: object) -> str:
    return document if isinstance(document, str) else json.dumps(document)


SCENARIOS = (
    Scenario("CreateCluster's reply is lost", (1,), _reply_lost, CREATED),
    Scenario("an update is cancelled in flight", (36, 37), _update_cancelled, NOT_UPDATED, is_live_before=True),
    Scenario(
        "the service undoes an update", (13, 16), _update_undone, NOT_UPDATED, f"no capacity for {WORKER}", is_live_before=True
    ),
    Scenario("DeleteCluster conflicts three times", (17,), _delete_conflicts, GONE, is_live_before=True),
    Scenario("the process dies right after CreateCluster", (25, 28), _killed_after_create, CREATED),
    Scenario(
        "the role loses its rights before the destroy",
        (18,),
        _role_without_rights,
        GONE,
        "does not have permission to perform",
        is_live_before=True,
    ),
    Scenario("12 throttles in a row", (6,), _throttled, CREATED),
    Scenario("the event is delivered twice", (26,), _delivered_twice, CREATED),
    Scenario("the answer gets 503 twice", (30,), _answer_refused, CREATED),
    Scenario("the execution is aborted", (29,), _execution_aborted, NOT_CREATED, "by somebody in the console"),
    Scenario("the execution times out", (29,), _execution_timed_out, NOT_CREATED, "TIMED_OUT"),
    Scenario(
        "the execution is aborted, the responder dies once",
        (29,),
        _responder_killed,
        NOT_CREATED,
        "by somebody in the console",
    ),
    Scenario("the function that is called first dies at every attempt", (), _entry_killed, NOT_CREATED, "signal: killed"),
    Scenario("there is no capacity", (8, 9, 35), _no_capacity, NOT_CREATED, "sufficient capacity"),
    Scenario("the quota is too small", (7,), _quota, NOT_CREATED, f"{WORKER} for cluster usage"),
    Scenario("an error longer than an answer may be", (4, 32), _long_error, NOT_CREATED, "the lifecycle script's name is wrong"),
)
