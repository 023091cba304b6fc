"""Runs on a node: write the files that come as JSON on standard input, each by a rename, so that readers never see a part."""

import base64
import json
import os
import pwd
import sys
from pathlib import Path


def write_file(path: Path, content: bytes, mode: int, owner: str) -> None:
    """Write a file, and create the folders above it."""
    try:
        account = pwd.getpwnam(owner)
    except KeyError:
        sys.exit(f"no user '{owner}' to own {path}")
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.new")
    with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:  # noqa: PTH123  opened by its handle
        file.write(content)
    os.chown(temporary, account.pw_uid, account.pw_gid)
    temporary.chmod(mode)
    temporary.replace(path)


if __name__ == "__main__":
    try:
        for name, file in json.load(sys.stdin).items():
            write_file(Path(name), base64.b64decode(file["content"]), file["mode"], file["owner"])
    except OSError as error:
        sys.exit(str(error))
