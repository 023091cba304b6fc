"""The certificate of a MySQL server, over a real connection."""

from __future__ import annotations

import socket
import ssl
import struct
import subprocess
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest

from hyperpod_node.errors import NodeError
from hyperpod_node.server_certificate import CertificateError, verify

# Protocol::HandshakeV10 of MySQL's documentation, with and without CLIENT_SSL (2048) among the capabilities.
GREETING = b"\x0a8.0.39\0" + struct.pack("<I8sx", 7, b"saltsalt") + struct.pack("<H", 0xFFFF) + b"\xff\x02\0" + b"\0" * 24
NO_TLS = GREETING.replace(b"\xff\xff\xff", b"\xff\xf7\xff")
REFUSAL = b"\xff\x6a\x04Host is not allowed to connect"


def pair(folder: Path, name: str) -> Path:
    """Create a key and a certificate that is its own authority; return the file with both."""
    new = f"openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN={name} -addext subjectAltName=DNS:{name} -keyout -"
    output = subprocess.run(new.split(), check=True, capture_output=True, text=True).stdout
    (folder / f"{name}.pem").write_text(output)
    return folder / f"{name}.pem"


@pytest.fixture(scope="module")
def ours(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return pair(tmp_path_factory.mktemp("ours"), "localhost")


def serve(greeting: bytes, file: Path) -> tuple[int, list[bytes]]:
    """Answer one client; return the port, and what the client sends before TLS."""
    listener, received = socket.create_server(("localhost", 0)), []
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)

    def answer() -> None:
        with listener, listener.accept()[0] as client, suppress(OSError):
            client.sendall(len(greeting).to_bytes(3, "little") + b"\0" + greeting)
            received.append(client.recv(36, socket.MSG_WAITALL))
            with context.wrap_socket(client, server_side=True) as encrypted:
                encrypted.recv(1)

    threading.Thread(target=answer, daemon=True).start()
    return listener.getsockname()[1], received


def test_a_server_with_a_certificate_of_its_authority_is_verified_without_a_password(ours: Path) -> None:
    port, received = serve(GREETING, ours)
    verify("localhost", port, ours.read_text())
    # Protocol::SSLRequest: 32 bytes with the number 1, among the capabilities CLIENT_SSL and CLIENT_PROTOCOL_41 (512).
    assert received[0][:4] == b"\x20\0\0\x01"
    assert int.from_bytes(received[0][4:8], "little") & 0xA00 == 0xA00
    assert received[0][13:] == bytes(23)


@pytest.mark.parametrize(
    ("greeting", "name", "problem"),
    [
        (GREETING, "mallory", "Hostname mismatch"),
        (GREETING, "other/localhost", "self.signed certificate"),
        (NO_TLS, "localhost", "offers no TLS"),
    ],
)
def test_another_server_is_refused(ours: Path, tmp_path: Path, greeting: bytes, name: str, problem: str) -> None:
    theirs = pair(tmp_path, Path(name).name)
    port, _ = serve(greeting, theirs)
    with pytest.raises(CertificateError, match=problem):
        verify("localhost", port, (ours if "/" in name else theirs).read_text())


@pytest.mark.parametrize(("greeting", "problem"), [(REFUSAL, "Host is not allowed to connect"), (b"", "closed the connection")])
def test_a_server_that_refuses_connections_is_an_outage(ours: Path, greeting: bytes, problem: str) -> None:
    port, _ = serve(greeting, ours)
    with pytest.raises(NodeError, match=problem):
        verify("localhost", port, ours.read_text())


def test_a_slow_server_is_an_outage_after_ten_seconds_in_all(ours: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hyperpod_node.server_certificate.TIMEOUT_S", 0.6)
    with socket.create_server(("localhost", 0)) as listener:

        def drip() -> None:
            with listener.accept()[0] as client, suppress(OSError):
                for byte in b"\xff\0\0\0" + b"a" * 255:
                    client.send(bytes([byte]))
                    time.sleep(0.1)

        threading.Thread(target=drip, daemon=True).start()
        start = time.monotonic()
        with pytest.raises((NodeError, CertificateError)):
            verify("localhost", listener.getsockname()[1], ours.read_text())
        assert time.monotonic() - start < 5


def test_no_server_is_an_outage(ours: Path) -> None:
    with socket.create_server(("localhost", 0)) as listener:
        port = listener.getsockname()[1]
    with pytest.raises(NodeError, match="Connection refused"):
        verify("localhost", port, ours.read_text())


def test_a_file_without_certificates_verifies_nothing() -> None:
    with pytest.raises(CertificateError, match="localhost:1: Empty certificate data"):
        verify("localhost", 1, "")
