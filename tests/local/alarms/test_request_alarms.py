"""What CloudFormation hears or shows nothing of raises an alarm: the real templates and functions, in an account of their own."""

import json
from typing import Any

import pytest
from botocore.exceptions import WaiterError

from local_aws import faults
from local_aws.faults import Fault
from local_aws.testing import ACCOUNT, REGION, Client
from tests.faults_table.recording import happened
from tests.local.alarms.machinery import STACK, TOPIC, Machinery

pytestmark = pytest.mark.local
TOLD_WITHIN_S = 20


class Account:
    """An account with the machinery, and somebody who is told of its alarms."""

    def __init__(self, client: Client, machinery: Machinery) -> None:
        self._cloudformation, self._queues = client("cloudformation"), client("sqs")
        self._machinery = machinery
        machinery.upload(client)
        self._queue = self._queues.create_queue(QueueName="trouble")["QueueUrl"]
        topics = client("sns")
        topics.create_topic(Name=TOPIC.rpartition(":")[2])
        topics.subscribe(TopicArn=TOPIC, Protocol="sqs", Endpoint=f"arn:aws:sqs:{REGION}:{ACCOUNT}:trouble")
        self._cloudformation.create_stack(**self._stack())
        self._wait("stack_create_complete")

    def update(self, *custom: str) -> str:
        """The stack's status after an update to these custom resources."""
        self._cloudformation.update_stack(**self._stack(*custom))
        self._wait("stack_update_complete")
        [stack] = self._cloudformation.describe_stacks(StackName=STACK)["Stacks"]
        happened(f"the stack says {stack['StackStatus']}")
        return str(stack["StackStatus"])

    def told(self) -> str:
        """The next alarm that somebody is told of: its name in the template."""
        [message] = self._queues.receive_message(QueueUrl=self._queue, WaitTimeSeconds=TOLD_WITHIN_S)["Messages"]
        alarm = json.loads(json.loads(message["Body"])["Message"])
        happened(f"alarm: {alarm['NewStateReason']}")
        made = self._cloudformation.describe_stack_resources(StackName=STACK)["StackResources"]
        [name] = [one["LogicalResourceId"] for one in made if one["PhysicalResourceId"] == alarm["AlarmName"]]
        assert alarm["NewStateValue"] == "ALARM"
        return str(name)

    def failed_deletes(self, name: str) -> int:
        """How often a custom resource's Delete failed."""
        events = self._cloudformation.describe_stack_events(StackName=STACK)["StackEvents"]
        statuses = [event["ResourceStatus"] for event in events if event["LogicalResourceId"] == name]
        happened(f"the Delete of {name} failed {statuses.count('DELETE_FAILED')} times")
        return statuses.count("DELETE_FAILED")

    def _stack(self, *custom: str) -> dict[str, Any]:
        template = self._machinery.template(*custom)
        return {"StackName": STACK, "TemplateBody": template, "Capabilities": ["CAPABILITY_NAMED_IAM"]}

    def _wait(self, waiter: str) -> None:
        try:
            self._cloudformation.get_waiter(waiter).wait(StackName=STACK, WaiterConfig={"Delay": 0.2, "MaxAttempts": 300})
        except WaiterError:
            events = self._cloudformation.describe_stack_events(StackName=STACK)["StackEvents"]
            [first] = [event for event in events if event["ResourceStatus"] == "CREATE_FAILED"]
            happened(f"{first['LogicalResourceId']}: {first['ResourceStatusReason'].partition('. ')[0]}")


@pytest.fixture(scope="module")
def machinery(tmp_path_factory: pytest.TempPathFactory) -> Machinery:
    return Machinery(tmp_path_factory.mktemp("machinery"))


@pytest.fixture
def account(client: Client, machinery: Machinery) -> Account:
    return Account(client, machinery)


@pytest.mark.fault(41)
def test_a_clean_up_that_fails_raises_an_alarm_though_the_stack_is_complete(account: Account) -> None:
    """Nothing lets the machinery see clusters here, and so the tail's Delete ends at its deadline."""
    assert account.update("First") == "UPDATE_COMPLETE"
    assert account.update() == "UPDATE_COMPLETE"
    assert account.told().startswith("ProviderAlarmsDeletionFailed")
    assert account.failed_deletes("First") == 3


@pytest.mark.fault(30)
def test_an_answer_that_is_refused_raises_an_alarm(account: Account) -> None:
    faults.order(Fault("cloudformation:Answer", status=403))
    assert account.update("Second") == "UPDATE_ROLLBACK_COMPLETE"
    assert account.told().startswith("ProviderAlarmsAnswerRefused")


@pytest.mark.fault(29)
@pytest.mark.fault(30)
def test_a_request_that_the_responder_leaves_without_an_answer_raises_an_alarm(account: Account) -> None:
    faults.order(Fault("states:Run", kind="abort"))
    faults.order(Fault("lambda:Run", kind="kill", target="Responder", times=3, at="before"))
    assert account.update("Second") == "UPDATE_ROLLBACK_COMPLETE"
    assert account.told().startswith("ProviderAlarmsRequestUnanswered")
