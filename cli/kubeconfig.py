"""`./hpod kubeconfig CLUSTER`: a context for kubectl."""

import os
import shutil
from pathlib import Path

from botocore.exceptions import ClientError

from cli.counted import first_of
from cli.deployment import Deployment
from cli.errors import CommandError
from cli.kubernetes.client import access_entries, describe_eks, has_access, principal_of
from cli.kubernetes.kubeconfig import Entry, merged, read_kubeconfig, written
from cli.reach.ssh_config import write_private
from cli.result import Block, Json, Result, Verbatim, warning_problem

SHOWN = 10
PRIVATE = 0o600


def kubeconfig(
    deployment: Deployment,
    *,
    context: str | None = None,
    role_arn: str | None = None,
    team: str | None = None,
    write: Path | None = None,
    only_print: bool = False,
    force: bool = False,
) -> Result:
    """Write the context of the cluster into a kubeconfig, or print a kubeconfig that has only this context."""
    if deployment.config.eks is None:
        raise CommandError(
            f"cluster {deployment.config.name!r} has no `eks` section", "`./hpod ssh` opens a shell on a Slurm cluster"
        )
    namespace = _namespace(deployment, team)
    found = describe_eks(deployment.client("eks"), deployment.eks_name)
    entry = Entry(
        context or deployment.config.name,
        found["arn"],
        found["endpoint"],
        found["certificateAuthority"]["data"],
        deployment.region,
        deployment.eks_name,
        deployment.profile or "",
        role_arn or "",
        namespace,
    )
    principals = _principals(deployment)
    problem = _problem(deployment, entry, principals)
    noted = [warning for warning in (_missing_cli(), problem) if warning]
    problems, warnings = list(map(warning_problem, noted)), list(map(str, noted))
    if only_print:
        config = merged({}, entry)
        return Result(_data(entry, principals, None, config), [Verbatim(written(config).rstrip()), *warnings], problems)
    path = write or default_path()
    write_kubeconfig(path, entry, force=force)
    text: list[Block] = [f"wrote context {entry.context!r} to {path}", *warnings]
    if not problem:
        text.append(f"to use it: `kubectl --context {entry.context} get {'pods' if namespace else 'nodes'}`")
    return Result(_data(entry, principals, path, None), text, problems)


def default_path() -> Path:
    """Return the file that kubectl writes: the first of KUBECONFIG, or else the one in the home folder."""
    first = next((each for each in os.environ.get("KUBECONFIG", "").split(os.pathsep) if each), None)
    return Path(first).expanduser() if first else Path.home() / ".kube" / "config"


def write_kubeconfig(path: Path, entry: Entry, *, force: bool) -> None:
    """Add the entry to a file, which only its owner can read afterwards."""
    text = written(merged(read_kubeconfig(path), entry, force=force))
    try:
        write_private(path, text)
        path.chmod(PRIVATE)
    except OSError as error:
        raise CommandError(f"cannot write {path}: {error.strerror or error}", "pass --write FILE") from error


def _namespace(deployment: Deployment, team: str | None) -> str:
    teams = {each.name: each for each in deployment.config.eks.teams} if deployment.config.eks else {}
    if team is None:
        return ""
    if team not in teams:
        raise CommandError(f"--team: unknown team {team!r}", f"available: {', '.join(teams) or 'none in `eks.teams`'}")
    return teams[team].namespace


def _principals(deployment: Deployment) -> list[str] | None:
    """Return who has access; None if that cannot be read."""
    try:
        return access_entries(deployment.client("eks"), deployment.eks_name)
    except ClientError:
        return None


def _problem(deployment: Deployment, entry: Entry, principals: list[str] | None) -> str:
    """Return a warning if the user of the context has no access to the EKS cluster or to the team's namespace."""
    eks = deployment.config.eks
    if principals is None or eks is None:
        return ""
    caller = entry.role_arn or str(deployment.client("sts").get_caller_identity()["Arn"])
    if not has_access(caller, principals):
        principal = entry.role_arn or principal_of(deployment.client("iam"), caller)
        return f"{principal} has no access to the EKS cluster. {_access_fix(deployment, [arn for _, arn in eks.principals()])}"
    others = [arn for team in eks.teams if team.namespace != entry.namespace for arn in team.role_arns]
    if entry.namespace and has_access(caller, others):
        return f"{caller} has access as another team, which cannot use {entry.namespace}"
    return ""


def _access_fix(deployment: Deployment, named: list[str]) -> str:
    """Return how to get access: change the file, or use a role that it names."""
    if not named:
        return f"The file names no role with access: add this one to `eks.admins`, then run `{deployment.deploy_command}`"
    roles = first_of(named, SHOWN)
    return f"Add it to `eks.admins` or to a team's `role_arns`, or use `--role-arn` with one that has access: {roles}"


def _missing_cli() -> CommandError | None:
    if shutil.which("aws"):
        return None
    return CommandError("kubectl gets its tokens from the AWS CLI, which is not in PATH", "install version 2")


def _data(entry: Entry, principals: list[str] | None, path: Path | None, config: Json | None) -> Json:
    return {
        "eks_cluster": entry.name,
        "context": entry.context,
        "namespace": entry.namespace or None,
        "file": str(path) if path else None,
        "kubeconfig": config,
        "principals": principals,
    }
