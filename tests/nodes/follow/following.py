"""A cluster whose nodes follow a pointer, in place of a deployment that writes it."""

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from cluster_resource.cluster_api import ClusterApi
from constructs.hyperpod.lifecycle.script_bundle import ScriptBundle
from local_aws import hyperpod
from local_aws.nodes.agent.behaviour import Behaviour
from local_aws.nodes.runner import SimulatedNodes
from local_aws.server import EmbeddedAws
from tests.node_settings import slurm, user
from tests.nodes.bundle import Bundle, lay
from tests.nodes.cluster.running import UP_S, Running
from tests.simulator.hyperpod.world import BUCKET, World, until

PARAMETER, LOG_GROUP = "/hyperpod-cdk/ml/bundle", "/hyperpod-cdk/ml/nodes"
NEW_KEY = "ssh-keygen -q -t ed25519 -N '' -f /root/carol && cat /root/carol.pub"
SSH = "ssh -o BatchMode=yes -o StrictHostKeyChecking=no -i /root/carol carol@{} id -un 2>&1 || true"


def bundle(carol: str | None = None, script: str | None = None, access: str = "administrators") -> Bundle:
    """A bundle with alice, and perhaps carol with a key, and a live script; ``access`` to the nodes' role."""
    users = [user("alice", 10001), *([user("carol", 10003, ssh_public_keys=[carol])] if carol else [])]
    settings = {
        "users": users,
        "follow": {"parameter": PARAMETER, "log_group": LOG_GROUP},
        "message_of_the_day": "carol is here" if carol else None,
        "slurm": slurm(settings={"MessageTimeout": "33"} if carol else {}, metadata_access=access),
    }
    return Bundle(settings=settings, extra={"live/1.sh": script} if script else {})


def sha256_of(files: dict[str, bytes]) -> str:
    """The hash as the deployment calculates it."""
    parameters = json.loads(files.pop("provisioning_parameters.json"))
    canonical = json.dumps(parameters, sort_keys=True, separators=(",", ":"))
    text = f"{ScriptBundle(files).fingerprint}\n{hashlib.sha256(canonical.encode()).hexdigest()}"
    return hashlib.sha256(text.encode()).hexdigest()


@dataclass
class Following(Running):
    """A cluster whose nodes follow a pointer, in place of a deployment that writes it."""

    generation: int = 0
    sha256: str = ""

    @cached_property
    def key(self) -> str:
        """The key that signs the pointers."""
        spec = {"KeySpec": "RSA_3072", "KeyUsage": "SIGN_VERIFY"}
        return str(self.world.client("kms").create_key(**spec)["KeyMetadata"]["KeyId"])

    def deploy(self, bundle: Bundle, **reach: Any) -> None:
        """Upload a bundle and point to it."""
        self.generation += 1
        self.sha256 = sha256_of(bundle.files())
        lay(self.world, bundle, self.folder)
        self.point(**reach)

    @property
    def folder(self) -> str:
        return f"lifecycle/{self.generation + 1}/"

    def point(self, roles: tuple[str, ...] = ("controller", "login"), percent: int = 100, **changes: Any) -> None:
        """Write the pointer to the last bundle."""
        reach = {"roles": roles, "compute_percent": percent}
        pointer = {"version": 1, "generation": self.generation, "bucket": BUCKET, "prefix": self.folder.rstrip("/")}
        pointer |= {"sha256": self.sha256, "reach": reach} | changes
        self.put(ClusterApi(None, self.world.client).signed(self.key, PARAMETER, pointer))

    def put(self, value: str) -> None:
        self.world.client("ssm").put_parameter(Name=PARAMETER, Value=value, Type="String", Overwrite=True)

    def pointed(self) -> dict[str, Any]:
        """What the pointer has."""
        return dict(json.loads(self.world.client("ssm").get_parameter(Name=PARAMETER)["Parameter"]["Value"]))

    def records(self, kind: str = "bundle") -> list[dict[str, Any]]:
        """What the nodes reported."""
        pages = self.world.client("logs").get_paginator("filter_log_events").paginate(logGroupName=LOG_GROUP)
        found = (json.loads(event["message"]) for page in pages for event in page["events"])
        return [record for record in found if record["record"] == kind]

    def outcomes(self, result: str) -> dict[str, dict[str, Any]]:
        """The records of this generation with a result, by node."""
        return {one["node"]: one for one in self.records() if (one["generation"], one["result"]) == (self.generation, result)}

    def until_reported(self, result: str, *names: str) -> dict[str, dict[str, Any]]:
        return dict(until(lambda: self.outcomes(result), lambda found: set(found) >= {*names}, UP_S))

    def users_of(self, name: str) -> str:
        return self.run(name, "sh", "-c", "getent passwd carol || echo none")


@contextmanager
def following(aws: EmbeddedAws, nodes: SimulatedNodes, *, every_s: int = 1, workers: int = 2) -> Iterator[Following]:
    """Yield a running cluster with one controller and one login node, in a subnet with a NAT gateway."""
    nodes.behaviour = Behaviour(follow_every_s=every_s, root_volume_mib=512)
    world = World(aws.endpoint)
    world.make()
    world.allow_all_but()
    world.allow("ssm:GetParameter", resource=f"arn:aws:ssm:*:*:parameter{PARAMETER}", name="follow")
    world.client("logs").create_log_group(logGroupName=LOG_GROUP)
    world.route_to_aws()
    running = Following(world, nodes, scripts=lay(world, bundle()), groups={"controller": 1, "login": 1, "workers": workers})
    running.create()
    yield running
    hyperpod.reset()
    nodes.behaviour = Behaviour()
