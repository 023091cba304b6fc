"""The cluster that a file describes, as the custom resource reads it from CloudFormation's event."""

import json
from typing import Any

from cli.aws_errors import unless_absent
from cli.deployment import Deployment
from cli.kubernetes.client import describe_eks
from cli.ownership import OURS, has_own, own_owner, resources
from cli.resource_code import Cluster, ClusterApi, Desired, Event, Owner
from cli.result import Json
from cluster_request.request import RequestValues, cluster_request
from cluster_request.resource_properties import resource_properties, tagged

CONTROLLER_ROLE = "ControllerRole"
MADE = "(created by the deployment)"
TO_COME = Owner("arn:aws:cloudformation:::stack/to-come/0", "Cluster")


def desired_cluster(deployment: Deployment, cluster: Cluster, api: ClusterApi, deployed: Json | None = None) -> Desired:
    """Return what the file requests: an Update of the stack's own cluster, else a Create with `adopt`, whether set or not.

    ``deployed`` is the request in the stack's template, for counts that a deployment keeps and members that the file removed.
    """
    config, is_own = deployment.config, has_own(deployment, cluster)
    request = tagged(cluster_request(config, values=_values(deployment)), config)
    properties = {**resource_properties(config, request, network_identity=MADE), "Adopt": not is_own}
    owner = own_owner(deployment, cluster) or TO_COME
    raw = {
        "StackId": owner.stack_id,
        "LogicalResourceId": owner.logical_id,
        "RequestType": "Update" if is_own else "Create",
        **({"PhysicalResourceId": cluster.name} if is_own else {}),
        "RequestId": "",
        "ResponseURL": "",
        "ResourceProperties": properties,
        **({"OldResourceProperties": {**properties, "Request": deployed}} if deployed is not None else {}),
    }
    return Desired.of(Event.parse(raw), api.request_shape)


def deployed_properties(deployment: Deployment) -> Json | None:
    """Return the properties of the cluster in the stack's template; None without the stack or our resource in it."""
    return template_properties(deployment, "Cluster", OURS)


def deployed_request(deployment: Deployment) -> Json | None:
    """Return the literal values of the request in the stack's template; None without the stack or our resource in it."""
    deployed = deployed_properties(deployment)
    return None if deployed is None else _literals(deployed["Request"])


def _literals(value: Any) -> Any:
    """Return the value without what only CloudFormation knows."""
    if isinstance(value, dict):
        return {name: _literals(item) for name, item in value.items() if not _is_reference(item)}
    return [_literals(item) for item in value if not _is_reference(item)] if isinstance(value, list) else value


def _is_reference(value: Any) -> bool:
    return isinstance(value, dict) and any(name == "Ref" or name.startswith("Fn::") for name in value)


def template_properties(deployment: Deployment, stack: str, resource_type: str) -> Json | None:
    """Return the properties of the first resource of a type in a stack's template; None without the stack or the resource."""
    found = (each["Properties"] for each in template_resources(deployment, stack).values() if each["Type"] == resource_type)
    return next(found, None)


def template_resources(deployment: Deployment, stack: str) -> Json:
    """Return the resources in a stack's template, by logical ID; none without the stack."""
    name = f"{deployment.config.name}-{stack}"
    answer = unless_absent(lambda: deployment.client("cloudformation").get_template(StackName=name))
    if answer is None:
        return {}
    body = answer["TemplateBody"]
    template: dict[str, Any] = json.loads(body) if isinstance(body, str) else body
    return template.get("Resources") or {}


def _values(deployment: Deployment) -> RequestValues:
    """Return the values that the deployment fills in, from those stacks that exist."""
    outputs, existing, storage = deployment.outputs(), deployment.config.network.existing, deployment.config.storage
    subnets = outputs["NodeSubnetIds"].split(",") if "NodeSubnetIds" in outputs else [MADE]
    return RequestValues(
        execution_role_arn=_role_arn(deployment, "NodeRole"),
        controller_role_arn=_role_arn(deployment, CONTROLLER_ROLE) if deployment.config.has_controller_role else None,
        source_s3_uri=outputs.get("LifecycleScripts", MADE),
        subnet_ids=existing.node_subnet_ids if existing else subnets,
        security_group_ids=[existing.security_group_id if existing else outputs.get("SecurityGroupId", MADE)],
        file_system_dns_name=_dns_name(deployment, outputs),
        eks_cluster_arn=_eks_arn(deployment, outputs),
        file_system_mount_name=outputs.get("FileSystemMountName", storage.existing.mount_name if storage.existing else MADE),
    )


def _eks_arn(deployment: Deployment, outputs: dict[str, str]) -> str | None:
    """Return the ARN of the EKS cluster, which its stack knows or will create; None on a cluster with Slurm."""
    eks = deployment.config.eks
    if eks is None or eks.existing is None:
        return outputs.get("EksClusterArn", MADE) if eks else None
    return str(describe_eks(deployment.client("eks"), eks.existing.name)["arn"])


def _dns_name(deployment: Deployment, outputs: dict[str, str]) -> str | None:
    """Return the DNS name of the Lustre file system, which the storage stack knows or will create; None without one."""
    storage = deployment.config.storage
    if storage.existing:
        return f"{storage.existing.file_system_id}.fsx.{deployment.region}.amazonaws.com"
    return outputs.get("FileSystemDnsName", MADE) if storage.lustre else None


def _role_arn(deployment: Deployment, name: str) -> str:
    roles = [each for each in resources(deployment, "AWS::IAM::Role") if each["LogicalResourceId"].startswith(name)]
    if not roles:
        return MADE
    return str(deployment.client("iam").get_role(RoleName=roles[0]["PhysicalResourceId"])["Role"]["Arn"])
