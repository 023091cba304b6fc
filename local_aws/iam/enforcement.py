"""Authorization of every request that is signed with an enforced key, before it is handled."""

from collections.abc import Iterator
from typing import Any, Protocol
from urllib.parse import parse_qs, unquote, urlparse

from moto.core.authorization import ActionAuthenticatorMixin
from moto.core.errors import COMMON_ERROR_CODES
from moto.core.exceptions import ServiceException
from moto.core.parse import PROTOCOL_PARSERS
from moto.core.request import determine_request_protocol
from moto.core.responses import ActionResult
from moto.core.utils import get_service_model
from moto.s3.exceptions import BucketAccessDeniedError
from werkzeug.exceptions import HTTPException

from local_aws.credentials import OWNER, own_secret
from local_aws.errors import AwsError
from local_aws.iam.decisions import Decision, Keys, bucket_denies, decide
from local_aws.iam.ec2_resources import on_resource
from local_aws.iam.requests import Permissions, Place, action_name, bucket_setting_action, required_permissions
from local_aws.iam.sessions import Session, session_of


class Headers(Protocol):
    """The headers of any web framework."""

    def get(self, key: str, /) -> str | None:
        """Return the header's value."""


# Its own module authorizes each call, because only that module knows the clusters' tags.
_CHECKED_BY_ITS_MODULE = ("sagemaker",)
_CODES = ("AccessDenied", "AccessDeniedException", "UnauthorizedOperation")
# https://docs.aws.amazon.com/AmazonS3/latest/API/API_DeleteBucketPolicy.html: also if the policy denies it.
_ROOT_MAY = ("s3:DeleteBucketPolicy", "s3:GetBucketPolicy", "s3:PutBucketPolicy")
_ALWAYS_ALLOWED = ("sts:GetCallerIdentity",)


class DeniedError(ServiceException):  # type: ignore[misc]  # moto has no types
    """The refusal of any service but S3. Moto maps exceptions from its own modules to the service named like the module."""


class S3DeniedError(BucketAccessDeniedError):  # type: ignore[misc]  # moto has no types
    """S3's refusal; moto catches its parent class while it deletes several objects."""

    def __init__(self, bucket: str, message: str) -> None:
        super().__init__(bucket)
        self.message = message


def authorize(account: str, access_key: str, action: str, resource: str | None, context: Keys | None = None) -> None:
    """Raise AccessDeniedException if the key belongs to an enforced session whose role does not allow ``action``."""
    session = session_of(access_key)
    if session is None:
        return
    decision = decide(account, session.role_arn, action, resource or "*", _of(session, context or {}))
    if not decision.allowed:
        raise AwsError("AccessDeniedException", _message(session, decision))


def access_key(headers: Headers) -> str:
    """Return the access key in the Authorization header; empty for an unsigned request."""
    return _credential(headers.get("Authorization") or "")[0]


def _credential(text: str) -> list[str]:
    found = text.partition("Credential=")[2].partition(",")[0].split("/")
    return [*found, "", "", "", ""]


def _of(session: Session, context: Keys) -> Keys:
    """Return the request's condition keys with the session's own."""
    return {**context, "aws:userid": session.user_id}


def _message(session: Session, decision: Decision) -> str:
    what = f"{decision.action} on resource: {decision.resource}"
    return f"User: {session.arn} is not authorized to perform: {what} {decision.why}"


def _check(self: Any, _: type, resource: str = "*") -> None:
    """Replace moto's check, which supports neither resources nor conditions."""
    scope = _credential(self.headers.get("Authorization") or "")
    if not scope[0]:  # a presigned URL
        query = parse_qs(urlparse(self.uri).query)
        scope = [*query.get("X-Amz-Credential", [""])[0].split("/"), "", "", ""]
    session = session_of(scope[0])
    place = Place(scope[3], self.region, self.current_account)
    if session is None and place.service == "s3" and own_secret(scope[0]) in (OWNER.secret_key, None):
        _check_bucket_policy(self, place, resource, scope[0])
    if session is None or scope[3] in _CHECKED_BY_ITS_MODULE:
        return
    for required in _required(self, place, resource):
        for each in required.resources:
            decision = decide(place.account, session.role_arn, required.action, each, _of(session, required.context))
            if not decision.allowed:
                _refuse(self, place, _message(session, decision))


def _check_bucket_policy(self: Any, place: Place, resource: str, key: str) -> None:
    """Refuse a person's call on a bucket whose policy denies it; moto's hook for objects does the same for them."""
    spared = _ROOT_MAY if key == OWNER.access_key else ()
    for required in [] if resource == "*" else _required_by_s3(self, resource):
        for each in required.resources:
            if "/" not in each and required.action not in spared and bucket_denies(place.account, key, required.action, each):
                _refuse(self, place, f"{required.action} on resource: {each} with an explicit deny in a resource-based policy")


def _required(self: Any, place: Place, resource: str) -> Iterator[Permissions]:
    if place.service == "s3":
        yield from _required_by_s3(self, resource)
        return
    operation = self._get_action()
    parameters = _parameters(self, operation)
    required = on_resource(place, required_permissions(place, operation, parameters), parameters)
    if required.action not in _ALWAYS_ALLOWED:
        yield required


def _required_by_s3(self: Any, resource: str) -> Iterator[Permissions]:
    query = parse_qs(urlparse(self.uri).query, keep_blank_values=True)
    setting = None if "/" in resource else bucket_setting_action(self.method, query)
    action = setting or action_name("s3", self._get_action())
    names = {"s3:prefix": "prefix", "s3:delimiter": "delimiter"}
    context: dict[str, str | list[str]] = {key: query[name][0] for key, name in names.items() if name in query}
    context["aws:RequestedRegion"] = self.region
    source = self.headers.get("x-amz-copy-source")
    if source:
        yield Permissions("s3:GetObject", (f"arn:aws:s3:::{unquote(source).lstrip('/').partition('?')[0]}",), context)
    if "delete" in query:  # several objects at once
        yield from _required_by_deletion(self, resource, context)
    else:
        yield Permissions(action, (resource,), context)


def _required_by_deletion(self: Any, bucket: str, context: dict[str, str | list[str]]) -> Iterator[Permissions]:
    """Yield one permission per object and kind. AWS deletes the allowed objects; here one refusal refuses all."""
    for each in _parameters(self, "DeleteObjects").get("Delete", {}).get("Objects") or []:
        action = "s3:DeleteObjectVersion" if each.get("VersionId") else "s3:DeleteObject"
        yield Permissions(action, (f"{bucket}/{each['Key']}",), context)


def _parameters(self: Any, operation: str) -> dict[str, Any]:
    model = get_service_model(self.boto3_service_name)
    request = self.normalized_request
    parser = PROTOCOL_PARSERS[determine_request_protocol(model, request.content_type)]
    parts = {"method": request.method, "values": request.values, "headers": request.headers, "body": request.data}
    where = {"url_path": request.path, "url_params": self.uri_match}
    parsed = parser(model.operation_model(operation), map_type=dict).parse({**parts, **where})
    return {**parsed, **self.uri_match}


def _refuse(self: Any, place: Place, message: str) -> None:
    """Raise the refusal in the service's protocol, which moto's serializers know."""
    if place.service == "s3":
        raise S3DeniedError(self.data.get("BucketName", ""), message)
    is_json = "json" in get_service_model(self.boto3_service_name).protocol
    code = "UnauthorizedOperation" if place.service == "ec2" else "AccessDeniedException" if is_json else "AccessDenied"
    _, _, body = self.serialized(ActionResult(DeniedError(code, message)))
    refusal = HTTPException(body)
    refusal.code = 403
    raise refusal


def install() -> None:
    """Replace moto's check."""
    ActionAuthenticatorMixin._authenticate_and_authorize_action = _check
    # Every service may return these errors, though few models list them; moto warns about unlisted ones.
    COMMON_ERROR_CODES.extend(code for code in _CODES if code not in COMMON_ERROR_CODES)
