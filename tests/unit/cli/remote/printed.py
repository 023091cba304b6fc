"""What the Session Manager plugin prints."""

import subprocess
from collections.abc import Sequence


def through_a_terminal(command: Sequence[str]) -> str:
    """Run a command here, and return its output as the plugin prints it: with its own lines, and a terminal's line ends."""
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return f"\nStarting session with SessionId: x\n{printed}\nExiting session with sessionId: x.\n".replace("\n", "\r\n")
