"""Defects to plant in the real code, one at a time, to test the model checker itself."""

import itertools
import sys
from typing import Any

from cluster_resource import (
    adoption,
    convergence,
    deadline,
    decision,
    deletion,
    entry,
    event,
    executions,
    observed,
    reconcile,
    refusals,
    responder,
    response,
    step,
    waits,
)
from cluster_resource.aws_api import Kind
from cluster_resource.decision import Decision, Succeed, Wait
from cluster_resource.event import Event, physical_id
from tests.soak.control_plane import OURS
from tests.soak.defect import Defect
from tests.soak.rollout.defects import ROLLOUT_DEFECTS


def _respond_early(present: Any) -> Any:
    def early(*arguments: Any) -> Decision:
        decided: Decision = present(*arguments)
        is_waiting = isinstance(decided.action, Wait)
        return Decision(Succeed("it will be ready soon", {}), decided.memory) if is_waiting else decided

    return early


def _without_owner(converge: Any) -> Any:
    def adopt_all(desired: Any, cluster: Any, *rest: Any) -> Any:
        is_untagged = cluster and cluster.owner is None
        return converge(desired, cluster._replace(tags=OURS.tags) if is_untagged else cluster, *rest)

    return adopt_all


def _of_any_owner(decide: Any) -> Any:
    return lambda desired, cluster, *rest: decide(desired, cluster and cluster._replace(tags=OURS.tags), *rest)


def _forgetful(absent: Any) -> Any:
    return lambda desired, its, *rest: absent(desired, its._replace(arn="", created_at=""), *rest)


def _of_any_setup(refusal: Any) -> Any:
    def refuse(*arguments: Any) -> str:
        text: str = refusal(*arguments)
        return "" if text.startswith(("slurm.setup of", "provisioning of")) else text

    return refuse


def _of_every_group(_: Any) -> Any:
    return lambda desired, cluster, _memory: (
        cluster.missing(group.name for group in cluster.groups) if desired.wait == "nodes" else ""
    )


def _adopting_any(check: Any) -> Any:
    def adopt_any(desired: Any, cluster: Any, *rest: Any) -> Any:
        is_foreign = desired.adopt and desired.type == "Create" and cluster.owner != desired.owner
        return check(desired, cluster._replace(tags={}) if is_foreign else cluster, *rest)

    return adopt_any


def _without_release(decide: Any) -> Any:
    return lambda desired, *rest: decide(desired._replace(adopt=False), *rest)


def _forgetting_counts(in_service: Any) -> Any:
    def forget(cluster: Any, targets: Any, memory: Any, *rest: Any, **more: Any) -> Any:
        return in_service(cluster, targets, memory._replace(targets={}, awaited=(), rolled_back=False), *rest, **more)

    return forget


def _ready_at_once(_: Any) -> Any:
    return lambda _cluster, _targets, memory, *_rest, **_more: Decision(Succeed("it will be ready soon"), memory)


def _numbered(name: Any) -> Any:
    numbers = itertools.count()
    return lambda event: f"{name(event)}-{next(numbers)}"


def _blind(stop: Any) -> Any:
    return lambda event, started, its: stop(event, started, its) if _is_first(event, its) else None


def _is_first(event: Any, its: Any) -> bool:
    return not its.of_resource(event)[1:]


def _send_once(_: Any) -> Any:
    def send(event: Any, verdict: Any, put: Any = None, sleep: Any = None) -> None:
        try:
            put(event.response_url, response.body(event, verdict))
        except OSError:
            return

    return send


def _guessed_by_responder(_: Any) -> Any:
    def respond(record: Any, its: Any, send: Any) -> None:
        event = Event.parse(record["requestPayload"])
        if its.find(event) is None:
            send(event, response.failure(physical_id(event), "the entry function failed to start the request"))

    return respond


def _with_id(request_type: str, status: str, physical_id: str) -> Any:
    def planted(result: Any) -> Any:
        def answer(event: Any, decision: Any) -> Any:
            found = result(event, decision)
            response = found["response"]
            if response and event.request_type == request_type and response["Status"] == status:
                response["PhysicalResourceId"] = physical_id
            return found

        return answer

    return planted


CLUSTER_DEFECTS: dict[str, Defect] = {
    "no tag check": Defect(observed, "owner_of", lambda _: lambda _tags: OURS),
    "delete clusters of other owners": Defect(deletion, "decide_delete", _of_any_owner),
    "adopt without tags": Defect(reconcile, "_converge", _without_owner),
    "no fence for late events": Defect(entry, "is_later", lambda _: lambda *_: False),
    "a step does not look for newer requests": Defect(executions.Executions, "newer", lambda _: lambda *_: None),
    "a step acts before every request is listed": Defect(executions, "LISTED_S", lambda _: 0),
    "respond before success": Defect(reconcile, "_present", _respond_early),
    "create again when absent": Defect(reconcile, "_absent", _forgetful),
    "a throttle is fatal": Defect(deadline, "FINAL", lambda kinds: (*kinds, Kind.TRANSIENT)),
    "a conflict is fatal": Defect(deadline, "FINAL", lambda kinds: (*kinds, Kind.BUSY)),
    "no deadline": Defect(deadline, "DEADLINE_S", lambda seconds: 10 * seconds),
    "memory is forgotten": Defect(decision.Memory, "load", lambda _: lambda _raw: decision.Memory()),
    "an execution for each delivery": Defect(event, "execution_name", _numbered),
    "an accepted update counts as done": Defect(convergence, "_after_update", lambda _: lambda *_: None),
    "no lease": Defect(deletion, "is_quiet", lambda _: lambda *_: True),
    "the recorded response is not read": Defect(executions.Executions, "response", lambda _: lambda *_: None),
    "the responder guesses": Defect(responder, "_for_entry", _guessed_by_responder),
    "leftovers stay": Defect(deletion, "with_leftovers", lambda _: lambda decision, _desired: decision),
    "a continuous cluster in service is done": Defect(convergence, "awaited_nodes", lambda _: lambda *_: ""),
    "the minimum of nodes is not checked": Defect(observed.Group, "needed", lambda _: property(lambda _: 1)),
    "an update does not remember its new nodes": Defect(convergence, "with_enlarged", lambda _: lambda memory, _: memory),
    "a request waits for nodes that it did not add": Defect(convergence, "awaited_nodes", _of_every_group),
    "a change of slurm.setup is not refused": Defect(refusals, "refusal", _of_any_setup),
    "an adoption does not look at the tags": Defect(reconcile, "_check_owner", _adopting_any),
    "an adoption removes nodes": Defect(adoption, "adoption_obstacles", lambda _: lambda *_: []),
    "an adopted cluster is deleted": Defect(deletion, "decide_delete", _without_release),
    "a wait does not wait for the nodes": Defect(waits, "_in_service", _ready_at_once),
    "a wait forgets the counts": Defect(waits, "_in_service", _forgetting_counts),
    "a deletion does not wait until the cluster is gone": Defect(
        waits, "decide_deletion_wait", lambda _: lambda _left, memory, _clock: Decision(Succeed("gone soon"), memory)
    ),
    "a Delete is answered without an ID": Defect(step, "_result", _with_id("Delete", "SUCCESS", "")),
    "a failed Update gives another ID": Defect(step, "_result", _with_id("Update", "FAILED", "another")),
    "a response is not cut": Defect(response, "MAX_BODY", lambda _: 1_000_000),
    "a response is sent once": Defect(response, "send", _send_once),
}

DEFECTS = CLUSTER_DEFECTS | ROLLOUT_DEFECTS


def plant(name: str) -> None:
    """Plant a defect in the code of this process, in every module that imported its target."""
    defect = DEFECTS[name]
    if not hasattr(defect.holder, defect.name):
        raise SystemExit(
            f"defect {name!r} has no target: {defect.holder.__name__} has no {defect.name}; fix tests/soak/defects.py"
        )
    original = getattr(defect.holder, defect.name)
    planted = defect.make(original)
    setattr(defect.holder, defect.name, planted)
    for module_name, module in list(sys.modules.items()):
        if module_name.startswith("cluster_resource.") and vars(module).get(defect.name) is original:
            setattr(module, defect.name, planted)
