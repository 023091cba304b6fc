"""The state of the embedded EKS: clusters with their access entries, add-ons, Pod Identity associations and updates."""

import base64
import secrets
import threading
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from local_aws.clock import host_now
from local_aws.eks.control_planes import ControlPlane
from local_aws.eks.errors import not_found
from local_aws.json_service import Call, Json
from local_aws.network_interfaces import Interface

# Protects everything below. The webhooks read without it, because the API server may wait for them within an operation.
lock = threading.RLock()


@dataclass(frozen=True)
class PolicyScope:
    """An access policy of an entry; no namespaces: the whole cluster."""

    policy_arn: str
    namespaces: tuple[str, ...]
    associated: datetime
    modified: datetime

    def details(self) -> Json:
        """Return the association in the API's form."""
        scope: Json = {"type": "namespace" if self.namespaces else "cluster", "namespaces": list(self.namespaces)}
        return {
            "policyArn": self.policy_arn,
            "accessScope": scope,
            "associatedAt": self.associated,
            "modifiedAt": self.modified,
        }


@dataclass(frozen=True)
class AccessEntry:
    """An access entry; ``principal_id`` is the unique id of the role or user, which a recreated one does not have."""

    cluster: str
    principal_arn: str
    principal_id: str
    arn: str
    type: str
    username: str
    groups: tuple[str, ...]
    tags: Mapping[str, str]
    policies: tuple[PolicyScope, ...] = ()
    created: datetime = field(default_factory=host_now)
    modified: datetime = field(default_factory=host_now)

    def details(self) -> Json:
        """Return the entry in the API's form."""
        return {
            "clusterName": self.cluster,
            "principalArn": self.principal_arn,
            "kubernetesGroups": list(self.groups),
            "accessEntryArn": self.arn,
            "createdAt": self.created,
            "modifiedAt": self.modified,
            "tags": dict(self.tags),
            "username": self.username,
            "type": self.type,
        }


@dataclass
class Addon:
    """An add-on; ``settings`` are the request's own fields in the API's form."""

    cluster: str
    name: str
    version: str
    arn: str
    settings: Json
    tags: dict[str, str]
    status: str = "CREATING"
    issues: list[Json] = field(default_factory=list)
    created: datetime = field(default_factory=host_now)
    modified: datetime = field(default_factory=host_now)

    def details(self) -> Json:
        """Return the add-on in the API's form."""
        return {
            "addonName": self.name,
            "clusterName": self.cluster,
            "status": self.status,
            "addonVersion": self.version,
            "health": {"issues": list(self.issues)},
            "addonArn": self.arn,
            "createdAt": self.created,
            "modifiedAt": self.modified,
            "tags": dict(self.tags),
            "publisher": "eks",
            "owner": "aws",
            **self.settings,
        }


@dataclass
class Association:
    """A Pod Identity association; ``settings`` are the request's own fields in the API's form."""

    id: str
    arn: str
    settings: Json
    tags: dict[str, str]
    created: datetime = field(default_factory=host_now)
    modified: datetime = field(default_factory=host_now)

    def summary(self) -> Json:
        """Return the association as lists show it."""
        names = ("clusterName", "namespace", "serviceAccount", "ownerArn")
        shown = {name: self.settings[name] for name in names if name in self.settings}
        return {**shown, "associationArn": self.arn, "associationId": self.id}

    def details(self) -> Json:
        """Return the association in the API's form."""
        times = {"createdAt": self.created, "modifiedAt": self.modified}
        return {**self.settings, **self.summary(), "tags": dict(self.tags), **times}


@dataclass
class Update:
    """An update of a cluster or of its add-on ``addon``."""

    type: str
    params: list[Json]
    addon: str | None = None
    status: str = "InProgress"
    id: str = field(default_factory=lambda: str(uuid.uuid4()))
    created: datetime = field(default_factory=host_now)

    def details(self) -> Json:
        """Return the update in the API's form."""
        return {
            "id": self.id,
            "status": self.status,
            "type": self.type,
            "params": self.params,
            "createdAt": self.created,
            "errors": [],
        }


@dataclass
class Cluster:
    """A cluster; ``settings`` are the fields of DescribeCluster that requests determine, in the API's form.

    ``effective`` holds the access entries that the API server knows already.
    """

    account: str
    region: str
    partition: str
    name: str
    arn: str
    request: Json
    settings: Json
    tags: dict[str, str]
    interfaces: list[Interface]
    status: str = "CREATING"
    issues: list[Json] = field(default_factory=list)
    plane: ControlPlane | None = None
    id: str = field(default_factory=lambda: secrets.token_hex(16).upper())
    secret: str = field(default_factory=lambda: secrets.token_urlsafe(24), repr=False)
    created: datetime = field(default_factory=host_now)
    entries: dict[str, AccessEntry] = field(default_factory=dict)
    effective: Mapping[str, AccessEntry] = field(default_factory=dict)
    addons: dict[str, Addon] = field(default_factory=dict)
    associations: dict[str, Association] = field(default_factory=dict)
    updates: dict[str, Update] = field(default_factory=dict)

    @property
    def version(self) -> str:
        """Return the Kubernetes version that the API reports."""
        return str(self.settings["version"])

    @property
    def security_group(self) -> str:
        """Return the id of the cluster security group."""
        return str(self.settings["resourcesVpcConfig"]["clusterSecurityGroupId"])

    def arn_of(self, kind: str, *names: str) -> str:
        """Return the ARN of a part of the cluster."""
        return f"arn:{self.partition}:eks:{self.region}:{self.account}:{'/'.join((kind, self.name, *names))}"

    def details(self) -> Json:
        """Return the cluster in the API's form."""
        ready: Json = {}
        if self.plane and self.status != "CREATING":
            data = base64.b64encode(self.plane.certificate_authority.encode()).decode()
            ready = {"endpoint": self.plane.endpoint, "certificateAuthority": {"data": data}}
        return {
            "name": self.name,
            "arn": self.arn,
            "createdAt": self.created,
            "status": self.status,
            "health": {"issues": list(self.issues)},
            "identity": {"oidc": {"issuer": f"https://oidc.eks.{self.region}.amazonaws.com/id/{self.id}"}},
            "tags": dict(self.tags),
            **self.settings,
            **ready,
        }


_clusters: dict[str, Cluster] = {}


def clusters(call: Call) -> list[Cluster]:
    """Return the clusters of the call's account and region."""
    return [one for one in everything() if (one.account, one.region) == (call.account, call.region)]


def find(call: Call, name: str) -> Cluster | None:
    """Return the cluster with this name, or None."""
    return next((one for one in clusters(call) if one.name == name), None)


def require(call: Call, name: str) -> Cluster:
    """Return the cluster with this name."""
    found = find(call, name)
    if found is None:
        raise not_found(f"No cluster found for name: {name}.")
    return found


def by_arn(arn: str) -> Cluster | None:
    """Return the cluster with this ARN, or None."""
    return _clusters.get(arn)


def by_secret(secret: str) -> Cluster | None:
    """Return the cluster whose webhooks have this secret, or None."""
    return next((one for one in everything() if secrets.compare_digest(one.secret.encode(), secret.encode())), None)


def add(cluster: Cluster) -> None:
    """Add a cluster."""
    _clusters[cluster.arn] = cluster


def exists(cluster: Cluster) -> bool:
    """Return whether this very cluster still exists."""
    return _clusters.get(cluster.arn) is cluster


def remove(cluster: Cluster) -> None:
    """Remove a cluster."""
    _clusters.pop(cluster.arn, None)


def everything() -> list[Cluster]:
    """Return the clusters of all accounts and regions."""
    return list(_clusters.values())


def reset() -> None:
    """Remove everything."""
    _clusters.clear()
