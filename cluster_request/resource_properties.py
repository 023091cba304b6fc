"""Build the properties of Custom::HyperPodCluster, which lambda_assets/cluster_resource/event.py reads."""

from cluster_request.request import Request
from config.instance_group import Role
from config.model import ClusterConfig
from config.tags import CLUSTER_TAG, SAGEMAKER_TAG


def tagged(request: Request, config: ClusterConfig) -> Request:
    """Return the request with the tag that identifies the cluster file, and on EKS the one that AWS's policies require."""
    tags = [{"Key": CLUSTER_TAG, "Value": config.name}]
    if config.eks and SAGEMAKER_TAG not in config.tags:
        tags.append({"Key": SAGEMAKER_TAG, "Value": "true"})
    return {**request, "Tags": [*tags, *request.get("Tags", [])]}


def resource_properties(config: ClusterConfig, request: Request, network_identity: str) -> dict[str, object]:
    """Return the properties; a changed ``network_identity`` resolves references to the network again."""
    controller = config.group_of_role(Role.CONTROLLER)
    return {
        "NamePrefix": config.name,
        **({"ClusterName": config.cluster_name} if config.cluster_name else {}),
        "Request": request,
        "Wait": config.wait.value,
        "WaitHours": config.wait_hours,
        **({"Adopt": True} if config.adopt else {}),
        **({"Recreate": True} if config.recreate else {}),
        "NetworkIdentity": network_identity,
        **({"ControllerGroup": controller.name} if controller else {}),
        "AvailabilityZoneId": config.network.availability_zone_id,
    }
