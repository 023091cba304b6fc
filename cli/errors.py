"""The errors of commands."""

from collections.abc import Sequence


class CommandError(Exception):
    """A command fails: the problem, and the fix, which may be empty."""

    def __init__(self, message: str, fix: str = "") -> None:
        self.message = message
        self.fix = fix
        super().__init__(f"{message}; {fix}" if fix else message)


def as_one(errors: Sequence[CommandError]) -> CommandError:
    """Return the only error, or one with a line for each."""
    return errors[0] if len(errors) == 1 else CommandError("\n".join(map(str, errors)))


class UnreachableError(CommandError):
    """The scheduler of the cluster, Slurm or Kubernetes, does not answer or refuses."""


class RefusedError(UnreachableError):
    """Kubernetes answers, but refuses the caller: the credentials have no access, or lack a right."""
