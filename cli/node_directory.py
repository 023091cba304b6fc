"""Every name of every node: instance id, HyperPod's name, Slurm's host name, address, group and role."""

import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

from cli.aws_errors import unless_absent
from cli.deployment import Deployment
from cli.errors import CommandError
from cli.node_reports import hyperpod_names, reported_names
from cli.parts import Parts
from cli.remote.sessions import SessionError, Sessions, Target, missing_plugin
from cli.remote.shell import SessionManagerShell, Shell
from config.instance_group import Role
from config.operation_names import node_name
from config.suggestions import either, like

ALL = "all"
RESOURCE_CONFIG = "/opt/ml/config/resource_config.json"
READ_TIMEOUT_S = 30.0
MAX_LISTED = 10
_HOST = re.compile(r"ip-(\d+)-(\d+)-(\d+)-(\d+)")


@dataclass(frozen=True)
class Node:
    """A node with its names; an unknown name is empty."""

    target: Target
    role: str
    host: str
    address: str
    status: str
    message: str
    instance_type: str
    image_release: str
    image_status: str
    name: str = ""
    """HyperPod's name, such as workers-1."""

    @property
    def instance(self) -> str:
        """Return the instance id."""
        return self.target.instance

    @property
    def group(self) -> str:
        """Return the name of the instance group."""
        return self.target.group

    @property
    def label(self) -> str:
        """Return the name to print: HyperPod's, or else the host name or the instance id."""
        return self.name or self.host or self.instance

    @property
    def names(self) -> dict[str, str | None]:
        """Return the names for JSON, which are the same in the data of every command."""
        return node_names(self.instance, self.name, self.host, self.group)

    def data(self) -> dict[str, str | None]:
        """Return the node for JSON, with null for unknown fields."""
        return {
            **self.names,
            "address": self.address or None,
            "role": self.role or None,
            "instance_type": self.instance_type or None,
            "status": self.status,
            "message": self.message or None,
            "image_release": self.image_release or None,
            "image_status": self.image_status or None,
            "ssm_target": str(self.target),
        }


def node_names(instance: str, name: str, host: str, group: str) -> dict[str, str | None]:
    """Return a node's names for JSON, with null for unknown ones."""
    return {"instance_id": instance, "name": name or None, "host": host or None, "group": group}


@dataclass(frozen=True, eq=False)
class NodeDirectory:
    """The nodes of a cluster, found by any name; HyperPod's are read on first use, from reports or else from a controller."""

    deployment: Deployment
    cluster: str
    """The name of the cluster at AWS."""
    listed: tuple[Node, ...]
    """The nodes as SageMaker lists them, without HyperPod's names."""
    shell: Shell | None
    shell_problem: CommandError | None
    """Why there is no shell; None if there is one."""

    @property
    def is_eks(self) -> bool:
        """Return whether Kubernetes is the scheduler."""
        return self.deployment.is_eks

    @property
    def nodes(self) -> tuple[Node, ...]:
        """Return the nodes, without HyperPod's names unless they were read."""
        return self.named if "_names" in self.__dict__ else self.listed

    @cached_property
    def named(self) -> tuple[Node, ...]:
        """Return the nodes with HyperPod's names."""
        names, _ = self._names
        return tuple(replace(node, name=names.get(node.instance, "")) for node in self.listed)

    @property
    def unnamed_reason(self) -> CommandError | None:
        """Return why HyperPod's names are unknown; None if they were read."""
        return self._names[1]

    def find(self, name: str, *, accept_all: bool = False) -> tuple[Node, ...]:
        """Return the nodes of this name: any name of a node, a group, `login` or `controller`; raise CommandError if none."""
        if found := self._of_group(name):
            self._demand_no_node(name)
            return found
        if found := tuple(node for node in self.listed if name in _names_of(node)):
            return found
        if name == ALL and self.listed:
            if accept_all:
                return self.nodes
            raise CommandError(f"{ALL!r}: only `./hpod run` and `./hpod rerun-scripts` accept it", "pass nodes or groups")
        if name in (Role.LOGIN, Role.CONTROLLER) and (found := self.of_role(Role(name))):
            return found
        if found := tuple(node for node in self.named if name == node.name):
            return found
        if not self.listed:
            raise CommandError(f"cluster {self.cluster} has no nodes")
        raise CommandError(f"unknown node {name!r}", self._fix(name))

    def one(self, name: str) -> Node:
        """Return the only node of this name; of `login` and `controller` the first that is Running."""
        found = self.find(name)
        if len(found) > 1 and name in (Role.LOGIN, Role.CONTROLLER):
            return first_running(found)
        if len(found) > 1:
            names = ", ".join(node.label for node in found[:10])
            raise CommandError(f"{name!r} has {len(found)} nodes", f"pass one of {names}")
        return found[0]

    def of_role(self, role: Role) -> tuple[Node, ...]:
        """Return the nodes of a role."""
        return tuple(node for node in self.nodes if node.role == role)

    def entrance(self) -> Node:
        """Return the node to log in to: a login node, or else a controller."""
        entries = self.of_role(Role.LOGIN) or self.of_role(Role.CONTROLLER)
        if not entries:
            raise CommandError(f"cluster {self.cluster} has no login node and no controller", "pass the name of a node")
        return first_running(entries)

    def _fix(self, name: str) -> str:
        """Suggest names for an unknown one. On EKS, HyperPod's names stay on the nodes, so `workers-1` is always a group."""
        group = name.rpartition("-")[0]
        if self.is_eks and self._is_numbered(name):
            host = self._of_group(group)[0].host
            return f"HyperPod's names are not accepted on EKS: pass a name in Kubernetes, e.g. {host}, or the group {group}"
        reason = f"; HyperPod's names are unknown: {self.unnamed_reason}" if self.unnamed_reason else ""
        if similar := like(name, self._known()):
            return f"did you mean {either(similar)}?{reason}"
        few = len(self.nodes) <= MAX_LISTED
        nodes = either(sorted(node.label for node in self.nodes)) if few else f"listed by `{self.deployment.hpod('nodes')}`"
        return f"use a group: {either(sorted({node.group for node in self.nodes}))}, or a node: {nodes}{reason}"

    def _is_numbered(self, name: str) -> bool:
        """Return whether the name has the form of HyperPod's names for the nodes of a group: GROUP-NUMBER."""
        group, _, number = name.rpartition("-")
        return number.isdecimal() and bool(self._of_group(group))

    def _demand_no_node(self, name: str) -> None:
        """Raise a CommandError if this name of a group is also a node's, or may be because HyperPod's names are unknown."""
        fix = "pass instance ids or host names"
        nodes = self.listed
        if self._is_numbered(name):
            if self.unnamed_reason:
                raise CommandError(f"{name!r} is a group and may be a node, whose names are unknown: {self.unnamed_reason}", fix)
            nodes = self.named
        if any(name in _names_of(node) for node in nodes):
            raise CommandError(f"{name!r} is both a group and a node", fix)

    def _of_group(self, name: str) -> tuple[Node, ...]:
        return tuple(node for node in self.nodes if node.group == name)

    def _known(self) -> set[str]:
        of_nodes = {name for node in self.nodes for name in _names_of(node)}
        return {*of_nodes, *(node.group for node in self.nodes), *(node.role for node in self.nodes)} - {"", Role.COMPUTE.value}

    @cached_property
    def _names(self) -> tuple[Mapping[str, str], CommandError | None]:
        """Return HyperPod's names by instance id, and why some are unknown."""
        if self.is_eks:
            return {}, None
        groups = {node.instance: node.group for node in self.listed}
        reported = Parts("nodes").get("names", lambda: reported_names(self.deployment, groups, datetime.now(UTC))) or {}
        if all(node.instance in reported or node.status == "Pending" for node in self.listed):
            return reported, None
        read, reason = self._read_names()
        return {**reported, **read}, reason

    def _read_names(self) -> tuple[Mapping[str, str], CommandError | None]:
        """Return the names in a controller's file, or the reason why they cannot be read."""
        controllers = [node for node in self.listed if node.role == Role.CONTROLLER]
        if self.shell is None or not controllers:
            return {}, self.shell_problem or CommandError("the cluster has no controller")
        try:
            printed = self.shell.run(first_running(controllers).target, f"cat {RESOURCE_CONFIG}", READ_TIMEOUT_S)
        except SessionError as error:
            return {}, error
        try:
            return dict(hyperpod_names(json.loads(printed.text))), None
        except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
            return {}, CommandError(f"{RESOURCE_CONFIG}: unexpected content: {printed.text.strip()[:200]}")


def node_directory(deployment: Deployment, shell: Shell | None = None) -> NodeDirectory:
    """Return the nodes of a deployed cluster; sessions use ``shell``, or else the plugin if it is installed."""
    cluster = deployment.cluster()
    name, cluster_id = cluster["ClusterName"], cluster["ClusterArn"].rpartition("/")[2]
    roles = deployment.config.role_names()
    sagemaker = deployment.client("sagemaker")
    nodes = [_node(each, cluster_id, roles, _details(sagemaker, name, each)) for each in deployment.nodes(name)]
    if deployment.is_eks:
        nodes = [replace(node, host=node_name(node.instance)) for node in nodes]
    problem = None if shell else missing_plugin()
    if shell is None and not problem:
        shell = session_shell(deployment)
    return NodeDirectory(deployment, name, tuple(nodes), shell, problem)


def session_shell(deployment: Deployment, connect_timeout_s: float = 0) -> SessionManagerShell:
    """Return a shell on the nodes of a deployment."""
    profile = deployment.profile or os.environ.get("AWS_PROFILE", "")
    return SessionManagerShell(Sessions(deployment.client("ssm"), profile, connect_timeout_s))


def labels(nodes: Sequence[Node]) -> str:
    """Return the names of at most ten nodes."""
    return ", ".join(node.label for node in nodes[:10]) + (" ..." if len(nodes) > 10 else "")


def first_running(nodes: Sequence[Node]) -> Node:
    """Return the first node that is Running, or else the first."""
    return next((node for node in nodes if node.status == "Running"), nodes[0])


def _details(sagemaker: Any, cluster: str, summary: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return DescribeClusterNode's answer where ListClusterNodes has no host name; it allows few calls per second."""
    if summary.get("PrivateDnsHostname") or not summary.get("InstanceId"):
        return {}
    asked = {"ClusterName": cluster, "NodeId": summary["InstanceId"]}
    details: Mapping[str, Any] | None = unless_absent(lambda: sagemaker.describe_cluster_node(**asked)["NodeDetails"])
    return details or {}  # it was deleted since it was listed


def _node(summary: Mapping[str, Any], cluster_id: str, roles: Mapping[str, str], details: Mapping[str, Any]) -> Node:
    group, state = summary["InstanceGroupName"], summary["InstanceStatus"]
    host, address = _host_and_address({**details, **summary})
    return Node(
        Target(cluster_id, group, summary["InstanceId"]),
        roles.get(group, ""),
        host,
        address,
        state["Status"],
        state.get("Message") or "",
        summary.get("InstanceType") or "",
        summary.get("CurrentImageReleaseVersion") or "",
        summary.get("ImageVersionStatus") or "",
    )


def _host_and_address(fields: Mapping[str, Any]) -> tuple[str, str]:
    host = str(fields.get("PrivateDnsHostname") or "").partition(".")[0]
    address = fields.get("PrivatePrimaryIp") or ""
    if not address and (parts := _HOST.fullmatch(host)):
        address = ".".join(parts.groups())
    if not host and address:
        host = f"ip-{address.replace('.', '-')}"
    return host, address


def _names_of(node: Node) -> set[str]:
    return {node.instance, node.host, node.address, node.name, str(node.target)} - {""}
