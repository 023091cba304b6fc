"""Add-ons and their versions.

The real lists are much longer and change weekly. These versions are plausible; the oldest one of a Kubernetes version is its
default.
Namespaces and IAM needs are those of AWS's documentation; that version 1.2.1 of the training operator supports no Pod Identity is
from issue 1075 of awslabs/awsome-distributed-ai.
https://docs.aws.amazon.com/eks/latest/userguide/workloads-add-ons-available-eks.html
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from local_aws.eks.versions import VERSIONS
from local_aws.json_service import Json


@dataclass(frozen=True)
class AddonVersion:
    """A version of an add-on; ``kubernetes`` are the versions for which it exists."""

    name: str
    needs_iam: bool = False
    kubernetes: tuple[str, ...] = tuple(VERSIONS)


@dataclass(frozen=True)
class AddonKind:
    """An add-on: newest version first. ``needs_nodes``: it is healthy only while a node runs its pods."""

    name: str
    type: str
    namespace: str
    versions: tuple[AddonVersion, ...]
    needs_nodes: bool = True

    def for_kubernetes(self, version: str) -> list[AddonVersion]:
        """Return the versions for a Kubernetes version, newest first."""
        return [one for one in self.versions if version in one.kubernetes]

    def default(self, kubernetes: str) -> AddonVersion | None:
        """Return the default version, which is not the newest; None if the add-on does not exist there."""
        found = self.for_kubernetes(kubernetes)
        return found[-1] if found else None


def _per_kubernetes(names: Sequence[tuple[str, str]]) -> tuple[AddonVersion, ...]:
    return tuple(AddonVersion(name, kubernetes=(kubernetes,)) for name, kubernetes in names)


_KUBE_PROXY = _per_kubernetes([(f"v{version}.{patch}-eksbuild.{build}", version) for version, patch, build in (
    *(("1.35", 3, 13), ("1.35", 0, 2), ("1.34", 1, 2), ("1.34", 0, 2), ("1.33", 5, 2), ("1.33", 3, 4), ("1.32", 9, 2)),
    *(("1.32", 6, 2), ("1.31", 13, 2), ("1.31", 10, 2), ("1.30", 14, 8)),
)])  # fmt: skip
_ADDONS = (
    AddonKind("vpc-cni", "networking", "kube-system", (
        AddonVersion("v1.21.1-eksbuild.7", needs_iam=True), AddonVersion("v1.20.5-eksbuild.1", needs_iam=True),
        AddonVersion("v1.20.4-eksbuild.2", needs_iam=True),
    ), needs_nodes=False),
    AddonKind("kube-proxy", "networking", "kube-system", _KUBE_PROXY, needs_nodes=False),
    AddonKind("eks-pod-identity-agent", "security", "kube-system", (
        AddonVersion("v1.3.10-eksbuild.2"), AddonVersion("v1.3.10-eksbuild.1"), AddonVersion("v1.3.8-eksbuild.2"),
    ), needs_nodes=False),
    AddonKind("coredns", "networking", "kube-system", (
        AddonVersion("v1.13.2-eksbuild.4", kubernetes=("1.35",)),
        AddonVersion("v1.13.1-eksbuild.1", kubernetes=("1.35", "1.34")),
        AddonVersion("v1.12.4-eksbuild.1", kubernetes=("1.35", "1.34", "1.33")),
        AddonVersion("v1.12.3-eksbuild.1", kubernetes=("1.34", "1.33")),
        AddonVersion("v1.12.1-eksbuild.2", kubernetes=("1.33",)),
        AddonVersion("v1.11.4-eksbuild.24", kubernetes=("1.32", "1.31", "1.30")),
        AddonVersion("v1.11.4-eksbuild.2", kubernetes=("1.32", "1.31")),
    )),
    AddonKind("aws-fsx-csi-driver", "storage", "kube-system", (
        AddonVersion("v1.7.0-eksbuild.1", needs_iam=True), AddonVersion("v1.6.0-eksbuild.1", needs_iam=True),
    )),
    AddonKind("aws-mountpoint-s3-csi-driver", "storage", "kube-system", (
        AddonVersion("v2.1.0-eksbuild.1", needs_iam=True), AddonVersion("v2.0.0-eksbuild.1", needs_iam=True),
    )),
    AddonKind("cert-manager", "security", "cert-manager", (
        AddonVersion("v1.18.2-eksbuild.2"), AddonVersion("v1.17.2-eksbuild.1"),
    )),
    AddonKind("metrics-server", "observability", "kube-system", (
        AddonVersion("v0.8.0-eksbuild.2"), AddonVersion("v0.7.2-eksbuild.4"),
    )),
    AddonKind("amazon-cloudwatch-observability", "observability", "amazon-cloudwatch", (
        AddonVersion("v4.7.0-eksbuild.1", needs_iam=True), AddonVersion("v4.6.0-eksbuild.1", needs_iam=True),
    )),
    AddonKind("amazon-sagemaker-hyperpod-training-operator", "compute", "aws-hyperpod", (
        AddonVersion("v1.2.1-eksbuild.1"), AddonVersion("v1.2.0-eksbuild.1", needs_iam=True),
    )),
    AddonKind("amazon-sagemaker-hyperpod-taskgovernance", "compute", "kueue-system", (
        AddonVersion("v1.6.0-eksbuild.1", kubernetes=("1.35", "1.34")), AddonVersion("v1.3.1-eksbuild.1"),
    )),
    AddonKind("amazon-sagemaker-hyperpod-observability", "observability", "hyperpod-observability", (
        AddonVersion("v1.0.4-eksbuild.1", needs_iam=True), AddonVersion("v1.0.3-eksbuild.1", needs_iam=True),
    )),
)  # fmt: skip
ADDONS = {addon.name: addon for addon in _ADDONS}


def details(kubernetes: str | None, addon_name: str | None) -> Iterator[Json]:
    """Yield the add-ons in the API's form: for one Kubernetes version and of one name, if given."""
    wanted = [kubernetes] if kubernetes else list(VERSIONS)
    for addon in _ADDONS:
        versions = [one for one in addon.versions if set(wanted) & set(one.kubernetes)]
        if versions and addon_name in (None, addon.name):
            yield {
                "addonName": addon.name,
                "type": addon.type,
                "addonVersions": [_version(addon, one, wanted) for one in versions],
                "publisher": "eks",
                "owner": "aws",
                "defaultNamespace": addon.namespace,
            }


def _version(addon: AddonKind, version: AddonVersion, wanted: Sequence[str]) -> Json:
    return {
        "addonVersion": version.name,
        "architecture": ["amd64", "arm64"],
        "computeTypes": ["ec2", "hybrid"],
        "compatibilities": [
            {"clusterVersion": one, "platformVersions": ["*"], "defaultVersion": addon.default(one) == version}
            for one in version.kubernetes
            if one in wanted
        ],
        "requiresConfiguration": False,
        "requiresIamPermissions": version.needs_iam,
    }
