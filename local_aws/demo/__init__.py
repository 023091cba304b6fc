"""The demo: deploy a cluster file to the embedded AWS with the real `cdk` command line, and use the cluster."""

import os
import re
import shlex
import sys
import time
from functools import partial
from pathlib import Path

from config.errors import ConfigError
from config.instance_group import Role
from config.model import ClusterConfig, Orchestrator
from local_aws import process
from local_aws.demo import administrator, kubernetes, slurm
from local_aws.demo.step import DemoError, Step, relative, run
from local_aws.environment import PROJECT, aws_environment
from local_aws.server import ACCOUNT
from validation.load import load_clusters

__all__ = ["DemoError", "demo"]

CLUSTERS = PROJECT / "clusters"
EXAMPLES = PROJECT / "examples" / "clusters"


def demo(given: str = "") -> None:
    """Deploy a cluster file to a new embedded AWS and leave it running."""
    started = time.monotonic()
    folder, cluster = chosen(given)
    print(f"cluster file: {relative(folder)}/{cluster}.yaml", flush=True)
    config = _config(folder, cluster)
    region = config.region or "us-west-2"
    if process.down():
        print("stopped the running embedded AWS: the demo starts with an empty one")
    kind = kubernetes if config.orchestrator is Orchestrator.EKS else slurm
    nodes = kind.prepare(lambda line: print(line, flush=True))
    running = process.up(nodes=nodes)
    environment = aws_environment(running.endpoint, region, process.home(), running.owner)
    if kind is kubernetes:
        environment = administrator.assume(config, environment)
    steps = (*_deployment(folder, config, region), *kind.first_steps(config, nodes=nodes))
    for number, step in enumerate(steps, 1):
        if step.before:
            step.before(environment)
        print(
            f"\n[{number}/{len(steps)}] {step.title}   (at {time.monotonic() - started:.0f} s)\n    $ {shlex.join(step.command)}",
            flush=True,
        )
        if run(step, environment):
            raise DemoError(f"step {number} failed; inspect the embedded AWS, then stop it with `make demo-down`")
    text = (folder / f"{cluster}.yaml").read_text()
    print(next_steps(config, text, time.monotonic() - started, nodes=nodes, folder=folder))


def chosen(given: str, clusters: Path = CLUSTERS) -> tuple[Path, str]:
    """Return the folder and name of the cluster file.

    ``given`` is the path of a file, or the name of one in ``clusters``. By default it is the only file there, else the example
    starter.
    """
    if given.endswith(".yaml"):
        file = Path(given).resolve()
        if not file.is_file():
            raise DemoError(f"{given}: no such file")
        return file.parent, file.stem
    names = [file.stem for file in clusters.glob("*.yaml")]
    if given or len(names) == 1:
        return clusters, given or names[0]
    return EXAMPLES, "starter"


def _config(folder: Path, cluster: str) -> ClusterConfig:
    """Return the cluster's configuration; report mistakes in its file before anything starts."""
    try:
        (config,) = load_clusters(folder, only=cluster)
    except ConfigError as error:
        raise DemoError(str(error)) from error
    return config


def _deployment(folder: Path, config: ClusterConfig, region: str) -> tuple[Step, ...]:
    cluster, granting = config.name, partial(administrator.grant, config)
    deploy = (
        "cdk",
        "deploy",
        f"{cluster}/*",
        *_cdk_options(folder),
        "--require-approval",
        "never",
        "--progress",
        "bar" if sys.stdout.isatty() else "events",
    )
    return (
        Step(
            "cdk bootstrap: prepare the account and region, once",
            ("cdk", "bootstrap", f"aws://{ACCOUNT}/{region}"),
            process.home(),
        ),
        Step("cdk deploy: network, storage, cluster", deploy),
        Step("status: the cluster and its groups", ("./hpod", "status", cluster, *_hpod_options(folder)), before=granting),
        Step("outputs: ids, names and commands of the cluster", ("./hpod", "outputs", cluster, *_hpod_options(folder))),
    )


def _cdk_options(folder: Path) -> tuple[str, ...]:
    return () if folder == CLUSTERS else ("--context", f"clusters={relative(folder)}")


def _hpod_options(folder: Path) -> tuple[str, ...]:
    return () if folder == CLUSTERS else ("--clusters", relative(folder))


def next_steps(config: ClusterConfig, file: str, seconds: float, *, nodes: bool, folder: Path = CLUSTERS) -> str:
    """Return commands to try on the cluster that the text ``file`` describes."""
    name, python = config.name, os.path.relpath(sys.executable)
    stacks = " ".join((f"'{name}/*'", *_cdk_options(folder)))
    cluster = " ".join((name, *_hpod_options(folder)))
    kind, of = (kubernetes, "an EKS") if config.orchestrator is Orchestrator.EKS else (slurm, "a Slurm")
    what = f"{of} cluster {'with' if nodes else 'without'} simulated nodes"
    note, role = (f"{kubernetes.NOTE}\n", f" --role {administrator.ROLE}") if kind is kubernetes else ("", "")
    first = "\n    ".join((f'eval "$({python} -m local_aws env{role})"', *kind.next_commands(config, cluster, nodes=nodes)))
    return f"""
Done in {seconds:.0f} s: {what}, deployed to the embedded AWS by the real cdk command line.
{note}
Next, in the checkout; the first line points your shell at the embedded AWS:
    {first}
    {_edit(config, file, folder)}
    cdk diff {stacks}                    # show this one change
    cdk deploy {stacks}                  # deploy it
    ./hpod status {cluster}
    cdk destroy {stacks}                 # delete everything that the file does not retain
    ./hpod retained {cluster}                  # print the retained resources, as YAML to reuse them
    make demo-down                          # stop the embedded AWS and delete all its data
"""


def _edit(config: ClusterConfig, file: str, folder: Path) -> str:
    """Return a command that adds two nodes to a group; a comment if the line of its count is not unique."""
    group = next((each for each in config.instance_groups if each.role is Role.COMPUTE), config.instance_groups[0])
    count, path = group.instance_count, f"{relative(folder)}/{config.name}.yaml"
    if len(re.findall(rf"instance_count: {count}\b", file)) == 1:
        undo = f"   # undo it with `git restore {path}`" if path.startswith("examples/") else ""
        return f"sed -i 's/instance_count: {count}\\b/instance_count: {count + 2}/' {path}{undo}"
    return f"# edit {path}: change instance_count of {group.name} from {count} to {count + 2}"
