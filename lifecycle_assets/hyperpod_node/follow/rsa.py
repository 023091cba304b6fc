"""Verify RSASSA_PKCS1_V1_5_SHA_256 with RSA 3072. The standard library has no signatures, and images may lack other ones."""

from __future__ import annotations

import base64
import binascii
import hashlib

BITS, SIZE = 3072, 384
_SEQUENCE, _BIT_STRING, _INTEGER = 0x30, 0x03, 0x02
_RSA = bytes.fromhex("06092a864886f70d0101010500")  # rsaEncryption: RFC 8017, appendix A.1
# The padded digest: RFC 8017, 9.2, and its note 1 for SHA-256. Comparing all of it leaves no freedom in the padding.
_DIGEST_INFO = bytes.fromhex("3031300d060960864801650304020105000420")
_PADDING = b"\x00\x01" + b"\xff" * (SIZE - 3 - len(_DIGEST_INFO) - 32) + b"\x00" + _DIGEST_INFO


def is_signed(message: bytes, signature: str, public_key: str) -> bool:
    """Return whether the signature is the key's; both are Base64, the key a SubjectPublicKeyInfo, as KMS returns it."""
    try:
        signed, key = (base64.b64decode(text, validate=True) for text in (signature, public_key))
        modulus, exponent = _numbers(key)
    except (binascii.Error, ValueError):
        return False
    number = int.from_bytes(signed, "big")
    if len(signed) != SIZE or modulus.bit_length() != BITS or number >= modulus or exponent < 3:
        return False
    return pow(number, exponent, modulus).to_bytes(SIZE, "big") == _PADDING + hashlib.sha256(message).digest()


def _numbers(key: bytes) -> tuple[int, int]:
    """Return modulus and exponent; no AWS page states the exponent of its keys."""
    algorithm, rest = _element(_SEQUENCE, _element(_SEQUENCE, key)[0])
    if algorithm != _RSA:
        raise ValueError
    modulus, rest = _element(_INTEGER, _element(_SEQUENCE, _element(_BIT_STRING, rest)[0][1:])[0])
    return int.from_bytes(modulus, "big"), int.from_bytes(_element(_INTEGER, rest)[0], "big")


def _element(tag: int, der: bytes) -> tuple[bytes, bytes]:
    """Return the content of the first element, and what follows it."""
    size, start = (der[1], 2) if len(der) > 1 else (0, 2)
    if size & 0x80:
        start += size & 0x7F
        size = int.from_bytes(der[2:start], "big")
    if der[:1] != bytes([tag]) or len(der) < start + size:
        raise ValueError
    return der[start : start + size], der[start + size :]
