"""The check of a directory, against a server of this test with a real TLS certificate."""

from __future__ import annotations

import socket
import ssl
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from hyperpod_node.directory import ldap
from hyperpod_node.errors import NodeError

LOGIN = ldap.Login("cn=sssd,dc=example,dc=com", "s3cret", "dc=example,dc=com")
OK, INVALID, NO_BASE, BUSY = (bytes([0x0A, 1, code, 4, 0, 4, 0]) for code in (0, 49, 32, 51))


def message(tag: int, content: bytes) -> bytes:
    """A short LDAP message."""
    inner = b"\x02\x01\x01" + bytes([tag, len(content)]) + content
    return bytes([0x30, len(inner)]) + inner


@dataclass
class Server:
    """A server that gives prepared answers, and keeps what it receives."""

    folder: Path
    answers: list[bytes] = field(default_factory=list)
    received: list[bytes] = field(default_factory=list)
    start_tls: bool = False
    _listening: socket.socket = field(default_factory=lambda: socket.create_server(("127.0.0.1", 0)))

    @property
    def authority(self) -> Path:
        return self.folder / "server.pem"

    @property
    def uri(self) -> str:
        return f"{'ldap' if self.start_tls else 'ldaps'}://localhost:{self._listening.getsockname()[1]}"

    def serve(self) -> None:
        """Answer one connection."""
        connection, _ = self._listening.accept()
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.authority, self.folder / "server.key")
        with connection:
            if self.start_tls:
                self.received.append(connection.recv(1000))
                connection.sendall(message(0x78, OK))
            try:
                with context.wrap_socket(connection, server_side=True) as secured:
                    for answer in self.answers:
                        self.received.append(secured.recv(1000))
                        secured.sendall(answer)
            except ssl.SSLError:
                pass  # a client that does not trust it

    def close(self) -> None:
        self._listening.close()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tls")
    files = ["-keyout", str(folder / "server.key"), "-out", str(folder / "server.pem")]
    new = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"]
    names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
    subprocess.run(["openssl", "req", "-x509", *new, *names, *files], check=True, capture_output=True)
    return folder


@pytest.fixture
def server(folder: Path) -> Iterator[Server]:
    server = Server(folder)
    thread = threading.Thread(target=server.serve, daemon=True)
    thread.start()
    yield server
    server.close()


def test_a_server_that_accepts_all_receives_bind_and_base(server: Server) -> None:
    server.answers += [message(0x61, OK), message(0x64, b"\x04\x00\x30\x00") + message(0x65, OK)]
    ldap.check(server.uri, LOGIN, server.authority)
    bind, search = server.received
    assert bind == b"\x30\x2b\x02\x01\x01\x60\x26\x02\x01\x03\x04\x19cn=sssd,dc=example,dc=com\x80\x06s3cret"
    assert search.startswith(b"\x30\x3b\x02\x01\x01\x63\x36\x04\x11dc=example,dc=com\x0a\x01\x00")


@pytest.mark.parametrize(
    ("answers", "problem"),
    [
        (
            [message(0x61, INVALID)],
            r"bind as cn=.*: LDAP result 49 \(invalid credentials\): no message; check `directory\.bind",
        ),
        (
            [message(0x61, OK), message(0x65, NO_BASE)],
            r"base dc=.*: LDAP result 32 \(no such object\).*`directory\.search_b",
        ),
        ([message(0x61, BUSY)], r"LDAP result 51: no message; see the server's log"),
        ([b"\x30\x03\x02\x01\x01"], r"the answer is not LDAP; check the port"),
    ],
)
def test_a_refusal_names_the_problem_and_what_to_do(server: Server, answers: list[bytes], problem: str) -> None:
    server.answers += answers
    with pytest.raises(NodeError, match=problem) as caught:
        ldap.check(server.uri, LOGIN, server.authority)
    assert "s3cret" not in str(caught.value)
    assert not isinstance(caught.value, ldap.UnreachableError)


def test_a_server_that_is_not_trusted_gets_no_password(server: Server) -> None:
    server.answers.append(message(0x61, OK))
    with pytest.raises(NodeError, match=r"TLS: self[- ]signed certificate; set `directory\.ca_certificates`"):
        ldap.check(server.uri, LOGIN, None)
    assert server.received == []


def test_plain_ldap_is_encrypted_before_the_password_is_sent(server: Server) -> None:
    server.start_tls = True
    server.answers += [message(0x61, OK), message(0x65, OK)]
    ldap.check(server.uri, LOGIN, server.authority)
    assert b"1.3.6.1.4.1.1466.20037" in server.received[0]
    assert b"s3cret" in server.received[1]


def test_no_server_is_an_outage() -> None:
    with pytest.raises(ldap.UnreachableError, match=r"Connection refused; check the host, its security group"):
        ldap.check("ldaps://127.0.0.1:1", LOGIN, None)


def test_a_server_that_hangs_up_is_an_outage(server: Server) -> None:
    with pytest.raises(ldap.UnreachableError, match=r"check the host"):
        ldap.check(server.uri, LOGIN, server.authority)
