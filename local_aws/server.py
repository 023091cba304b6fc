"""The embedded AWS's HTTP server: moto's, with additions where moto falls short."""

import importlib
import json
import os
import socket
import tempfile
import threading
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from local_aws import control, faults, request_log, rest_json_service
from local_aws.clock import clock
from local_aws.environment import shield
from local_aws.process import ProcessError

ACCOUNT = "123456789012"
_BACKLOG = 128
# The replacements of moto's services, in this order. Each has install(endpoint) and reset().
SERVICES = (
    "local_aws.moto_patches",
    "local_aws.iam",
    "local_aws.metrics",
    "local_aws.functions",
    "local_aws.states",
    "local_aws.events",
    "local_aws.fsx",
    "local_aws.hyperpod",
    "local_aws.eks",
    "local_aws.service_quotas",
    "local_aws.cloudformation",
)

StartResponse = Callable[[str, list[tuple[str, str]]], Any]
WsgiApp = Callable[[dict[str, Any], StartResponse], Iterable[bytes]]


def build_app(endpoint: str) -> WsgiApp:
    """Return the WSGI application that serves every AWS service at ``endpoint``."""
    os.environ["MOTO_PORT"] = endpoint.rsplit(":", 1)[1]
    os.environ["AWS_EC2_METADATA_DISABLED"] = "true"
    from moto.core.config import default_user_config  # noqa: PLC0415  reads the environment when imported

    default_user_config["stepfunctions"] = {"execute_state_machine": True}
    default_user_config["iam"] = {"load_aws_managed_policies": True}
    for name in SERVICES:
        importlib.import_module(name).install(endpoint)
    control.route("health", lambda _: {"speed": clock.speed})
    control.route("reset", lambda _: reset())
    control.route("faults", faults.handle)
    control.route("requests", request_log.show)

    from moto.moto_server import werkzeug_app  # noqa: PLC0415

    from local_aws.authentication import authenticated  # noqa: PLC0415  reads it, too
    from local_aws.faults.layer import with_faults  # noqa: PLC0415  reads it, too
    from local_aws.functions.invocation import pool  # noqa: PLC0415  reads it, too

    werkzeug_app.DISABLE_GLOBAL_CORS = True  # otherwise web pages of any origin can read its responses
    moto = werkzeug_app.DomainDispatcherApplication(werkzeug_app.create_backend_app)

    def app(environ: dict[str, Any], start_response: StartResponse) -> Iterable[bytes]:
        if environ.get("PATH_INFO", "").startswith(control.PREFIX):
            return _answer_control(environ, start_response)
        own = rest_json_service.find(environ)
        if own:
            return own.respond(environ, start_response)
        try:
            answer: Iterable[bytes] = moto(environ, start_response)
        except NotImplementedError as error:  # moto's error for an operation that it does not support
            return _answer_unknown_action(environ, start_response, error)
        return answer

    return authenticated(with_faults(app, pool.end_by_key))


def reset() -> None:
    """Empty the account, as after a restart."""
    from moto.core.base_backend import BackendDict  # noqa: PLC0415  imported after the environment is set

    for name in reversed(SERVICES):
        importlib.import_module(name).reset()
    faults.reset()
    request_log.reset()
    BackendDict.reset()


def _answer_control(environ: dict[str, Any], start_response: StartResponse) -> list[bytes]:
    body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
    status, answer = control.handle(environ["REQUEST_METHOD"], environ["PATH_INFO"], body)
    data = json.dumps(answer, default=str).encode()
    start_response(f"{status} -", [("Content-Type", "application/json"), ("Content-Length", str(len(data)))])
    return [data]


def _answer_unknown_action(environ: dict[str, Any], start_response: StartResponse, error: NotImplementedError) -> list[bytes]:
    """Return 400 where moto would return 500, which every SDK retries for a minute."""
    message = f"not part of the embedded AWS: {error}"
    if environ.get("CONTENT_TYPE", "").startswith("application/x-amz-json"):
        kind, data = "application/x-amz-json-1.1", json.dumps({"__type": "InvalidAction", "message": message})
    else:
        fields = f"<Type>Sender</Type><Code>InvalidAction</Code><Message>{message}</Message>"
        kind, data = "text/xml", f"<ErrorResponse><Error>{fields}</Error><RequestId>0</RequestId></ErrorResponse>"
    start_response("400 Bad Request", [("Content-Type", kind), ("Content-Length", str(len(data.encode())))])
    return [data.encode()]


class EmbeddedAws:
    """An AWS account in this process: ``with EmbeddedAws() as aws: boto3.client("s3", endpoint_url=aws.endpoint)``.

    There is one per process, because moto's state is global: a second instance is another handle of the first. It listens only on
    loopback, and while it runs this process's own AWS clients do not see the user's settings.
    """

    _running: "_Running | None" = None

    def __init__(self, port: int = 0, speed: float | None = None) -> None:
        self.port = port
        self._speed = speed

    @property
    def endpoint(self) -> str:
        """Return its endpoint."""
        return f"http://127.0.0.1:{self.port}"

    def __enter__(self) -> Self:
        if self._speed:
            clock.set_speed(self._speed)
        running = EmbeddedAws._running
        if running is None:
            running = EmbeddedAws._running = _Running(self.port)
        elif self.port not in (0, running.port):
            raise ValueError(f"this process already has an embedded AWS on port {running.port}; use that port")
        running.handles += 1
        self.port = running.port
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        running = EmbeddedAws._running
        reset()
        if running:
            running.handles -= 1
            if not running.handles:
                EmbeddedAws._running = None
                running.end()


class _Running:
    """The server of this process, and the number of its handles."""

    def __init__(self, port: int) -> None:
        """Listen on ``port``, or on a free one for 0."""
        from moto.moto_server.werkzeug_app import MotoRequestHandler  # noqa: PLC0415  keeps `python -m local_aws status` fast
        from werkzeug.serving import make_server  # noqa: PLC0415

        class QuietHandler(MotoRequestHandler):  # type: ignore[misc]  # moto has no types
            def log_request(self, *_: Any) -> None:
                """Do not log requests."""

        self.handles = 0
        self._cleanup = ExitStack()
        # From the start: importing takes seconds, in which another process may take the port.
        listener = self._cleanup.enter_context(_listener(port))
        self.port = int(listener.getsockname()[1])
        home = Path(self._cleanup.enter_context(tempfile.TemporaryDirectory(prefix="local-aws-home-")))
        self._cleanup.enter_context(shield(home))
        app = build_app(f"http://127.0.0.1:{self.port}")
        self._server = make_server("127.0.0.1", self.port, app, threaded=True, request_handler=QuietHandler, fd=listener.fileno())
        threading.Thread(target=self._server.serve_forever, daemon=True, name="embedded-aws").start()

    def end(self) -> None:
        """Stop listening."""
        self._server.shutdown()
        self._server.server_close()
        self._cleanup.close()


def _listener(port: int) -> socket.socket:
    try:
        return socket.create_server(("127.0.0.1", port), backlog=_BACKLOG)
    except OSError as error:
        raise ProcessError(f"cannot listen on port {port}: {os.strerror(error.errno or 0)}; choose another one") from error
