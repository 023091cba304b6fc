"""Define the outputs of a stack, and fill a stack that would be empty."""

from aws_cdk import CfnOutput, CfnResource, CfnWaitConditionHandle, Stack


def define_outputs(stack: Stack, *outputs: tuple[str, str | None, str]) -> None:
    """Define the outputs that have a value: name, value and description."""
    for name, value, description in outputs:
        if value:
            CfnOutput(stack, name, value=value, description=description)


def fill_if_empty(stack: Stack) -> None:
    """Add a free resource without effect to a stack that has none, because CloudFormation refuses such a template."""
    if not any(isinstance(construct, CfnResource) for construct in stack.node.find_all()):
        CfnWaitConditionHandle(stack, "Placeholder")
