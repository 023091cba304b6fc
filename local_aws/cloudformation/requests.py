"""The parameters of a request to CloudFormation."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, urlparse

from botocore.exceptions import ClientError

from local_aws.cloudformation import clients, store
from local_aws.cloudformation.errors import RequestError
from local_aws.cloudformation.resources import iam_capabilities
from local_aws.cloudformation.stack import Stack
from local_aws.cloudformation.template import Json, Target, parse
from local_aws.iam import role_trusts
from local_aws.limits import LIMITS

# Unsupported, and refused because ignoring them would change the result. ImportExistingResources, which `cdk bootstrap` sends,
# is accepted: it has no effect if nothing is to be imported, and a resource that exists fails its creation.
REFUSED = (
    "NotificationARNs",
    "OnStackFailure",
    "ResourceTypes",
    "ResourcesToImport",
    "RollbackConfiguration",
    "StackPolicyBody",
    "StackPolicyDuringUpdateBody",
    "StackPolicyDuringUpdateURL",
    "StackPolicyURL",
    "TimeoutInMinutes",
)


@dataclass(frozen=True)
class Call:
    """One request."""

    account: str
    region: str
    parameters: Json

    def get(self, name: str, default: Any = None) -> Any:
        """Return a parameter of the request."""
        value = self.parameters.get(name)
        return default if value is None else value

    def stacks(self) -> dict[str, Stack]:
        """Return the stacks of the caller's account and region."""
        return store.live(self.account, self.region)

    def stack(self) -> Stack:
        """Return the stack named in the request."""
        return store.find(self.account, self.region, self.get("StackName", ""))

    def refuse_unknown(self) -> None:
        """Refuse parameters that the embedded AWS does not support, and a role that CloudFormation cannot assume."""
        unsupported = [name for name in REFUSED if self.get(name)]
        if self.get("DeploymentMode") or self.get("DeploymentConfig", {}).get("Mode", "STANDARD") != "STANDARD":
            unsupported.append("DeploymentMode")
        if unsupported:
            raise RequestError(f"not part of the embedded AWS: parameter {', '.join(unsupported)}")
        role = self.get("RoleARN")
        if role and not role_trusts(self.account, role, "cloudformation.amazonaws.com"):
            raise RequestError(f"Role {role} is invalid or cannot be assumed")

    def target(self, stack: Stack | None) -> Target:
        """Return the template, parameters and tags that the request asks for."""
        body = self.body(stack)
        self._check_capabilities(parse(body))
        tags = self.get("Tags")
        if tags is None and stack is not None:
            return Target(body, self._given(stack), stack.version.tags)
        return Target(body, self._given(stack), tuple((tag["Key"], tag["Value"]) for tag in tags or ()))

    def body(self, stack: Stack | None) -> str:
        """Return the template's text: from the request, from a bucket, or the stack's current one."""
        if self.get("UsePreviousTemplate") and stack is not None:
            return stack.version.body
        if self.get("TemplateURL"):
            return _fetch(self.get("TemplateURL"), self.region)
        if not self.get("TemplateBody"):
            raise RequestError("Either Template URL or Template Body must be specified.")
        return _within("templateBody", str(self.get("TemplateBody")))

    def _given(self, stack: Stack | None) -> dict[str, str]:
        given = {}
        for parameter in self.get("Parameters", ()):
            name = parameter["ParameterKey"]
            if not parameter.get("UsePreviousValue"):
                given[name] = str(parameter.get("ParameterValue", ""))
            elif stack is not None and name in stack.version.given:
                given[name] = stack.version.given[name]
        return given

    def _check_capabilities(self, template: Json) -> None:
        needed = iam_capabilities(template["Resources"].values())
        granted = set(self.get("Capabilities", ()))
        if needed and not granted & needed:
            raise RequestError(f"Requires capabilities : [{min(needed, key=len)}]", "InsufficientCapabilitiesException")


Operation = Callable[[Call], Json | None]


def _fetch(url: str, region: str) -> str:
    parts = urlparse(url)
    host, path = parts.hostname or "", unquote(parts.path.lstrip("/"))
    in_host = host.endswith(".amazonaws.com") and not host.startswith(("s3.", "s3-"))
    bucket, key = (host.split(".s3", 1)[0], path) if in_host else path.split("/", 1)
    try:
        body = clients.client("s3", region).get_object(Bucket=bucket, Key=key)["Body"].read()
    except ClientError as error:
        raise RequestError(f"S3 error: {error.response['Error']['Message']} ({url})") from error
    return _within("templateURL", body.decode())


def _within(member: str, body: str) -> str:
    """Return a template, which must not be too large."""
    largest = LIMITS["cloudformation:CreateChangeSet", member]
    if len(body.encode()) > largest:
        raise RequestError(f"1 validation error detected: the template of '{member}' has more than {largest} bytes")
    return body
