"""Operations on access entries and their access policies. A change reaches the API server after some seconds."""

import uuid
from collections.abc import Iterable
from dataclasses import replace

from local_aws.clock import host_now
from local_aws.eks import access_policies
from local_aws.eks.access_types import NODE_GROUPS, NODE_USERNAMES, STANDARD, check_groups, check_username, default_username
from local_aws.eks.authorization import named_cluster, named_part, request_tags
from local_aws.eks.errors import in_use, invalid, not_found, refused, unsupported
from local_aws.eks.model import AccessEntry, Cluster, PolicyScope
from local_aws.eks.pages import list_page
from local_aws.eks.principals import Principal, caller_of, find_principal
from local_aws.eks.transitions import publish_entries
from local_aws.json_service import Call, Json, Operation


def create_access_entry(call: Call) -> Json:
    """Create the entry of a role or user."""
    request = call.request
    cluster = _ready(named_cluster(call))
    arn = request["principalArn"]
    if arn in cluster.entries:
        raise in_use("The specified access entry resource is already in use on this cluster.")
    principal = find_principal(arn, call.account, call.region)
    if principal is None:
        raise invalid(f"The specified principalArn is invalid: invalid principal: {arn} does not exist")
    if ":role/aws-service-role/" in arn:
        raise invalid("The caller is not allowed to modify access entries with a principalArn value of a Service Linked Role")
    entry = _entry(cluster, principal, request)
    cluster.entries[arn] = entry
    publish_entries(cluster)
    return {"accessEntry": entry.details()}


def _ready(cluster: Cluster) -> Cluster:
    if cluster.status not in ("ACTIVE", "UPDATING"):
        raise refused(f"Cluster {cluster.name} is {cluster.status}; access entries need an ACTIVE cluster")
    return cluster


def _entry(cluster: Cluster, principal: Principal, request: Json) -> AccessEntry:
    kind, groups = request.get("type") or STANDARD, tuple(request.get("kubernetesGroups") or ())
    username = request.get("username")
    if kind != STANDARD:
        if kind not in NODE_USERNAMES:
            raise unsupported(f"access entries of type {kind}")
        if groups or username:
            raise invalid(f"kubernetesGroups and username cannot be specified for access entries of type {kind}")
        username, groups = NODE_USERNAMES[kind], NODE_GROUPS
    else:
        check_username(username)
        check_groups(groups)
    account, name = principal.arn.split(":", 5)[4:]
    return AccessEntry(
        cluster=cluster.name,
        principal_arn=principal.arn,
        principal_id=principal.id,
        arn=cluster.arn_of("access-entry", name.partition("/")[0], account, name.rsplit("/", 1)[-1], str(uuid.uuid4())),
        type=kind,
        username=username or default_username(principal.arn),
        groups=groups,
        tags=request_tags(request),
    )


def admit_creator(call: Call, cluster: Cluster) -> None:
    """Make the creator of the cluster its administrator, at once."""
    principal = caller_of(call.access_key, call.region).principal
    policy = _scoped(access_policies.arn_of("AmazonEKSClusterAdminPolicy", call.partition), (), None)
    cluster.entries[principal.arn] = replace(_entry(cluster, principal, {}), policies=(policy,))
    cluster.effective = dict(cluster.entries)


def admit_service(cluster: Cluster, principal: Principal, username: str) -> None:
    """Create the entry of a service-linked role, which only its service can."""
    cluster.entries[principal.arn] = replace(_entry(cluster, principal, {}), username=username)
    publish_entries(cluster)


def withdraw(cluster: Cluster, principal_arns: Iterable[str]) -> None:
    """Delete the entries of principals that a service admitted; ignore missing ones."""
    for arn in principal_arns:
        cluster.entries.pop(arn, None)
    publish_entries(cluster)


def _named(call: Call) -> tuple[Cluster, AccessEntry]:
    arn = call.request["principalArn"]
    cluster, entry = named_part(call, "access-entry", lambda cluster: cluster.entries.get(arn))
    if entry is None:
        raise not_found(f"The specified principalArn could not be found. You can view your available access entries: {arn}")
    return cluster, entry


def _change(cluster: Cluster, entry: AccessEntry) -> AccessEntry:
    changed = replace(entry, modified=host_now())
    cluster.entries[entry.principal_arn] = changed
    publish_entries(cluster)
    return changed


def describe_access_entry(call: Call) -> Json:
    """Return the entry of a principal."""
    return {"accessEntry": _named(call)[1].details()}


def list_access_entries(call: Call) -> Json:
    """Return the principals with an entry, or with an access policy, in pages."""
    cluster, policy = named_cluster(call), call.request.get("associatedPolicyArn")
    entries = [entry for entry in cluster.entries.values() if not policy or policy in {one.policy_arn for one in entry.policies}]
    shown, token = list_page(call, [entry.principal_arn for entry in entries])
    return {"accessEntries": shown, **token}


def update_access_entry(call: Call) -> Json:
    """Change the groups or the user name."""
    cluster, entry = _named(call)
    if entry.type != STANDARD:
        raise invalid(f"kubernetesGroups and username cannot be specified for access entries of type {entry.type}")
    username, groups = call.request.get("username"), call.request.get("kubernetesGroups")
    check_username(username)
    check_groups(groups or ())
    changed = replace(entry, username=username or entry.username, groups=entry.groups if groups is None else tuple(groups))
    return {"accessEntry": _change(cluster, changed).details()}


def delete_access_entry(call: Call) -> Json:
    """Delete the entry with its access policies."""
    cluster, entry = _named(call)
    del cluster.entries[entry.principal_arn]
    publish_entries(cluster)
    return {}


def associate_access_policy(call: Call) -> Json:
    """Associate an access policy, or change the scope of one."""
    cluster, entry = _named(call)
    arn, scope = call.request["policyArn"], call.request["accessScope"]
    if access_policies.name_of(arn) is None:
        raise invalid(f"The policyArn parameter format is not valid: {arn}; see ListAccessPolicies")
    if entry.type != STANDARD:
        raise invalid(f"access policies cannot be associated with access entries of type {entry.type}")
    policy = _scoped(arn, _namespaces(scope), next((one for one in entry.policies if one.policy_arn == arn), None))
    others = tuple(one for one in entry.policies if one.policy_arn != arn)
    _change(cluster, replace(entry, policies=(*others, policy)))
    names = {"clusterName": cluster.name, "principalArn": entry.principal_arn}
    return {**names, "associatedAccessPolicy": policy.details()}


def _namespaces(scope: Json) -> tuple[str, ...]:
    namespaces = tuple(scope.get("namespaces") or ())
    if scope.get("type") == "namespace" and not namespaces:
        raise invalid("accessScope of type namespace must have namespaces")
    if scope.get("type") != "namespace" and namespaces:
        raise invalid("accessScope of type cluster must not have namespaces")
    return namespaces


def _scoped(arn: str, namespaces: tuple[str, ...], before: PolicyScope | None) -> PolicyScope:
    now = host_now()
    return PolicyScope(arn, namespaces, before.associated if before else now, now)


def disassociate_access_policy(call: Call) -> Json:
    """Remove an access policy from an entry."""
    cluster, entry = _named(call)
    left = tuple(one for one in entry.policies if one.policy_arn != call.request["policyArn"])
    if len(left) == len(entry.policies):
        raise not_found(f"No associated access policy found: {call.request['policyArn']}")
    _change(cluster, replace(entry, policies=left))
    return {}


def list_associated_access_policies(call: Call) -> Json:
    """Return an entry's access policies, in pages."""
    cluster, entry = _named(call)
    shown, token = list_page(call, [one.details() for one in entry.policies])
    names = {"clusterName": cluster.name, "principalArn": entry.principal_arn}
    return {**names, "associatedAccessPolicies": shown, **token}


def list_access_policies(call: Call) -> Json:
    """Return the supported access policies, in pages."""
    call.authorize("eks:ListAccessPolicies", None)
    policies = [{"name": name, "arn": access_policies.arn_of(name, call.partition)} for name in access_policies.CLUSTER_ROLES]
    shown, token = list_page(call, policies)
    return {"accessPolicies": shown, **token}


OPERATIONS: dict[str, Operation] = {
    "CreateAccessEntry": create_access_entry,
    "DescribeAccessEntry": describe_access_entry,
    "ListAccessEntries": list_access_entries,
    "UpdateAccessEntry": update_access_entry,
    "DeleteAccessEntry": delete_access_entry,
    "AssociateAccessPolicy": associate_access_policy,
    "DisassociateAccessPolicy": disassociate_access_policy,
    "ListAssociatedAccessPolicies": list_associated_access_policies,
    "ListAccessPolicies": list_access_policies,
}
