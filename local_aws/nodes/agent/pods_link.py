"""The link between a cluster's hub and its control plane, while nodes run pods.

It has the API server's way to pods, the names of services and pods, the simulated training operator, and the object of the
simulated FSx CSI driver.
"""

import contextlib
import logging
import threading
from collections.abc import Container, Iterable
from pathlib import Path
from typing import Any

from cluster_request.kubernetes_objects.shared_file_system import DRIVER
from local_aws.builds import relay
from local_aws.builds.errors import HostError
from local_aws.hyperpod.model import Cluster
from local_aws.kubernetes import egress
from local_aws.nodes.agent import kubelet
from local_aws.nodes.hub import Hub
from local_aws.training_operator.operator import SimulatedOperator

_ADDON = "amazon-sagemaker-hyperpod-training-operator"
_CSI_ADDON = "aws-fsx-csi-driver"
_CSI_DRIVERS = "/apis/storage.k8s.io/v1/csidrivers"
# Of the add-on, only this object is real: nodes have a driver of this project, see image/kubernetes/csi_driver.py.
_CSI_DRIVER = {"metadata": {"name": DRIVER}, "spec": {"attachRequired": False}}
_DOMAIN = "svc.cluster.local"
_EVERY_S = 1.0
_log = logging.getLogger(__name__)


class PodsLink:
    """A link that works until ``close``."""

    def __init__(self, hub: Hub, plane: Path, client: Any, operator: SimulatedOperator, addons: Container[str]) -> None:
        self._hub, self._client, self._operator, self._addons = hub, client, operator, addons
        self._closed = threading.Event()
        self._listener = egress.listen(plane)
        relay.serve(self._listener, lambda: relay.connect(hub.folder, relay.PODS), egress.is_own)
        self._names: dict[str, str] = {}
        self._thread = threading.Thread(target=self._follow, name="names-of-pods", daemon=True)
        self._thread.start()
        operator.start()

    @classmethod
    def of(cls, hub: Hub, cluster: Cluster) -> "PodsLink":
        """Return the link of a hub to the control plane of its nodes."""
        found = kubelet.eks_cluster(cluster)
        plane: Any = found.plane
        operator = SimulatedOperator(plane.admin_client(), lambda: _ADDON in found.addons)
        return cls(hub, plane.folder, plane.admin_client(), operator, found.addons)

    def close(self) -> None:
        """End the link."""
        self._closed.set()
        relay.close(self._listener)
        self._thread.join()
        self._operator.close()

    def _follow(self) -> None:
        while not self._closed.wait(_EVERY_S):
            with contextlib.suppress(OSError, HostError):  # one of the two ends: so will the link
                self._register_csi_driver()
                found = names(self._list("services"), self._list("endpoints"))
                if found != self._names:
                    self._hub.name_pods(found)
                    self._names = found

    def _register_csi_driver(self) -> None:
        if _CSI_ADDON in self._addons and self._client.call("GET", f"{_CSI_DRIVERS}/{DRIVER}").status == 404:
            self._client.call("POST", _CSI_DRIVERS, _CSI_DRIVER)

    def _list(self, kind: str) -> list[Any]:
        answer = self._client.call("GET", f"/api/v1/{kind}")
        if answer.status != 200:
            raise HostError(f"GET /api/v1/{kind}: status {answer.status}")
        return list(answer.content["items"])


def names(services: Iterable[Any], endpoints: Iterable[Any]) -> dict[str, str]:
    """Return the names of services, and of pods of headless ones, each with one address."""
    found, headless = {}, set()
    for service in services:
        address, name = service["spec"].get("clusterIP", ""), _name(service)
        if address == "None":
            headless.add(name)
        elif address:
            found[name] = address
    for each in endpoints:
        name = _name(each)
        ready = [address for subset in each.get("subsets") or () for address in subset.get("addresses") or ()]
        if name not in headless or not ready:
            continue
        found[name] = ready[0]["ip"]
        found |= {f"{address['hostname']}.{name}": address["ip"] for address in ready if address.get("hostname")}
    return found


def _name(item: Any) -> str:
    return f"{item['metadata']['name']}.{item['metadata']['namespace']}.{_DOMAIN}"
