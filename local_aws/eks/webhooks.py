"""The webhooks of clusters' API servers: who a token is, and what access policies allow.

Their paths contain a secret of the cluster. They take no lock: an API server may ask while an operation waits for it.
"""

import logging
from typing import Any

from local_aws import control
from local_aws.eks import access_policies, model
from local_aws.eks.access_types import NODE_USERNAMES, fill_username
from local_aws.eks.control_planes import ControlPlaneError, programs
from local_aws.eks.model import AccessEntry, Cluster
from local_aws.eks.principals import Caller
from local_aws.eks.tokens import TokenError, caller_of_token
from local_aws.json_service import Json

_TOKENS, _ACCESS = "eks-tokens", "eks-access"
_CANONICAL = "canonicalArn"
_endpoint = ""
_log = logging.getLogger(__name__)


def install(endpoint: str) -> None:
    """Register the control paths."""
    global _endpoint  # noqa: PLW0603  one per process, as the server
    _endpoint = endpoint
    control.route(_TOKENS, _review_token, needs_token=False)
    control.route(_ACCESS, _review_access, needs_token=False)


def urls(cluster: Cluster) -> dict[str, str]:
    """Return the URLs of the cluster's webhooks."""
    own = f"{_endpoint}{control.PREFIX}"
    names = {"token_webhook": _TOKENS, "authorization_webhook": _ACCESS}
    return {name: f"{own}{path}/{cluster.secret}" for name, path in names.items()}


def _cluster_of(request: control.Request) -> Cluster:
    cluster = model.by_secret(request.rest)
    if cluster is None:
        raise KeyError("no cluster has this path")
    return cluster


def _review_token(request: control.Request) -> Json:
    """Answer a TokenReview."""
    cluster, review = _cluster_of(request), request.json()
    try:
        status: Json = {"authenticated": True, "user": _user(cluster, review["spec"]["token"])}
    except TokenError as error:
        status = {"authenticated": False, "error": str(error)}
    return {"apiVersion": review["apiVersion"], "kind": "TokenReview", "status": status}


def _user(cluster: Cluster, token: str) -> Json:
    caller = caller_of_token(token, cluster.name, cluster.region, _endpoint)
    entry = cluster.effective.get(caller.principal.arn)
    if entry is None:
        raise TokenError(f"ARN is not mapped: {caller.principal.arn} has no access entry of cluster {cluster.name}")
    if entry.principal_id and entry.principal_id != caller.principal.id:
        raise TokenError(f"the access entry of {caller.principal.arn} belongs to a deleted principal with the same ARN")
    extra = {
        "arn": caller.arn,
        _CANONICAL: caller.principal.arn,
        "accessKeyId": caller.access_key,
        "principalId": caller.principal.id,
        "sessionName": caller.session_name,
    }
    return {
        "username": fill_username(entry.username, caller, _dns_name(cluster, entry, caller)),
        "uid": f"aws-iam-authenticator:{caller.account}:{caller.principal.id}",
        "groups": list(entry.groups),
        "extra": {name: [value] for name, value in extra.items()},
    }


def _dns_name(cluster: Cluster, entry: AccessEntry, caller: Caller) -> str:
    """Return the private DNS name of a node of type EC2_LINUX, whose session has the instance's id."""
    from moto.ec2.models import ec2_backends  # noqa: PLC0415  moto is loaded once the environment is set

    if entry.username != NODE_USERNAMES["EC2_LINUX"]:
        return ""
    reservations: list[Any] = list(ec2_backends[cluster.account][cluster.region].reservations.values())
    for instance in (instance for reservation in reservations for instance in reservation.instances):
        if instance.id == caller.session_name:
            return str(instance.private_dns_name)
    raise TokenError(f"no instance {caller.session_name!r}: the session of a node must have its instance's id as name")


def _review_access(request: control.Request) -> Json:
    """Answer a SubjectAccessReview: allowed by an access policy, or no opinion, so that RBAC decides."""
    cluster, review = _cluster_of(request), request.json()
    reason = _allowing_policy(cluster, review["spec"])
    status: Json = {"allowed": bool(reason)} | ({"reason": reason} if reason else {})
    return {"apiVersion": review["apiVersion"], "kind": "SubjectAccessReview", "status": status}


def _allowing_policy(cluster: Cluster, spec: Json) -> str:
    """Return the ARN of the access policy that allows the request; empty if none does."""
    entry = cluster.effective.get(next(iter((spec.get("extra") or {}).get(_canonical_key(spec)) or ()), ""))
    for policy in entry.policies if entry else ():
        if access_policies.covers(policy.namespaces, spec) and access_policies.allow(_rules(cluster, policy.policy_arn), spec):
            return policy.policy_arn
    return ""


def _canonical_key(spec: Json) -> str:
    """Return the review's name of the principal's ARN; the API server writes such names in lower case."""
    return next((name for name in spec.get("extra") or {} if name.lower() == _CANONICAL.lower()), "")


def _rules(cluster: Cluster, policy_arn: str) -> list[Json]:
    """Return the rules of a policy: those of the API server's own ClusterRole, which it aggregates."""
    role = access_policies.CLUSTER_ROLES[access_policies.name_of(policy_arn) or ""]
    if role is None:
        return access_policies.ADMIN_VIEW_RULES
    if cluster.plane is None:
        return []
    try:
        found = programs().read(cluster.plane, f"/apis/rbac.authorization.k8s.io/v1/clusterroles/{role}")
    except ControlPlaneError as error:
        _log.warning("EKS cluster %s: access policy %s grants nothing: %s", cluster.name, policy_arn, error)
        return []
    return list(found.get("rules") or ())
