"""An account that answers what a test says, and nothing else."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from botocore.exceptions import ClientError, OperationNotPageableError

from cli.preflight.account import Account
from cli.preflight.check import Check, CheckResult, run_checks
from config.model import ClusterConfig
from tests.unit.cli.fake_operations import FILE as OPERATED
from tests.unit.cluster_resource.fake_sagemaker import SERVICE_MODEL
from validation.load import parse_cluster

ACCOUNT, REGION = "123456789012", "us-west-2"
FILE = OPERATED.replace("ml.g5.8xlarge, instance_count: 2", "ml.trn1.32xlarge, instance_count: 4")
IMPORTED = """
region: us-west-2
network:
  availability_zone_id: usw2-az4
  existing: {vpc_id: vpc-00000001, node_subnet_ids: [subnet-00000001], security_group_id: sg-00000001}
storage: {existing: {file_system_id: fs-00000001, mount_name: abcdefg}}
instance_groups:
  - {name: head, role: controller, instance_type: ml.c5.xlarge, instance_count: 1}
  - {name: work, role: compute, partition: dev, instance_type: ml.trn1.32xlarge, instance_count: 4}
"""
IDENTITY = {"Account": ACCOUNT, "Arn": f"arn:aws:sts::{ACCOUNT}:assumed-role/dev/me"}


# In botocore; a test of the embedded AWS, where the clients are real, meets every operation that is requested in pages.
WITHOUT_PAGINATOR = ("describe_data_repository_associations",)


@dataclass(frozen=True)
class Pages:
    """An answer in several pages."""

    pages: tuple[dict[str, Any], ...]


def refused(code: str, message: str = "said AWS") -> ClientError:
    """An error answer of AWS's with this code."""
    return ClientError({"Error": {"Code": code, "Message": message}}, "TheOperation")


DENIED = refused("AccessDeniedException")
NO_STACKS = refused("ValidationError", "Stack does not exist")


class FakeAws:
    """A session; its answers go by `service.operation`: an answer, an error, or what gives one for the call's arguments."""

    region_name = REGION

    def __init__(self, answers: dict[str, Any]) -> None:
        self.answers = {"sts.get_caller_identity": IDENTITY, "cloudformation.describe_stacks": NO_STACKS, **answers}
        self.asked: list[str] = []

    def client(self, service: str) -> "FakeClient":
        return FakeClient(self, service)

    def answer(self, name: str, arguments: dict[str, Any]) -> Any:
        """What is answered to the call of this name; a test has to say something to every call."""
        self.asked.append(name)
        told = self.answers[name]
        if callable(told):
            told = told(**arguments)
        if isinstance(told, Exception):
            raise told
        return told


class FakeClient:
    """One service of the account."""

    meta = SimpleNamespace(service_model=SERVICE_MODEL)

    def __init__(self, aws: FakeAws, service: str) -> None:
        self._aws, self._service = aws, service

    def __getattr__(self, operation: str) -> Callable[..., Any]:
        return lambda **arguments: self._aws.answer(f"{self._service}.{operation}", arguments)

    def get_paginator(self, operation: str) -> "FakePaginator":
        if operation in WITHOUT_PAGINATOR:
            raise OperationNotPageableError(operation_name=operation)
        return FakePaginator(self._aws, f"{self._service}.{operation}")


class FakePaginator:
    """The pages of one operation."""

    def __init__(self, aws: FakeAws, name: str) -> None:
        self._aws, self._name = aws, name

    def paginate(self, **arguments: Any) -> Iterator[dict[str, Any]]:
        told = self._aws.answer(self._name, arguments)
        yield from told.pages if isinstance(told, Pages) else (told,)


def parsed(file: str) -> ClusterConfig:
    """The cluster `draft` of this file, which must be valid."""
    config = parse_cluster(file.encode(), "draft")
    assert isinstance(config, ClusterConfig), "\n".join(map(str, config))
    return config


def asked(
    check: Callable[[Account], Iterable[CheckResult]], aws: FakeAws | dict[str, Any], file: str = FILE
) -> list[CheckResult]:
    """What one check finds of the file, as a preflight runs it."""
    session = aws if isinstance(aws, FakeAws) else FakeAws(aws)
    return list(run_checks(Account(parsed(file), session), [Check("the check", lambda account: iter(check(account)))]))


def only(found: list[CheckResult]) -> CheckResult:
    """The one finding that there is."""
    [finding] = found
    return finding


def outcomes(found: list[CheckResult]) -> list[str]:
    """How the findings ended."""
    return [each.outcome.value for each in found]


def lines(found: list[CheckResult]) -> list[str]:
    """How the findings ended, and what they say."""
    return [f"{each.outcome}: {each.message}" for each in found]


def stacks(**outputs: dict[str, str]) -> Callable[..., Any]:
    """Answers to DescribeStacks where the file's stacks of these last names are there, with these outputs."""

    def describe(StackName: str) -> Any:  # noqa: N803  as boto3 spells it
        last = StackName.rsplit("-", 1)[-1]
        if last not in outputs:
            return NO_STACKS
        told = [{"OutputKey": key, "OutputValue": value, "Description": key} for key, value in outputs[last].items()]
        return {"Stacks": [{"StackName": StackName, "StackStatus": "CREATE_COMPLETE", "Outputs": told}]}

    return describe
