"""All stacks of all accounts, including deleted ones."""

from local_aws.cloudformation.errors import RequestError
from local_aws.cloudformation.operation import cancel
from local_aws.cloudformation.stack import Stack

_stacks: dict[tuple[str, str], dict[str, Stack]] = {}
_deleted: dict[str, Stack] = {}


def live(account: str, region: str) -> dict[str, Stack]:
    """Return the existing stacks of a region, by name."""
    return _stacks.setdefault((account, region), {})


def deleted(account: str, region: str) -> list[Stack]:
    """Return the deleted stacks of a region."""
    return [stack for stack in _deleted.values() if (stack.account, stack.region) == (account, region)]


def find(account: str, region: str, name: str) -> Stack:
    """Return the stack of this name or id; deleted stacks are only found by id."""
    stacks = live(account, region)
    if name in stacks:
        return stacks[name]
    for stack in stacks.values():
        if stack.id == name:
            return stack
    if name in _deleted:
        return _deleted[name]
    raise RequestError(f"Stack with id {name} does not exist")


def forget(stack: Stack) -> None:
    """Move ``stack`` to the deleted ones."""
    live(stack.account, stack.region).pop(stack.name, None)
    _deleted[stack.id] = stack


def reset() -> None:
    """Cancel running operations and delete all stacks."""
    for stacks in _stacks.values():
        for stack in stacks.values():
            cancel(stack.operation)
    _stacks.clear()
    _deleted.clear()
