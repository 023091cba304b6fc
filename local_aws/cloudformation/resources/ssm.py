"""Systems Manager: parameters."""

from collections.abc import Mapping
from typing import ClassVar

from local_aws.cloudformation.resources.provider import Context, Provider, changed, pick, tag_changes, tolerate
from local_aws.cloudformation.template import Json


class Parameter(Provider):
    """AWS::SSM::Parameter."""

    type = "AWS::SSM::Parameter"
    acts_on = ("AllowedPattern", "DataType", "Description", "Name", "Tags", "Type", "Value")
    without_effect: ClassVar[Mapping[str, str]] = {"Tier": "it only affects prices and sizes"}

    def create(self, context: Context, properties: Json) -> str:
        """Create the parameter and return its name."""
        name = str(properties.get("Name") or f"CFN-{context.unique_name(120)}")
        tags = context.tags(properties)
        self._put(context, name, properties, {"Tags": tags} if tags else {})
        return name

    def _put(self, context: Context, name: str, properties: Json, further: Json) -> None:
        arguments = pick(properties, "AllowedPattern", "DataType", "Description", "Type", "Value")
        context.client("ssm").put_parameter(Name=name, **arguments, **further)

    def attributes(self, context: Context, physical_id: str, properties: Json) -> Json:
        """Return the type and value."""
        return pick(properties, "Type", "Value")

    def update(self, context: Context, physical_id: str, properties: Json, before: Json) -> None:
        """Write a new version and change the tags."""
        if changed(properties, before, *(set(properties) | set(before)) - {"Tags", "Tier"}):
            self._put(context, physical_id, properties, {"Overwrite": True})
        added, removed = tag_changes(properties, before)
        arguments = {"ResourceType": "Parameter", "ResourceId": physical_id}
        if removed:
            context.client("ssm").remove_tags_from_resource(**arguments, TagKeys=removed)
        if added:
            context.client("ssm").add_tags_to_resource(**arguments, Tags=added)

    def delete(self, context: Context, physical_id: str, properties: Json) -> None:
        """Delete the parameter."""
        with tolerate("ParameterNotFound"):
            context.client("ssm").delete_parameter(Name=physical_id)


PROVIDERS = (Parameter(),)
