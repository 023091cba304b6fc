"""Find the API server of an EKS cluster, and create tokens for it."""

import base64
from collections.abc import Callable
from typing import Any, NamedTuple

import botocore.session

from cluster_resource.aws_api import CONFIG, ApiError, Kind, api_errors
from cluster_resource.errors import PendingError
from cluster_resource.event import Json
from kubernetes_resource.client import HttpsTransport, KubernetesClient

TOKEN_PREFIX = "k8s-aws-v1."  # noqa: S105  the start of each token
CLUSTER_HEADER = "x-k8s-aws-id"
URL_S = 60


class EksCluster(NamedTuple):
    """The EKS cluster as DescribeCluster shows it; it has an endpoint from ACTIVE on."""

    name: str
    status: str
    endpoint: str
    certificate_authority: str


class EksAccess:
    """The calls of EKS and STS that a step needs."""

    def __init__(self, eks: Any, sts: Any) -> None:
        self._eks = eks
        self._sts = sts

    def cluster(self, name: str) -> EksCluster | None:
        """Return the EKS cluster, or nothing if it does not exist."""
        try:
            with api_errors("DescribeCluster"):
                found = self._eks.describe_cluster(name=name)["cluster"]
        except ApiError as error:
            if error.kind is Kind.ABSENT:
                return None
            raise
        encoded = (found.get("certificateAuthority") or {}).get("data") or ""
        return EksCluster(name, found["status"], found.get("endpoint") or "", base64.b64decode(encoded).decode())

    def addon(self, cluster: str, name: str) -> Json:
        """Return an add-on as DescribeAddon shows it."""
        with api_errors("DescribeAddon"):
            return dict(self._eks.describe_addon(clusterName=cluster, addonName=name)["addon"])

    def client(self, cluster: EksCluster, seconds_left: Callable[[], float]) -> KubernetesClient:
        """Return a client with a new token, which is valid for 15 minutes: longer than a step."""
        if not cluster.certificate_authority:  # ssl would trust the authorities of the function's system instead
            raise PendingError(f"EKS cluster {cluster.name} has no certificate authority")
        with api_errors("GetCallerIdentity"):
            token = self.token(cluster.name)
        return KubernetesClient(HttpsTransport(cluster.endpoint, cluster.certificate_authority), token, seconds_left)

    def token(self, cluster: str) -> str:
        """Return a token: a presigned GetCallerIdentity that names the cluster."""

        def name_cluster(request: Any, **_: Any) -> None:
            request.headers[CLUSTER_HEADER] = cluster

        events = self._sts.meta.events
        events.register("before-sign.sts.GetCallerIdentity", name_cluster)
        try:
            url: str = self._sts.generate_presigned_url("get_caller_identity", ExpiresIn=URL_S, HttpMethod="GET")
        finally:
            events.unregister("before-sign.sts.GetCallerIdentity", name_cluster)
        return TOKEN_PREFIX + base64.urlsafe_b64encode(url.encode()).decode().rstrip("=")


def eks_access() -> EksAccess:
    """Return the access on new clients; EKS accepts only signatures of the regional endpoint of STS."""
    session = botocore.session.get_session()
    session.set_config_variable("sts_regional_endpoints", "regional")
    return EksAccess(session.create_client("eks", config=CONFIG), session.create_client("sts", config=CONFIG))
