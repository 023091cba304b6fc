"""sts:AssumeRole as on AWS: the role must exist and trust the caller, and enforcement carries over to the new session."""

from typing import Any

from moto.sts.responses import TokenResponse

from local_aws.iam.decisions import role_trusts_role
from local_aws.iam.documents import find_role, person_arn
from local_aws.iam.enforcement import DeniedError
from local_aws.iam.sessions import Session, enforce, session_of
from local_aws.request_walker import problems

_assume_role = TokenResponse.assume_role


def _assume_role_checked(self: Any) -> Any:
    """Check the caller against the role's trust policy, and enforce the role's policies on the new session.

    The account's owner may assume roles, though AWS refuses its root user.
    """
    key, role_arn, name = self.get_access_key(), self._get_param("RoleArn"), self._get_param("RoleSessionName")
    _check_names(role_arn, name)
    caller = session_of(key)
    account = role_arn.split(":")[4]
    arn = caller.role_arn if caller else person_arn(self.current_account, key)
    external_id = self._get_param("ExternalId")
    context = {"sts:ExternalId": external_id} if external_id else {}
    if find_role(account, role_arn) is None or not role_trusts_role(account, role_arn, arn, context):
        raise DeniedError(
            "AccessDenied",
            f"User: {caller.arn if caller else arn} is not authorized to perform: sts:AssumeRole on resource: {role_arn}",
        )
    result = _assume_role(self)
    made = result.result["Credentials"]
    enforce(Session(account, role_arn, name, made.access_key_id, made.secret_access_key, made.session_token))
    return result


def _check_names(role_arn: str, session: str) -> None:
    """Refuse a session's name that the API does not allow, and what is no ARN; moto accepts both."""
    if found := problems("sts", "AssumeRole", "RoleSessionName", session):
        raise DeniedError("ValidationError", f"1 validation error detected: {found[0]}")
    if len(role_arn.split(":", 5)) < 6:
        raise DeniedError("ValidationError", f"{role_arn} is invalid")


def install() -> None:
    """Run this AssumeRole before moto's."""
    TokenResponse.assume_role = _assume_role_checked
