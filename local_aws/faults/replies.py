"""Error responses in the form of each of AWS's protocols."""

import json
from dataclasses import dataclass
from xml.sax.saxutils import escape

_REQUEST = "<RequestId>00000000-0000-0000-0000-000000000000</RequestId>"


@dataclass(frozen=True)
class Refusal:
    """The error of a refused call."""

    status: int
    code: str
    message: str


def error_answer(refusal: Refusal, protocol: str) -> tuple[list[tuple[str, str]], bytes]:
    """Return the headers and the body of the response to a refused call."""
    if protocol == "cbor":
        content, kind = _map({"__type": refusal.code, "message": refusal.message}), "application/cbor"
        return [("Content-Type", kind), ("smithy-protocol", "rpc-v2-cbor")], content
    if protocol in ("json", "rest-json"):
        content = json.dumps({"__type": refusal.code, "message": refusal.message}).encode()
        return [("Content-Type", "application/x-amz-json-1.1"), ("x-amzn-errortype", refusal.code)], content
    return [("Content-Type", "text/xml")], _xml(refusal, protocol).encode()


def _xml(refusal: Refusal, protocol: str) -> str:
    fields = f"<Code>{escape(refusal.code)}</Code><Message>{escape(refusal.message)}</Message>"
    if protocol == "rest-xml":
        return f"<Error>{fields}{_REQUEST}</Error>"
    if protocol == "ec2":
        return f"<Response><Errors><Error>{fields}</Error></Errors>{_REQUEST.replace('RequestId', 'RequestID')}</Response>"
    kind = "Sender" if refusal.status < 500 else "Receiver"
    return f"<ErrorResponse><Error><Type>{kind}</Type>{fields}</Error>{_REQUEST}</ErrorResponse>"


def _map(fields: dict[str, str]) -> bytes:
    """Return a small map of strings in CBOR (RFC 8949)."""
    return bytes([0xA0 + len(fields)]) + b"".join(_text(part) for item in fields.items() for part in item)


def _text(value: str) -> bytes:
    data = value.encode()
    return b"\x79" + len(data).to_bytes(2, "big") + data
