"""Identify the service and operation of a request from the request only."""

import io
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, unquote

from local_aws import control, rest_routes
from local_aws.faults.fault import OWN_OPERATIONS

# The services of the embedded AWS: signing name -> model name.
SERVICES = {
    "cloudformation": "cloudformation",
    "ec2": "ec2",
    "ecr": "ecr",
    "eks": "eks",
    "events": "events",
    "fsx": "fsx",
    "iam": "iam",
    "kms": "kms",
    "lambda": "lambda",
    "logs": "logs",
    "monitoring": "cloudwatch",
    "s3": "s3",
    "sagemaker": "sagemaker",
    "servicequotas": "service-quotas",
    "ssm": "ssm",
    "states": "stepfunctions",
    "sts": "sts",
}
_ANSWERS = control.PREFIX + "cfn-response/"
_FORM = "application/x-www-form-urlencoded"
Environ = dict[str, Any]


@dataclass(frozen=True)
class Called:
    """A call: ``operation`` as faults name it (`service:Operation`), its caller, and the protocol of its response."""

    operation: str
    access_key: str
    protocol: str
    target: str


def require_operation(operation: str) -> None:
    """Refuse an operation that no call can have."""
    if operation in OWN_OPERATIONS:
        return
    service, _, name = operation.partition(":")
    if service not in SERVICES:
        own = ", ".join(sorted(OWN_OPERATIONS))
        raise ValueError(f"unknown service {service!r}; use {', '.join(sorted(SERVICES))}, or {own}")
    if name not in _model(service).operation_names:
        raise ValueError(f"service {service} has no operation {name!r}; use a name from its API reference")


def called(environ: Environ) -> Called | None:
    """Return the call of this request; None if faults cannot be injected into it."""
    if environ.get("PATH_INFO", "").startswith(_ANSWERS):
        return Called("cloudformation:Answer", "", "rest-json", body(environ).decode(errors="replace"))
    scope = _credential(environ)
    service = scope[3]
    if service not in SERVICES:
        return None
    name, protocol = _operation(environ, service)
    return Called(f"{service}:{name}", scope[0], protocol, _target(environ)) if name else None


def _credential(environ: Environ) -> list[str]:
    """Return the key, date, region and service of the signature."""
    text = environ.get("HTTP_AUTHORIZATION", "").partition("Credential=")[2].partition(",")[0]
    text = text or parse_qs(environ.get("QUERY_STRING", "")).get("X-Amz-Credential", [""])[0]
    return [*text.split("/"), "", "", "", ""]


def _operation(environ: Environ, service: str) -> tuple[str, str]:
    if "HTTP_X_AMZ_TARGET" in environ:
        return environ["HTTP_X_AMZ_TARGET"].rpartition(".")[2], "json"
    if environ.get("HTTP_SMITHY_PROTOCOL") == "rpc-v2-cbor":
        return environ["PATH_INFO"].rpartition("/")[2], "cbor"
    protocol = str(_model(service).metadata["protocol"])
    if protocol in ("query", "ec2"):
        return parse_qs(body(environ).decode()).get("Action", [""])[0], protocol
    return _rest_operation(environ, service), protocol


def _rest_operation(environ: Environ, service: str) -> str:
    found = rest_routes.find(SERVICES[service], environ)
    return found[0] if found else ""


def _model(service: str) -> Any:
    return rest_routes.model(SERVICES[service])


def _target(environ: Environ) -> str:
    is_small = "HTTP_X_AMZ_TARGET" in environ or environ.get("CONTENT_TYPE", "").startswith(_FORM)
    return unquote(environ["PATH_INFO"]) + (body(environ).decode(errors="replace") if is_small else "")


def body(environ: Environ) -> bytes:
    """Return the request's body, and keep it readable."""
    data: bytes = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
    environ["wsgi.input"] = io.BytesIO(data)
    return data
