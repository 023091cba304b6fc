"""`./hpod list`: the cluster files, and the clusters deployed in their regions."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import boto3
from botocore.exceptions import BotoCoreError, ClientError

from cli.access import ENVIRONMENT, Access, asked_region, client_of
from cli.aws_errors import UNINTELLIGIBLE, explained, is_ours
from cli.cluster_folder import hpod_command
from cli.pages import listed
from cli.result import Json, Result, Table, warning_problem
from validation.checked_file import CheckedFile
from validation.load import check_clusters
from validation.report import problems

UNKNOWN, NOT_DEPLOYED = "unknown", "not deployed"
LAST = "-Cluster"


@dataclass(frozen=True)
class Row:
    """A cluster with its region and status, and its file, if it has one."""

    name: str
    region: str
    status: str
    file: str | None = None


@dataclass(frozen=True)
class Stacks:
    """The status of every stack in a region, and the clusters that they contain."""

    statuses: dict[str, str]
    clusters: frozenset[str]

    def status(self, cluster: str) -> str:
        """Return the status of the cluster's stack, or of the last stack before it that exists."""
        names = (f"{cluster}-{suffix}" for suffix in ("Cluster", "Kubernetes", "Storage", "Network"))
        return next((self.statuses[name] for name in names if name in self.statuses), NOT_DEPLOYED)


class Account:
    """The account of the credentials; each region is asked once."""

    def __init__(self, access: Access, session: Any = None) -> None:
        self._access, self._session = access, session
        self._stacks: dict[str | None, Stacks] = {}
        self._id: str | None = None

    def session(self, region: str | None) -> Any:
        """Return a session in the region."""
        return self._session or boto3.Session(profile_name=self._access.profile, region_name=region)

    def id(self, region: str | None) -> str:
        """Return the id of the account."""
        if self._id is None:
            self._id = str(client_of(self.session(region), "sts").get_caller_identity()["Account"])
        return self._id

    def stacks(self, region: str | None) -> Stacks:
        """Return the stacks in the region."""
        if region not in self._stacks:
            found = list(listed(client_of(self.session(region), "cloudformation"), "describe_stacks", "Stacks"))
            clusters = (each["StackName"].removesuffix(LAST) for each in found if _has_cluster(each))
            self._stacks[region] = Stacks({each["StackName"]: each["StackStatus"] for each in found}, frozenset(clusters))
        return self._stacks[region]


def _has_cluster(stack: dict[str, Any]) -> bool:
    return stack["StackName"].endswith(LAST) and any(each["OutputKey"] == "ClusterName" for each in stack.get("Outputs", []))


def list_clusters(*, clusters: Path, access: Access = ENVIRONMENT, session: Any = None) -> Result:
    """Return the cluster files with the state of their deployments, and clusters without a file in the same regions."""
    files, account = check_clusters(clusters), Account(access, session)
    failure = None
    try:
        rows = list(_rows(files, clusters, account, access))
    except (ClientError, BotoCoreError, OSError, *UNINTELLIGIBLE) as error:
        if is_ours(error):
            raise
        failure = explained("list", error)
        rows = [_offline(file, clusters) for file in files]
    found: list[Json] = [each for each in problems(files) if each["level"] == "error"]
    if failure:
        found.append(warning_problem(failure))
    table = Table(("CLUSTER", "REGION", "STATUS"), [(row.name, row.region, row.status) for row in rows])
    return Result({"clusters": [vars(row) for row in rows]}, (table, *([str(failure)] if failure else [])), found)


def _rows(files: tuple[CheckedFile, ...], clusters: Path, account: Account, access: Access) -> Iterator[Row]:
    regions: dict[str | None, str] = {access.region: access.region} if access.region else {}
    for file in files:
        config = file.config
        if config is None:
            yield _offline(file, clusters)
            continue
        region = asked_region(config.region or access.region)
        if config.account not in (None, account.id(region)):
            yield Row(
                config.name,
                config.region or "",
                f"in account {config.account}, your credentials are for {account.id(region)}",
                file.name,
            )
            continue
        regions[region] = str(account.session(region).region_name)
        yield Row(config.name, regions[region], account.stacks(region).status(config.name), file.name)
    known = {Path(file.name).stem for file in files}
    for region, name in regions.items():
        for cluster in sorted(account.stacks(region).clusters - known):
            yield Row(cluster, name, f"{account.stacks(region).status(cluster)}, without a cluster file")


def _offline(file: CheckedFile, clusters: Path) -> Row:
    """Return what the file itself says."""
    name = Path(file.name).stem
    if file.config is None:
        return Row(name, "", f"invalid file; run `{hpod_command('validate', name, clusters)}`", file.name)
    return Row(name, file.config.region or "", UNKNOWN, file.name)
