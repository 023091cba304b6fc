"""HyperPod's checks of clusters that EKS orchestrates, beyond the service model.

https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-prerequisites.html. Error texts are not public.
"""

from collections import Counter
from collections.abc import Iterable

from local_aws.eks import model as eks
from local_aws.errors import AwsError
from local_aws.hyperpod.model import Cluster, clusters
from local_aws.iam import role_trusts
from local_aws.json_service import Call, Json
from local_aws.network_interfaces import find_group, find_subnet

AUTOSCALER = "hyperpod.sagemaker.amazonaws.com"
"""The service that assumes ClusterRole.
https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-autoscaling-iam.html
"""
_MODES = ("API", "API_AND_CONFIG_MAP")
_PREFIX_LENGTH, _NAME_LENGTH = 253, 63  # of a label's key in Kubernetes; the service model only limits their sum


def check_orchestrator(call: Call, settings: Json) -> None:
    """Refuse a new cluster on an EKS cluster that cannot have it."""
    orchestrator = settings.get("Orchestrator") or {}
    if "Eks" not in orchestrator:
        return
    if "Slurm" in orchestrator:
        raise _invalid("Orchestrator must have either Eks or Slurm")
    arn = orchestrator["Eks"]["ClusterArn"]
    call.authorize("eks:DescribeCluster", arn)
    cluster = existing(call, arn)
    mode = cluster.settings["accessConfig"]["authenticationMode"]
    if cluster.status not in ("ACTIVE", "UPDATING"):
        raise _invalid(f"The EKS cluster {arn} is {cluster.status}; it must be ACTIVE")
    if mode not in _MODES:
        raise _invalid(f"The authentication mode of the EKS cluster {arn} is {mode}; it must be one of {', '.join(_MODES)}")
    _check_vpc(call, cluster, settings.get("VpcConfig"))
    for other in clusters(call.account, call.region).values():
        if other.eks_arn == arn:
            raise AwsError("ResourceInUse", f"The EKS cluster {arn} is already the orchestrator of cluster {other.name}")


def existing(call: Call, arn: str) -> eks.Cluster:
    """Return the EKS cluster of the caller's account and region."""
    with eks.lock:
        found = next((cluster for cluster in eks.clusters(call) if cluster.arn == arn), None)
    if found is None:
        raise _invalid(f"The EKS cluster {arn} does not exist in account {call.account}, region {call.region}")
    return found


def _check_vpc(call: Call, cluster: eks.Cluster, vpc: Json | None) -> None:
    own = cluster.settings["resourcesVpcConfig"]["vpcId"]
    if not vpc:
        raise _invalid("VpcConfig is required with Orchestrator.Eks")
    found = [
        *(find_subnet(call.account, call.region, each) for each in vpc["Subnets"]),
        *(find_group(call.account, call.region, each) for each in vpc["SecurityGroupIds"]),
    ]
    for part in found:
        if part is not None and part.vpc_id != own:
            raise _invalid(f"{part.id} is in VPC {part.vpc_id}; VpcConfig must be in VPC {own} of the EKS cluster {cluster.arn}")


def check_groups(call: Call, settings: Json, specs: Iterable[Json]) -> None:
    """Refuse groups and settings that contradict the orchestrator."""
    has_eks = "Eks" in (settings.get("Orchestrator") or {})
    for spec in specs:
        name = spec["InstanceGroupName"]
        if has_eks and "SlurmConfig" in spec:
            raise _invalid(f"SlurmConfig of instance group {name} cannot be specified with Orchestrator.Eks")
        if not has_eks and "KubernetesConfig" in spec:
            raise _invalid(f"KubernetesConfig of instance group {name} requires Orchestrator.Eks")
        _check_kubernetes(name, spec.get("KubernetesConfig") or {})
        if spec.get("OnStartDeepHealthChecks") and (spec.get("KubernetesConfig") or {}).get("Taints"):
            raise _invalid(f"instance group {name}: Taints cannot be specified with OnStartDeepHealthChecks")
    _check_autoscaling(call, settings, has_eks=has_eks)


def _check_kubernetes(name: str, config: Json) -> None:
    taints = config.get("Taints") or []
    for key in [*(config.get("Labels") or {}), *(taint["Key"] for taint in taints)]:
        prefix, _, last = key.rpartition("/")
        if len(prefix) > _PREFIX_LENGTH or len(last) > _NAME_LENGTH:
            raise _invalid(
                f"instance group {name}: key {key} must have a prefix of at most 253 and a name of at most 63 characters"
            )
    twice = [key for key, count in Counter((taint["Key"], taint["Effect"]) for taint in taints).items() if count > 1]
    if twice:
        raise _invalid(f"instance group {name}: taints must have unique keys and effects, got {twice} more than once")


def _check_autoscaling(call: Call, settings: Json, *, has_eks: bool) -> None:
    if (settings.get("AutoScaling") or {}).get("Mode") != "Enable":
        return
    if not has_eks:
        raise _invalid("AutoScaling requires Orchestrator.Eks")
    if settings.get("NodeProvisioningMode") != "Continuous":
        raise _invalid("AutoScaling requires NodeProvisioningMode Continuous")
    role = settings.get("ClusterRole")
    if not role:
        raise _invalid("AutoScaling requires ClusterRole")
    call.authorize("iam:PassRole", role, {"iam:PassedToService": AUTOSCALER})
    if not role_trusts(call.account, role, AUTOSCALER):
        raise _invalid(f"SageMaker cannot assume ClusterRole {role}. It must exist, and its trust policy must allow {AUTOSCALER}")


def check_update(cluster: Cluster, changed: Json) -> None:
    """Refuse another orchestrator."""
    before, after = cluster.settings.get("Orchestrator") or {}, changed.get("Orchestrator")
    if after is not None and after.get("Eks") != before.get("Eks"):
        raise _invalid(f"Orchestrator of cluster {cluster.name} cannot be changed from {before} to {after}")


def _invalid(message: str) -> AwsError:
    return AwsError("ValidationException", message)
