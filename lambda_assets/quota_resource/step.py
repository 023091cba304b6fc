"""Create, update and delete the quotas of a request. Runs in Lambda as Step.

Each step reads all quotas of the cluster and makes the calls that are due.
"""

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

from cluster_resource import fenced_step
from cluster_resource.deadline import Context, seconds_left
from cluster_resource.event import Event, Json, Owner
from cluster_resource.executions import Executions, executions_of
from cluster_resource.response import Send, send
from quota_resource.convergence import Work, converge, delete
from quota_resource.progress import Progress
from quota_resource.properties import Desired, cluster_arn_of, physical_id_of
from quota_resource.quota_api import QuotaApi, quota_client


@functools.cache
def _client() -> Any:
    """Return the SageMaker client, once per sandbox."""
    return quota_client()


def handler(payload: Json, context: Context) -> Json:
    """Do a step (`event`, `memory`, `now`, `started`), or send the response (`event`, `response`)."""
    executions = functools.partial(executions_of, payload.get("machine", ""))
    return handle(payload, Host(_client, functools.partial(seconds_left, context)), executions, send)


class Host(NamedTuple):
    """What a step has of the machine that it runs on."""

    client: Callable[[], Any]
    seconds_left: Callable[[], float]


def handle(payload: Json, host: Host, executions: Callable[[], Executions], send: Send) -> Json:
    """Do what the handler does, with given clients."""
    resource = fenced_step.Resource(functools.partial(_calls, host), physical_id_of)
    return fenced_step.handle(payload, resource, executions, send)


def _calls(host: Host, event: Event, rest: dict[str, Any]) -> fenced_step.Done:
    """Converge or delete; return the result."""
    progress = Progress(rest)
    work = Work(QuotaApi(host.client(), host.seconds_left), Owner(event.stack_id, event.logical_id), progress, [], [])
    try:
        if event.request_type == "Delete":
            return fenced_step.Done(delete(work, cluster_arn_of(event.properties)))
        desired, before = Desired.of(event.properties), Desired.before(event.old_properties)
        note = converge(work, desired, before)
        is_rollback = event.physical_id == physical_id_of(event.properties)
        if is_rollback and before.cluster_arn not in ("", desired.cluster_arn):
            # The failed replacement's own Delete never comes: CloudFormation does not know its physical ID.
            delete(work, before.cluster_arn)
        return fenced_step.Done(note)
    finally:
        rest.update(progress.dump())
