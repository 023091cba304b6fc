"""When a process was started: this distinguishes it from a later one with the same number."""

from pathlib import Path


def born(pid: int) -> str:
    """Return a process's start time in the kernel's ticks; empty if there is none, or only a zombie."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return ""
    state, *fields = stat.rpartition(")")[2].split()
    return "" if state == "Z" else fields[18]
