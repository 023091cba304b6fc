"""Lambda: functions, their permissions and asynchronous invocation, layers."""

import io
import zipfile
from collections.abc import Mapping
from typing import ClassVar

from local_aws.cloudformation.resources.provider import Context, Provider, as_map, changed, pick, retag, tolerate
from local_aws.cloudformation.template import Json

GONE = "ResourceNotFoundException"
CONFIGURATION = (
    *(
        "Description",
        "Environment",
        "Handler",
        "Layers",
        "LoggingConfig",
        "MemorySize",
        "Role",
        "Runtime",
        "Timeout",
        "VpcConfig",
    ),
)


def _code(properties: Json) -> Json:
    """Return a function's code in the form of Lambda's calls; inline code becomes a zip."""
    code = properties["Code"]
    if "ZipFile" not in code:
        return pick(code, "S3Bucket", "S3Key", "S3ObjectVersion")
    packed = io.BytesIO()
    suffix = "js" if str(properties.get("Runtime", "")).startswith("node") else "py"
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr(f"index.{suffix}", code["ZipFile"])
    return {"ZipFile": packed.getvalue()}


class Function(Provider):
    """AWS::Lambda::Function, packaged as a zip."""

    type = "AWS::Lambda::Function"
    acts_on = (
        "Architectures",
        "Code/S3Bucket",
        "Code/S3Key",
        "Code/S3ObjectVersion",
        "Code/ZipFile",
        "FunctionName",
        "ReservedConcurrentExecutions",
        "Tags",
        *CONFIGURATION,
    )

    def create(self, context: Context, properties: Json) -> str:
        """Create the function and return its name."""
        name = properties.get("FunctionName") or context.unique_name(64)
        tags = {tag["Key"]: tag["Value"] for tag in context.tags(properties)}
        context.client("lambda").create_function(
            FunctionName=name, Code=_code(properties), **pick(properties, "Architectures", *CONFIGURATION), Tags=tags
        )
        context.identify(name)
        self._set_concurrency(context, name, properties, {})
        return str(name)

    def _set_concurrency(self, context: Context, name: str, properties: Json, before: Json) -> None:
        if not changed(properties, before, "ReservedConcurrentExecutions"):
            return
        if "ReservedConcurrentExecutions" in properties:
            limit = properties["ReservedConcurrentExecutions"]
            context.client("lambda").put_function_concurrency(FunctionName=name, ReservedConcurrentExecutions=limit)
        else:
            context.client("lambda").delete_function_concurrency(FunctionName=name)

    def attributes(self, context: Context, physical_id: str, properties: Json) -> Json:
        """Return the function's ARN."""
        return {"Arn": context.arn("lambda", f"function:{physical_id}")}

    def update(self, context: Context, physical_id: str, properties: Json, before: Json) -> None:
        """Change the code, configuration, concurrency and tags."""
        client = context.client("lambda")
        if changed(properties, before, "Code", "Architectures"):
            client.update_function_code(FunctionName=physical_id, **_code(properties), **pick(properties, "Architectures"))
        if changed(properties, before, *CONFIGURATION):
            client.update_function_configuration(FunctionName=physical_id, **self._configuration(properties, before))
        self._set_concurrency(context, physical_id, properties, before)
        retag(client, properties, before, as_map, Resource=context.arn("lambda", f"function:{physical_id}"))

    def _configuration(self, properties: Json, before: Json) -> Json:
        """Return the desired configuration; removed properties get Lambda's defaults."""
        defaults: Json = {
            "Description": "",
            "Environment": {"Variables": {}},
            "Layers": [],
            "MemorySize": 128,
            "Timeout": 3,
            "VpcConfig": {"SubnetIds": [], "SecurityGroupIds": []},
        }
        gone = {name: value for name, value in defaults.items() if name in before and name not in properties}
        return gone | pick(properties, *CONFIGURATION)

    def delete(self, context: Context, physical_id: str, properties: Json) -> None:
        """Delete the function."""
        with tolerate(GONE):
            context.client("lambda").delete_function(FunctionName=physical_id)


class Permission(Provider):
    """AWS::Lambda::Permission."""

    type = "AWS::Lambda::Permission"
    acts_on = ("Action", "FunctionName", "Principal", "SourceAccount", "SourceArn")

    def create(self, context: Context, properties: Json) -> str:
        """Add the statement to the function's policy and return its id."""
        statement_id = context.unique_name(100)
        context.client("lambda").add_permission(StatementId=statement_id, **pick(properties, *self.acts_on))
        return statement_id

    def attributes(self, context: Context, physical_id: str, properties: Json) -> Json:
        """Return the statement's id."""
        return {"Id": physical_id}

    def delete(self, context: Context, physical_id: str, properties: Json) -> None:
        """Remove the statement."""
        with tolerate(GONE):
            context.client("lambda").remove_permission(FunctionName=properties["FunctionName"], StatementId=physical_id)


class EventInvokeConfig(Provider):
    """AWS::Lambda::EventInvokeConfig."""

    type = "AWS::Lambda::EventInvokeConfig"
    acts_on = ("DestinationConfig/OnFailure", "FunctionName", "MaximumEventAgeInSeconds", "MaximumRetryAttempts", "Qualifier")

    def create(self, context: Context, properties: Json) -> str:
        """Set how asynchronous invocations are retried and return an invented id."""
        self._put(context, properties)
        return context.unique_name(128)

    def _put(self, context: Context, properties: Json) -> None:
        arguments = pick(
            properties, "DestinationConfig", "FunctionName", "MaximumEventAgeInSeconds", "MaximumRetryAttempts", "Qualifier"
        )
        context.client("lambda").put_function_event_invoke_config(**arguments)

    def update(self, context: Context, physical_id: str, properties: Json, before: Json) -> None:
        """Replace the settings."""
        self._put(context, properties)

    def delete(self, context: Context, physical_id: str, properties: Json) -> None:
        """Restore Lambda's defaults."""
        with tolerate(GONE):
            context.client("lambda").delete_function_event_invoke_config(**pick(properties, "FunctionName", "Qualifier"))


class LayerVersion(Provider):
    """AWS::Lambda::LayerVersion."""

    type = "AWS::Lambda::LayerVersion"
    acts_on = ("CompatibleRuntimes", "Content", "LayerName")
    without_effect: ClassVar[Mapping[str, str]] = {
        "CompatibleArchitectures": "functions run on this machine, whatever their architecture",
        "Description": "informational",
        "LicenseInfo": "informational",
    }

    def create(self, context: Context, properties: Json) -> str:
        """Publish a version and return its ARN."""
        answer = context.client("lambda").publish_layer_version(
            LayerName=properties.get("LayerName") or context.unique_name(140), **pick(properties, "Content", "CompatibleRuntimes")
        )
        return str(answer["LayerVersionArn"])

    def attributes(self, context: Context, physical_id: str, properties: Json) -> Json:
        """Return the version's ARN."""
        return {"LayerVersionArn": physical_id}

    def delete(self, context: Context, physical_id: str, properties: Json) -> None:
        """Delete the version."""
        name, version = physical_id.split(":")[-2:]
        with tolerate(GONE):
            context.client("lambda").delete_layer_version(LayerName=name, VersionNumber=int(version))


PROVIDERS = (Function(), Permission(), EventInvokeConfig(), LayerVersion())
