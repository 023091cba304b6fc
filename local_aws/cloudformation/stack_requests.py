"""Requests that create, change and delete stacks."""

import re

from local_aws.cloudformation.deployment import Deployment
from local_aws.cloudformation.errors import RequestError, TemplateError
from local_aws.cloudformation.operation import begin, cancel
from local_aws.cloudformation.planning import Plan
from local_aws.cloudformation.removal import Deletion, exports_in_use
from local_aws.cloudformation.requests import Call, Operation
from local_aws.cloudformation.rollback import Rollback
from local_aws.cloudformation.stack import Stack
from local_aws.cloudformation.template import Json, Target

NAME, LONGEST_NAME = "[a-zA-Z][-a-zA-Z0-9]*", 128
UPDATABLE = {
    "CREATE_COMPLETE",
    "CREATE_FAILED",
    "UPDATE_COMPLETE",
    "UPDATE_FAILED",
    "UPDATE_ROLLBACK_COMPLETE",
}


def check_updatable(stack: Stack) -> None:
    """Refuse to update a stack in a status in which AWS refuses it."""
    if stack.status not in UPDATABLE:
        raise RequestError(f"Stack:{stack.id} is in {stack.status} state and can not be updated.")


def check_name(name: str) -> None:
    """Refuse the name of a new stack as AWS does, also the ID of a deleted one."""
    if name.startswith("arn:"):
        raise RequestError(f"Stack [{name}] does not exist")
    if not re.fullmatch(NAME, name) or len(name) > LONGEST_NAME:
        rule = f"satisfy regular expression pattern: {NAME}, with a length of at most {LONGEST_NAME}"
        raise RequestError(
            f"1 validation error detected: Value '{name}' at 'stackName' failed to satisfy constraint: Member must {rule}"
        )


def plan(stack: Stack, target: Target) -> Plan:
    """Return the plan from ``stack`` to ``target``; raise an error if the embedded AWS does not support it."""
    planned = Plan(stack, target)
    problems = planned.problems()
    if problems:
        raise TemplateError("; ".join(problems))
    return planned


def deploy(stack: Stack, target: Target, *, first: bool) -> None:
    """Start the deployment of ``target`` to ``stack``."""
    begin(stack, "CREATE_IN_PROGRESS" if first else "UPDATE_IN_PROGRESS", Deployment(stack, target, first).run)


def create_stack(call: Call) -> Json:
    """Create a stack without a change set."""
    call.refuse_unknown()
    name = call.get("StackName")
    found = call.stacks().get(name)
    if found is not None and found.status != "REVIEW_IN_PROGRESS":
        raise RequestError(f"Stack [{name}] already exists", "AlreadyExistsException")
    check_name(name)
    stack, target = found or Stack(call.account, call.region, name), call.target(None)
    plan(stack, target)
    for change_set in stack.change_sets.values():
        change_set.execution = "OBSOLETE"
    _take_settings(stack, call)
    stack.protected = bool(call.get("EnableTerminationProtection"))
    call.stacks()[name] = stack
    deploy(stack, target, first=True)
    return {"StackId": stack.id}


def update_stack(call: Call) -> Json:
    """Update a stack without a change set."""
    call.refuse_unknown()
    stack = call.stack()
    check_updatable(stack)
    target = call.target(stack)
    if plan(stack, target).empty:
        raise RequestError("No updates are to be performed.")
    _take_settings(stack, call)
    deploy(stack, target, first=False)
    return {"StackId": stack.id}


def _take_settings(stack: Stack, call: Call) -> None:
    stack.role, stack.capabilities = call.get("RoleARN", stack.role), list(call.get("Capabilities", ()))
    stack.disable_rollback = bool(call.get("DisableRollback"))


def delete_stack(call: Call) -> None:
    """Delete a stack; ignore an unknown one."""
    stack = next((one for one in call.stacks().values() if call.get("StackName") in (one.name, one.id)), None)
    if stack is None:
        return
    if stack.protected:
        raise RequestError(f"Stack [{stack.name}] cannot be deleted while TerminationProtection is enabled")
    retain = frozenset(call.get("RetainResources", ()))
    if retain and stack.status != "DELETE_FAILED":
        raise RequestError(
            f"Invalid operation on stack [{stack.id}]. Resources can only be retained when the stack is in DELETE_FAILED state"
        )
    if stack.busy and stack.status not in ("CREATE_IN_PROGRESS", "DELETE_IN_PROGRESS"):
        raise RequestError(f"Stack [{stack.name}] cannot be deleted while in status {stack.status}")
    if stack.status != "DELETE_IN_PROGRESS":
        _start_deletion(stack, retain, force=call.get("DeletionMode") == "FORCE_DELETE_STACK")


def _start_deletion(stack: Stack, retain: frozenset[str], *, force: bool) -> None:
    in_use = exports_in_use(stack)
    if in_use:  # refused: the status stays, with the reason
        stack.report(stack.status, in_use)
        return
    creating = stack.operation if stack.status == "CREATE_IN_PROGRESS" else None
    if creating is not None:
        cancel(creating)
    begin(stack, "DELETE_IN_PROGRESS", Deletion(stack, retain, force, creating).run, instead=True)


def cancel_update_stack(call: Call) -> None:
    """Cancel a running update and roll it back."""
    stack = call.stack()
    if stack.status != "UPDATE_IN_PROGRESS":
        raise RequestError("CancelUpdateStack cannot be called from current stack status")
    stack.operation.halt.set()


def continue_update_rollback(call: Call) -> Json:
    """Continue the rollback of an update, without the resources to skip."""
    stack = call.stack()
    if stack.status != "UPDATE_ROLLBACK_FAILED" or stack.unfinished is None:
        raise RequestError(f"Stack [{stack.id}] is in {stack.status} state and can not continue an update rollback")
    unfinished, skip = stack.unfinished, frozenset(call.get("ResourcesToSkip", ()))
    unknown = sorted(skip - {one.resource.logical_id for one in unfinished.touched if one.resource.status == "UPDATE_FAILED"})
    if unknown:
        raise RequestError(f"Resources {unknown} cannot be skipped: they are not in UPDATE_FAILED state")
    begin(stack, "UPDATE_ROLLBACK_IN_PROGRESS", lambda _: Rollback(stack, unfinished).run(skip))
    return {}


def rollback_stack(call: Call) -> Json:
    """Roll back a failed creation or update that was left as it was."""
    stack = call.stack()
    if stack.status not in ("CREATE_FAILED", "UPDATE_FAILED") or stack.unfinished is None:
        raise RequestError(f"Stack [{stack.id}] is in {stack.status} state and can not be rolled back")
    unfinished = stack.unfinished
    begin(stack, f"{unfinished.verb}_IN_PROGRESS", lambda _: Rollback(stack, unfinished).run())
    return {"StackId": stack.id, "OperationId": stack.operation.token}


def update_termination_protection(call: Call) -> Json:
    """Enable or disable termination protection."""
    stack = call.stack()
    stack.protected = bool(call.get("EnableTerminationProtection"))
    return {"StackId": stack.id}


OPERATIONS: dict[str, Operation] = {
    "CancelUpdateStack": cancel_update_stack,
    "ContinueUpdateRollback": continue_update_rollback,
    "CreateStack": create_stack,
    "DeleteStack": delete_stack,
    "RollbackStack": rollback_stack,
    "UpdateStack": update_stack,
    "UpdateTerminationProtection": update_termination_protection,
}
