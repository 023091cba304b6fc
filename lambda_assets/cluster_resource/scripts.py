"""Compare the scripts in S3 with the hash in the template: nodes run them as root.

Before its upload, the asset lies in the bootstrap's bucket, to which other principals of the account may write.
"""

import hashlib
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from cluster_resource.aws_api import api_errors
from cluster_resource.event import Json
from cluster_resource.pointer import Bundle

PARAMETERS = ("provisioning_parameters.json", "slurm_groups.json")
"""A bundle for Slurm has one of them; its values are known only at deployment, so its hash is a separate one."""
READS = 10  # as many as botocore has connections
BATCH = 50
LARGE = 2**20
"""A larger object is read in parts."""


def refusal(bundle: Bundle, s3: Any) -> str:
    """Return why no node may start with the bundle in S3; empty if its content is that of the deployment."""
    with api_errors("GetObject"):
        found = _sha256(bundle, s3)
    if found == bundle.sha256:
        return ""
    return (
        f"the scripts in s3://{bundle.bucket}/{bundle.prefix} are not those of this deployment: their SHA-256 is {found}, not "
        f"{bundle.sha256}; find out who changed them or the asset that they were copied from, delete that asset from the "
        "bootstrap's bucket, change a script or a setting of the nodes and deploy"
    )


def _sha256(bundle: Bundle, s3: Any) -> str:
    """Return the SHA-256 as nodes calculate it: lifecycle_assets/hyperpod_node/follow/bundle.py."""
    total, parameters = hashlib.sha256(), [b"{}"]
    for name, size, parts in _files(bundle, s3):
        if name in PARAMETERS:
            parameters.append(b"".join(parts))
            continue
        total.update(f"{name}\0{size}\0".encode())
        for part in parts:
            total.update(part)
    known = {"Bucket": bundle.bucket, "Prefix": bundle.prefix, "Fingerprint": total.hexdigest(), "Parameters": parameters[-1]}
    return (len(parameters) <= 2 and Bundle.of(known).sha256) or "unknown"


def _files(bundle: Bundle, s3: Any) -> Iterator[tuple[str, int, Iterable[bytes]]]:
    """Yield the path, size and content of each file."""

    def body(each: Json) -> Any:
        return s3.get_object(Bucket=bundle.bucket, Key=each["Key"])["Body"]

    folder = f"{bundle.prefix}/"
    pages = s3.get_paginator("list_objects_v2").paginate(Bucket=bundle.bucket, Prefix=folder)
    objects = [each for page in pages for each in page.get("Contents", ()) if not each["Key"].endswith("/")]
    with ThreadPoolExecutor(READS) as pool:
        for start in range(0, len(objects), BATCH):
            batch = objects[start : start + BATCH]
            contents = pool.map(lambda each: None if each["Size"] > LARGE else body(each).read(), batch)
            for each, content in zip(batch, contents, strict=True):
                parts = body(each).iter_chunks(LARGE) if content is None else [content]
                yield each["Key"].removeprefix(folder), each["Size"], parts
