"""Tokens of the API server: a presigned GetCallerIdentity that names the cluster, verified as STS and EKS verify it.

The checks are those of kubernetes-sigs/aws-iam-authenticator, pkg/token/token.go, which EKS runs.
"""

import base64
import io
import re
from datetime import UTC, datetime, timedelta
from urllib.parse import SplitResult, parse_qsl, urlsplit

from local_aws import signatures
from local_aws.authentication import secret_of
from local_aws.clock import host_now
from local_aws.eks.principals import Caller, caller_of

PREFIX = "k8s-aws-v1."
_LONGEST = 4096
_LIFE, _SKEW = timedelta(minutes=15), timedelta(minutes=5)
_HOST = re.compile(r"sts(\.[a-z0-9-]+)?\.amazonaws\.com(\.cn)?")
_CLUSTER_HEADER = "x-k8s-aws-id"
_ALLOWED = {
    "Action",
    "Version",
    "X-Amz-Algorithm",
    "X-Amz-Credential",
    "X-Amz-Date",
    "X-Amz-Expires",
    "X-Amz-Security-Token",
    "X-Amz-Signature",
    "X-Amz-SignedHeaders",
}


class TokenError(Exception):
    """The token is not one of the cluster's account; the text says why."""


def caller_of_token(token: str, cluster: str, region: str, endpoint: str) -> Caller:
    """Return the identity that signed ``token`` for ``cluster``; ``endpoint`` is the embedded AWS's own."""
    parts = _url(token)
    is_own = f"{parts.scheme}://{parts.netloc}" == endpoint
    if not is_own and (parts.scheme != "https" or not _HOST.fullmatch(parts.netloc)):
        raise TokenError(f"unexpected hostname {parts.netloc!r} in pre-signed URL")
    if parts.path not in ("", "/"):
        raise TokenError("unexpected path in pre-signed URL")
    pairs = parse_qsl(parts.query, keep_blank_values=True)
    query = dict(pairs)
    _check_query(pairs, query)
    environ = {
        "REQUEST_METHOD": "GET",
        "RAW_URI": f"/?{parts.query}",
        "HTTP_HOST": parts.netloc,
        "HTTP_X_K8S_AWS_ID": cluster,
        "wsgi.input": io.BytesIO(),
        "CONTENT_LENGTH": "0",
    }
    signature = signatures.read(environ)
    secret = secret_of(signature.access_key) if signature else None
    if signature is None or secret is None or not signatures.is_valid(signature, secret, environ):
        raise TokenError("the signature is not valid for this cluster: another cluster's name, or an unknown or changed key")
    if signature.service != "sts":
        raise TokenError(f"signed for service {signature.service!r}, not for sts")
    return caller_of(signature.access_key, region)


def _url(token: str) -> SplitResult:
    if not token.startswith(PREFIX) or len(token) > _LONGEST:
        raise TokenError("not a token of EKS")
    text = token.removeprefix(PREFIX)
    try:
        return urlsplit(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)).decode())
    except ValueError as error:
        raise TokenError(f"the token is not a URL in base64: {error}") from error


def _check_query(pairs: list[tuple[str, str]], query: dict[str, str]) -> None:
    if len(pairs) != len(query):
        raise TokenError("query parameter with multiple values in pre-signed URL")
    unknown = sorted(set(query) - _ALLOWED)
    if unknown:
        raise TokenError(f"non-whitelisted query parameter {unknown[0]!r}")
    if query.get("Action") != "GetCallerIdentity":
        raise TokenError("unexpected action parameter in pre-signed URL")
    if not {"host", _CLUSTER_HEADER} <= set(query.get("X-Amz-SignedHeaders", "").lower().split(";")):
        raise TokenError(f"client did not sign the {_CLUSTER_HEADER} header in the pre-signed URL")
    expires = query.get("X-Amz-Expires", "")
    if not expires.isdigit() or int(expires) > _LIFE.total_seconds():
        raise TokenError("invalid X-Amz-Expires parameter in pre-signed URL")
    _check_age(query.get("X-Amz-Date", ""))


def _check_age(date: str) -> None:
    try:
        signed = datetime.strptime(date, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
    except ValueError as error:
        raise TokenError(f"error parsing X-Amz-Date parameter {date!r}") from error
    age = host_now() - signed
    if age > _LIFE or age < -_SKEW:
        raise TokenError(f"X-Amz-Date parameter is expired ({_LIFE.seconds // 60} minute expiration): {date}")
