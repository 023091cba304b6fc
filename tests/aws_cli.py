"""The AWS CLI, in a virtual environment of its own: it needs another botocore."""

from pathlib import Path

from tests.tool_environment import programs_of

VERSION = "1.46.3"


def aws_cli() -> Path:
    """The folder of the program."""
    return programs_of("awscli", VERSION)
