"""The simulated operator's loop: read jobs, pods and nodes, and carry out one step per job."""

import logging
import threading
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from local_aws.json_service import Json
from local_aws.training_operator.decision import Step, decide
from local_aws.training_operator.jobs import HYPERPOD, PYTORCH, Job, Kind

_EVERY_S = 0.5
_DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
_MERGE = "application/merge-patch+json"
_AT_ONCE = "?gracePeriodSeconds=0"
_log = logging.getLogger(__name__)


class OperatorError(Exception):
    """The API server refused a request."""


class SimulatedOperator:
    """The operator of an EKS cluster; ``client`` calls its API server, ``has_addon`` tells whether the add-on is installed."""

    def __init__(self, client: Any, has_addon: Callable[[], bool]) -> None:
        self._client, self._has_addon = client, has_addon
        self._defined: set[Kind] = set()
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._run, name="simulated-training-operator", daemon=True)

    def start(self) -> None:
        """Start the loop."""
        self._thread.start()

    def close(self) -> None:
        """End the loop."""
        self._closed.set()
        self._thread.join()

    def turn(self) -> None:
        """Do one step for each job."""
        for kind in [PYTORCH, *([HYPERPOD] if self._has_addon() else [])]:
            if kind not in self._defined:
                self._call("POST", _DEFINITIONS, kind.definition(), accepted=(201, 409))
                self._defined.add(kind)
            for item in self._list(kind.path):
                self._advance(Job(kind, item))

    def _run(self) -> None:
        while not self._closed.wait(_EVERY_S):
            try:
                self.turn()
            except (OSError, OperatorError) as error:
                _log.info("the simulated training operator tries again: %s", error)
            except Exception:  # noqa: BLE001  a job with a wrong type must not stop all others
                _log.exception("a turn of the simulated training operator failed")

    def _advance(self, job: Job) -> None:
        pods = {pod["metadata"]["name"]: pod for pod in self._pods_of(job)}
        nodes = {node["metadata"]["name"]: node for node in self._list("/api/v1/nodes")}
        step = decide(job, pods, nodes)
        place = f"/api/v1/namespaces/{job.namespace}"
        for name in step.delete:
            self._call("DELETE", f"{place}/pods/{name}{_AT_ONCE}", accepted=(200, 202, 404))
        if step.create:
            self._call("POST", f"{place}/services", job.service(), accepted=(201, 409))
        for name in step.create:
            self._call("POST", f"{place}/pods", job.pods[name], accepted=(201, 409))
        if step.state:
            self._call("PATCH", f"{job.path}/status", {"status": noted(job, step)}, _MERGE)

    def _pods_of(self, job: Job) -> Iterable[Json]:
        [(key, value)] = job.labels.items()
        return self._list(f"/api/v1/namespaces/{job.namespace}/pods?labelSelector={key}={value}")

    def _list(self, path: str) -> list[Json]:
        return list(self._call("GET", path, accepted=(200, 404)).get("items") or ())

    def _call(
        self, method: str, path: str, body: object = None, kind: str = "application/json", *, accepted: tuple[int, ...] = (200,)
    ) -> Json:
        answer = self._client.call(method, path, body, kind)
        if answer.status not in accepted:
            raise OperatorError(f"{method} {path}: status {answer.status}: {answer.content}")
        return dict(answer.content) if isinstance(answer.content, Mapping) else {}  # a kind that is not served yet: a text


def noted(job: Job, step: Step) -> Json:
    """Return the job's status after a step."""
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    condition = {
        "type": step.state,
        "status": "True",
        "reason": f"{job.kind.name}{step.state}",
        "message": f"simulated operator: {step.reason}",
        "lastTransitionTime": now,
    }
    before = [{**each, "status": "False"} for each in job.status.get("conditions") or ()]
    retries = job.retries + (step.state == "Restarting")
    return {"conditions": [*before, condition], "restartCount": retries}
