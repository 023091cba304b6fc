"""An account with an EKS cluster, and its API server."""

import base64
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from botocore.exceptions import ClientError

from cli.cluster_folder import CLUSTERS
from cli.deployment import Deployment
from cli.kubernetes.client import OperatorClient
from config.model import ClusterConfig
from tests.unit.cli.fake_stack import Json

ADMIN = "arn:aws:iam::123456789012:role/platform/Admin"
CONTENT: Json = {
    "name": "draft",
    "region": "us-west-2",
    "network": {"availability_zone_id": "usw2-az2"},
    "eks": {"version": "1.34", "admins": [ADMIN], "teams": [{"name": "research"}]},
    "instance_groups": [{"name": "workers", "instance_type": "ml.g5.8xlarge", "instance_count": 2}],
}
FIRST, SECOND = "i-0000000000000000c", "i-0000000000000000d"
ARN = "arn:aws:eks:us-west-2:123456789012:cluster/draft"
CALLER = "arn:aws:sts::123456789012:assumed-role/Admin/alice"


def eks_config(**changes: Any) -> ClusterConfig:
    """The model of the file with an `eks` section."""
    return ClusterConfig.model_validate({**CONTENT, **changes})


class FakeEks:
    """The clients of EKS, STS and IAM."""

    def __init__(self) -> None:
        self.clusters = {"draft": self.cluster("draft")}
        self.entries: list[str] | None = [ADMIN, "arn:aws:iam::123456789012:role/aws-service-role/eks/AWSServiceRoleForEKS"]
        self.caller = CALLER
        self.addons = {name: self.addon(name) for name in ("coredns", "vpc-cni")}
        self.refused: set[str] = set()

    @staticmethod
    def addon(name: str, status: str = "ACTIVE", code: str = "", message: str = "") -> Json:
        """An add-on in DescribeAddon, with an issue if there is a code."""
        issues = [{"code": code, "message": message, "resourceIds": []}] if code else []
        return {"addonName": name, "addonVersion": "v1", "status": status, "health": {"issues": issues}}

    @staticmethod
    def cluster(name: str) -> Json:
        return {
            "name": name,
            "arn": ARN,
            "status": "ACTIVE",
            "version": "1.34",
            "endpoint": "https://ABC.gr7.us-west-2.eks.amazonaws.com",
            "certificateAuthority": {"data": base64.b64encode(b"authority").decode()},
        }

    def describe_cluster(self, **asked: str) -> Json:
        self._check("describe_cluster")
        if asked["name"] not in self.clusters:
            raise ClientError({"Error": {"Code": "ResourceNotFoundException", "Message": "no"}}, "DescribeCluster")
        return {"cluster": self.clusters[asked["name"]]}

    def describe_addon(self, **asked: str) -> Json:
        self._check("describe_addon")
        return {"addon": self.addons[asked["addonName"]]}

    def _check(self, operation: str) -> None:
        if operation in self.refused:
            raise ClientError({"Error": {"Code": "AccessDeniedException", "Message": "not allowed"}}, operation)

    def get_paginator(self, operation: str) -> Any:
        if operation == "list_addons":
            return FakeAddonPages(self)
        assert operation == "list_access_entries"
        return self

    def paginate(self, **asked: str) -> Iterator[Json]:
        assert asked["clusterName"] in self.clusters
        if self.entries is None:
            raise ClientError({"Error": {"Code": "AccessDeniedException", "Message": "no"}}, "ListAccessEntries")
        yield from ({"accessEntries": [each]} for each in self.entries)

    def get_caller_identity(self) -> Json:
        return {"Arn": self.caller}

    def get_role(self, **asked: str) -> Json:
        self._check("get_role")
        return {"Role": {"Arn": f"arn:aws:iam::123456789012:role/people/{asked['RoleName']}"}}


class FakeAddonPages:
    """The paginator of ListAddons, with an add-on on each page."""

    def __init__(self, eks: FakeEks) -> None:
        self.eks = eks

    def paginate(self, **asked: str) -> Iterator[Json]:
        if asked["clusterName"] not in self.eks.clusters:
            raise ClientError({"Error": {"Code": "ResourceNotFoundException", "Message": "no"}}, "ListAddons")
        yield from ({"addons": [name]} for name in self.eks.addons)


class FakeSession:
    """A session: EKS, STS and IAM are their fake, and all other services are ``account``."""

    region_name = "us-west-2"

    def __init__(self, eks: FakeEks, account: Any = None) -> None:
        self.eks, self.account = eks, account

    def client(self, service: str) -> Any:
        return self.eks if service in ("eks", "sts", "iam") else self.account


class FakeApiServer:
    """A transport to an API server with nodes, pods and events."""

    def __init__(self) -> None:
        self.objects: dict[str, Json] = {"/api/v1/nodes": {}, "/api/v1/pods": {}, "/api/v1/events": {}}
        self.calls: list[tuple[str, str]] = []
        self.protected: set[str] = set()
        """Pods that a disruption budget keeps."""
        self.writers: list[Callable[[Json], object]] = []
        """What other clients do to an object before each of its next patches."""
        self.error: Exception | None = None
        self.status = 0
        self.forbidden: set[str] = set()
        """Paths of lists that the caller may not read."""
        self.message = "nodes is forbidden"
        self.page_size = 0
        self.is_closed = False

    def __call__(self, method: str, path: str, _: Mapping[str, str], body: bytes | None) -> tuple[int, bytes]:
        self.calls.append((method, path.partition("?")[0]))
        if self.error:
            raise self.error
        if path.partition("?")[0] in self.forbidden:
            return 403, json.dumps({"kind": "Status", "message": "pods is forbidden"}).encode()
        if self.status:
            return self.status, json.dumps({"kind": "Status", "message": self.message}).encode()
        status, reply = self._reply(method, path, json.loads(body) if body else {})
        return status, json.dumps(reply).encode()

    def close(self) -> None:
        self.is_closed = True

    def _reply(self, method: str, path: str, body: Json) -> tuple[int, Json]:
        place = urlsplit(path)
        if eviction := re.fullmatch(r"/api/v1/namespaces/([^/]+)/pods/([^/]+)/eviction", place.path):
            return self._evict(f"{eviction[1]}/{eviction[2]}")
        if method == "PATCH":
            kind, _, name = place.path.rpartition("/")
            return self._merge(kind, name, body)
        kind, _, name = place.path.rpartition("/")
        if name in self.objects.get(kind, {}):
            return 200, self.objects[kind][name]
        query = {name: unquote(values[0]) for name, values in parse_qs(place.query).items()}
        node = re.search(r"spec\.nodeName=([^,]+)", query.get("fieldSelector", ""))
        found = [each for each in self.objects[place.path].values() if node is None or each["spec"]["nodeName"] == node[1]]
        if not self.page_size:
            return 200, {"items": found, "metadata": {}}
        start = int(query.get("continue", "0"))
        end = start + self.page_size
        return 200, {"items": found[start:end], "metadata": {"continue": str(end)} if end < len(found) else {}}

    def _merge(self, kind: str, name: str, body: Json) -> tuple[int, Json]:
        if name not in self.objects[kind]:
            return 404, {"kind": "Status", "message": "not found"}
        live = self.objects[kind][name]
        if self.writers:
            self.writers.pop()(live)
        if body["metadata"].get("resourceVersion", live["metadata"]["resourceVersion"]) != live["metadata"]["resourceVersion"]:
            return 409, {"kind": "Status", "message": "the object has been modified"}
        live["spec"] |= body.get("spec", {})
        notes = live["metadata"].setdefault("annotations", {}) | body.get("metadata", {}).get("annotations", {})
        live["metadata"]["annotations"] = {key: value for key, value in notes.items() if value is not None}
        return 200, live

    def _evict(self, pod: str) -> tuple[int, Json]:
        if pod in self.protected:
            return 429, {"kind": "Status", "message": "Cannot evict pod as it would violate the pod's disruption budget."}
        if pod not in self.objects["/api/v1/pods"]:
            return 404, {"kind": "Status", "message": "not found"}
        del self.objects["/api/v1/pods"][pod]
        return 201, {"kind": "Status", "status": "Success"}

    @property
    def nodes(self) -> dict[str, Json]:
        return self.objects["/api/v1/nodes"]

    @property
    def pods(self) -> dict[str, Json]:
        return self.objects["/api/v1/pods"]

    def evicted(self) -> Counter[str]:
        """How often each pod's eviction was requested."""
        return Counter(path.split("/")[-2] for method, path in self.calls if method == "POST")

    def node(
        self, instance: str, health: str = "Schedulable", *, ready: str = "True", boot: str = "first", **labels: str
    ) -> None:
        """Register a node as HyperPod does."""
        named = {"sagemaker.amazonaws.com/node-health-status": health} if health else {}
        self.nodes[f"hyperpod-{instance}"] = {
            "metadata": {"name": f"hyperpod-{instance}", "resourceVersion": "1", "labels": {**named, **labels}},
            "spec": {},
            "status": {
                "conditions": [
                    {"type": "MemoryPressure", "status": "False"},
                    {
                        "type": "Ready",
                        "status": ready,
                        "message": "kubelet stopped posting node status" if ready != "True" else "",
                    },
                ],
                "nodeInfo": {"bootID": boot},
            },
        }

    def pod(
        self,
        name: str,
        node: str,
        owner: str = "Job",
        policy: str = "Never",
        tolerations: list[Json] | None = None,
        **status: Any,
    ) -> None:
        """Start a pod on a node."""
        owners = [{"kind": owner, "controller": True}] if owner else []
        namespace, _, own = name.partition("/")
        self.pods[name] = {
            "metadata": {"namespace": namespace, "name": own, "ownerReferences": owners},
            "spec": {"nodeName": node and f"hyperpod-{node}", "restartPolicy": policy, "tolerations": tolerations or []},
            "status": {"phase": "Running", "startTime": "2026-11-22T11:00:00Z", **status},
        }


class EksDeployment(Deployment):
    """The deployment of an EKS file whose API server is a fake."""

    def __init__(
        self,
        account: Any,
        server: FakeApiServer,
        eks: FakeEks | None = None,
        config: ClusterConfig | None = None,
        folder: Path = CLUSTERS,
    ) -> None:
        session: Any = FakeSession(eks or FakeEks(), account)
        super().__init__(config or eks_config(), session, folder)
        self.server = server

    def kubernetes(self) -> OperatorClient:
        return OperatorClient("draft", self.server, "token", self.access_fix)
