"""Services with REST-JSON that replace moto's: routing, validation against the service model, and a lock are the same for all."""

import json
import uuid
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import parse_qs

from local_aws import request_log, request_walker, rest_routes, signatures
from local_aws.errors import AwsError
from local_aws.faults.replies import Refusal, error_answer
from local_aws.json_service import Call, Json, Operation

Environ = dict[str, Any]
StartResponse = Callable[[str, list[tuple[str, str]]], Any]


@dataclass(frozen=True)
class RestJsonService:
    """A service of the embedded AWS; ``invalid`` is its error code for a request that does not match the model."""

    name: str
    operations: Mapping[str, Operation]
    lock: AbstractContextManager[Any]
    invalid: str

    def respond(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        """Return the response to a request to this service."""
        try:
            answer = self._answer(environ)
        except AwsError as error:
            status = 403 if error.error_type == "AccessDeniedException" else error.code
            headers, content = error_answer(Refusal(status, error.error_type, error.message), "rest-json")
            return _send(start_response, status, headers, content)
        content = json.dumps(answer, default=_seconds).encode()
        return _send(start_response, 200, [("Content-Type", "application/json")], content)

    def _answer(self, environ: Environ) -> Json:
        found = rest_routes.find(self.name, environ)
        if found is None or found[0] not in self.operations:
            what = found[0] if found else f"{environ['REQUEST_METHOD']} {environ['PATH_INFO']}"
            raise AwsError("InvalidAction", f"not part of the embedded AWS: {self.name}:{what}")
        operation, in_path = found
        request = {**_body(environ), **_in_query(self.name, operation, environ), **self._renamed(operation, in_path)}
        try:
            request_walker.check(self.name, operation, request)
        except AwsError as error:
            raise AwsError(self.invalid, error.message) from error
        request_log.note(self.name, operation, request)
        call = _call(environ, operation, request)
        with self.lock:
            return self.operations[operation](call)

    def _renamed(self, operation: str, in_path: dict[str, str]) -> dict[str, str]:
        """Return the values in the path by their members' names, which differ from those in the path."""
        members = rest_routes.model(self.name).operation_model(operation).input_shape.members
        names = {shape.serialization.get("name", member): member for member, shape in members.items() if _at(shape, "uri")}
        return {names[name]: value for name, value in in_path.items()}


_services: dict[str, RestJsonService] = {}


def install(service: RestJsonService) -> None:
    """Serve ``service`` in place of moto's."""
    _services[service.name] = service


def find(environ: Environ) -> RestJsonService | None:
    """Return the service that a request is signed for, if it is one of these."""
    signature = signatures.read(environ)
    return _services.get(signature.service) if signature else None


def _body(environ: Environ) -> Json:
    content = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
    try:
        body = json.loads(content or b"{}")
    except ValueError as error:
        raise AwsError("SerializationException", f"the request is not JSON: {error}") from error
    if not isinstance(body, dict):
        raise AwsError("SerializationException", "the request must be a JSON object")
    return body


def _in_query(service: str, operation: str, environ: Environ) -> Json:
    given = parse_qs(environ.get("QUERY_STRING", ""))
    shape = rest_routes.model(service).operation_model(operation).input_shape
    members = shape.members if shape else {}
    found = {
        member: (kind, kind.serialization.get("name", member)) for member, kind in members.items() if _at(kind, "querystring")
    }
    return {member: _typed(kind.type_name, given[name]) for member, (kind, name) in found.items() if name in given}


def _typed(kind: str, values: list[str]) -> Any:
    if kind == "list":
        return values
    if kind == "boolean":
        return values[0] == "true"
    return int(values[0]) if kind == "integer" and values[0].isdigit() else values[0]


def _at(shape: Any, place: str) -> bool:
    return bool(shape.serialization.get("location") == place)


def _call(environ: Environ, operation: str, request: Json) -> Call:
    from moto.iam.models import get_account_id_from  # noqa: PLC0415  moto is loaded once the environment is set
    from moto.utilities.utils import get_partition  # noqa: PLC0415

    signature = signatures.read(environ)
    if signature is None:
        raise AwsError("MissingAuthenticationToken", "Missing Authentication Token", 403)
    region = signature.scope.split("/")[1]
    account = get_account_id_from(signature.access_key)
    return Call(account, region, get_partition(region), signature.access_key, operation, request)


def _seconds(value: object) -> float:
    """Return a time stamp in the protocol's form."""
    if not isinstance(value, datetime):
        raise TypeError(f"{type(value).__name__} has no form in JSON")
    return value.timestamp()


def _send(start_response: StartResponse, status: int, headers: list[tuple[str, str]], content: bytes) -> list[bytes]:
    more = [("Content-Length", str(len(content))), ("x-amzn-RequestId", str(uuid.uuid4()))]
    start_response(f"{status} -", [*headers, *more])
    return [content]
