"""Functions of the custom resource are refused in a VPC, where they may be unable to respond."""

import aws_cdk as cdk
import jsii
import pytest
from aws_cdk import aws_lambda as lambda_
from constructs import IConstruct

from constructs.hyperpod.cluster.resource_function import ResourceFunction
from tests.faults_table.recording import happened


@jsii.implements(cdk.IAspect)
class AllFunctionsInVpc:
    """An aspect that puts all functions into a VPC, as a company's policy may require."""

    def visit(self, node: IConstruct) -> None:
        if isinstance(node, lambda_.CfnFunction):
            node.vpc_config = lambda_.CfnFunction.VpcConfigProperty(security_group_ids=["sg-1"], subnet_ids=["subnet-1"])


@pytest.fixture
def app() -> cdk.App:
    app = cdk.App()
    ResourceFunction(cdk.Stack(app, "Stack"), "Entry", code=lambda_.Code.from_inline("pass"), module="entry")
    return app


@pytest.mark.fault(56)
def test_an_aspect_that_puts_functions_into_a_vpc_is_refused(app: cdk.App) -> None:
    cdk.Aspects.of(app).add(AllFunctionsInVpc())
    with pytest.raises(RuntimeError, match="they cannot respond to CloudFormation") as refused:
        app.synth()
    happened(next(line for line in str(refused.value).splitlines() if "VpcConfig:" in line).strip())


@pytest.mark.fault(56)
def test_functions_are_in_no_vpc_by_default(app: cdk.App) -> None:
    [function] = [
        resource
        for resource in app.synth().stacks[0].template["Resources"].values()
        if resource["Type"] == "AWS::Lambda::Function"
    ]
    assert "VpcConfig" not in function["Properties"]
