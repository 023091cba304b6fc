"""Signature Version 4 of a request, in its Authorization header or in a presigned URL, and its validation.

https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
"""

import hashlib
import hmac
import io
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from urllib.parse import parse_qs, quote, unquote_to_bytes

from botocore.utils import normalize_url_path

Environ = dict[str, Any]

ALGORITHM = "AWS4-HMAC-SHA256"
_UNSIGNED = "UNSIGNED-PAYLOAD"
_HEADER = re.compile(
    rf"{ALGORITHM} +Credential=(?P<access_key>[^,/\s]+)/(?P<scope>[^,\s]+), *"
    r"SignedHeaders=(?P<signed_headers>[^,\s]+), *Signature=(?P<value>\w+)"
)
_OTHER_NAMES = {"content-type": "CONTENT_TYPE", "content-length": "CONTENT_LENGTH"}


@dataclass(frozen=True)
class Signature:
    """The signature of a request."""

    access_key: str
    scope: str  # DATE/REGION/SERVICE/aws4_request
    signed_headers: str
    value: str
    moment: str
    is_presigned: bool

    @property
    def service(self) -> str:
        """Return the service that the request is signed for."""
        return (self.scope.split("/") + [""] * 3)[2]


def read(environ: Environ) -> Signature | None:
    """Return the request's signature; None without one of this version."""
    moment = environ.get("HTTP_X_AMZ_DATE", "")
    if "HTTP_AUTHORIZATION" in environ:  # if present, the query's signature is ignored: other code may read this one
        found = _HEADER.fullmatch(environ["HTTP_AUTHORIZATION"])
        return Signature(**found.groupdict(), moment=moment, is_presigned=False) if found else None
    query = {name: values[0] for name, values in parse_qs(_query(environ)).items()}
    if query.get("X-Amz-Algorithm") != ALGORITHM:
        return None
    key, _, scope = query.get("X-Amz-Credential", "").partition("/")
    moment, headers, value = (query.get(f"X-Amz-{name}", "") for name in ("Date", "SignedHeaders", "Signature"))
    return Signature(key, scope, headers, value, moment, is_presigned=True)


def is_valid(signature: Signature, secret_key: str, environ: Environ) -> bool:
    """Return whether ``secret_key`` signed the request. The body stays readable."""
    canonical = "\n".join(
        (
            environ["REQUEST_METHOD"],
            _canonical_path(environ, signature.service),
            _canonical_query(_query(environ)),
            *(f"{name}:{_header(environ, name)}" for name in signature.signed_headers.split(";")),
            "",
            signature.signed_headers,
            _payload_hash(signature, environ),
        )
    )
    digest = hashlib.sha256(canonical.encode("latin-1", "replace")).hexdigest()  # the received bytes: WSGI decodes them this way
    text = f"{ALGORITHM}\n{signature.moment}\n{signature.scope}\n{digest}"
    expected = hmac.new(_signing_key(secret_key, signature.scope), text.encode(), hashlib.sha256).hexdigest()
    return hmac.compare_digest(expected.encode(), signature.value.encode())


@lru_cache(maxsize=1024)
def _signing_key(secret_key: str, scope: str) -> bytes:
    key = f"AWS4{secret_key}".encode()
    for part in scope.split("/"):
        key = hmac.digest(key, part.encode(), "sha256")
    return key


def _canonical_path(environ: Environ, service: str) -> str:
    """Return S3's path unchanged, or others' with its dots resolved and encoded once more."""
    path = str(environ["RAW_URI"]).partition("?")[0]
    return path if service == "s3" else quote(normalize_url_path(path), safe="/~")


def _canonical_query(query: str) -> str:
    pairs = (part.partition("=") for part in query.split("&") if part)
    encoded = sorted((_encoded(name), _encoded(value)) for name, _, value in pairs)
    return "&".join(f"{name}={value}" for name, value in encoded if name != "X-Amz-Signature")


def _encoded(text: str) -> str:
    return quote(unquote_to_bytes(text), safe="-_.~")


def _header(environ: Environ, name: str) -> str:
    value = environ.get(_OTHER_NAMES.get(name) or f"HTTP_{name.upper().replace('-', '_')}", "")
    return " ".join(value.split())


def _payload_hash(signature: Signature, environ: Environ) -> str:
    """Return the payload hash: S3's as declared, because its bodies may be chunked and large; others' of the body itself."""
    declared = environ.get("HTTP_X_AMZ_CONTENT_SHA256", "")
    if signature.service == "s3" and (declared or signature.is_presigned):
        return str(declared or _UNSIGNED)
    return _UNSIGNED if declared == _UNSIGNED else hashlib.sha256(_body(environ)).hexdigest()


def _body(environ: Environ) -> bytes:
    stream, length = environ["wsgi.input"], environ.get("CONTENT_LENGTH")
    data: bytes = stream.read() if environ.get("wsgi.input_terminated") else stream.read(int(length or 0))
    environ["wsgi.input"] = io.BytesIO(data)
    return data


def _query(environ: Environ) -> str:
    return str(environ["RAW_URI"]).partition("?")[2]
