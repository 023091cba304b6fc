"""An embedded AWS in which one cluster is deployed, changed and destroyed by the real command line while things go wrong."""

import re
import subprocess
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from local_aws import faults, hyperpod
from local_aws.faults import Fault
from local_aws.testing import Client

ESCAPES = re.compile(r"\x1b\[[0-9;]*m")
GONE = "gone"
NO_ANSWER = "did not receive a response from your Custom Resource"


STACK = "ours-Cluster"
ENTRY, WATCHER = f"{STACK}-ClusterProviderEntry", f"{STACK}-ClusterProviderStep"
CUSTOM_RESOURCE = "ClusterEB0386A7"
"""The cluster's logical id."""


@dataclass
class World:
    """The stacks of the file `ours`, and what can be seen of them."""

    assemblies: Mapping[int, Path]
    environment: Mapping[str, str]
    client: Client
    printed: list[str] = field(default_factory=list)
    ordered: list[Fault] = field(default_factory=list)

    def deploy(self, workers: int, only: str = "Cluster") -> bool:
        """Run `cdk deploy`; tell whether it went well."""
        options = ("--require-approval", "never", "--progress", "events", "--exclusively")
        return self._cdk(workers, "deploy", f"ours/{only}", *options)

    def destroy(self, only: str = "Cluster") -> bool:
        """Run `cdk destroy`; tell whether it went well."""
        return self._cdk(1, "destroy", f"ours/{only}", "--force", "--exclusively")

    def _cdk(self, workers: int, command: str, *arguments: str) -> bool:
        done = subprocess.run(
            ("cdk", command, "--app", str(self.assemblies[workers]), *arguments),
            env=dict(self.environment),
            cwd=self.assemblies[workers],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=300,
            check=False,
        )
        self.printed.append(ESCAPES.sub("", done.stdout))
        return done.returncode == 0

    def fault(self, operation: str, **fault: Any) -> None:
        """Order a fault."""
        ordered = Fault(operation, **fault)
        self.ordered.append(ordered)
        faults.order(ordered)

    def untouched(self) -> list[Fault]:
        """Faults of which nothing has happened."""
        often = {(fault.operation, fault.times) for fault in self.ordered}
        return [fault for fault in faults.ordered() if (fault.operation, fault.times) in often]

    def status(self) -> str:
        """The stack's status, or `gone`."""
        cloudformation = self.client("cloudformation")
        try:
            return str(cloudformation.describe_stacks(StackName=STACK)["Stacks"][0]["StackStatus"])
        except cloudformation.exceptions.ClientError as error:
            if "does not exist" not in str(error):
                raise
            return GONE

    def clusters(self) -> dict[str, dict[str, Any]]:
        """Every cluster, described; without one that is deleted meanwhile."""
        sagemaker = self.client("sagemaker")
        clusters = {}
        for summary in sagemaker.list_clusters(NameContains="ours")["ClusterSummaries"]:
            with suppress(sagemaker.exceptions.ResourceNotFound):
                clusters[summary["ClusterName"]] = sagemaker.describe_cluster(ClusterName=summary["ClusterName"])
        return clusters

    def workers(self) -> int:
        """How many workers run in the only cluster."""
        [cluster] = self.clusters().values()
        return int(next(g["CurrentCount"] for g in cluster["InstanceGroups"] if g["InstanceGroupName"] == "workers"))

    def events(self) -> list[dict[str, Any]]:
        """What CloudFormation says of the newest stack of that name, oldest first."""
        cloudformation = self.client("cloudformation")
        stacks = [each for each in cloudformation.list_stacks()["StackSummaries"] if each["StackName"] == STACK]
        newest = max(stacks, key=lambda each: each["CreationTime"], default=None)
        if newest is None:
            return []
        found: list[dict[str, Any]] = cloudformation.describe_stack_events(StackName=newest["StackId"])["StackEvents"]
        return found[::-1]

    def clear(self) -> None:
        """Take away whatever is left, by force where `cdk destroy` does not do it."""
        faults.reset()
        if self.status() != GONE:
            self.destroy()
        # What leaked can often not be deleted any more: it needs the role, which went with the stack.
        hyperpod.reset()
        if self.status() != GONE and not self.destroy():
            raise RuntimeError(f"stack {STACK} cannot be cleared: {self.printed[-1]}")

    def until(self, look: Callable[[], object], seconds: float = 60.0) -> None:
        """Wait until ``look`` sees it."""
        end = time.monotonic() + seconds
        while not look():
            if time.monotonic() > end:
                raise TimeoutError(f"it did not happen within {seconds} s")
            time.sleep(0.02)
