"""Sends the requests of a verification on AWS to the embedded AWS, and compares the answers and the agent's files."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import botocore
from botocore.exceptions import ClientError

from local_aws.hyperpod import service_behaviour
from local_aws.hyperpod.model import everything
from local_aws.nodes.agent import files, slurm_conf
from local_aws.nodes.agent.behaviour import Behaviour
from local_aws.nodes.agent.view import ClusterView, specs
from tests.simulator.hyperpod.world import BUCKET, REGION, World, until
from tests.verify_aws.compare import differences, line_differences, normalized
from tests.verify_aws.evidence import json_of
from tests.verify_aws.live_cluster import labelled
from tests.verify_aws.redaction import PLACEHOLDER, Redactor

NAME = "replayed"
CHECKPOINTS = ("created", "scaled", "group", "zero", "back")
CHANGES = ("CreateCluster", "UpdateCluster")
RESOURCE_CONFIG, PARAMETERS = "opt/ml/config/resource_config.json", "opt/ml/config/provisioning_parameters.json"
SLURM_CONF, CGROUP_CONF = "opt/slurm/etc/slurm.conf", "opt/slurm/etc/cgroup.conf"
IMAGES_LINES = re.compile(r"^(Prolog|Epilog)=/opt/slurm/etc/.*\n", flags=re.MULTILINE)
"""Lines of slurm.conf that come from HyperPod's image, and not from the agent."""
Json = dict[str, Any]


class Replay:
    """The fixtures in a folder, and an account of the embedded AWS."""

    def __init__(self, folder: Path, world: World) -> None:
        self._folder, self._world = folder, world
        service_behaviour.choose({"describe_cluster": "current"})  # the fixtures are of settled clusters
        self._region = json.loads((folder / "verdicts.json").read_text())["region"]
        self._redactor = Redactor()
        self._redactor.literal(NAME, "cluster")

    def differences(self) -> list[str]:
        """Return where the simulation differs from the fixtures, checkpoint by checkpoint."""
        found: list[str] = []
        for checkpoint in CHECKPOINTS:
            folder = self._folder / "api" / checkpoint
            if folder.is_dir():
                self._change(folder)
                found += [*self._answers(folder), *self._files(self._folder / "nodes" / checkpoint)]
        return found

    def _change(self, folder: Path) -> None:
        """Create or update the cluster as the checkpoint's request does, and wait until it is idle."""
        for operation in CHANGES:
            file = folder / f"{operation}.json"
            if file.exists():
                request = self._filled(json.loads(file.read_text())["request"])
                self._put_scripts(request)
                getattr(self._world.sagemaker, botocore.xform_name(operation))(**request)
        until(self._settled, bool)

    def _settled(self) -> bool:
        cluster, nodes = self._world.cluster(NAME), self._world.nodes(NAME)
        wanted = sum(group["TargetCount"] for group in cluster["InstanceGroups"])
        is_running = all(node["InstanceStatus"]["Status"] == "Running" for node in nodes)
        states = {cluster["ClusterStatus"], *(group["Status"] for group in cluster["InstanceGroups"])}
        return states == {"InService"} and len(nodes) == wanted and is_running

    def _answers(self, folder: Path) -> Iterator[str]:
        nodes = dict(labelled(sorted(self._world.nodes(NAME), key=lambda node: (node["InstanceGroupName"], node["InstanceId"]))))
        for file in sorted(folder.glob("*.json")):
            recorded = json.loads(file.read_text())
            if "response" not in recorded:
                continue
            node = nodes.get(file.stem.partition("-")[2])
            request = {"ClusterName": NAME, **({"NodeId": node["InstanceId"]} if node else {})}
            path = f"{folder.name} {file.stem}"
            try:
                answer = getattr(self._world.sagemaker, botocore.xform_name(recorded["operation"]))(**request)
            except ClientError as error:
                yield f"{path}: AWS answered, the simulation refuses: {error}"
                continue
            yield from differences(normalized(recorded["response"], self._region), self._normalized(answer), path)

    def _files(self, folder: Path) -> Iterator[str]:
        """Yield the differences of files that the simulated agent writes without running a node."""
        for node in sorted(folder.glob("*")):
            for name, text in self.agent_files(node).items():
                if not (node / name).exists():
                    yield f"{folder.name} {node.name}/{name}: only the simulation has it"
                    continue
                recorded, path = IMAGES_LINES.sub("", (node / name).read_text()), f"{folder.name} {node.name}/{name}"
                if name.endswith(".json"):
                    mine = normalized(self._redactor.json(json.loads(text)), REGION)
                    yield from differences(normalized(json.loads(recorded), self._region), mine, path)
                else:
                    yield from line_differences(recorded, self._redactor(text), path)

    def agent_files(self, node: Path) -> dict[str, str]:
        """Return the files that the simulated agent writes on a node of the replayed cluster."""
        [cluster] = [each for each in everything() if each.name == NAME]
        behaviour = Behaviour()
        view = ClusterView.of(cluster, behaviour)
        found = {RESOURCE_CONFIG: view.resource_config}
        given = slurm_conf.parameters_of(specs(cluster))
        if given is None and (node / PARAMETERS).exists():
            given = (node / PARAMETERS).read_bytes()  # the agent copies the file of the lifecycle scripts
        layout = slurm_conf.SlurmLayout.read(given) if given else None
        if given and layout and node.name.startswith(f"{layout.controller_group}-"):
            written = files.of_slurm(view, layout, layout.controller_group, given, behaviour)
            found |= {name: written[f"/{name}"].content.decode() for name in (SLURM_CONF, CGROUP_CONF)}
        return found

    def _normalized(self, answer: Json) -> Any:
        content = {key: value for key, value in answer.items() if key != "ResponseMetadata"}
        return normalized(self._redactor.json(json_of(content)), REGION)

    def _filled(self, value: Any) -> Any:
        """Return a recorded request with resources of the embedded account in place of placeholders."""
        match value:
            case dict():
                return {key: self._filled(item) for key, item in value.items()}
            case list():
                return [self._filled(item) for item in value]
            case str():
                return PLACEHOLDER.sub(lambda found: self._resource(found[1]), value).replace(self._region, REGION)
        return value

    def _resource(self, kind: str) -> str:
        """Return a resource of the embedded account for a placeholder, in the form that the redaction knows."""
        ids = self._world.ids
        known = {
            "cluster": NAME,
            "bucket": BUCKET,
            "arn:iam:role": ids["role"],
            "file-system": "fs-0123456789abcdef0",
            "security-group": ids["security_group"],
            "subnet": ids["subnet"],
        }
        return known.get(kind, kind)

    def _put_scripts(self, request: Json) -> None:
        """Put an entry script wherever the request says that one is."""
        for group in request["InstanceGroups"]:
            scripts = group.get("LifeCycleConfig", {})
            entry = scripts.get("OnInitComplete") or scripts.get("OnCreate")
            key = re.sub(r"^s3://[^/]+/", "", scripts.get("SourceS3Uri", "")).rstrip("/")
            if entry:
                self._world.client("s3").put_object(Bucket=BUCKET, Key=f"{key}/{entry}", Body=b"#!/bin/bash\n")
