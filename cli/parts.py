"""Parts of a report that AWS may refuse: the others are still shown, and the reason is printed in place of the part."""

from collections.abc import Callable
from typing import TypeVar

from botocore.exceptions import BotoCoreError, ClientError

from cli.aws_errors import OF_CREDENTIALS, are_refused, explained
from cli.errors import CommandError, UnreachableError
from cli.result import Json, warning_problem

Part = TypeVar("Part")


class Parts:
    """Collects the parts of a report, and why parts are missing."""

    def __init__(self, command: str) -> None:
        self._command = command
        self.missing: list[CommandError] = []

    def get(self, name: str, read: Callable[[], Part]) -> Part | None:
        """Return what ``read`` returns, or None if the call is refused; raise if AWS refuses the credentials."""
        try:
            return read()
        except (ClientError, BotoCoreError) as error:
            if isinstance(error, OF_CREDENTIALS) or (isinstance(error, ClientError) and are_refused(error)):
                raise
            self._miss(name, explained(self._command, error))
        except UnreachableError as error:
            self._miss(name, error)
        return None

    def _miss(self, name: str, error: CommandError) -> None:
        self.missing.append(CommandError(f"{name}: {error.message}", error.fix))

    @property
    def problems(self) -> list[Json]:
        """Return a warning for each missing part."""
        return [warning_problem(error) for error in self.missing]
