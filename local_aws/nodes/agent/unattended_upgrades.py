"""Runs on a node as a service: hold apt's lock for a while, as unattended-upgrades does after a boot."""

import fcntl
import os
import socket
import sys
import time
from pathlib import Path

LOCK = Path("/var/lib/dpkg/lock-frontend")


def main(seconds: float) -> None:
    """Hold the lock, and report then that the service is up; `ps` shows the name of the real program."""
    Path("/proc/self/comm").write_text("unattended-upgr")
    with LOCK.open("a") as file, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as service_manager:
        fcntl.lockf(file, fcntl.LOCK_EX)
        service_manager.sendto(b"READY=1", os.environ["NOTIFY_SOCKET"].replace("@", "\0", 1))
        time.sleep(seconds)


if __name__ == "__main__":
    main(float(sys.argv[1]))
