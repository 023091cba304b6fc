"""Operations on clusters: create, describe, list, delete."""

from local_aws.eks import checks, logs, network, transitions, webhooks
from local_aws.eks.access_operations import admit_creator
from local_aws.eks.authorization import named_cluster, request_tags
from local_aws.eks.errors import in_use, refused
from local_aws.eks.model import Cluster, add, clusters, find
from local_aws.eks.pages import list_page
from local_aws.eks.versions import DEFAULT, VERSIONS
from local_aws.errors import AwsError
from local_aws.json_service import Call, Json, Operation, tag_context


def create_cluster(call: Call) -> Json:
    """Create a cluster in status CREATING; return the existing one for a repeated token."""
    request, arn = call.request, call.arn("eks", f"cluster/{call.request['name']}")
    call.authorize("eks:CreateCluster", arn, tag_context(request_tags(request), "aws:RequestTag"))
    if request.get("tags"):
        call.authorize("eks:TagResource", arn, tag_context(request_tags(request), "aws:RequestTag"))
    known = find(call, request["name"])
    if known:
        if request.get("clientRequestToken") and known.request == request:
            return {"cluster": known.details()}
        raise in_use(f"Cluster already exists with name: {request['name']}")
    checks.check_support()
    checks.check_features(request)
    checks.check_version(request.get("version", DEFAULT))
    checks.check_encryption(request.get("encryptionConfig") or [])
    vpc_id = checks.check_network(call, request["resourcesVpcConfig"])
    checks.check_role(call, request["roleArn"])
    cluster = _new_cluster(call, arn, vpc_id)
    add(cluster)
    if (request.get("accessConfig") or {}).get("bootstrapClusterCreatorAdminPermissions", True):
        admit_creator(call, cluster)
    transitions.create(cluster, webhooks.urls(cluster))
    return {"cluster": cluster.details()}


def _new_cluster(call: Call, arn: str, vpc_id: str) -> Cluster:
    request = call.request
    group_id = network.create_security_group(call, vpc_id)
    try:
        interfaces = network.attach(call, request["resourcesVpcConfig"], group_id)
    except AwsError:
        network.delete_security_group(call.account, call.region, group_id)
        raise
    settings = _settings(request, {"vpcId": vpc_id, "clusterSecurityGroupId": group_id})
    return Cluster(
        account=call.account,
        region=call.region,
        partition=call.partition,
        name=request["name"],
        arn=arn,
        request=request,
        settings=settings,
        tags=request_tags(request),
        interfaces=interfaces,
    )


def _settings(request: Json, network_ids: Json) -> Json:
    """Return the parts of the cluster that the request determines, with defaults."""
    version = request.get("version", DEFAULT)
    vpc = {"securityGroupIds": [], "endpointPublicAccess": True, "endpointPrivateAccess": False, **request["resourcesVpcConfig"]}
    vpc.setdefault("publicAccessCidrs", ["0.0.0.0/0"] if vpc["endpointPublicAccess"] else [])
    found = {
        "version": version,
        "platformVersion": f"eks.{VERSIONS[version].platform}",
        "roleArn": request["roleArn"],
        "resourcesVpcConfig": vpc | network_ids,
        "kubernetesNetworkConfig": {
            "serviceIpv4Cidr": "10.100.0.0/16",
            "ipFamily": "ipv4",
            **(request.get("kubernetesNetworkConfig") or {}),
        },
        "logging": logs.merged(None, request.get("logging")),
        "accessConfig": {"authenticationMode": "API"},
        "upgradePolicy": {"supportType": "EXTENDED", **(request.get("upgradePolicy") or {})},
        "deletionProtection": request.get("deletionProtection", False),
    }
    return found | {name: request[name] for name in ("clientRequestToken", "encryptionConfig") if request.get(name)}


def describe_cluster(call: Call) -> Json:
    """Return the cluster."""
    return {"cluster": named_cluster(call).details()}


def list_clusters(call: Call) -> Json:
    """Return the names of clusters, in pages."""
    call.authorize("eks:ListClusters", call.arn("eks", "cluster/*"))
    names, token = list_page(call, sorted(cluster.name for cluster in clusters(call)))
    return {"clusters": names, **token}


def delete_cluster(call: Call) -> Json:
    """Delete the cluster; it is DELETING first.

    Public sources show the refusal for node groups. For add-ons this is the worse case: AWS may delete them with the cluster.
    """
    cluster = named_cluster(call)
    if cluster.status == "DELETING":
        return {"cluster": cluster.details()}
    if cluster.status in ("CREATING", "UPDATING"):
        raise in_use(f"Cannot delete because cluster {cluster.name} currently has an operation in progress: {cluster.status}")
    if cluster.settings["deletionProtection"]:
        raise refused(f"Cluster {cluster.name} has deletion protection enabled; disable it to delete the cluster")
    if cluster.addons:
        raise in_use(f"Cluster has addons attached: {', '.join(sorted(cluster.addons))}")
    transitions.delete(cluster)
    return {"cluster": cluster.details()}


OPERATIONS: dict[str, Operation] = {
    "CreateCluster": create_cluster,
    "DescribeCluster": describe_cluster,
    "ListClusters": list_clusters,
    "DeleteCluster": delete_cluster,
}
