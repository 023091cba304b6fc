"""EKS's checks of a new cluster beyond the service model: its version, network, role and access."""

from typing import Any

from local_aws.eks.control_planes import programs
from local_aws.eks.errors import invalid, refused, unsupported
from local_aws.eks.versions import VERSIONS
from local_aws.iam import role_trusts
from local_aws.json_service import Call, Json
from local_aws.network_interfaces import find_group, find_subnet

SERVICE = "eks.amazonaws.com"
_UNSUPPORTED = (
    "outpostConfig",
    "remoteNetworkConfig",
    "controlPlaneScalingConfig",
    "kubeApiServerConfig",
    "kubeSchedulerConfig",
    "kubeControllerManagerConfig",
)


def check_support() -> None:
    """Refuse a cluster where no control plane can run."""
    missing = programs().missing()
    if missing:
        raise refused(f"no Kubernetes control plane can run on this machine: {'; '.join(missing)}")


def check_features(request: Json) -> None:
    """Refuse features that are not emulated."""
    for name in _UNSUPPORTED:
        if request.get(name):
            raise unsupported(name)
    for name, part in (("computeConfig", request), ("zonalShiftConfig", request)):
        if (part.get(name) or {}).get("enabled"):
            raise unsupported(f"{name}.enabled")
    network = request.get("kubernetesNetworkConfig") or {}
    if network.get("ipFamily") == "ipv6":
        raise unsupported("kubernetesNetworkConfig.ipFamily ipv6")
    check_authentication((request.get("accessConfig") or {}).get("authenticationMode", "CONFIG_MAP"))


def check_authentication(mode: str) -> None:
    """Refuse the aws-auth ConfigMap, which is EKS's default without accessConfig."""
    if mode != "API":
        raise unsupported(f"accessConfig.authenticationMode {mode}; use API")


def check_version(version: str) -> None:
    """Refuse a version that EKS does not offer."""
    if version not in VERSIONS:
        raise invalid(f"unsupported Kubernetes version: {version}; available: {', '.join(VERSIONS)}")


def check_role(call: Call, role: str) -> None:
    """Refuse a role that the caller may not pass, or that EKS cannot assume."""
    call.authorize("iam:PassRole", role, {"iam:PassedToService": SERVICE})
    context = {"aws:SourceAccount": call.account, "aws:SourceArn": call.arn("eks", f"cluster/{call.request['name']}")}
    if not role_trusts(call.account, role, SERVICE, context):
        raise invalid(
            f"Role with arn: {role}, could not be assumed because it does not exist or the trusted entity is not correct"
        )


def check_network(call: Call, vpc: Json) -> str:
    """Return the id of the VPC, if its subnets and groups can have a control plane."""
    found = [_subnet(call, subnet_id) for subnet_id in vpc.get("subnetIds") or ()]
    if len({subnet.availability_zone for subnet in found}) < 2:
        raise invalid("Subnets specified must be in at least two different AZs")
    vpcs = {str(subnet.vpc_id) for subnet in found}
    if len(vpcs) > 1:
        raise invalid(f"Subnets specified must be in the same VPC, got those of {sorted(vpcs)}")
    for group_id in vpc.get("securityGroupIds") or ():
        group = find_group(call.account, call.region, group_id)
        if group is None or group.vpc_id not in vpcs:
            raise invalid(f"Security group {group_id} does not exist in VPC {min(vpcs)} of the subnets")
    check_endpoints(vpc)
    return vpcs.pop()


def check_same_zones(call: Call, before: Json, after: Json) -> None:
    """Refuse subnets in other zones than those of the creation."""
    # https://docs.aws.amazon.com/eks/latest/userguide/network-reqs.html
    first, given = (zones_of(call, vpc["subnetIds"]) for vpc in (before, after))
    if first != given:
        raise invalid(
            f"Provided subnets belong to the AZs '{','.join(given)}'. But they should belong to the exact set of AZs "
            f"'{','.join(first)}' in which subnets were provided during cluster creation."
        )


def zones_of(call: Call, subnet_ids: list[str]) -> list[str]:
    """Return the names of the zones of subnets, each once."""
    return sorted({str(_subnet(call, subnet_id).availability_zone) for subnet_id in subnet_ids})


def _subnet(call: Call, subnet_id: str) -> Any:
    subnet = find_subnet(call.account, call.region, subnet_id)
    if subnet is None:
        raise invalid(f"The subnet ID '{subnet_id}' does not exist")
    return subnet


def check_endpoints(vpc: Json) -> None:
    """Refuse an API server that nothing can reach."""
    if not vpc.get("endpointPublicAccess", True) and not vpc.get("endpointPrivateAccess", False):
        raise invalid("Private and public endpoint access cannot be false")


def check_encryption(config: list[Json]) -> None:
    """Refuse encryption of anything but secrets."""
    for item in config:
        if item.get("resources") != ["secrets"] or not (item.get("provider") or {}).get("keyArn", "").startswith("arn:"):
            raise invalid('encryptionConfig must have resources ["secrets"] and the ARN of a KMS key')
