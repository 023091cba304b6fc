"""The demo: deploy a cluster file to the embedded AWS with the real `cdk` command line, and run first jobs on its nodes."""

import os
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from config.errors import ConfigError
from config.instance_group import Role
from config.model import ClusterConfig
from config.slurm import Database
from local_aws import process
from local_aws.cdk_output import shorten
from local_aws.environment import aws_environment
from local_aws.nodes import setup, support
from local_aws.nodes.specs import NodesError
from local_aws.server import ACCOUNT
from validation.load import load_clusters

PROJECT = Path(__file__).resolve().parent.parent
CLUSTERS = PROJECT / "clusters"
EXAMPLES = PROJECT / "examples" / "clusters"
WORKERS_WITHIN_S = 120.0


class DemoError(Exception):
    """A step of the demo failed; the text says which."""


@dataclass(frozen=True)
class Step:
    """A command of the demo, its title and its working directory."""

    title: str
    command: tuple[str, ...]
    folder: Path = PROJECT


def demo(given: str = "") -> None:
    """Deploy a cluster file to a new embedded AWS and leave it running."""
    started = time.monotonic()
    folder, cluster = chosen(given)
    print(f"cluster file: {folder.relative_to(PROJECT) / cluster}.yaml", flush=True)
    config = _config(folder, cluster)
    region = config.region or "us-west-2"
    if process.down():
        print("stopped the running embedded AWS: the demo starts with an empty one")
    nodes = _can_run_nodes()
    running = process.up(nodes=nodes)
    environment = aws_environment(running.endpoint, region, process.home(), running.owner)
    deployment = _steps(folder, cluster, region)
    steps = (*deployment, *(first_jobs(config) if nodes else ()))
    for number, step in enumerate(steps, 1):
        if number == len(deployment) + 1:
            wait_for_workers(_workers(config), lambda: _idle_hosts(environment))
        print(
            f"\n[{number}/{len(steps)}] {step.title}   (at {time.monotonic() - started:.0f} s)\n    $ {shlex.join(step.command)}",
            flush=True,
        )
        if _run(step, environment):
            raise DemoError(f"step {number} failed; inspect the embedded AWS, then stop it with `make demo-down`")
    text = (folder / f"{cluster}.yaml").read_text()
    print(next_steps(config, text, time.monotonic() - started, nodes=nodes, folder=folder))


def chosen(given: str, clusters: Path = CLUSTERS) -> tuple[Path, str]:
    """Return the folder and name of the cluster file: ``given``, else the only file in ``clusters``, else the example starter."""
    names = [file.stem for file in clusters.glob("*.yaml")]
    if given or len(names) == 1:
        return clusters, given or names[0]
    return EXAMPLES, "starter"


def _can_run_nodes() -> bool:
    """Set this machine up for simulated nodes; if it cannot run any, print why and return false."""
    reasons = support.missing_of_machine()
    if not reasons:
        try:
            setup.setup(lambda line: print(line, flush=True), training=False)
        except NodesError as error:
            reasons = [str(error)]
    if reasons:
        print(f"no simulated nodes, only a control plane: {'; '.join(reasons)}", flush=True)
    return not reasons


def _run(step: Step, environment: Mapping[str, str]) -> int:
    """Run the step and return its exit status; shorten the output unless stdout is a terminal, where `cdk` draws a bar."""
    if sys.stdout.isatty():
        return subprocess.run(step.command, cwd=step.folder, env=environment, check=False).returncode
    into = sys.stdout.encoding or "ascii"
    with subprocess.Popen(
        step.command,
        cwd=step.folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
    ) as process:
        for line in shorten(process.stdout or ()):
            print(line.encode(into, "replace").decode(into), end="", flush=True)
    return process.returncode


def _config(folder: Path, cluster: str) -> ClusterConfig:
    """Return the cluster's configuration; report mistakes in its file before anything starts."""
    try:
        (config,) = load_clusters(folder, only=cluster)
    except ConfigError as error:
        raise DemoError(str(error)) from error
    return config


def wait_for_workers(count: int, look: Callable[[], set[str]], within_s: float = WORKERS_WITHIN_S) -> None:
    """Wait until Slurm has ``count`` idle workers: HyperPod's agent may add nodes to Slurm after they are InService."""
    end, announced = time.monotonic() + within_s, False
    while len(idle := look()) < count:
        if not announced:
            print(f"\nwaiting up to {within_s:.0f} s for {count} idle workers in Slurm", flush=True)
            announced = True
        if time.monotonic() > end:
            raise DemoError(
                f"{len(idle)} of {count} workers are idle in Slurm after {within_s:.0f} s; "
                "see `python -m local_aws shell -- sinfo`; stop the embedded AWS with `make demo-down`"
            )
        time.sleep(1)


def _idle_hosts(environment: Mapping[str, str]) -> set[str]:
    """Return the idle hosts in Slurm; none while it does not respond."""
    command = ("python", "-m", "local_aws", "shell", "--", "sinfo", "--noheader", "--Node", "--states=idle", "--format=%N")
    done = subprocess.run(command, cwd=PROJECT, env=environment, capture_output=True, text=True, check=False)
    return set(done.stdout.split()) if done.returncode == 0 else set()


def _workers(config: ClusterConfig) -> int:
    return sum(group.instance_count for group in config.of_role(Role.COMPUTE))


def _steps(folder: Path, cluster: str, region: str) -> tuple[Step, ...]:
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
        Step("status: the cluster and its groups", ("./hpod", "status", cluster, *_hpod_options(folder))),
        Step("outputs: ids, names and commands of the cluster", ("./hpod", "outputs", cluster, *_hpod_options(folder))),
    )


def _cdk_options(folder: Path) -> tuple[str, ...]:
    return () if folder == CLUSTERS else ("--context", f"clusters={folder.relative_to(PROJECT)}")


def _hpod_options(folder: Path) -> tuple[str, ...]:
    return () if folder == CLUSTERS else ("--clusters", str(folder.relative_to(PROJECT)))


def first_jobs(config: ClusterConfig) -> tuple[Step, ...]:
    """Return the first commands of a new user on the login node or controller: as root, then as the file's first user."""
    count = _workers(config)
    on_node = ("python", "-m", "local_aws", "shell", "--")
    jobs = [
        Step("sinfo: the nodes in Slurm", (*on_node, "sinfo")),
        Step(f"srun: run a program on all {count} workers", (*on_node, "srun", f"--nodes={count}", "--immediate=60", "hostname")),
    ]
    for user in config.users[:1]:
        submit = ("sbatch", "--wait", f"--nodes={count}", "--output=first-job.txt", "--wrap=id --name --user; srun hostname")
        jobs.append(Step(f"sbatch: submit a job as {user.name}", (*on_node, "sudo", "--login", f"--user={user.name}", *submit)))
    if config.slurm.accounting.database is not Database.NONE:
        jobs.append(Step("sacct: the accounting records of both", (*on_node, "sacct", "--allusers", "--allocations")))
    return tuple(jobs) if count else tuple(jobs[:1])


def next_steps(config: ClusterConfig, file: str, seconds: float, *, nodes: bool, folder: Path = CLUSTERS) -> str:
    """Return commands to try on the cluster that the text ``file`` describes."""
    name, python = config.name, os.path.relpath(sys.executable)
    stacks = " ".join((f"'{name}/*'", *_cdk_options(folder)))
    cluster = " ".join((name, *_hpod_options(folder)))
    what = "a Slurm cluster with simulated nodes" if nodes else "a cluster without simulated nodes"
    shell = f"\n    {python} -m local_aws shell            # a shell on the login node; list all with `nodes`" if nodes else ""
    return f"""
Done in {seconds:.0f} s: {what}, deployed to the embedded AWS by the real cdk command line.

Next, in a shell that points at the embedded AWS:
    eval "$({python} -m local_aws env)"{shell}
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
    count, path = group.instance_count, f"{folder.relative_to(PROJECT)}/{config.name}.yaml"
    if len(re.findall(rf"instance_count: {count}\b", file)) == 1:
        return f"sed -i 's/instance_count: {count}\\b/instance_count: {count + 2}/' {path}"
    return f"# edit {path}: change instance_count of {group.name} from {count} to {count + 2}"
