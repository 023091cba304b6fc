"""Hold apt's lock for a few seconds, as unattended-upgrades does when a node starts."""

import fcntl
import time
from pathlib import Path

with Path("/var/lib/dpkg/lock-frontend").open("w") as lock:
    fcntl.lockf(lock, fcntl.LOCK_EX)
    time.sleep(3)
