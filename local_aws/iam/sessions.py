"""Roles taken on by services: whose credentials are held to their role's policies."""

import threading
from dataclasses import dataclass

from moto.sts.models import sts_backends

from local_aws.errors import AwsError
from local_aws.iam.decisions import role_trusts
from local_aws.iam.documents import find_role


@dataclass(frozen=True)
class Session:
    """The credentials of a role, taken on under ``name``."""

    account: str
    role_arn: str
    name: str
    access_key: str
    secret_key: str
    token: str

    @property
    def client_keys(self) -> dict[str, str]:
        """The arguments with which boto3 makes a client of this session's."""
        keys = {"aws_access_key_id": self.access_key, "aws_secret_access_key": self.secret_key}
        return {**keys, "aws_session_token": self.token}

    @property
    def arn(self) -> str:
        """The ARN by which AWS's messages call this session."""
        role = self.role_arn.rsplit("/", 1)[-1]
        return f"arn:{self.role_arn.split(':')[1]}:sts::{self.account}:assumed-role/{role}/{self.name}"

    @property
    def user_id(self) -> str:
        """The session's aws:userid: the role's unique id and the session's name."""
        role = find_role(self.account, self.role_arn)
        return f"{role.id if role else ''}:{self.name}"


_lock = threading.Lock()
_sessions: dict[str, Session] = {}


def session_of(key: str) -> Session | None:
    """The session whose access key this is; None for a key that is not enforced (the user's own, CloudFormation's)."""
    return _sessions.get(key)


def assume(account: str, role_arn: str, service: str, name: str, context: dict[str, str] | None = None) -> Session:
    """A session of the role for ``service``, from the embedded STS; its calls are held to the role's policies."""
    if find_role(account, role_arn) is None:
        raise AwsError("AccessDeniedException", f"role {role_arn} does not exist, so {service} cannot assume it", 403)
    if not role_trusts(account, role_arn, service, context or {}):
        raise AwsError("AccessDeniedException", f"the trust policy of {role_arn} does not let {service} assume it", 403)

    made = sts_backends[account][role_arn.split(":")[1]].assume_role(
        region_name="us-east-1",
        role_session_name=name[:64],
        role_arn=role_arn,
        policy=None,
        duration=3600,
        external_id=None,
    )
    return enforce(Session(account, role_arn, name[:64], made.access_key_id, made.secret_access_key, made.session_token))


def enforce(session: Session) -> Session:
    """Hold all calls made with the session's key to its role's policies from now on."""
    with _lock:
        _sessions[session.access_key] = session
    return session


def reset() -> None:
    """Forget all sessions."""
    with _lock:
        _sessions.clear()
