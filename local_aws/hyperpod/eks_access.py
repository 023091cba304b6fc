"""The access entries that HyperPod creates in EKS with the rights of CreateCluster's caller, and deletes with the cluster.

AWS names the entries in ClusterMetadata, and the caller's rights in its templates: HyperPod's own service-linked role may only
describe EKS clusters. Assumed: an entry that exists already is kept, also by DeleteCluster; DeleteCluster's caller needs
eks:DeleteAccessEntry; AmazonSagemakerHyperpodClusterPolicy, which HyperPod associates, allows nothing that RBAC does not.
https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ClusterMetadata.html
"""

from dataclasses import replace

from local_aws.eks import access_operations
from local_aws.eks import model as eks
from local_aws.eks.principals import Principal
from local_aws.hyperpod.eks_checks import existing
from local_aws.hyperpod.model import Cluster
from local_aws.iam.documents import find_role
from local_aws.json_service import Call, Json

NODES = "HYPERPOD_LINUX"
SERVICE_USER = "hyperpod-service-linked-role"
_SERVICE = "hyperpod.sagemaker.amazonaws.com"
_ROLE_NAME = "AWSServiceRoleForSageMakerHyperPod"


def authorize_creation(call: Call, cluster_arn: str, specs: list[Json]) -> None:
    """Check the caller's rights in EKS for a new cluster, or for new roles of nodes."""
    found = existing(call, cluster_arn)
    call.authorize("eks:CreateAccessEntry", found.arn)
    for arn in [service_role_arn(call.account, call.partition), *_roles_of(specs)]:
        entry = found.entries.get(arn)
        call.authorize("eks:DescribeAccessEntry", entry.arn if entry else call.arn("eks", f"access-entry/{found.name}/*"))
    call.authorize("eks:AssociateAccessPolicy", call.arn("eks", f"access-entry/{found.name}/*"))
    role = service_role_arn(call.account, call.partition)
    if find_role(call.account, role) is None:
        call.authorize("iam:CreateServiceLinkedRole", role, {"iam:AWSServiceName": _SERVICE})


def create_entries(call: Call, cluster: Cluster) -> None:
    """Create the entries of the service and of the nodes' roles that are missing; remember them."""
    found = existing(call, cluster.eks_arn)
    service = _service_role(call)
    with eks.lock:
        if service.arn not in found.entries:
            access_operations.admit_service(found, service, SERVICE_USER)
            cluster.access_entries.append(service.arn)
        for arn in _roles_of([group.spec for group in cluster.groups.values()]):
            if arn not in found.entries:
                request = {"clusterName": found.name, "principalArn": arn, "type": NODES}
                access_operations.create_access_entry(replace(call, operation="CreateAccessEntry", request=request))
                cluster.access_entries.append(arn)


def authorize_deletion(call: Call, cluster: Cluster) -> None:
    """Check that the caller may delete the entries that HyperPod created and that still exist."""
    with eks.lock:
        found = eks.by_arn(cluster.eks_arn)
        entries = [found.entries[arn] for arn in cluster.access_entries if arn in found.entries] if found else []
    for entry in entries:
        call.authorize("eks:DeleteAccessEntry", entry.arn)


def delete_entries(cluster: Cluster) -> None:
    """Delete the entries that HyperPod created; ignore missing ones, and a missing EKS cluster."""
    with eks.lock:
        found = eks.by_arn(cluster.eks_arn)
        if found:
            access_operations.withdraw(found, cluster.access_entries)
    cluster.access_entries = []


def metadata(cluster: Cluster) -> Json:
    """Return the fields of ClusterMetadata about the entries."""
    if not cluster.eks_arn:
        return {}
    service = service_role_arn(cluster.account, cluster.partition)
    return {"EksRoleAccessEntries": _roles_of([group.spec for group in cluster.groups.values()]), "SlrAccessEntry": service}


def service_role_arn(account: str, partition: str) -> str:
    """Return the ARN of HyperPod's service-linked role."""
    return f"arn:{partition}:iam::{account}:role/aws-service-role/{_SERVICE}/{_ROLE_NAME}"


def _roles_of(specs: list[Json]) -> list[str]:
    return sorted({spec["ExecutionRole"] for spec in specs})


def _service_role(call: Call) -> Principal:
    """Return HyperPod's service-linked role, which SageMaker creates once per account."""
    from moto.iam.models import iam_backends  # noqa: PLC0415  moto is loaded once the environment is set

    arn = service_role_arn(call.account, call.partition)
    role = find_role(call.account, arn)
    if role is None:
        role = iam_backends[call.account][call.partition].create_role(
            role_name=_ROLE_NAME,
            assume_role_policy_document=_TRUST,
            path=f"/aws-service-role/{_SERVICE}/",
            permissions_boundary=None,
            description="",
            tags=[],
            max_session_duration="3600",
            linked_service=_SERVICE,
        )
    return Principal(role.arn, role.id)


_TRUST = (
    '{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Principal": {"Service": "hyperpod.sagemaker.amazonaws.com"}, '
    '"Action": "sts:AssumeRole"}]}'
)
