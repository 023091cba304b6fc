"""The demo: a cluster file deployed to the embedded AWS by the real `cdk` command line, step by step."""

import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from config.errors import ConfigError
from config.load import load_clusters
from local_aws import process
from local_aws.environment import aws_environment
from local_aws.server import ACCOUNT

PROJECT = Path(__file__).resolve().parent.parent


class DemoError(Exception):
    """A step of the demo failed; the text says which."""


@dataclass(frozen=True)
class Step:
    """One command of the demo, what it is for, and the folder in which it runs."""

    title: str
    command: tuple[str, ...]
    folder: Path = PROJECT


def demo(cluster: str) -> None:
    """Deploy ``cluster`` to a fresh embedded AWS and leave it running for the reader to play with."""
    started = time.monotonic()
    region = _region(cluster)
    if process.down():
        print("the embedded AWS that was up is ended: the demo begins with an empty one")
    environment = aws_environment(process.up(), region, process.home())
    steps = _steps(cluster, region)
    for number, step in enumerate(steps, 1):
        print(
            f"\n[{number}/{len(steps)}] {step.title}   (at {time.monotonic() - started:.0f} s)\n    $ {' '.join(step.command)}",
            flush=True,
        )
        if subprocess.run(step.command, cwd=step.folder, env=environment, check=False).returncode:
            raise DemoError(f"step {number} failed; the embedded AWS is still up to look into, `make demo-down` ends it")
    print(_next_steps(cluster, time.monotonic() - started))


def _region(cluster: str) -> str:
    """The region that the cluster's file names; a file with mistakes is explained before anything is started."""
    try:
        (config,) = load_clusters(PROJECT / "clusters", only=cluster)
    except ConfigError as error:
        raise DemoError(str(error)) from error
    return config.region or "us-west-2"


def _steps(cluster: str, region: str) -> tuple[Step, ...]:
    deploy = ("cdk", "deploy", f"{cluster}/*", "--require-approval", "never", "--progress", "events")
    return (
        Step(
            "cdk bootstrap: what the CDK needs once per account and region",
            ("cdk", "bootstrap", f"aws://{ACCOUNT}/{region}"),
            process.home(),
        ),
        Step("cdk deploy: network, storage, cluster", deploy),
        Step("status: what came up", ("python", "-m", "ops", "status", cluster)),
        Step("outputs: what to use it with", ("python", "-m", "ops", "outputs", cluster)),
    )


def _next_steps(cluster: str, seconds: float) -> str:
    return f"""
Done in {seconds:.0f} s: a cluster on an embedded AWS, deployed by the real cdk command line.

Next, in a shell that talks to the embedded AWS:
    eval "$({os.path.relpath(sys.executable)} -m local_aws env)"
    sed -i 's/instance_count: 4/instance_count: 6/' clusters/{cluster}.yaml
    cdk diff '{cluster}/*'                    # shows that one field
    cdk deploy '{cluster}/*'                  # makes it 6
    python -m ops status {cluster}
    cdk destroy '{cluster}/*'                 # takes down all but what the file says to retain
    python -m ops retained {cluster}        # says what that is, as lines for the next file
    make demo-down                          # ends the embedded AWS; nothing of it survives
"""
