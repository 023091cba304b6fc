"""The account that the checks ask: its identity, its stacks, and complete lists."""

from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import Any, Self, TypeVar, cast

import boto3
import botocore.session
from botocore.config import Config

from cli.access import ENVIRONMENT, Access
from cli.aws_errors import UNINTELLIGIBLE, explained, unless_absent
from cli.cluster_folder import CLUSTERS
from cli.deployment import Deployment, Stack
from cli.errors import CommandError
from cluster_request.effective_request import EffectiveRequest
from config.model import ClusterConfig
from config.suggestions import nearest
from config.zones import is_plausible_region, regions

Json = dict[str, Any]
_Answer = TypeVar("_Answer")

# Many parallel calls in the foreground: do not hang on a silent endpoint, and retry when throttled.
PATIENCE = Config(
    connect_timeout=10, read_timeout=30, max_pool_connections=20, retries={"mode": "standard", "total_max_attempts": 5}
)


def session_for(config: ClusterConfig, access: Access = ENVIRONMENT) -> boto3.Session:
    """Return a session in the region of the file, or else of the option or the environment."""
    core = botocore.session.Session(profile=access.profile)
    core.set_default_client_config(PATIENCE)
    return boto3.Session(botocore_session=core, region_name=access.region_of(config.region))


class Account(Deployment):
    """The deployment of a file in one account and region; threads share its clients and answers."""

    def __init__(self, config: ClusterConfig, session: Any, folder: Path = CLUSTERS) -> None:
        super().__init__(config, session, folder)
        self._clients: dict[str, Any] = {}
        self._lock = Lock()
        self._asking = Lock()
        self._answers: dict[object, object] = {}

    @cached_property
    def request(self) -> EffectiveRequest:
        """The request that the deployment makes."""
        return EffectiveRequest(self.config)

    @property
    def region(self) -> str:
        """The region; raise a CommandError if none is known."""
        name = self._session.region_name
        if not name:
            raise CommandError("no region: set `region` in the cluster file, or pass --region")
        if not is_plausible_region(name):  # `validate` warns of a region that is newer than the table
            raise CommandError(f"{name}, from the environment, is not a region of SageMaker", nearest(name, regions()))
        return str(name)

    def client(self, service: str) -> Any:
        """Return the client for ``service``; a session creates clients in one thread at a time."""
        with self._lock:
            if service not in self._clients:
                self._clients[service] = super().client(service)
            return self._clients[service]

    def once(self, ask: Callable[[Self], _Answer]) -> _Answer:
        """Return the answer of ``ask``, which is shared by all checks."""
        with self._asking:
            if ask not in self._answers:
                self._answers[ask] = ask(self)
        return cast("_Answer", self._answers[ask])

    @cached_property
    def identity(self) -> Json:
        """The caller's Account and Arn, from STS."""
        try:
            answer: Json = self.client("sts").get_caller_identity()
            _ = answer["Account"], answer["Arn"]
        except UNINTELLIGIBLE as failure:
            raise explained("preflight", failure) from failure
        return answer

    @property
    def id(self) -> str:
        """The 12 digits of the account."""
        return str(self.identity["Account"])

    @property
    def partition(self) -> str:
        """The partition of ARNs: `aws`, `aws-cn` or `aws-us-gov`."""
        return str(self.identity["Arn"].split(":")[1])

    def principal(self, kind: str, name: str) -> Json | None:
        """Return IAM's role, or user; None if it does not exist."""
        iam = self.client("iam")
        return unless_absent(
            lambda: iam.get_role(RoleName=name)["Role"] if kind == "role" else iam.get_user(UserName=name)["User"]
        )

    @cached_property
    def stacks(self) -> dict[str, Stack]:
        """The file's existing stacks, by their last name: Network, Storage, Cluster."""
        return {stack.name.rsplit("-", 1)[-1]: stack for stack in self.read_stacks()}

    def output(self, name: str) -> str | None:
        """Return the stack output with this name, if it exists."""
        return next((stack.outputs[name] for stack in self.stacks.values() if name in stack.outputs), None)

    @property
    def console(self) -> str:
        """The address of the region's console."""
        host = {"aws-cn": "console.amazonaws.cn", "aws-us-gov": "console.amazonaws-us-gov.com"}.get(self.partition)
        return f"https://{host}" if host else f"https://{self.region}.console.aws.amazon.com"
