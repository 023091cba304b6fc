"""sts:AssumeRole as on AWS: the role must exist and trust the caller, and enforcement carries over to the new session."""

from typing import Any

from moto.sts.responses import TokenResponse

from local_aws.iam.decisions import role_trusts_role
from local_aws.iam.documents import find_role
from local_aws.iam.enforcement import DeniedError
from local_aws.iam.sessions import Session, enforce, session_of

_assume_role = TokenResponse.assume_role


def _assume_role_checked(self: Any) -> Any:
    """Check an enforced caller against the role's trust policy, and enforce the role's policies on the new session.

    Other callers (the command line, which assumes the bootstrap's roles) get moto's response.
    """
    caller, role_arn = session_of(self.get_access_key()), self._get_param("RoleArn")
    if caller is None:
        return _assume_role(self)
    account = role_arn.split(":")[4]
    external_id = self._get_param("ExternalId")
    context = {"sts:ExternalId": external_id} if external_id else {}
    if find_role(account, role_arn) is None or not role_trusts_role(account, role_arn, caller.role_arn, context):
        raise DeniedError(
            "AccessDenied", f"User: {caller.arn} is not authorized to perform: sts:AssumeRole on resource: {role_arn}"
        )
    result = _assume_role(self)
    made = result.result["Credentials"]
    name = self._get_param("RoleSessionName")
    enforce(Session(account, role_arn, name, made.access_key_id, made.secret_access_key, made.session_token))
    return result


def install() -> None:
    """Run this AssumeRole before moto's."""
    TokenResponse.assume_role = _assume_role_checked
