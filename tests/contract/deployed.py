"""What a template's values become when it is deployed, with made-up ids for what AWS would make."""

from typing import Any

from tests.synth.synthesized import StackTemplate, Synthesized, resolved

ACCOUNT = "123456789012"
PSEUDO_PARAMETERS = {"AWS::AccountId": ACCOUNT, "AWS::Partition": "aws", "AWS::URLSuffix": "amazonaws.com"}

# What Ref and Fn::GetAtt give, by type and attribute.
SAMPLES = {
    ("AWS::KMS::Key", "Arn"): "arn:aws:kms:us-west-2:123456789012:key/01234567-89ab-cdef-0123-456789abcdef",
    ("AWS::EC2::Subnet", "Ref"): "subnet-0123456789abcdef0",
    ("AWS::EC2::SecurityGroup", "GroupId"): "sg-0123456789abcdef0",
    ("AWS::FSx::FileSystem", "Ref"): "fs-0123456789abcdef0",
    ("AWS::FSx::FileSystem", "DNSName"): "fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com",
    ("AWS::FSx::FileSystem", "LustreMountName"): "abcdefgh",
    ("AWS::IAM::Role", "Arn"): f"arn:aws:iam::{ACCOUNT}:role/nodes",
    ("AWS::Lambda::Function", "Arn"): f"arn:aws:lambda:us-west-2:{ACCOUNT}:function:entry",
    ("AWS::Logs::LogGroup", "Ref"): "reports",
    ("AWS::S3::Bucket", "Ref"): "scripts",
    ("Custom::HyperPodCluster", "Ref"): "cluster",
}


class Deployed:
    """One cluster's stacks, deployed."""

    def __init__(self, synthesized: Synthesized, cluster: str) -> None:
        self._synthesized = synthesized
        self._cluster = cluster

    def properties(self, stack: str, type_name: str, *, named: str = "") -> dict[str, Any]:
        """The properties of the only such resource, with every value known."""
        template = self._synthesized[self._cluster, stack]
        known: dict[str, Any] = self._known(template, template.properties(type_name, named=named))
        return known

    def _known(self, template: StackTemplate, value: Any) -> Any:
        def known(reference: dict[str, Any]) -> Any:
            match reference:
                case {"Ref": str(name)}:
                    return PSEUDO_PARAMETERS.get(name) or _sample(template, name, "Ref")
                case {"Fn::GetAtt": [str(name), str(attribute)]}:
                    return _sample(template, name, attribute)
                case {"Fn::Sub": str(text)}:
                    return text.replace("${AWS::AccountId}", ACCOUNT)
                case {"Fn::GetStackOutput": {"StackName": str(stack_name), "OutputName": str(output)}}:
                    other = self._synthesized[self._cluster, stack_name.removeprefix(f"{self._cluster}-")]
                    return self._known(other, other.outputs[output])

        return resolved(value, known)


def _sample(template: StackTemplate, name: str, attribute: str) -> str:
    return SAMPLES[template.resources[name]["Type"], attribute]


def as_cloudformation_sends(value: Any) -> Any:
    """The value as a custom resource gets it: every scalar is a string."""
    match value:
        case bool():
            return "true" if value else "false"
        case int() | float():
            return str(value)
        case dict():
            return {key: as_cloudformation_sends(item) for key, item in value.items()}
        case list():
            return [as_cloudformation_sends(item) for item in value]
    return value
