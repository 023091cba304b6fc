"""Authentication: accept only requests signed with known access keys, and none from web pages.

It listens on loopback, which every user and browser of the machine can reach, and functions run with the rights of the user
who started it.
"""

import hmac
import json
import uuid
from collections.abc import Callable, Iterable
from typing import Any

from moto.iam.models import iam_backends

from local_aws import control, signatures
from local_aws.credentials import CONTROL_HEADER, OWNER, own_secret
from local_aws.faults.replies import Refusal, error_answer
from local_aws.signatures import Environ

StartResponse = Callable[[str, list[tuple[str, str]]], Any]
WsgiApp = Callable[[Environ, StartResponse], Iterable[bytes]]

_MOTOS_OWN = "/moto-api"
_TOKEN = f"HTTP_{CONTROL_HEADER.upper().replace('-', '_')}"
_UNSIGNED = "Request is missing Authentication Token"
_UNKNOWN = "The security token included in the request is invalid."
_WRONG = (
    "The request signature we calculated does not match the signature you provided. "
    "Check your AWS Secret Access Key and signing method. Consult the service documentation for details."
)
# AWS's responses by the protocol of the service; "" is any other protocol.
_REFUSALS = {
    _UNSIGNED: {"": (403, "MissingAuthenticationToken"), "rest-xml": (403, "AccessDenied")},
    _UNKNOWN: {
        "": (403, "InvalidClientTokenId"),
        "json": (400, "UnrecognizedClientException"),
        "rest-json": (403, "UnrecognizedClientException"),
        "rest-xml": (403, "InvalidAccessKeyId"),
        "ec2": (401, "AuthFailure"),
    },
    _WRONG: {
        "": (403, "SignatureDoesNotMatch"),
        "json": (400, "InvalidSignatureException"),
        "rest-json": (403, "InvalidSignatureException"),
        "ec2": (401, "AuthFailure"),
    },
}


def authenticated(app: WsgiApp) -> WsgiApp:
    """Return ``app`` behind a check of the caller's keys."""

    def answer(environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        path = environ.get("PATH_INFO", "")
        reason = _origin_problem(environ) or _path_problem(environ, path)
        if reason:
            return _answer(start_response, 403, "application/json", json.dumps({"message": reason}).encode())
        message = None if path.startswith(control.PREFIX) else _signature_problem(environ)
        return _refuse(environ, start_response, message) if message else app(environ, start_response)

    return answer


def _origin_problem(environ: Environ) -> str | None:
    """Return why the request looks like a web page's, or None."""
    if "HTTP_ORIGIN" in environ:
        return "requests from web pages are refused; remove the Origin header"
    host = environ.get("HTTP_HOST", "").partition(":")[0].lower()
    if host not in ("127.0.0.1", "localhost") and not host.endswith(".localhost"):
        return f"unknown host {host!r}; use 127.0.0.1 or localhost"
    return None


def _path_problem(environ: Environ, path: str) -> str | None:
    """Return why the caller may not use the path, or None."""
    if path.startswith(_MOTOS_OWN):
        return f"{_MOTOS_OWN} is not part of the embedded AWS"
    if path.startswith(control.PREFIX) and control.needs_token(path):
        token = environ.get(_TOKEN, "").encode("latin-1")
        if not hmac.compare_digest(token, OWNER.control_token.encode()):
            return f"header {CONTROL_HEADER} must be the token that `python -m local_aws env` exports"
    return None


def _signature_problem(environ: Environ) -> str | None:
    """Return what is wrong with the request's signature, or None."""
    signature = signatures.read(environ)
    if signature is None:
        return _UNSIGNED
    secret = secret_of(signature.access_key)
    if secret is None:
        return _UNKNOWN
    return None if signatures.is_valid(signature, secret, environ) else _WRONG


def secret_of(access_key: str) -> str | None:
    """Return the secret key of the owner, a service, a role's session or a user; None for an unknown access key."""
    return own_secret(access_key) or _issued_secret(access_key)


def _issued_secret(access_key: str) -> str | None:
    """Return the secret key of a role's session or of a user, as IAM stores it."""
    for account in list(iam_backends.values()):
        for backend in list(account.values()):
            key = backend.access_keys.get(access_key)
            if key is not None and key.status == "Active":
                return str(key.secret_access_key)
    return None


def _refuse(environ: Environ, start_response: StartResponse, message: str) -> list[bytes]:
    signature = signatures.read(environ)
    protocol = _protocol(environ, signature.service if signature else "")
    statuses = _REFUSALS[message]
    status, code = statuses.get(protocol) or statuses["json" if protocol == "cbor" and "json" in statuses else ""]
    [(_, kind), *headers], content = error_answer(Refusal(status, code, message), protocol)
    return _answer(start_response, status, kind, content, *headers)


def _protocol(environ: Environ, service: str) -> str:
    """Return the protocol of the service's responses, as far as the request shows it."""
    content = environ.get("CONTENT_TYPE", "")
    if environ.get("HTTP_SMITHY_PROTOCOL") == "rpc-v2-cbor":
        return "cbor"
    if "HTTP_X_AMZ_TARGET" in environ or content.startswith("application/x-amz-json"):
        return "json"
    if content.startswith("application/x-www-form-urlencoded"):
        return "ec2" if service == "ec2" else "query"
    return "rest-xml" if service in ("", "s3") else "rest-json"


def _answer(start_response: StartResponse, status: int, kind: str, content: bytes, *more: tuple[str, str]) -> list[bytes]:
    headers = [("Content-Type", kind), ("Content-Length", str(len(content))), ("x-amzn-RequestId", str(uuid.uuid4()))]
    start_response(f"{status} -", [*headers, *more])
    return [content]
