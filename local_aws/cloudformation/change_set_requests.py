"""Requests about change sets."""

from local_aws.cloudformation.change_sets import NO_CHANGES, ChangeSet
from local_aws.cloudformation.errors import RequestError
from local_aws.cloudformation.parameters import shown
from local_aws.cloudformation.planning import Plan
from local_aws.cloudformation.requests import Call, Operation
from local_aws.cloudformation.stack import Stack
from local_aws.cloudformation.stack_requests import check_name, check_updatable, deploy
from local_aws.cloudformation.template import Json


def create_change_set(call: Call) -> Json:
    """Create a change set; one without changes, or with resources that cannot be made, is a FAILED one."""
    call.refuse_unknown()
    name, kind = call.get("ChangeSetName"), call.get("ChangeSetType", "UPDATE")
    stack = _stack_for(call, name, kind)
    if name in stack.change_sets:
        raise RequestError(f"ChangeSet [{name}] already exists", "AlreadyExistsException")
    change_set = ChangeSet(
        stack_id=stack.id,
        name=name,
        kind=kind,
        target=call.target(stack),
        description=call.get("Description", ""),
        role=call.get("RoleARN", ""),
        capabilities=tuple(call.get("Capabilities", ())),
        nested=bool(call.get("IncludeNestedStacks")),
        mode=call.get("DeploymentConfig", {}),
    )
    planned = Plan(stack, change_set.target)
    _add(call, stack)
    stack.change_sets[name] = change_set
    _judge(change_set, planned)
    return {"Id": change_set.id, "StackId": stack.id}


def _judge(change_set: ChangeSet, planned: Plan) -> None:
    change_set.parameters = shown(planned.template, planned.target.given, planned.values)
    problems = planned.problems()
    change_set.changes = () if problems else tuple(planned.changes)
    if problems or planned.empty:
        change_set.fail("; ".join(problems) or NO_CHANGES)


def _stack_for(call: Call, name: str, kind: str) -> Stack:
    stack_name = call.get("StackName")
    found = next((one for one in call.stacks().values() if stack_name in (one.name, one.id)), None)
    if kind == "CREATE":
        if found is not None and found.status != "REVIEW_IN_PROGRESS":
            raise RequestError(f"Stack [{stack_name}] already exists and cannot be created again with the changeSet [{name}].")
        if found is None:
            check_name(stack_name)
        return found or Stack(call.account, call.region, stack_name)
    if kind != "UPDATE":
        raise RequestError(f"not part of the embedded AWS: ChangeSetType {kind}")
    if found is None:
        raise RequestError(f"Stack [{stack_name}] does not exist")
    check_updatable(found)
    return found


def _add(call: Call, stack: Stack) -> None:
    if stack.name not in call.stacks():
        call.stacks()[stack.name] = stack
        stack.report("REVIEW_IN_PROGRESS", "User Initiated")


def _find(call: Call) -> tuple[Stack, ChangeSet]:
    name, stack_name = call.get("ChangeSetName", ""), call.get("StackName")
    if stack_name and not any(stack_name in (stack.name, stack.id) for stack in call.stacks().values()):
        raise RequestError(f"Stack [{stack_name}] does not exist")
    for stack in list(call.stacks().values()):
        if stack_name in (None, stack.name, stack.id):
            for change_set in stack.change_sets.values():
                if name in (change_set.id, change_set.name):
                    return stack, change_set
    raise RequestError(f"ChangeSet [{name}] does not exist", "ChangeSetNotFound")


def describe_change_set(call: Call) -> Json:
    """Return a change set in full."""
    return _find(call)[1].describe(with_values=bool(call.get("IncludePropertyValues")))


def list_change_sets(call: Call) -> Json:
    """Return the change sets of a stack that are not executed yet."""
    return {"Summaries": [change_set.summary() for change_set in call.stack().change_sets.values()]}


def delete_change_set(call: Call) -> Json:
    """Delete a change set; ignore an unknown one of a known stack."""
    try:
        stack, change_set = _find(call)
    except RequestError as error:
        if error.code == "ChangeSetNotFound":
            return {}
        raise
    del stack.change_sets[change_set.name]
    return {}


def execute_change_set(call: Call) -> Json:
    """Execute a change set, and delete all change sets of the stack."""
    stack, change_set = _find(call)
    if change_set.execution != "AVAILABLE":
        raise RequestError(
            f"ChangeSet [{change_set.id}] cannot be executed in its current status of [{change_set.status}]",
            "InvalidChangeSetStatus",
        )
    if change_set.kind == "UPDATE":
        check_updatable(stack)
    change_set.execution = "EXECUTE_IN_PROGRESS"
    stack.role, stack.capabilities = change_set.role, list(change_set.capabilities)
    stack.disable_rollback = bool(call.get("DisableRollback"))
    stack.change_sets.clear()
    deploy(stack, change_set.target, first=change_set.kind == "CREATE")
    return {}


def get_template(call: Call) -> Json:
    """Return the template of a stack or of a change set."""
    body = _find(call)[1].target.body if call.get("ChangeSetName") else call.stack().version.body
    return {"TemplateBody": body, "StagesAvailable": ["Original", "Processed"]}


OPERATIONS: dict[str, Operation] = {
    "CreateChangeSet": create_change_set,
    "DeleteChangeSet": delete_change_set,
    "DescribeChangeSet": describe_change_set,
    "ExecuteChangeSet": execute_change_set,
    "GetTemplate": get_template,
    "ListChangeSets": list_change_sets,
}
