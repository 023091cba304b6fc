"""Requests that read stacks, templates and exports."""

from local_aws.cloudformation import parameters, store
from local_aws.cloudformation.errors import RequestError
from local_aws.cloudformation.requests import Call, Operation
from local_aws.cloudformation.resources import iam_capabilities
from local_aws.cloudformation.scope import exports, importers
from local_aws.cloudformation.stack import Stack, StackResource
from local_aws.cloudformation.template import Json, parse


def describe_stacks(call: Call) -> Json:
    """Return one stack, or all existing ones."""
    stacks = [call.stack()] if call.get("StackName") else list(call.stacks().values())
    return {"Stacks": [_stack(stack) for stack in stacks]}


def _stack(stack: Stack) -> Json:
    shown = {
        "StackId": stack.id,
        "StackName": stack.name,
        "StackStatus": stack.status,
        "CreationTime": stack.created,
        "Parameters": parameters.shown(stack.version.template, stack.version.given, stack.version.parameters),
        "Outputs": list(stack.version.outputs) if stack.deleted is None else [],
        "Tags": [{"Key": key, "Value": value} for key, value in stack.version.tags],
        "Capabilities": stack.capabilities,
        "DisableRollback": stack.disable_rollback,
        "EnableTerminationProtection": stack.protected,
        "NotificationARNs": [],
        "DriftInformation": _drift_information(stack),
    }
    further = {
        "StackStatusReason": stack.reason,
        "LastUpdatedTime": stack.updated,
        "DeletionTime": stack.deleted,
        "RoleARN": stack.role,
        "Description": stack.version.template.get("Description"),
    }
    return shown | {key: value for key, value in further.items() if value}


def _drift_information(stack: Stack) -> Json:
    if stack.drift is None:
        return {"StackDriftStatus": "NOT_CHECKED"}
    is_drifted = any(each["StackResourceDriftStatus"] != "IN_SYNC" for each in stack.drift.resources)
    return {"StackDriftStatus": "DRIFTED" if is_drifted else "IN_SYNC", "LastCheckTimestamp": stack.drift.time}


def list_stacks(call: Call) -> Json:
    """Return all stacks, including deleted ones, or those with the requested statuses."""
    statuses = call.get("StackStatusFilter", ())
    stacks = [*call.stacks().values(), *store.deleted(call.account, call.region)]
    return {"StackSummaries": [_summary(stack) for stack in stacks if not statuses or stack.status in statuses]}


def _summary(stack: Stack) -> Json:
    shown = {"StackId": stack.id, "StackName": stack.name, "CreationTime": stack.created, "StackStatus": stack.status}
    further = {"DeletionTime": stack.deleted, "LastUpdatedTime": stack.updated, "StackStatusReason": stack.reason}
    return shown | {key: value for key, value in further.items() if value}


def describe_stack_events(call: Call) -> Json:
    """Return the events of a stack, newest first, on one page."""
    return {"StackEvents": list(reversed(call.stack().events))}


def describe_events(call: Call) -> Json:
    """Return no events of early validation: the embedded AWS reports its checks in the change set's reason."""
    call.stack()
    return {"OperationEvents": []}


def _resource(stack: Stack, resource: StackResource, when: str) -> Json:
    shown = {
        "StackName": stack.name,
        "StackId": stack.id,
        "LogicalResourceId": resource.logical_id,
        "PhysicalResourceId": resource.physical_id,
        "ResourceType": resource.type,
        "ResourceStatus": resource.status,
        when: resource.changed,
    }
    return shown | ({"ResourceStatusReason": resource.reason} if resource.reason else {})


def describe_stack_resources(call: Call) -> Json:
    """Return the resources of a stack."""
    stack, name = call.stack(), call.get("LogicalResourceId")
    found = [resource for resource in list(stack.resources.values()) if name in (None, resource.logical_id)]
    return {"StackResources": [_resource(stack, resource, "Timestamp") for resource in found]}


def describe_stack_resource(call: Call) -> Json:
    """Return one resource of a stack."""
    stack, name = call.stack(), call.get("LogicalResourceId")
    if name not in stack.resources:
        raise RequestError(f"Resource {name} does not exist for stack {stack.name}")
    return {"StackResourceDetail": _resource(stack, stack.resources[name], "LastUpdatedTimestamp")}


def list_stack_resources(call: Call) -> Json:
    """Return summaries of a stack's resources."""
    stack = call.stack()
    resources = [_resource(stack, resource, "LastUpdatedTimestamp") for resource in list(stack.resources.values())]
    return {"StackResourceSummaries": resources}


def get_template_summary(call: Call) -> Json:
    """Return what a template declares and requires."""
    template = parse(call.stack().version.body if call.get("StackName") else call.body(None))
    needed = iam_capabilities(template["Resources"].values())
    return {
        "Parameters": [_declared(name, definition) for name, definition in template.get("Parameters", {}).items()],
        "ResourceTypes": sorted({definition["Type"] for definition in template["Resources"].values()}),
        "Capabilities": [min(needed, key=len)] if needed else [],
        "ResourceIdentifierSummaries": [],
        "Description": template.get("Description", ""),
    }


def _declared(name: str, definition: Json) -> Json:
    shown = {"ParameterKey": name, "ParameterType": definition.get("Type", "String"), "NoEcho": bool(definition.get("NoEcho"))}
    return shown | ({"DefaultValue": str(definition["Default"])} if "Default" in definition else {})


def validate_template(call: Call) -> Json:
    """Check that a template can be parsed, and return its parameters."""
    template = parse(call.body(None))
    declared = [_declared(name, definition) for name, definition in template.get("Parameters", {}).items()]
    return {"Parameters": [{key: value for key, value in one.items() if key != "ParameterType"} for one in declared]}


def list_exports(call: Call) -> Json:
    """Return all exports of the region."""
    found = exports(Stack(call.account, call.region, ""))
    return {
        "Exports": [
            {"ExportingStackId": stack.id, "Name": output["ExportName"], "Value": output["OutputValue"]}
            for stack, output in found
        ]
    }


def list_imports(call: Call) -> Json:
    """Return the stacks that use an export."""
    name = call.get("ExportName", "")
    found = importers(Stack(call.account, call.region, ""), name)
    if not found:
        raise RequestError(f"Export '{name}' is not imported by any stack.")
    return {"Imports": found}


OPERATIONS: dict[str, Operation] = {
    "DescribeEvents": describe_events,
    "DescribeStackEvents": describe_stack_events,
    "DescribeStackResource": describe_stack_resource,
    "DescribeStackResources": describe_stack_resources,
    "DescribeStacks": describe_stacks,
    "GetTemplateSummary": get_template_summary,
    "ListExports": list_exports,
    "ListImports": list_imports,
    "ListStackResources": list_stack_resources,
    "ListStacks": list_stacks,
    "ValidateTemplate": validate_template,
}
