"""A node's download of lifecycle scripts: all objects below SourceS3Uri, with the execution role's own credentials."""

import threading
from collections.abc import Mapping
from typing import Any

from botocore.exceptions import ClientError

from local_aws.builds.errors import HostError
from local_aws.hyperpod.lifecycle_scripts import LifecycleScripts
from local_aws.nodes.specs import NodeFile

Files = Mapping[str, bytes]  # by path below the folder


class Store:
    """A cache of downloads: a role fetches an object only once for all its nodes.

    Every node lists the folder and fetches its entry script itself, so that a revoked permission has an effect.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._contents: dict[tuple[str, str, str, str], bytes] = {}

    def fetch(self, s3: Any, role: str, scripts: LifecycleScripts) -> Files:
        """Return all files below the folder; raise HostError if one cannot be downloaded."""
        files: dict[str, bytes] = {}
        folder = f"{scripts.prefix}/" if scripts.prefix else ""
        for key, version in _listed(s3, scripts.bucket, folder):
            path = key.removeprefix(folder)
            if path and not path.endswith("/"):
                known = None if path == scripts.entry else self._contents.get((role, scripts.bucket, key, version))
                files[path] = known if known is not None else self._get(s3, role, scripts.bucket, key, version)
        if scripts.entry not in files:
            raise HostError(f"could not download s3://{scripts.bucket}/{folder}{scripts.entry}: there is no such object")
        return files

    def _get(self, s3: Any, role: str, bucket: str, key: str, version: str) -> bytes:
        try:
            content: bytes = s3.get_object(Bucket=bucket, Key=key)["Body"].read()
        except ClientError as error:
            raise HostError(f"could not download s3://{bucket}/{key}: {_cause(error)}") from error
        with self._lock:
            self._contents[role, bucket, key, version] = content
        return content


def _listed(s3: Any, bucket: str, folder: str) -> list[tuple[str, str]]:
    """Return the key and entity tag of every object below a folder."""
    try:
        pages = s3.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=folder)
        return [(one["Key"], one["ETag"]) for page in pages for one in page.get("Contents", [])]
    except ClientError as error:
        raise HostError(f"could not list s3://{bucket}/{folder}: {_cause(error)}") from error


def _cause(error: ClientError) -> str:
    details = error.response["Error"]
    return f"{details['Code']}: {details['Message']}"


def on_node(files: Files, folder: str, entry: str) -> dict[str, NodeFile]:
    """Return the files for the node. S3 keeps no modes: only the entry script is executable."""
    return {f"{folder}/{path}": NodeFile(content, 0o755 if path == entry else 0o644) for path, content in files.items()}


def command(folder: str, entry: str, content: bytes) -> tuple[str, ...]:
    """Return the command line of the entry script: with the interpreter in its first line, or bash."""
    script = f"{folder}/{entry}"
    return (script,) if content.startswith(b"#!") else ("/bin/bash", script)
