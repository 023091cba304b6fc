"""Pods on nodes, as tests start and see them through the API server."""

from typing import Any

from local_aws.kubernetes.client import Client
from tests.simulator.hyperpod.world import until

DEBIAN, PYTORCH = "localhost/debian:1", "localhost/pytorch:1"
UP_S = 180.0
POD_S = 120.0
ENDED = ("Succeeded", "Failed")
Json = dict[str, Any]


class Pods:
    """The pods of a namespace, and a client of the API server."""

    def __init__(self, client: Client, namespace: str = "default") -> None:
        self.client, self.namespace = client, namespace

    def get(self, path: str) -> Any:
        """An object, a list or a text of the API server."""
        found = self.client.call("GET", path)
        assert found.status == 200, found
        return found.content

    def post(self, path: str, item: Json) -> None:
        """Create an object."""
        made = self.client.call("POST", path, item)
        assert made.status == 201, made

    def nodes(self) -> dict[str, Json]:
        """The Node objects by name."""
        return {node["metadata"]["name"]: node for node in self.get("/api/v1/nodes")["items"]}

    def start(self, name: str, *command: str, labels: Json | None = None, container: Json | None = None, **spec: Any) -> None:
        """Create a pod that runs a command once."""
        one = {"name": "it", "image": DEBIAN, "command": list(command), **(container or {})}
        body = {"restartPolicy": "Never", "containers": [one], **spec}
        self.post(self._path, {"metadata": {"name": name, "labels": labels or {}}, "spec": body})

    def pod(self, name: str) -> Json:
        """A pod."""
        return dict(self.get(f"{self._path}/{name}"))

    def output(self, name: str) -> str:
        """A pod's output, which the API server gets from its kubelet, once the pod has succeeded."""
        pod = until(lambda: self.pod(name), lambda pod: pod["status"]["phase"] in ENDED, POD_S)
        text = str(self.get(f"{self._path}/{name}/log"))
        assert pod["status"]["phase"] == "Succeeded", text
        return text

    @property
    def _path(self) -> str:
        return f"/api/v1/namespaces/{self.namespace}/pods"
