"""Verify the certificate and the name of a MySQL server, because slurmdbd verifies less.

slurmdbd passes SSL_CA to mysql_ssl_set (src/database/mysql_common.c of Slurm). Its library then verifies the authority, which is
that of all databases of RDS in a region. MySQL's, and MariaDB's before 3.4, do not verify the name (vio/viosslfactories.cc of
MySQL 8, libmariadb/secure/openssl.c of MariaDB Connector/C 3.3.10). Both accept a server that offers no TLS, also 3.4.10.
"""

from __future__ import annotations

import socket
import ssl
import struct
from threading import Timer

from hyperpod_node.errors import NodeError

TIMEOUT_S = 10
LONGEST_GREETING = 1 << 10
# https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_connection_phase.html: the server's greeting has a version that
# ends in a zero byte, 13 bytes of thread and salt, and its capabilities; the client requests TLS with 32 bytes.
TLS, PROTOCOL_41, SECURE_CONNECTION = 0x800, 0x200, 0x8000
LONGEST_PACKET, UTF_8 = 1 << 24, 45
REQUEST = struct.pack("<I", 32 | 1 << 24) + struct.pack("<IIB23x", TLS | PROTOCOL_41 | SECURE_CONNECTION, LONGEST_PACKET, UTF_8)


class CertificateError(Exception):
    """The server does not prove who it is; a retry does not help."""


def verify(host: str, port: int, authorities: str) -> None:
    """Raise a CertificateError unless the server is ``host`` by a certificate of the authorities; a NodeError: no answer."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    try:
        context.load_verify_locations(cadata=authorities)
        with socket.create_connection((host, port), timeout=TIMEOUT_S) as plain, plain.dup() as same:
            end = Timer(TIMEOUT_S, same.shutdown, [socket.SHUT_RDWR])  # a server may send a byte now and then
            end.start()
            try:
                _request(plain)
                context.wrap_socket(plain, server_hostname=host).close()
            finally:
                end.cancel()
    except (ValueError, CertificateError) as error:  # ssl.SSLCertVerificationError, and authorities that are no certificates
        raise CertificateError(f"{host}:{port}: {error}") from None
    except OSError as error:
        raise NodeError(f"{host}:{port}: {error.strerror or error}") from None


def _request(plain: socket.socket) -> None:
    """Request TLS of the server, if its greeting offers it."""
    with plain.makefile("rb") as stream:
        greeting = stream.read(min(int.from_bytes(stream.read(4)[:3], "little"), LONGEST_GREETING))
    if not greeting or greeting[:1] == b"\xff":  # Protocol::ERR_Packet
        raise ConnectionError(greeting[3:].decode("ascii", "replace") or "the server closed the connection")
    version = greeting.find(b"\0")
    if not int.from_bytes(greeting[version + 14 : version + 16], "little") & TLS:
        raise CertificateError("the server offers no TLS")
    plain.sendall(REQUEST)
