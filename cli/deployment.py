"""The deployment of a cluster file: its stacks, their outputs, and clients for the rest."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import boto3
from botocore.exceptions import BotoCoreError, ClientError

from cli.access import ENVIRONMENT, Access, check_account, client_of
from cli.aws_errors import UNINTELLIGIBLE, explained, is_ours, unless_absent
from cli.cluster_folder import CLUSTERS, cdk_command, cluster_argument, hpod_command, is_path
from cli.errors import CommandError
from cli.pages import listed
from cli.result import Result
from config.model import ClusterConfig, Orchestrator
from validation.load import load_clusters

if TYPE_CHECKING:
    from cli.kubernetes.client import OperatorClient

STACKS = {
    Orchestrator.SLURM: ("Network", "Storage", "Cluster", "Monitoring"),
    Orchestrator.EKS: ("Network", "Storage", "Kubernetes", "Cluster", "Addons", "Monitoring"),
}
"""The stacks of a cluster, in the order of deployment; a cluster may lack some, such as monitoring."""


@dataclass(frozen=True)
class Stack:
    """One of the cluster's stacks: its status with the reason, its outputs, and the role that CloudFormation uses, if any."""

    name: str
    status: str
    reason: str
    outputs: dict[str, str]
    role: str = ""


class Deployment:
    """The stacks of one cluster, in the account and region of its file, or else of the environment."""

    def __init__(
        self,
        config: ClusterConfig,
        session: boto3.Session | None = None,
        folder: Path = CLUSTERS,
        access: Access = ENVIRONMENT,
    ) -> None:
        self.config = config
        self.profile = access.profile
        self._session = session or boto3.Session(profile_name=access.profile, region_name=access.region_of(config.region))
        self._folder = folder

    @property
    def deploy_command(self) -> str:
        """Return the command that deploys the cluster."""
        return cdk_command("deploy", self.config.name, self._folder)

    def hpod(self, verb: str, *words: str) -> str:
        """Return the `./hpod` command for the cluster."""
        return hpod_command(verb, self.config.name, self._folder, *words)

    @property
    def argument(self) -> str:
        """Return the words that name the cluster in any `./hpod` command."""
        return cluster_argument(self.config.name, self._folder)

    def client(self, service: str) -> Any:
        """Return a client for ``service`` in the cluster's region."""
        return client_of(self._session, service)

    def all(self, service: str, operation: str, items: str, **arguments: Any) -> Iterator[Any]:
        """Return the ``items`` that ``operation`` lists, from every page."""
        return listed(self.client(service), operation, items, **arguments)

    @property
    def is_eks(self) -> bool:
        """Return whether Kubernetes is the scheduler."""
        return self.config.orchestrator is Orchestrator.EKS

    @property
    def stack_names(self) -> list[str]:
        """Return the names of the stacks that the cluster can have, in the order of deployment."""
        return [f"{self.config.name}-{suffix}" for suffix in STACKS[self.config.orchestrator]]

    @property
    def eks_name(self) -> str:
        """Return the name of the EKS cluster; the deployment names a new cluster after the file."""
        eks = self.config.eks
        return eks.existing.name if eks and eks.existing else self.config.name

    def kubernetes(self) -> "OperatorClient":
        """Return a client for the Kubernetes API, with a new token."""
        from cli.kubernetes.client import operator_client  # noqa: PLC0415  clusters with Slurm do not need it

        return operator_client(self.client("eks"), self.client("sts"), self.eks_name, self.access_fix)

    @property
    def access_fix(self) -> str:
        """Return the fix for credentials that the Kubernetes API refuses."""
        if self.config.eks and self.config.eks.admins:
            return f"use a role of `eks.admins`; `{self.hpod('kubeconfig')}` lists the roles with access"
        return f"the file has no administrators: set `eks.admins`, then run `{self.deploy_command}`"

    def read_stacks(self) -> list[Stack]:
        """Return the cluster's stacks that exist, in the order of deployment."""
        found = map(self._stack, self.stack_names)
        return [stack for stack in found if stack]

    def outputs(self) -> dict[str, str]:
        """Return the outputs of all the cluster's stacks."""
        return _outputs(self.read_stacks())

    def cluster(self) -> dict[str, Any]:
        """Return SageMaker's description of the cluster."""
        stacks = self.read_stacks()
        name = _outputs(stacks).get("ClusterName")
        if not name:
            after = "" if stacks else f"; after `cdk destroy`, first run `{self.hpod('retained')}`"
            problem = f"cluster {self.config.name!r} is not deployed in {self._session.region_name}{_as_far(stacks)}"
            raise CommandError(problem, f"run `{self.deploy_command}`{after}")
        try:
            description: dict[str, Any] = self.client("sagemaker").describe_cluster(ClusterName=name)
        except ClientError as error:
            raise CommandError(f"cannot describe cluster {name}: {error.response['Error']['Message']}") from error
        return description

    def nodes(self, cluster_name: str) -> list[dict[str, Any]]:
        """Return every node of the cluster, group by group."""
        nodes = self.all("sagemaker", "list_cluster_nodes", "ClusterNodeSummaries", ClusterName=cluster_name)
        return sorted(nodes, key=lambda node: (node["InstanceGroupName"], node["InstanceId"]))

    def resources(self, stack: str) -> list[dict[str, Any]]:
        """Return the resources of one of the cluster's stacks, which must exist."""
        name = f"{self.config.name}-{stack}"
        found: list[dict[str, Any]] = self.client("cloudformation").describe_stack_resources(StackName=name)["StackResources"]
        return found

    @property
    def region(self) -> str:
        """The cluster's region."""
        return str(self._session.region_name)

    def _stack(self, name: str) -> Stack | None:
        stack = unless_absent(lambda: self.client("cloudformation").describe_stacks(StackName=name)["Stacks"][0])
        if stack is None:
            return None
        # Outputs without a description are the CDK's exports between stacks.
        outputs = {output["OutputKey"]: output["OutputValue"] for output in stack.get("Outputs", []) if output.get("Description")}
        return Stack(name, stack["StackStatus"], stack.get("StackStatusReason", ""), outputs, stack.get("RoleARN", ""))


def on_deployment(
    command: str, function: Callable[..., Result], cluster: str, clusters: Path, access: Access, **arguments: object
) -> Result:
    """Run a command on the deployment, and return its result; raise a CommandError if AWS refuses or does not answer."""
    if is_path(cluster):
        clusters, cluster = Path(cluster).parent, Path(cluster).stem
    (config,) = load_clusters(clusters, only=cluster)
    try:
        deployment = Deployment(config, folder=clusters, access=access)
        check_account(config, clusters / f"{cluster}.yaml", deployment.client("sts"))
        return function(deployment, **arguments)
    except (ClientError, BotoCoreError, OSError, *UNINTELLIGIBLE) as error:
        if is_ours(error) or isinstance(error, BrokenPipeError):
            raise
        raise explained(command, error) from error


def hyperpod_log_group(cluster: Mapping[str, Any]) -> str:
    """Return the log group in which HyperPod writes, from SageMaker's description of the cluster."""
    return f"/aws/sagemaker/Clusters/{cluster['ClusterName']}/{cluster['ClusterArn'].rpartition('/')[2]}"


def _outputs(stacks: list[Stack]) -> dict[str, str]:
    return {key: value for stack in stacks for key, value in stack.outputs.items()}


def _as_far(stacks: list[Stack]) -> str:
    """Return the stacks of an incomplete deployment, such as a rolled-back stack."""
    return "".join(f"; stack {stack.name} is {stack.status}" + (f": {stack.reason}" if stack.reason else "") for stack in stacks)
