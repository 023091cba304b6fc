"""A cluster on EKS whose nodes run pods, and what tests do with it."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from cluster_request.kubernetes_objects.dependencies import dependencies
from config.instance_group import Taint
from local_aws.eks import model as eks
from local_aws.kubernetes.client import Client
from local_aws.nodes.runner import SimulatedNodes
from tests.local.hyperpod.eks_world import EksSite
from tests.local.hyperpod.world import REGION, until

DEBIAN, PYTORCH = "localhost/debian:1", "localhost/pytorch:1"
UP_S = 180.0
POD_S = 120.0
ENDED = ("Succeeded", "Failed")
Json = dict[str, Any]


class Pods:
    """A HyperPod cluster `ml` on the EKS cluster `ml`, and an administrator's client of its API server."""

    def __init__(self, site: EksSite, runner: SimulatedNodes) -> None:
        self.site, self.world, self.runner = site, site.world, runner
        self.site.eks.create_cluster(**site.request())
        until(lambda: site.eks.describe_cluster(name="ml")["cluster"], lambda found: found["status"] == "ACTIVE", UP_S)
        plane: Any = eks.everything()[0].plane
        self.client: Client = plane.admin_client()
        self.shared_path = ""

    def create(self, count: int, taints: Iterable[Taint] = (), **more: Any) -> None:
        """Create the cluster with its dependencies, and wait until it is in service."""
        for item in dependencies(REGION, taints):
            self.install(item)
        self.world.create(self.world.group("workers", count, **more), **self.site.settings())
        self.settle()

    def settle(self) -> None:
        """Wait until the cluster is in service."""
        found = until(self.world.cluster, lambda found: found["ClusterStatus"] in ("InService", "Failed"), UP_S)
        assert found["ClusterStatus"] == "InService", found

    def make_file_system(self) -> None:
        """Create a file system for Lustre; ``shared_path`` is its folder on nodes, where Lustre's simulated client finds it."""
        lustre = {"DeploymentType": "PERSISTENT_2", "PerUnitStorageThroughput": 125}
        ids = self.world.ids
        place = {"SubnetIds": [ids["subnet"]], "SecurityGroupIds": [ids["security_group"]]}
        request = {"FileSystemType": "LUSTRE", "StorageCapacity": 1200, "LustreConfiguration": lustre, **place}
        made = self.world.client("fsx").create_file_system(**request)["FileSystem"]
        self.shared_path = f"/run/simulated-fsx/{made['DNSName']}/lustre/{made['LustreConfiguration']['MountName']}"

    @property
    def shared(self) -> Path:
        """The file system's folder on this machine."""
        [folder] = (Path(self.runner.describe()[0]["folder"]).parents[1] / "fsx").iterdir()
        return folder

    def install(self, item: Json) -> None:
        """Create an object by its kind and namespace."""
        version, space = item["apiVersion"], item["metadata"].get("namespace")
        root = f"/apis/{version}" if "/" in version else f"/api/{version}"
        self.post(f"{root}/{f'namespaces/{space}/' if space else ''}{item['kind'].lower()}s", item)

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
        self.post("/api/v1/namespaces/default/pods", {"metadata": {"name": name, "labels": labels or {}}, "spec": body})

    def pod(self, name: str) -> Json:
        """A pod."""
        return dict(self.get(f"/api/v1/namespaces/default/pods/{name}"))

    def output(self, name: str) -> str:
        """A pod's output, which the API server gets from its kubelet, once the pod has succeeded."""
        pod = until(lambda: self.pod(name), lambda pod: pod["status"]["phase"] in ENDED, POD_S)
        text = str(self.get(f"/api/v1/namespaces/default/pods/{name}/log"))
        assert pod["status"]["phase"] == "Succeeded", text
        return text
