"""A bucket with the interface of a boto3 client."""

import io
from typing import Any

from botocore.response import StreamingBody

Json = dict[str, Any]


class FakeS3:
    """Objects by key; lists come in pages of two."""

    def __init__(self) -> None:
        self.objects: dict[str, bytes] = {}
        self.reads: list[str] = []

    def get_paginator(self, operation: str) -> "FakeS3":
        assert operation == "list_objects_v2"
        return self

    def paginate(self, *, Bucket: str, Prefix: str) -> list[Json]:  # noqa: N803  boto3's names
        keys = sorted(key for key in self.objects if key.startswith(Prefix))
        pages = [keys[start : start + 2] for start in range(0, len(keys), 2)]
        return [{"Contents": [{"Key": key, "Size": len(self.objects[key])} for key in page]} for page in pages] or [{}]

    def put_object(self, *, Bucket: str, Key: str, Body: bytes) -> None:  # noqa: N803
        self.objects[Key] = Body

    def get_object(self, *, Bucket: str, Key: str) -> Json:  # noqa: N803
        self.reads.append(Key)
        return {"Body": StreamingBody(io.BytesIO(self.objects[Key]), len(self.objects[Key]))}
