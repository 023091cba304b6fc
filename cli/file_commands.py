"""Commands on cluster files: their arguments, options and help. Each imports its module when it runs, to start fast."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import typer

from cli.cluster_folder import CLUSTERS, cluster_folder
from cli.command_line import CommandModule, Shared
from cli.target import ClusterOrFile, Clusters, DefaultTarget, Folder, Force, Profile, Strict, examples, for_cluster, run

commands = CommandModule()


@commands.command(
    help="Check cluster files, without AWS credentials.",
    epilog=examples("validate", "validate prod --output github"),
)
def validate(
    files: Annotated[list[str] | None, for_cluster(help="Names or paths of cluster files (default: all).")] = None,
    clusters: Clusters = CLUSTERS,
    strict: Strict = False,
    output: Annotated[
        Literal["text", "json", "github", "sarif"],
        typer.Option(help="Output format; github: annotations of a pull request; sarif: for code scanners."),
    ] = "text",
) -> None:
    from cli.validate import validate as command

    folder = cluster_folder(clusters)
    run("validate", lambda: command(clusters=folder, files=files or (), form=output, strict=strict), output)


@commands.command(
    help="Check that the AWS account can run a cluster.",
    epilog=examples("preflight prod", "preflight prod --all"),
)
def preflight(
    target: DefaultTarget,
    strict: Strict = False,
    show_all: Annotated[bool, typer.Option("--all", help="Also print the checks that are ok or skipped.")] = False,
) -> None:
    from cli.preflight.command import preflight as command

    shown = {"strict": strict, "show_all": show_all, "show": target.show}
    target.run(command, cluster=target.cluster, access=target.access, **shown)


@commands.command(help="Print monthly usage; with --live also prices.", epilog=examples("cost prod", "cost prod --live"))
def cost(
    target: DefaultTarget,
    live: Annotated[bool, typer.Option("--live", help="Add prices from the AWS Pricing API (pricing:GetProducts).")] = False,
) -> None:
    from cli.cost.command import cost as command

    target.run(command, cluster=target.cluster, live=live, access=target.access)


@commands.command(
    help="Write readable templates, for pull requests.", epilog=examples("snapshot", "snapshot prod", "snapshot --check")
)
def snapshot(
    folder: Folder,
    cluster: Annotated[str | None, for_cluster(help="Name or path of a cluster file (default: all).")] = None,
    check: Annotated[bool, typer.Option("--check", help="Write nothing; exit with 1 if a snapshot is stale.")] = False,
) -> None:
    from cli.snapshot.command import snapshot as command

    folder.run(command, cluster=cluster, check=check)


@dataclass(frozen=True)
class Answers(Shared):
    """The answers to the questions of `hpod init`; it asks for others."""

    orchestrator: Annotated[str | None, typer.Option(metavar="NAME", help="`slurm` or `eks` (default: slurm).")] = None
    region: Annotated[str | None, typer.Option(metavar="REGION", help="AWS region (default: the zone's, then AWS_REGION).")] = (
        None
    )
    zone: Annotated[
        str | None, typer.Option(metavar="ID", help="Id of the availability zone with your quota, e.g. usw2-az4.")
    ] = None
    instance_type: Annotated[
        str | None, typer.Option(metavar="TYPE", help="Instance type of the compute nodes, e.g. ml.p5.48xlarge.")
    ] = None
    instance_count: Annotated[str | None, typer.Option(metavar="COUNT", help="Number of compute nodes (default: 1).")] = None
    vpc: Annotated[str | None, typer.Option(metavar="VPC_ID", help="Id of an existing VPC, or `new` (default: new).")] = None
    subnets: Annotated[
        str | None, typer.Option(metavar="ID,ID", help="With --vpc: ids of private subnets in the zone, comma-separated.")
    ] = None
    security_group: Annotated[
        str | None, typer.Option(metavar="ID", help="With --vpc: id of a security group that allows all traffic within itself.")
    ] = None
    control_plane_subnets: Annotated[
        str | None, typer.Option(metavar="ID,ID", help="With eks and --vpc: ids of subnets in two zones, comma-separated.")
    ] = None
    admins: Annotated[
        str | None, typer.Option(metavar="ARN,ARN", help="With eks: IAM roles or users that administer Kubernetes.")
    ] = None
    storage: Annotated[
        str | None, typer.Option(metavar="WHAT", help="FSx for Lustre: `new` (1200 GiB) or `none` (default: new).")
    ] = None


@commands.command(
    help="Ask a few questions and write a commented cluster file.",
    epilog=examples("init dev --orchestrator eks", "init dev --zone usw2-az4 --instance-type ml.g5.8xlarge"),
)
def init(
    folder: Folder,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the new file, without .yaml.")],
    answers: Answers,
    force: Force = False,
) -> None:
    from cli.init import init as command

    folder.run(command, name=name, force=force, **vars(answers))


@dataclass(frozen=True)
class ImportChoices(Shared):
    """How `hpod import` reads what exists."""

    profile: Profile = None
    region: Annotated[
        str | None, typer.Option(metavar="REGION", help="AWS region, if the files do not contain it, e.g. us-west-2.")
    ] = None
    zone: Annotated[
        str | None, typer.Option(metavar="ID", help="Id of the availability zone, e.g. usw2-az4 (default: the region's first).")
    ] = None
    keep: Annotated[
        Literal["nothing", "network", "everything"] | None,
        typer.Option(help="Resources to reuse. Default: everything with --from-cluster, network with --vpc, otherwise nothing."),
    ] = None
    vpc: Annotated[
        str | None, typer.Option(metavar="VPC_ID", help="VPC of the request's subnets; reuse them, e.g. vpc-0123456789abcdef0.")
    ] = None
    scripts: Annotated[
        str | None,
        typer.Option(metavar="FOLDER", help="Lifecycle scripts of the request, relative to the new file, e.g. ../scripts."),
    ] = None
    drop_unknown_groups: Annotated[
        bool,
        typer.Option(
            "--drop-unknown-groups",
            help="Ignore roles in provisioning_parameters.json for groups that the request does not have.",
        ),
    ] = False


@commands.command(
    "import",
    help="Write a cluster file for an existing cluster.",
    epilog=examples(
        "import create_cluster.json provisioning_parameters.json", "import --from-cluster ml-cluster --write clusters/ml.yaml"
    ),
)
def import_(
    folder: Folder,
    choices: ImportChoices,
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="FILE",
            help="CreateCluster request (JSON), optionally followed by provisioning_parameters.json and vpc-config.json.",
        ),
    ] = None,
    from_cluster: Annotated[
        str | None, typer.Option(metavar="NAME", help="Import this running cluster instead of a request file.")
    ] = None,
    write: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write to FILE, e.g. clusters/mine.yaml, instead of printing.")
    ] = None,
    force: Force = False,
) -> None:
    from cli.import_cluster.command import import_cluster as command

    folder.run(command, files=files or [], cluster=from_cluster, write=write, force=force, **vars(choices))


@commands.command(
    help="Change a group's instance_count in the file.", epilog=examples("scale prod workers 8", "scale prod workers 8 --dry-run")
)
def scale(
    folder: Folder,
    cluster: ClusterOrFile,
    group: Annotated[str, typer.Argument(metavar="GROUP", help="Name of an instance group of the file.")],
    count: Annotated[int, typer.Argument(metavar="N", help="New number of nodes.", min=0)],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the difference, and write nothing.")] = False,
) -> None:
    from cli.scale import scale as command

    folder.run(command, cluster=cluster, group=group, count=count, dry_run=dry_run)
