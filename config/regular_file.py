"""Read files of bounded size."""

import errno
from pathlib import Path


def read_bounded(path: Path, most: int) -> bytes:
    """Return the content of a regular file of at most ``most`` bytes; raise an OSError for a device, a pipe or a larger file."""
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise OSError(errno.EINVAL, "not a regular file")
    with path.open("rb") as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise OSError(errno.EFBIG, f"larger than {most // 1024:,} KiB")
    return content
