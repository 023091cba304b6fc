"""The account of a deployed stack, with its roles and its cluster, and the checks of the scenarios."""

import json
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from botocore.exceptions import ClientError

from config.tags import STACK_ID_TAG
from local_aws import faults, iam
from local_aws.testing import ACCOUNT, Client, ask
from tests.privilege.cloudformation import CustomResource, Json, Request
from tests.privilege.deployment import Deployment
from tests.privilege.rights import Right, rights_of

FUNCTIONS = ("Entry", "Step", "Responder")
NODES = "Nodes"

PATIENCE_S = 40.0
"""In real seconds, each of which is ten minutes of AWS; every response comes sooner."""


class PartFailedError(Exception):
    """A scenario did not behave as it does with all rights."""


class Deployed(ABC):
    """An account with a cluster, whose custom resource gets requests from a fake CloudFormation."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.patience_s = PATIENCE_S
        self.cluster = CustomResource(client, "Custom::HyperPodCluster")
        [cluster] = self._clusters()
        self.name = str(cluster["ClusterName"])

    @abstractmethod
    def rights(self) -> list[Right]:
        """Return the rights to prove."""

    @abstractmethod
    def begin(self, *, with_cluster: bool) -> None:
        """Set up a cluster as in the file, or none, with an empty record."""

    @abstractmethod
    def check(self) -> None:
        """Fail unless a scenario had the effects that all scenarios have."""

    def done(self, request: Request) -> None:
        """Fail unless the request succeeds."""
        answer = request.answer(self.patience_s)
        if answer["Status"] != "SUCCESS":
            raise PartFailedError(f"{request.event['RequestType']} FAILED: {answer.get('Reason')}")

    def failed(self, request: Request, *words: str) -> str:
        """Fail unless the request fails with a reason that contains these words; return the reason."""
        answer = request.answer(self.patience_s)
        missing = [word for word in words if word not in str(answer.get("Reason"))]
        if answer["Status"] != "FAILED" or missing:
            raise PartFailedError(f"{answer['Status']} without {missing}: {answer.get('Reason')}")
        return str(answer["Reason"])

    def until(self, what: str, look: Callable[[], bool], seconds: float = 20) -> None:
        """Wait until the condition holds."""
        end = time.monotonic() + seconds
        while not look():
            if time.monotonic() > end:
                raise PartFailedError(f"timed out waiting for {what}")
            time.sleep(0.01)  # between two looks over HTTP, as a client does

    def status(self) -> str:
        """Return the status of the cluster, or `absent`."""
        return next((str(cluster["ClusterStatus"]) for cluster in self._clusters()), "absent")

    def running(self) -> list[str]:
        """Return the running executions."""
        states = self.client("stepfunctions")
        machines = [machine["stateMachineArn"] for machine in states.list_state_machines()["stateMachines"]]
        listed = [states.list_executions(stateMachineArn=machine, statusFilter="RUNNING")["executions"] for machine in machines]
        return [execution["executionArn"] for executions in listed for execution in executions]

    def end_what_runs(self) -> None:
        """Stop all executions."""
        for arn in self.running():
            self.client("stepfunctions").stop_execution(executionArn=arn, error="TestOver")

    def remove_cluster(self) -> None:
        """Delete the cluster as the account's owner, who has all rights."""
        sagemaker = self.client("sagemaker")

        def is_gone() -> bool:
            for cluster in self._clusters():
                if cluster["ClusterStatus"] in ("InService", "Failed"):
                    # A call of an execution that was just stopped may change or delete the cluster meanwhile.
                    with suppress(sagemaker.exceptions.ConflictException, sagemaker.exceptions.ResourceNotFound):
                        sagemaker.delete_cluster(ClusterName=cluster["ClusterName"])
            return not self._clusters()

        self.until("the deletion of the cluster", is_gone)

    def _clusters(self) -> list[Json]:
        """Return the cluster, if any."""
        return list(self.client("sagemaker").list_clusters()["ClusterSummaries"])


class Account(Deployed):
    """The account with a Slurm cluster."""

    def __init__(self, client: Client, deployment: Deployment) -> None:
        super().__init__(client)
        self.tail = CustomResource(client, "Custom::HyperPodDeletion")
        self.rollout = CustomResource(client, "Custom::HyperPodRollout")
        self.functions = {name: deployment.only(f"ClusterProvider{name}", "::Function") for name in FUNCTIONS}
        self.roles = {name: deployment.only(f"ClusterProvider{name}Access", "::Role") for name in FUNCTIONS}
        self.roles[NODES] = deployment.only("NodeRole", "::Role")
        self._writer = deployment.only("LifecycleDeployment", "::Role")
        self.machine = deployment.only("ClusterProvider", "::StateMachine")

    def rights(self) -> list[Right]:
        return [right for holder, role in self.roles.items() for right in rights_of(self.client("iam"), holder, role)]

    def begin(self, *, with_cluster: bool) -> None:
        """Set up a cluster as in the file, or none, with fresh functions and an empty record."""
        faults.reset()
        self.end_what_runs()
        if not (with_cluster and self._is_as_desired()):
            self.remove_cluster()
            if with_cluster:
                self.done(self.cluster.create())
        for function in self.functions.values():
            # New code: what runs next is a new process with a new log stream.
            self.client("lambda").update_function_configuration(FunctionName=function, Description=str(time.monotonic()))
        self._logged = {name: self._log_lines(name) for name in FUNCTIONS}
        for record in ("iam", "invocations"):
            ask(record, "DELETE")

    def expect(self, what: str, observed: object, expected: object) -> None:
        """Fail unless the observed value is the expected one."""
        if observed != expected:
            raise PartFailedError(f"{what}: {observed!r}, not {expected!r}")

    def failures(self, name: str) -> int:
        """Return the number of failed invocations of a function."""
        return sum(run["function"] == self.functions[name] and bool(run["error"]) for run in ask("invocations"))

    def check(self) -> None:
        """Fail unless each function that ran has written to its log."""
        for name, function in self.functions.items():
            if any(run["function"] == function for run in ask("invocations")):
                self.expect(f"the log of {name} has more lines", self._log_lines(name) > self._logged[name], expected=True)

    def executions_of(self, request: Request) -> list[str]:
        """Return the names of the executions for a request."""
        states = self.client("stepfunctions")
        arns = [each["executionArn"] for each in states.list_executions(stateMachineArn=self.machine)["executions"]]
        described = [states.describe_execution(executionArn=arn) for arn in arns]
        return [each["name"] for each in described if request.event["RequestId"] in each["input"]]

    def deploy_script(self, bucket: str, key: str, content: bytes) -> None:
        """Write an object with the role of the script deployment, the only one that the bucket policy allows."""
        self._as_role("s3", self._writer, "lambda.amazonaws.com").put_object(Bucket=bucket, Key=key, Body=content)

    def forget_reports(self, log_group: str) -> None:
        """Delete the records of earlier runs: a Create goes by waves if a node reported other scripts."""
        logs = self.client("logs")
        for stream in logs.describe_log_streams(logGroupName=log_group)["logStreams"]:
            logs.delete_log_stream(logGroupName=log_group, logStreamName=stream["logStreamName"])

    def report(self, parameter: str, log_group: str, stream: str, record: Json) -> None:
        """Read the pointer and write a record, as a node's agent does."""
        ssm, logs = (self._as_role(service, self.roles[NODES], "sagemaker.amazonaws.com") for service in ("ssm", "logs"))
        event = {"timestamp": int(time.time() * 1000), "message": json.dumps(record)}
        try:
            ssm.get_parameter(Name=parameter)
            logs.create_log_stream(logGroupName=log_group, logStreamName=stream)
            logs.put_log_events(logGroupName=log_group, logStreamName=stream, logEvents=[event])
        except ClientError as error:
            raise PartFailedError(str(error)) from error

    def _as_role(self, service: str, role: str, principal: str) -> Any:
        """Return a client with the credentials of a role."""
        arn = self.client("iam").get_role(RoleName=role)["Role"]["Arn"]
        session = iam.assume(ACCOUNT, arn, principal, "test")
        keys = {"aws_access_key_id": session.access_key, "aws_secret_access_key": session.secret_key}
        return self.client(service, **keys, aws_session_token=session.token)

    def _is_as_desired(self) -> bool:
        if self.status() != "InService":
            return False
        described = self.client("sagemaker").describe_cluster(ClusterName=self.name)
        request = self.cluster.properties["Request"]
        desired = {group["InstanceGroupName"]: int(group["InstanceCount"]) for group in request["InstanceGroups"]}
        tags = self.tags(described["ClusterArn"])
        desired_tags = {tag["Key"]: tag["Value"] for tag in request["Tags"]}
        observed = {group["InstanceGroupName"]: group["CurrentCount"] for group in described["InstanceGroups"]}
        return observed == desired and desired_tags.items() <= tags.items() and STACK_ID_TAG in tags

    def tags(self, arn: str) -> dict[str, str]:
        """Return the tags of the cluster."""
        return {tag["Key"]: tag["Value"] for tag in self.client("sagemaker").list_tags(ResourceArn=arn)["Tags"]}

    def _log_lines(self, name: str) -> int:
        configuration = self.client("lambda").get_function_configuration(FunctionName=self.functions[name])
        events = (
            self.client("logs")
            .get_paginator("filter_log_events")
            .paginate(logGroupName=configuration["LoggingConfig"]["LogGroup"])
        )
        return sum(len(page["events"]) for page in events)
