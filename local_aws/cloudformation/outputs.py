"""A stack's outputs and exports."""

from collections.abc import Sequence

from local_aws.cloudformation.errors import ResourceError
from local_aws.cloudformation.intrinsics import Resolver
from local_aws.cloudformation.scope import exports, importers
from local_aws.cloudformation.stack import Stack
from local_aws.cloudformation.template import Json


def evaluate(template: Json, resolver: Resolver) -> tuple[Json, ...]:
    """Return the outputs of a template whose resources all exist."""
    outputs = resolver.conditions.included(template.get("Outputs") or {})
    return tuple(_output(name, part, resolver) for name, part in outputs.items())


def _output(name: str, part: Json, resolver: Resolver) -> Json:
    value = resolver.value(part["Value"])
    if isinstance(value, (dict, list)):
        raise ResourceError(f"Template format error: The Value field of every Outputs member must evaluate to a String ({name}).")
    output = {"OutputKey": name, "OutputValue": str(value).lower() if isinstance(value, bool) else str(value)}
    if "Description" in part:
        output["Description"] = part["Description"]
    if "Export" in part:
        output["ExportName"] = str(resolver.value(part["Export"]["Name"]))
    return output


def check_exports(stack: Stack, outputs: Sequence[Json]) -> None:
    """Refuse outputs that change or remove an export in use, or that reuse another stack's export name."""
    for output in stack.version.outputs:
        name, kept = (
            output.get("ExportName"),
            [one["OutputValue"] for one in outputs if one.get("ExportName") == output.get("ExportName")],
        )
        users = importers(stack, name) if name and kept != [output["OutputValue"]] else []
        if users:
            raise ResourceError(
                f"Export {name} cannot be {'updated' if kept else 'deleted'} as it is in use by {', '.join(users)}"
            )
    mine = {output["ExportName"] for output in outputs if "ExportName" in output}
    for owner, output in exports(stack):
        if owner is not stack and output["ExportName"] in mine:
            raise ResourceError(f"Export with name {output['ExportName']} is already exported by stack {owner.name}.")
