"""Deploys the smallest cluster to AWS, runs seven checks, saves what AWS did, and tears down: `python -m tests.verify_aws`."""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

import boto3
import botocore
from botocore.exceptions import BotoCoreError, ClientError

from cli.access import Access, asked_region
from cli.deployment import Deployment
from cli.errors import CommandError
from cli.preflight.command import preflight
from cli.remote.sessions import Sessions, missing_plugin
from cli.remote.shell import SessionManagerShell
from tests.verify_aws import printing
from tests.verify_aws.cdk import PROJECT, Cdk
from tests.verify_aws.checks import Run
from tests.verify_aws.cost import cost_of
from tests.verify_aws.credentials import expiry_warning
from tests.verify_aws.evidence import Evidence
from tests.verify_aws.interruption import interruptible
from tests.verify_aws.leftovers import leftovers
from tests.verify_aws.live_cluster import LiveCluster
from tests.verify_aws.plan import PEAK, Plan, choose_zone
from tests.verify_aws.run import verify
from tests.verify_aws.verdicts import Report

FIXTURES = PROJECT / "tests" / "data" / "aws"
REFUSED = 2
CONNECT_TIMEOUT_S = 300.0


class RefusedError(Exception):
    """Nothing was deployed; the text says why and what to do."""


def main(arguments: list[str] | None = None) -> int:
    """Run the program: 0 if all checks passed and nothing is left, 1 if not, 2 if nothing was deployed."""
    options = _options(arguments)
    try:
        return _main(options)
    except (RefusedError, CommandError, ClientError, BotoCoreError) as error:
        print(f"nothing was deployed: {error}", file=sys.stderr)
        return REFUSED


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.verify_aws", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--setup", choices=("api", "scripts"), default="api", help="what configures Slurm (api)")
    parser.add_argument("--lustre", action="store_true", help="with 1,200 GiB of FSx for Lustre")
    parser.add_argument("--region", help="AWS region (default: AWS_REGION, or the profile's)")
    parser.add_argument("--zone", help="availability zone id (default: the first that offers the instance types)")
    parser.add_argument("--profile", help="AWS profile (default: AWS_PROFILE)")
    parser.add_argument("--name", help="name of the cluster (default: verify-DATE-TIME)")
    parser.add_argument("--into", type=Path, help="folder of the fixtures (default: tests/data/aws/DATE)")
    parser.add_argument("--minutes", type=int, default=60, help="end the checks after this time (60)")
    parser.add_argument("--skip-preflight", action="store_true", help="do not run `./hpod preflight` first")
    parser.add_argument("--facts", nargs="*", metavar="PREFIX", help="only compare recorded facts, without a cluster")
    parser.add_argument("--yes", action="store_true", help="do not ask")
    return parser.parse_args(arguments)


def _main(options: argparse.Namespace) -> int:
    if options.facts is None and (problem := missing_plugin()):
        raise problem
    into = _folder(options.into)
    if options.profile:
        os.environ["AWS_PROFILE"] = options.profile  # for `cdk`, too
    session = boto3.Session(region_name=asked_region(options.region))
    if session.region_name is None:
        raise RefusedError("no region; pass --region, or set AWS_REGION")
    if options.facts is not None:
        from tests.verify_aws import facts  # noqa: PLC0415  it loads the embedded AWS, which plays the account in tests

        return 0 if facts.verify(session, options.facts, into, confirm=lambda: _ask("facts", yes=options.yes)) else 1
    name = options.name or f"verify-{datetime.now(UTC):%m%d-%H%M}"
    zone = options.zone or choose_zone(session.client("ec2"))
    plan = Plan(name, session.region_name, zone, options.setup, options.lustre)
    folder = Path(tempfile.mkdtemp(prefix=f"{name}-"))
    return _confirmed(options, plan, session, folder, into)


def _folder(given: Path | None) -> Path:
    """Return the folder of the fixtures, which must be AWS's own in the checkout."""
    if given is None and any(key.startswith("AWS_ENDPOINT_URL") for key in os.environ):
        raise RefusedError(
            f"AWS_ENDPOINT_URL is set: {FIXTURES.relative_to(PROJECT)} is for AWS's own answers; pass --into FOLDER"
        )
    folder = given or FIXTURES / f"{datetime.now(UTC):%Y-%m-%d}"
    if folder.exists() and any(folder.iterdir()):
        raise RefusedError(f"{folder}: not empty; remove it, or pass --into FOLDER")
    return folder.absolute()


def _confirmed(options: argparse.Namespace, plan: Plan, session: boto3.Session, folder: Path, into: Path) -> int:
    """Say what will happen, ask, and run."""
    config = plan.write(folder, PEAK)
    deployment = Deployment(config, session, folder, Access(options.profile, plan.region))
    cdk = Cdk(folder, plan.name, plan.region, printing.say)
    caller = session.client("sts").get_caller_identity()
    warning = expiry_warning(session, options.minutes, datetime.now(UTC))
    _require_unused(deployment, cdk.destroy_command)
    cost = cost_of(config, plan.region, session)
    printing.say(printing.introduction(plan, cost, caller=caller, minutes=options.minutes, folder=str(into)))
    if warning:
        printing.say(warning)
    if not options.skip_preflight:
        _preflight(folder, plan.name, session)
    _ask(plan.name, yes=options.yes)
    evidence = Evidence(into)
    evidence.redactor.literal(caller["Account"], "account")
    evidence.redactor.literal(plan.name, "name")
    cluster = LiveCluster(deployment, evidence)
    profile = options.profile or os.environ.get("AWS_PROFILE", "")
    shell = SessionManagerShell(Sessions(session.client("ssm"), profile, CONNECT_TIMEOUT_S))
    printing.say(f"if this process is killed: {cdk.destroy_command}")
    run = Run(plan, cdk, cluster, shell, time.monotonic() + options.minutes * 60, printing.say)
    with interruptible(printing.say) as interruption:
        report = verify(run, interruption, printing.show)
        printing.say(printing.summary(report, str(into)))
        _save(report, run, evidence)
    return 0 if report.is_good else 1


def _require_unused(deployment: Deployment, destroy: str) -> None:
    """Raise RefusedError if a resource has the cluster's name: the teardown would delete it."""
    found = leftovers(deployment, destroy)
    if unknown := [each for each in found if each.kind.startswith("unknown ")]:
        raise RefusedError(f"{unknown[0].kind}: {unknown[0].name}; the teardown must list them: add the permission")
    if found:
        existing = ", ".join(f"{each.kind} {each.name}" for each in found)
        raise RefusedError(f"--name: {deployment.config.name} is in use: {existing}; choose another name")


def _preflight(folder: Path, name: str, session: boto3.Session) -> None:
    printing.say("preflight:")
    result = preflight(clusters=folder, cluster=name, session=session, show=lambda block: printing.say(str(block)))
    if result.failure:
        raise RefusedError(f"{result.failure}; fix this, or pass --skip-preflight")


def _ask(name: str, *, yes: bool) -> None:
    """Ask for the cluster's name; raise RefusedError without it."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise RefusedError("not a terminal: pass --yes to confirm")
    if input(f"Type {name} to continue: ").strip() != name:
        raise RefusedError("not confirmed")


def _save(report: Report, run: Run, evidence: Evidence) -> None:
    """Save the verdicts with the versions that they are about."""
    commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=PROJECT, capture_output=True, text=True, check=False).stdout.strip()
    versions = {"botocore": botocore.__version__, "project": commit or "unknown", **run.versions}
    plan = {"setup": run.plan.setup, "region": run.plan.region, "lustre": run.plan.lustre}
    content = {"date": f"{datetime.now(UTC):%Y-%m-%d}", **plan, "versions": versions, **asdict(report)}
    evidence.json("verdicts.json", content)


if __name__ == "__main__":
    sys.exit(main())
