"""The one door to the system's programs."""

import subprocess

from hyperpod_node.errors import NodeError


def run(program: str, *arguments: str, timeout_s: float = 60) -> str:
    """Run ``program`` and return what it printed; a failure carries the command and its output."""
    command = " ".join([program, *arguments])
    try:
        done = subprocess.run([program, *arguments], capture_output=True, text=True, timeout=timeout_s, check=False)
    except FileNotFoundError:
        raise NodeError(f"`{command}`: no such program") from None
    except subprocess.TimeoutExpired:
        raise NodeError(f"`{command}` did not end within {timeout_s:g} s") from None
    if done.returncode:
        said = " | ".join((done.stderr or done.stdout).split("\n")[-5:]).strip(" |")
        raise NodeError(f"`{command}` ended with status {done.returncode}: {said}")
    return done.stdout
