"""The deployment's rollout to real agents: the step function's code in this process, on a clock that the test moves."""

import json
import time
from datetime import UTC, datetime, timedelta
from typing import Any

from cluster_resource import step
from cluster_resource.cluster_api import ClusterApi
from cluster_resource.event import ROLLOUT
from cluster_resource.rollout_api import RolloutApi
from constructs.hyperpod.lifecycle.script_bundle import ScriptBundle
from tests.nodes.bundle import Bundle, lay
from tests.simulator.hyperpod.world import BUCKET, World

Json = dict[str, Any]
STEP_S, PAUSE_S = 10, 1.0
"""Seconds of the state machine between two steps, and of the test."""

MAX_STEPS = 200


class NoOtherRequests:
    """Executions of a resource that has one request."""

    def is_contested(self, *_: object) -> bool:
        return False

    def newer(self, *_: object) -> None:
        return None


class Rollout:
    """The custom resource of a cluster whose nodes follow a parameter."""

    def __init__(self, world: World, cluster: str, parameter: str, log_group: str, key: str = "") -> None:
        self._world = world
        self._api = RolloutApi(ClusterApi(world.sagemaker, world.client), world.client("ssm"), world.client("logs"))
        self._names = {"ClusterName": cluster, "Parameter": parameter, "LogGroup": log_group, "SigningKey": key}

    def upload(self, bundle: Bundle, folder: str) -> Json:
        """Upload a bundle and return the properties of the resource."""
        lay(self._world, bundle, folder)
        files = bundle.files()
        parameters = files.pop(bundle.parameters_file).decode()
        place = {"Bucket": BUCKET, "Prefix": folder.rstrip("/"), "Fingerprint": ScriptBundle(files).fingerprint}
        groups = {"ControllerGroups": ["controller"], "LoginGroups": ["login"], "OnFailure": "fail"}
        return {**self._names, **place, **groups, "Parameters": parameters}

    def update(self, new: Json, old: Json, *, undo: bool = False) -> Json:
        """Process an Update and return its response."""
        event = {
            "RequestType": "Update",
            "RequestId": "1",
            "ResourceType": ROLLOUT,
            "LogicalResourceId": "Rollout",
            "StackId": "arn:aws:cloudformation:us-west-2:123456789012:stack/ml/1",
            "PhysicalResourceId": "Rollout",
            "ResponseURL": "https://bucket/1",
            "ResourceProperties": new,
            "OldResourceProperties": old,
        }
        started = datetime.now(UTC)
        memory: Json = {"undo": undo}
        for number in range(MAX_STEPS):
            now = started + timedelta(seconds=30 + number * STEP_S)
            payload = {"event": event, "memory": memory, "now": now.isoformat(), "started": started.isoformat()}
            result = step.handle(
                payload,
                lambda: ClusterApi(self._world.sagemaker),
                NoOtherRequests,  # type: ignore[arg-type]  # the two methods that a step calls
                lambda *_: None,
                rollout_api=lambda: self._api,
            )
            if result["done"]:
                return dict(result["response"])
            memory = json.loads(json.dumps(result["memory"]))
            time.sleep(PAUSE_S)  # agents run once a second
        raise AssertionError("no response")
