"""IAM principals as EKS sees them: the role or user behind an access key or an ARN, with its unique id."""

from dataclasses import dataclass
from typing import Any

from local_aws.credentials import OWNER
from local_aws.iam.documents import find_role


@dataclass(frozen=True)
class Principal:
    """A role or user, by its own ARN; ``id`` is its unique id."""

    arn: str
    id: str


@dataclass(frozen=True)
class Caller:
    """The identity of a request, as GetCallerIdentity shows it; ``principal`` is the role behind a session, or the user."""

    arn: str
    user_id: str
    access_key: str
    principal: Principal

    @property
    def account(self) -> str:
        """Return the account."""
        return self.arn.split(":")[4]

    @property
    def session_name(self) -> str:
        """Return the name of a role's session; empty for a user."""
        return self.arn.rsplit("/", 1)[-1] if ":assumed-role/" in self.arn else ""


def caller_of(access_key: str, region: str) -> Caller:
    """Return the identity of an access key that IAM or STS issued, or of the account's owner."""
    from moto.iam.models import get_account_id_from  # noqa: PLC0415  moto is loaded once the environment is set
    from moto.sts.models import sts_backends  # noqa: PLC0415
    from moto.utilities.utils import get_partition  # noqa: PLC0415

    backend = sts_backends[get_account_id_from(access_key)][get_partition(region)]
    user_id, arn, _ = backend.get_caller_identity(access_key, region)
    session = backend.get_assumed_role_from_access_key(access_key)
    found = _known(session.role_arn) if session else _known(_iam_arn(arn))
    return Caller(arn, user_id, access_key, found or Principal(_iam_arn(arn), user_id))


def find_principal(arn: str, account: str, region: str) -> Principal | None:
    """Return the role or user with this ARN; None if it should be in ``account`` and does not exist."""
    if not arn.startswith("arn:") or arn.split(":")[2] != "iam":
        return None
    if arn.split(":")[4] != account:
        return _known(arn) or Principal(arn, "")
    owner = caller_of(OWNER.access_key, region).principal
    return owner if arn == owner.arn else _known(arn)


def _known(arn: str) -> Principal | None:
    account = arn.split(":")[4]
    role = find_role(account, arn) if ":role/" in arn else None
    if role:
        return Principal(role.arn, role.id)
    user = _user(account, arn)
    return Principal(user.arn, user.id) if user else None


def _user(account: str, arn: str) -> Any | None:
    from moto.iam.models import iam_backends  # noqa: PLC0415  moto is loaded once the environment is set

    users = iam_backends[account][arn.split(":")[1]].users.values()
    return next((user for user in list(users) if user.arn == arn), None)


def _iam_arn(arn: str) -> str:
    """Return an identity's ARN in IAM's form."""
    return arn.replace(":sts::", ":iam::")
