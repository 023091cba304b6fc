"""Step Functions: state machines."""

import json
import re

from local_aws.cloudformation.resources.provider import Context, Provider, changed, pick, retag, tolerate
from local_aws.cloudformation.template import Json


def _definition(properties: Json) -> str:
    """Return the definition's text with its substitutions."""
    text = properties["DefinitionString"] if "DefinitionString" in properties else json.dumps(properties["Definition"])
    values = properties.get("DefinitionSubstitutions") or {}
    return re.sub(r"\$\{([^}]+)\}", lambda found: str(values.get(found.group(1), found.group(0))), text)


def _in_calls_words(configuration: Json) -> Json:
    """Return a logging configuration in the form of Step Functions' calls."""
    destinations = configuration.get("Destinations") or ()
    listed = [{"cloudWatchLogsLogGroup": {"logGroupArn": one["CloudWatchLogsLogGroup"]["LogGroupArn"]}} for one in destinations]
    return {
        "level": configuration.get("Level", "OFF"),
        "includeExecutionData": configuration.get("IncludeExecutionData", False),
        "destinations": listed,
    }


def _in_calls_tags(tags: list[dict[str, str]]) -> list[dict[str, str]]:
    return [{"key": tag["Key"], "value": tag["Value"]} for tag in tags]


class StateMachine(Provider):
    """AWS::StepFunctions::StateMachine."""

    type = "AWS::StepFunctions::StateMachine"
    acts_on = (
        "Definition",
        "DefinitionString",
        "DefinitionSubstitutions",
        "EncryptionConfiguration",
        "LoggingConfiguration",
        "RoleArn",
        "StateMachineName",
        "StateMachineType",
        "Tags",
        "TracingConfiguration",
    )

    def create(self, context: Context, properties: Json) -> str:
        """Create the state machine and return its ARN."""
        answer = context.client("stepfunctions").create_state_machine(
            name=properties.get("StateMachineName") or context.unique_name(80),
            type=properties.get("StateMachineType", "STANDARD"),
            tags=_in_calls_tags(context.tags(properties)),
            **self._arguments(properties),
        )
        return str(answer["stateMachineArn"])

    def _arguments(self, properties: Json) -> Json:
        arguments: Json = {"definition": _definition(properties), "roleArn": properties["RoleArn"]}
        if "LoggingConfiguration" in properties:
            arguments["loggingConfiguration"] = _in_calls_words(properties["LoggingConfiguration"])
        if "TracingConfiguration" in properties:
            arguments["tracingConfiguration"] = {"enabled": properties["TracingConfiguration"].get("Enabled", False)}
        if "EncryptionConfiguration" in properties:
            arguments["encryptionConfiguration"] = {
                name[:1].lower() + name[1:]: value for name, value in properties["EncryptionConfiguration"].items()
            }
        return arguments

    def attributes(self, context: Context, physical_id: str, properties: Json) -> Json:
        """Return the ARN and name."""
        return {"Arn": physical_id, "Name": physical_id.rsplit(":", 1)[1]}

    def update(self, context: Context, physical_id: str, properties: Json, before: Json) -> None:
        """Change the definition, role, logging and tags; running executions keep their old definition."""
        client = context.client("stepfunctions")
        if changed(properties, before, *(set(properties) | set(before)) - {"Tags"}):
            off: Json = {"LoggingConfiguration": {}, "TracingConfiguration": {}}
            client.update_state_machine(stateMachineArn=physical_id, **self._arguments(pick(off, *before) | properties))
        retag(client, properties, before, _in_calls_tags, resourceArn=physical_id)

    def delete(self, context: Context, physical_id: str, properties: Json) -> None:
        """Delete the state machine."""
        with tolerate("StateMachineDoesNotExist"):
            context.client("stepfunctions").delete_state_machine(stateMachineArn=physical_id)


PROVIDERS = (StateMachine(),)
