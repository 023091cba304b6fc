"""The WSGI layer that injects faults into calls to any service."""

import io
import socket
import uuid
from collections.abc import Callable, Iterable
from typing import Any, NoReturn

from local_aws.clock import clock
from local_aws.faults import orders
from local_aws.faults.calls import Called, Environ, body, called
from local_aws.faults.fault import Fault
from local_aws.faults.replies import Refusal, error_answer
from local_aws.iam import session_of

StartResponse = Callable[[str, list[tuple[str, str]]], Any]
WsgiApp = Callable[[Environ, StartResponse], Iterable[bytes]]
EndCaller = Callable[[str], None]


def with_faults(app: WsgiApp, end_caller: EndCaller) -> WsgiApp:
    """Return ``app`` with fault injection; ``end_caller`` ends the function process with an access key."""

    def respond(environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        call = called(environ) if orders.ordered() else None
        return _FaultyCall(app, end_caller, call).answer(environ, start_response) if call else app(environ, start_response)

    return respond


class _FaultyCall:
    """A call that may have a fault."""

    def __init__(self, app: WsgiApp, end_caller: EndCaller, call: Called) -> None:
        self._app = app
        self._end_caller = end_caller
        self._call = call

    def answer(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        """Return the call's response, or the fault's."""
        fault = self._take("refuse", "delay", "repeat") or self._take("kill", at="before")
        if fault:
            clock.sleep(fault.delay_s)
            if fault.kind == "refuse":
                return self._refuse(fault, start_response)
            if fault.kind == "kill":
                self._end_caller(self._call.access_key)
                _hang_up(environ)
            if fault.kind == "repeat":
                self._carry_out_once_more(environ)
        return self._carry_out(environ, start_response)

    def _take(self, *kinds: str, at: str = "") -> Fault | None:
        session = session_of(self._call.access_key)
        caller = session.role_arn if session else self._call.access_key
        return orders.take(self._call.operation, *kinds, caller=caller, target=self._call.target, at=at)

    def _refuse(self, fault: Fault, start_response: StartResponse) -> list[bytes]:
        headers, content = error_answer(Refusal(fault.status, fault.code, fault.message), self._call.protocol)
        request = ("x-amzn-RequestId", str(uuid.uuid4()))
        start_response(f"{fault.status} -", [*headers, request, ("Content-Length", str(len(content)))])
        return [content]

    def _carry_out_once_more(self, environ: Environ) -> None:
        content = body(environ)
        list(self._app({**environ, "wsgi.input": io.BytesIO(content)}, lambda *_: None))

    def _carry_out(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        """Return the response; after a success, lose it or end the caller if a fault says so."""
        heads: list[tuple[str, list[tuple[str, str]]]] = []
        content = list(self._app(environ, lambda status, headers, *_: heads.append((status, headers))))
        [(status, headers)] = heads
        fault = self._take("lose") or self._take("kill", at="after") if int(status[:3]) < 400 else None
        if fault:
            clock.sleep(fault.delay_s)
            if fault.kind == "kill":
                self._end_caller(self._call.access_key)
            _hang_up(environ)
        start_response(status, headers)
        return content


def _hang_up(environ: Environ) -> NoReturn:
    """Cut the request's connection, so that there is no response."""
    connection: socket.socket = environ["werkzeug.socket"]
    connection.shutdown(socket.SHUT_RDWR)
    raise ConnectionAbortedError("injected fault: the connection is cut")
