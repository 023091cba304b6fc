"""Check that a directory accepts the cluster file's settings, with the first steps of SSSD: TLS, bind and search base.

LDAP's messages: https://www.rfc-editor.org/rfc/rfc4511; their encoding is BER: a tag, the length and the content.
"""

from __future__ import annotations

import socket
import ssl
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from hyperpod_node.errors import NodeError

if TYPE_CHECKING:
    from pathlib import Path

TIMEOUT_S = 5
PORTS = {"ldap": 389, "ldaps": 636}
START_TLS = b"1.3.6.1.4.1.1466.20037"
SEQUENCE, BOOLEAN, INTEGER, TEXT, ENUMERATED, PRESENT = 0x30, 0x01, 0x02, 0x04, 0x0A, 0x87
BIND, BIND_RESPONSE, SEARCH, SEARCH_DONE, EXTENDED, EXTENDED_RESPONSE = 0x60, 0x61, 0x63, 0x65, 0x77, 0x78
SUCCESS, NO_SUCH_OBJECT, INVALID_CREDENTIALS = 0, 32, 49


class UnreachableError(NodeError):
    """No connection to the server."""


@dataclass(frozen=True)
class Login:
    """The name and password that read the directory, and the base of all searches."""

    bind_dn: str
    password: str
    search_base: str


def check(uri: str, login: Login, authorities: Path | None) -> None:
    """Bind to ``uri`` and read the search base; trust ``authorities`` or the system's; an error names problem and fix."""
    place = urlsplit(uri)
    host, port = place.hostname or "", place.port or PORTS[place.scheme]
    try:
        tls = ssl.create_default_context(cafile=str(authorities) if authorities else None)
        tls.verify_flags &= ~ssl.VERIFY_X509_STRICT  # the default since Python 3.13, but not of SSSD
        with socket.create_connection((host, port), TIMEOUT_S) as connection:
            if place.scheme == "ldap":
                _ask(connection, _ber(EXTENDED, _ber(0x80, START_TLS)), EXTENDED_RESPONSE, f"{uri}: StartTLS")
            with tls.wrap_socket(connection, server_hostname=host) as secured:
                _bind(secured, uri, login)
                _search(secured, uri, login.search_base)
    except IndexError:
        raise NodeError(f"{uri}: the answer is not LDAP; check the port") from None
    except ssl.SSLError as error:
        problem = getattr(error, "verify_message", "") or error.reason or error
        raise NodeError(f"{uri}: TLS: {problem}; set `directory.ca_certificates` to the server's authority") from None
    except OSError as error:
        reason = error.strerror or str(error) or type(error).__name__
        raise UnreachableError(f"{uri}: {reason}; check the host, its security group and the routes from the nodes") from None


def _bind(connection: socket.socket, uri: str, login: Login) -> None:
    request = _ber(BIND, _ber(INTEGER, b"\x03"), _ber(TEXT, login.bind_dn.encode()), _ber(0x80, login.password.encode()))
    fix = {INVALID_CREDENTIALS: "check `directory.bind_dn` and the password in `directory.secret_arn`"}
    _ask(connection, request, BIND_RESPONSE, f"{uri}: bind as {login.bind_dn}", fix)


def _search(connection: socket.socket, uri: str, base: str) -> None:
    """Read only the base's own entry, without attributes."""
    scope, aliases, limit, seconds = (
        _ber(ENUMERATED, b"\0"),
        _ber(ENUMERATED, b"\0"),
        _ber(INTEGER, b"\1"),
        _ber(INTEGER, b"\5"),
    )
    any_class, no_attributes = _ber(PRESENT, b"objectClass"), _ber(SEQUENCE, _ber(TEXT, b"1.1"))
    options = (scope, aliases, limit, seconds, _ber(BOOLEAN, b"\0"), any_class, no_attributes)
    fix = {NO_SUCH_OBJECT: "check `directory.search_base`, and that the bind DN may read it"}
    _ask(connection, _ber(SEARCH, _ber(TEXT, base.encode()), *options), SEARCH_DONE, f"{uri}: search base {base}", fix)


def _ask(connection: socket.socket, request: bytes, answer: int, what: str, fixes: dict[int, str] | None = None) -> None:
    """Send a request, and raise unless its answer is a success."""
    connection.sendall(_ber(SEQUENCE, _ber(INTEGER, b"\1"), request))
    while True:
        _, content = _receive(connection)
        _, _, rest = _first(content)  # the message's number: one request at a time
        tag, result, _ = _first(rest)
        if tag == answer:
            break
    _, code, rest = _first(result)
    _, _, rest = _first(rest)
    _, text, _ = _first(rest)
    number = int.from_bytes(code, "big")
    if number != SUCCESS:
        fix = (fixes or {}).get(number, "see the server's log")
        raise NodeError(f"{what}: LDAP result {number}{_described(number)}: {_line(text) or 'no message'}; {fix}")


def _described(code: int) -> str:
    names = {INVALID_CREDENTIALS: "invalid credentials", NO_SUCH_OBJECT: "no such object", 8: "stronger authentication required"}
    return f" ({names[code]})" if code in names else ""


def _line(text: bytes) -> str:
    return " ".join(text.decode(errors="replace").replace("\0", "").split())


def _receive(connection: socket.socket) -> tuple[int, bytes]:
    """Return tag and content of the next message."""
    tag, size = _exactly(connection, 2)
    if size & 0x80:
        size = int.from_bytes(_exactly(connection, size & 0x7F), "big")
    return tag, _exactly(connection, size)


def _exactly(connection: socket.socket, count: int) -> bytes:
    received = b""
    while len(received) < count:
        part = connection.recv(count - len(received))
        if not part:
            raise ConnectionResetError("the server closed the connection")
        received += part
    return received


def _first(content: bytes) -> tuple[int, bytes, bytes]:
    """Return tag and content of the first element, and the rest."""
    tag, size, start = content[0], content[1], 2
    if size & 0x80:
        start += size & 0x7F
        size = int.from_bytes(content[2:start], "big")
    return tag, content[start : start + size], content[start + size :]


def _ber(tag: int, *parts: bytes) -> bytes:
    content = b"".join(parts)
    size = len(content)
    if size < 0x80:
        return bytes([tag, size]) + content
    length = size.to_bytes((size.bit_length() + 7) // 8, "big")
    return bytes([tag, 0x80 | len(length)]) + length + content
