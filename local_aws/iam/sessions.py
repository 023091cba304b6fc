"""Sessions of roles that services assumed; their calls are checked against the roles' policies."""

import threading
from dataclasses import dataclass

from moto.sts.models import sts_backends

from local_aws.errors import AwsError
from local_aws.iam.decisions import role_trusts
from local_aws.iam.documents import find_role


@dataclass(frozen=True)
class Session:
    """The credentials of a role, assumed under ``name``."""

    account: str
    role_arn: str
    name: str
    access_key: str
    secret_key: str
    token: str
    service: str = ""
    """The service that assumed the role."""

    @property
    def client_keys(self) -> dict[str, str]:
        """Return the arguments of a boto3 client with this session's keys."""
        keys = {"aws_access_key_id": self.access_key, "aws_secret_access_key": self.secret_key}
        return {**keys, "aws_session_token": self.token}

    @property
    def arn(self) -> str:
        """Return the session's ARN, as in AWS's messages."""
        role = self.role_arn.rsplit("/", 1)[-1]
        return f"arn:{self.role_arn.split(':')[1]}:sts::{self.account}:assumed-role/{role}/{self.name}"

    @property
    def user_id(self) -> str:
        """Return the session's aws:userid: the role's unique id and the session's name."""
        role = find_role(self.account, self.role_arn)
        return f"{role.id if role else ''}:{self.name}"


_lock = threading.Lock()
_sessions: dict[str, Session] = {}


def session_of(key: str) -> Session | None:
    """Return the session with this access key; None for an unenforced key (the user's own, CloudFormation's)."""
    return _sessions.get(key)


def assume(account: str, role_arn: str, service: str, name: str, context: dict[str, str] | None = None) -> Session:
    """Assume the role for ``service`` with the embedded STS; the session's calls are checked against the role's policies."""
    if find_role(account, role_arn) is None:
        raise AwsError("AccessDeniedException", f"role {role_arn} does not exist, so {service} cannot assume it", 403)
    if not role_trusts(account, role_arn, service, context or {}):
        raise AwsError("AccessDeniedException", f"the trust policy of {role_arn} does not allow {service} to assume it", 403)

    made = sts_backends[account][role_arn.split(":")[1]].assume_role(
        region_name="us-east-1",
        role_session_name=name[:64],
        role_arn=role_arn,
        policy=None,
        duration=3600,
        external_id=None,
    )
    return enforce(Session(account, role_arn, name[:64], made.access_key_id, made.secret_access_key, made.session_token, service))


def enforce(session: Session) -> Session:
    """Check all calls with the session's key against its role's policies from now on."""
    with _lock:
        _sessions[session.access_key] = session
    return session


def reset() -> None:
    """Delete all sessions."""
    with _lock:
        _sessions.clear()
