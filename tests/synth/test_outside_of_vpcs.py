"""What the functions that answer CloudFormation cannot be: in a VPC that keeps them from answering."""

import aws_cdk as cdk
import jsii
import pytest
from aws_cdk import aws_lambda as lambda_
from constructs import IConstruct

from constructs.hyperpod.cluster.resource_function import ResourceFunction
from tests.faults_table.recording import happened


@jsii.implements(cdk.IAspect)
class EverythingInOurVpc:
    """What a company does that wants no function outside of its network."""

    def visit(self, node: IConstruct) -> None:
        if isinstance(node, lambda_.CfnFunction):
            node.vpc_config = lambda_.CfnFunction.VpcConfigProperty(security_group_ids=["sg-1"], subnet_ids=["subnet-1"])


@pytest.fixture
def app() -> cdk.App:
    app = cdk.App()
    ResourceFunction(cdk.Stack(app, "Stack"), "Entry", code=lambda_.Code.from_inline("pass"), module="entry")
    return app


@pytest.mark.fault(56)
def test_an_aspect_that_puts_functions_into_a_vpc_is_refused_with_the_reason(app: cdk.App) -> None:
    cdk.Aspects.of(app).add(EverythingInOurVpc())
    with pytest.raises(RuntimeError, match="reaches no API and answers nobody") as refused:
        app.synth()
    happened(next(line for line in str(refused.value).splitlines() if "reaches no API" in line).strip())


@pytest.mark.fault(56)
def test_the_functions_are_in_no_vpc_by_themselves(app: cdk.App) -> None:
    [function] = [
        resource
        for resource in app.synth().stacks[0].template["Resources"].values()
        if resource["Type"] == "AWS::Lambda::Function"
    ]
    assert "VpcConfig" not in function["Properties"]
