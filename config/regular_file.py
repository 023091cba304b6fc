"""Read files of bounded size."""

import errno
from pathlib import Path

MOST_BYTES = 2**20
"""The limit of a CloudFormation template; cluster files, requests and answers of AWS are smaller."""


def read_bounded(path: Path) -> bytes:
    """Return the content of a regular file of at most 1 MiB; raise an OSError for a device, a pipe or a larger file."""
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise OSError(errno.EINVAL, "not a regular file")
    with path.open("rb") as file:
        content = file.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise OSError(errno.EFBIG, f"larger than {MOST_BYTES // 1024:,} KiB")
    return content
