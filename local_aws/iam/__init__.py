"""IAM's authorization, with the roles and policies in moto's state.

It covers the roles that services assume here (functions, state machines, nodes, delivery roles) and the roles that such a
session or a person assumes. Other calls of people, the command line and CloudFormation are not checked, except against bucket
policies.
"""

from local_aws import control
from local_aws.iam import decisions, enforcement, roles, sessions, simulation
from local_aws.iam.decisions import bucket_denies, role_allows, role_trusts, service_may
from local_aws.iam.enforcement import access_key, authorize
from local_aws.iam.publishing import service_may_publish
from local_aws.iam.sessions import Session, assume, session_of

__all__ = [
    "Session",
    "access_key",
    "assume",
    "authorize",
    "bucket_denies",
    "role_allows",
    "role_trusts",
    "service_may",
    "service_may_publish",
    "session_of",
]


def install(endpoint: str) -> None:  # noqa: ARG001  part of every service's signature
    """Enforce policies, and list the decisions at /_local_aws/iam."""
    enforcement.install()
    roles.install()
    simulation.install()
    control.route("iam", _show)


def _show(request: control.Request) -> list[dict[str, object]]:
    if request.method == "DELETE":
        decisions.reset()
    return decisions.audit()


def reset() -> None:
    """Delete sessions and decisions."""
    sessions.reset()
    decisions.reset()
