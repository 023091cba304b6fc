#!/usr/bin/python3 -I
"""Stub of FSx's clients, mount.lustre and mount.nfs: bind a folder of this machine that all nodes share.

It accepts the real clients' command lines and fails with their errors if the file system's host or name is wrong. The mount has
the type of the machine's own file system, without the network, locks, quotas or speed of Lustre or NFS.
"""

import socket
import subprocess
import sys
from pathlib import Path

FILE_SYSTEMS = Path("/run/simulated-fsx")  # HOST/KIND/NAME is the file system's root
KEPT = ("ro", "rw", "noatime", "relatime", "noexec")
ALWAYS = "nosuid,nodev"  # root on a node must not create setuid programs or devices for users of this machine
ENOENT, EIO, EEXIST, EINVAL = 2, 5, 17, 22
NFS_FAILED = 32


def main(program: str, words: list[str]) -> None:
    """Mount the source of the command line."""
    positional, options = read(words)
    if len(positional) != 2:
        sys.exit(f"usage: {program} SOURCE FOLDER [-o OPTIONS]")
    source, target = positional
    find = nfs if program.startswith("mount.nfs") else lustre
    folder = find(program, source, target)
    kept = ",".join((*(option for option in options if option in KEPT), ALWAYS))
    subprocess.run(["mount", "-i", "--bind", folder, target], check=True)
    subprocess.run(["mount", "-i", "-o", f"remount,bind,{kept}", target], check=True)


def read(words: list[str]) -> tuple[list[str], list[str]]:
    """Return the positional words, and the options after -o."""
    positional: list[str] = []
    options: list[str] = []
    rest = iter(words)
    for word in rest:
        if word == "-o":
            options += next(rest, "").split(",")
        elif not word.startswith("-"):
            positional.append(word)
    return positional, options


def lustre(program: str, source: str, target: str) -> Path:
    """Return the folder of ``HOST@tcp:/NAME``."""
    node, _, name = source.partition(":/")
    host = node.partition("@")[0]
    if not resolves(host):
        fail(f"{program}: Can't parse NID '{source}'", EINVAL)
    if not Path(target).is_dir():
        fail(f"{program}: {target} inaccessible: No such file or directory", ENOENT)
    if not (FILE_SYSTEMS / host / "lustre").is_dir():
        fail(f"{program}: mount {source} at {target} failed: Input/output error\nIs the MGS running?", EIO)
    if not name or not (folder := FILE_SYSTEMS / host / "lustre" / name).is_dir():
        fail(
            f"{program}: mount {source} at {target} failed: No such file or directory\nIs the MGS specification correct?\n"
            "Is the filesystem name correct?\nIf upgrading, is the copied client log valid? (see upgrade docs)",
            ENOENT,
        )
    if is_mounted(folder, target):
        fail(f"{program}: according to /etc/mtab {source} is already mounted on {target}", EEXIST)
    return folder


def is_mounted(folder: Path, target: str) -> bool:
    """Return whether ``folder`` is mounted on ``target``. An automount point is not examined, because that would trigger it."""
    mounts = (line.split() for line in Path("/proc/self/mountinfo").read_text().splitlines())
    kinds = [words[words.index("-") + 1] for words in mounts if words[4] == target]
    return bool(kinds) and kinds[-1] != "autofs" and folder.samefile(target)


def nfs(program: str, source: str, target: str) -> Path:
    """Return the folder of ``HOST:/PATH``."""
    host, _, path = source.partition(":/")
    if not resolves(host):
        fail(f"{program}: Failed to resolve server {host}: Name or service not known", NFS_FAILED)
    if not Path(target).is_dir():
        fail(f"{program}: mount point {target} does not exist", NFS_FAILED)
    if not (FILE_SYSTEMS / host / "openzfs").is_dir():
        fail(f"{program}: Connection refused for {source} on {target}", NFS_FAILED)
    if not path or not (folder := FILE_SYSTEMS / host / "openzfs" / path).is_dir():
        fail(f"{program}: mounting {source} failed, reason given by server: No such file or directory", NFS_FAILED)
    return folder


def resolves(host: str) -> bool:
    """Return whether the host name resolves."""
    try:
        socket.getaddrinfo(host, None, socket.AF_INET)
    except OSError:
        return False
    return True


def fail(text: str, status: int) -> None:
    """Print a real client's error and exit."""
    sys.stderr.write(f"{text}\n")
    sys.exit(status)


if __name__ == "__main__":
    main(Path(sys.argv[0]).name, sys.argv[1:])
