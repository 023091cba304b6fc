"""The functions and the state machine that respond to CloudFormation."""

import json
from typing import Any

import pytest
from aws_cdk.assertions import Match

from cluster_resource.executions import FUNCTION_S
from tests.synth.synthesized import CLUSTER, STACKS, StackTemplate, Synthesized


@pytest.fixture
def stack(shipped: Synthesized) -> StackTemplate:
    return shipped["reference", CLUSTER]


@pytest.fixture
def states(stack: StackTemplate) -> dict[str, Any]:
    """Return the definition of the state machine, with a question mark for each value that is unknown at synth."""
    _, parts = stack.properties("AWS::StepFunctions::StateMachine")["DefinitionString"]["Fn::Join"]
    definition: dict[str, Any] = json.loads("".join(part if isinstance(part, str) else "?" for part in parts))
    return definition


def statements(stack: StackTemplate, role: str) -> list[dict[str, Any]]:
    """Return the statements of a role, inline and attached."""
    return [statement for name, statement in stack.statements() if name == role]


def role_of(stack: StackTemplate, function: str) -> str:
    """Return the logical ID of the role of a function."""
    name: str = stack.properties("AWS::Lambda::Function", named=function)["Role"]["Fn::GetAtt"][0]
    return name


def actions(statement: dict[str, Any]) -> set[str]:
    """Return the actions of a statement."""
    return {statement["Action"]} if isinstance(statement["Action"], str) else set(statement["Action"])


@pytest.mark.fault(27)
def test_functions_time_out_within_the_lease(stack: StackTemplate) -> None:
    ours = [stack.properties("AWS::Lambda::Function", named=f"Provider{name}") for name in ("Entry", "Step", "Responder")]
    assert {function["Timeout"] for function in ours} == {FUNCTION_S}


@pytest.mark.parametrize("function", ["ProviderEntry", "ProviderResponder"])
def test_only_the_functions_of_executions_use_the_key_that_encrypts_them(stack: StackTemplate, function: str) -> None:
    key, _ = stack.one("AWS::KMS::Key", named="ProviderRequests")
    machine = stack.properties("AWS::StepFunctions::StateMachine", named="ProviderRequests")
    arn = {"Fn::GetAtt": [key, "Arn"]}
    encryption = machine["EncryptionConfiguration"]
    assert (encryption["KmsKeyId"], encryption["Type"]) == (arn, "CUSTOMER_MANAGED_KMS_KEY")
    [using] = [item for item in statements(stack, role_of(stack, function)) if "kms:Decrypt" in actions(item)]
    assert (using["Resource"], using["Action"]) == (arn, ["kms:Decrypt", "kms:GenerateDataKey"])
    assert not [item for item in statements(stack, role_of(stack, "ProviderStep")) if "kms:Decrypt" in actions(item)]


@pytest.mark.fault(28)
def test_the_responder_responds_to_an_event_that_the_entry_could_not_start(stack: StackTemplate) -> None:
    entry, _ = stack.one("AWS::Lambda::Function", named="ProviderEntry")
    responder, _ = stack.one("AWS::Lambda::Function", named="ProviderResponder")
    stack.assertions.has_resource_properties(
        "AWS::Lambda::EventInvokeConfig",
        {
            "FunctionName": {"Ref": entry},
            "Qualifier": "$LATEST",
            "MaximumEventAgeInSeconds": 60,
            "MaximumRetryAttempts": 2,
            "DestinationConfig": {"OnFailure": {"Destination": {"Fn::GetAtt": [responder, "Arn"]}}},
        },
    )
    allowed = statements(stack, role_of(stack, "ProviderEntry"))
    invoking = [statement for statement in allowed if actions(statement) == {"lambda:InvokeFunction"}]
    assert [statement["Resource"] for statement in invoking] == [{"Fn::GetAtt": [responder, "Arn"]}]


@pytest.mark.fault(29)
def test_the_responder_responds_for_an_execution_that_ended_without_a_response(stack: StackTemplate) -> None:
    machine, _ = stack.one("AWS::StepFunctions::StateMachine")
    responder, _ = stack.one("AWS::Lambda::Function", named="ProviderResponder")
    rule, _ = stack.one("AWS::Events::Rule")
    target = {"Fn::GetAtt": [responder, "Arn"]}
    stack.assertions.has_resource_properties(
        "AWS::Events::Rule",
        {
            "State": "ENABLED",
            "EventPattern": {
                "source": ["aws.states"],
                "detail-type": ["Step Functions Execution Status Change"],
                "detail": {"stateMachineArn": [{"Ref": machine}], "status": ["ABORTED", "FAILED", "TIMED_OUT"]},
            },
            "Targets": [Match.object_like({"Arn": target})],
        },
    )
    stack.assertions.has_resource_properties(
        "AWS::Lambda::Permission",
        {
            "FunctionName": target,
            "Principal": "events.amazonaws.com",
            "SourceArn": {"Fn::GetAtt": [rule, "Arn"]},
        },
    )


@pytest.mark.fault(28)
def test_failures_are_retried_and_never_caught(states: dict[str, Any]) -> None:
    for name in ("Step", "Respond"):
        [retry] = states["States"][name]["Retry"]
        assert retry["ErrorEquals"] == ["States.ALL"]
        assert retry["MaxAttempts"] >= 5
        assert retry["BackoffRate"] > 1
        assert "Catch" not in states["States"][name]


@pytest.mark.fault(57)
def test_logs_of_executions_contain_no_execution_data(stack: StackTemplate) -> None:
    """The input contains the response URL: anyone who can read it can send a response."""
    logging = stack.properties("AWS::StepFunctions::StateMachine")["LoggingConfiguration"]
    assert logging["IncludeExecutionData"] is False
    assert logging["Level"] == "ALL"


def test_log_groups_of_all_functions_are_deleted_with_their_stack(shipped: Synthesized, variants: Synthesized) -> None:
    """Including functions of aws-cdk-lib: log groups that Lambda creates would stay after a destroy, without expiry."""
    for synthesized, cluster in ((shipped, "reference"), (variants, "destroyed")):
        for name in STACKS:
            stack = synthesized[cluster, name]
            groups = stack.of_type("AWS::Logs::LogGroup")
            for function in stack.of_type("AWS::Lambda::Function").values():
                assert function["Properties"]["LoggingConfig"]["LogGroup"]["Ref"] in groups
            for group in groups.values():
                assert group["Properties"]["RetentionInDays"] > 0
                assert group["DeletionPolicy"] == "Delete"


def test_no_function_can_create_a_log_group(shipped: Synthesized, variants: Synthesized) -> None:
    """A function that runs while its stack is deleted would recreate its log group."""
    for synthesized, cluster in ((shipped, "reference"), (variants, "destroyed")):
        for name in STACKS:
            stack = synthesized[cluster, name]
            for function in stack.of_type("AWS::Lambda::Function").values():
                role = function["Properties"]["Role"]["Fn::GetAtt"][0]
                assert "ManagedPolicyArns" not in stack.resources[role]["Properties"]
                assert not [statement for statement in statements(stack, role) if "logs:CreateLogGroup" in actions(statement)]


def test_the_step_may_use_only_the_training_plans_of_the_file(stack: StackTemplate, variants: Synthesized) -> None:
    def plans(template: StackTemplate) -> list[Any]:
        own = statements(template, role_of(template, "ProviderStep"))
        return [statement["Resource"] for statement in own if ":training-plan/" in json.dumps(statement["Resource"])]

    assert plans(stack) == []
    [resources] = plans(variants["training-plan", CLUSTER])
    assert "arn:aws:sagemaker:us-west-2:123456789012:training-plan/plan" in resources


def test_no_function_of_the_cluster_can_access_data(stack: StackTemplate) -> None:
    """The step function reads the scripts to compare them; nothing in S3 may be written."""
    bucket, _ = stack.one("AWS::S3::Bucket", named="LifecycleBucket")
    scripts: list[Any] = [{"Fn::GetAtt": [bucket, "Arn"]}]
    scripts += [{"Fn::Join": ["", [*scripts, "/lifecycle/*"]]}]
    for name in ("ProviderEntry", "ProviderStep", "ProviderResponder"):
        found = [each for each in statements(stack, role_of(stack, name)) if touches_data(each)]
        assert [each["Resource"] for each in found] == (scripts if name == "ProviderStep" else [])
        assert set().union(*map(actions, found)) <= {"s3:ListBucket", "s3:GetObject"}


def touches_data(statement: Any) -> bool:
    return any(action.startswith(("s3:", "fsx:", "ec2:")) for action in actions(statement))


def test_the_step_passes_only_the_node_role_and_only_to_sagemaker(stack: StackTemplate) -> None:
    role, _ = stack.one("AWS::IAM::Role", named="NodeRole")
    passing = [
        statement for statement in statements(stack, role_of(stack, "ProviderStep")) if "iam:PassRole" in actions(statement)
    ]
    assert [statement["Resource"] for statement in passing] == [{"Fn::GetAtt": [role, "Arn"]}]
    assert passing[0]["Condition"] == {"StringEquals": {"iam:PassedToService": "sagemaker.amazonaws.com"}}


def test_entry_and_responder_access_only_executions_of_their_own_state_machine(stack: StackTemplate) -> None:
    machine, _ = stack.one("AWS::StepFunctions::StateMachine")
    for name in ("ProviderEntry", "ProviderResponder"):
        on_states = [
            statement
            for statement in statements(stack, role_of(stack, name))
            if any(action.startswith("states:") for action in actions(statement))
        ]
        assert on_states
        for statement in on_states:
            assert machine in json.dumps(statement["Resource"])
