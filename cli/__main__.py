"""Starts the command line: `./hpod`, or `python -m cli` in the checkout."""

import signal
import sys

from config.interpreter import demand

if __name__ == "__main__":
    demand("./hpod", "boto3", "pydantic", "typer", "yaml")  # before any of them is imported

from cli.app import app


def main(arguments: list[str] | None = None) -> int:
    """Run one command, and return its exit code."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as ./hpod starts it, so that Ctrl-C prints no traceback
        signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        app(arguments, prog_name="hpod")
    except SystemExit as end:
        return int(end.code or 0)
    except KeyboardInterrupt:  # before the command line framework handles it
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
