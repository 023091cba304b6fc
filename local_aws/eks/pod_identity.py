"""Pod Identity associations: which role the pods of a service account may assume. No agent hands out credentials here."""

import secrets

from local_aws.clock import host_now
from local_aws.eks.authorization import named_cluster, named_part, request_tags
from local_aws.eks.errors import in_use, invalid, not_found
from local_aws.eks.model import Association, Cluster
from local_aws.eks.pages import list_page
from local_aws.iam import role_trusts
from local_aws.json_service import Call, Json, Operation

SERVICE = "pods.eks.amazonaws.com"
_CAN_CHANGE = ("roleArn", "disableSessionTags", "targetRoleArn", "policy")


def check_role(call: Call, role: str, pods: Json) -> None:
    """Refuse a role that the caller may not pass, or that Pod Identity cannot assume for the ``pods`` of a service account.

    It sends their names as session tags: https://docs.aws.amazon.com/eks/latest/userguide/pod-id-abac.html
    """
    call.authorize("iam:PassRole", role, {"iam:PassedToService": SERVICE})
    tags = {
        "eks-cluster-name": call.request["clusterName"],
        "kubernetes-namespace": pods["namespace"],
        "kubernetes-service-account": pods["serviceAccount"],
    }
    if not role_trusts(call.account, role, SERVICE, {f"aws:RequestTag/{key}": value for key, value in tags.items()}):
        raise invalid(f"Trust policy of role {role} does not allow {SERVICE} sts:AssumeRole, or the role does not exist")


def add_association(cluster: Cluster, names: Json, tags: dict[str, str]) -> Association:
    """Add the association of a service account, which can have one."""
    for other in cluster.associations.values():
        if all(other.settings[name] == names[name] for name in ("namespace", "serviceAccount")):
            raise in_use(f"Association already exists: {other.id} of {names['namespace']}/{names['serviceAccount']}")
    letters = "abcdefghijklmnopqrstuvwxyz0123456789"
    association_id = "a-" + "".join(secrets.choice(letters) for _ in range(17))
    arn = cluster.arn_of("podidentityassociation", association_id)
    settings = {"disableSessionTags": False, **names, "clusterName": cluster.name}
    association = Association(association_id, arn, settings, tags)
    cluster.associations[association_id] = association
    return association


def create_pod_identity_association(call: Call) -> Json:
    """Create the association of a service account, which need not exist."""
    request, cluster = call.request, named_cluster(call)
    check_role(call, request["roleArn"], request)
    names = {name: request[name] for name in ("namespace", "serviceAccount", *_CAN_CHANGE) if name in request}
    return {"association": add_association(cluster, names, request_tags(request)).details()}


def _named(call: Call) -> tuple[Cluster, Association]:
    association_id = call.request["associationId"]
    cluster, found = named_part(call, "podidentityassociation", lambda cluster: cluster.associations.get(association_id))
    if found is None:
        raise not_found(f"No association found for ID: {association_id}")
    return cluster, found


def describe_pod_identity_association(call: Call) -> Json:
    """Return the association."""
    return {"association": _named(call)[1].details()}


def list_pod_identity_associations(call: Call) -> Json:
    """Return the cluster's associations, or those of a namespace or service account, in pages."""
    found = [one.summary() for one in named_cluster(call).associations.values()]
    for name in ("namespace", "serviceAccount"):
        found = [one for one in found if one[name] == call.request.get(name, one[name])]
    shown, token = list_page(call, found)
    return {"associations": shown, **token}


def update_pod_identity_association(call: Call) -> Json:
    """Change the role."""
    _, association = _named(call)
    _check_owner(association)
    if "roleArn" in call.request:
        check_role(call, call.request["roleArn"], association.settings)
    association.settings |= {name: call.request[name] for name in _CAN_CHANGE if name in call.request}
    association.modified = host_now()
    return {"association": association.details()}


def delete_pod_identity_association(call: Call) -> Json:
    """Delete the association."""
    cluster, association = _named(call)
    _check_owner(association)
    del cluster.associations[association.id]
    return {"association": association.details()}


def _check_owner(association: Association) -> None:
    owner = association.settings.get("ownerArn")
    if owner:
        raise invalid(f"association {association.id} is managed by add-on {owner}; change it with UpdateAddon")


OPERATIONS: dict[str, Operation] = {
    "CreatePodIdentityAssociation": create_pod_identity_association,
    "DescribePodIdentityAssociation": describe_pod_identity_association,
    "ListPodIdentityAssociations": list_pod_identity_associations,
    "UpdatePodIdentityAssociation": update_pod_identity_association,
    "DeletePodIdentityAssociation": delete_pod_identity_association,
}
