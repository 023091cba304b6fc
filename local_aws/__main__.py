"""The embedded AWS from the command line: `python -m local_aws COMMAND`."""

import argparse
import os
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from types import FrameType

from config.interpreter import demand

if __name__ == "__main__":
    demand(
        ".venv/bin/python -m local_aws", "boto3", "moto", "pydantic", "yaml"
    )  # before the server's process fails to import them

from local_aws import fault_commands, kubectl_command, node_commands, process
from local_aws.environment import as_shell, aws_environment

Command = Callable[[argparse.Namespace], int]

_NEXT = """embedded AWS at {endpoint}

Next:
    eval "$({python} -m local_aws env)"     # point this shell at it, and at nothing else
    cdk bootstrap                           # once per account and region
    cdk deploy 'starter/*'
    {python} -m local_aws down              # stop it and delete all its data"""

_WITHOUT_NODES = "\nNodes only have states: they run no scripts and no pods. To boot simulated nodes, use `up --nodes`."


def main(arguments: list[str] | None = None) -> int:
    """Run one command and return its exit status."""
    options = parser().parse_args(arguments)
    try:
        status: int = options.run(options)
    except process.ProcessError as error:
        print(error, file=sys.stderr)
        return 1
    return status


def _up(options: argparse.Namespace) -> int:
    if options.nodes:
        node_commands.demand_support()
        node_commands.behaviour()
    state = process.up(options.port, options.speed, nodes=options.nodes)
    print(_NEXT.format(endpoint=state.endpoint, python=os.path.relpath(sys.executable)))
    if not options.nodes:
        print(_WITHOUT_NODES)
    return 0


def _down(_: argparse.Namespace) -> int:
    print("the embedded AWS is stopped" if process.down() else "no embedded AWS is running")
    if node_commands.clear_leftovers():
        print("its leftover nodes are stopped")
    return 0


def _status(_: argparse.Namespace) -> int:
    state = process.status()
    if state is None:
        print("no embedded AWS is running; start one with `python -m local_aws up`")
        return 1
    print(f"embedded AWS at {state.endpoint}, pid {state.pid}, clock {state.speed:g} times as fast as the host's")
    return 0


def _reset(_: argparse.Namespace) -> int:
    if process.status() is None and node_commands.clear_leftovers():
        print("no embedded AWS is running; leftover nodes are stopped")
        return 0
    process.reset()
    print("the embedded AWS is now empty")
    return 0


def _environment(options: argparse.Namespace) -> dict[str, str]:
    state = process.status()
    if state is None:
        raise process.ProcessError("no embedded AWS is running; start one with `python -m local_aws up`")
    environment = aws_environment(state.endpoint, options.region, process.home(), state.owner)
    if options.role is None:
        return environment
    from local_aws.assumed_role import as_role  # noqa: PLC0415  boto3 is slow to import

    return as_role(environment, options.role, process.home())


def _env(options: argparse.Namespace) -> int:
    print(as_shell(_environment(options)))
    return 0


def _run(options: argparse.Namespace) -> int:
    command = options.command[1:] if options.command[:1] == ["--"] else options.command
    if not command:
        raise process.ProcessError("no command given; pass one, e.g. `python -m local_aws run aws s3 ls`")
    environment = _environment(options)
    os.environ["PATH"] = environment["PATH"]  # execvpe searches the PATH of this process
    try:
        os.execvpe(command[0], command, environment)  # noqa: S606  replaced, so that signals reach it
    except FileNotFoundError:
        raise process.ProcessError(f"{command[0]!r} is not in PATH") from None
    except OSError as error:
        raise process.ProcessError(f"cannot run {command[0]!r}: {error.strerror}") from None


def _serve(options: argparse.Namespace) -> int:
    """Run the embedded AWS until Ctrl-C or SIGTERM."""
    from local_aws.clock import clock  # noqa: PLC0415  the other commands need no server
    from local_aws.server import EmbeddedAws  # noqa: PLC0415

    stop = threading.Event()

    def end(_: int, __: FrameType | None) -> None:
        stop.set()

    signal.signal(signal.SIGTERM, end)
    signal.signal(signal.SIGINT, end)
    with (
        process.sole(),
        EmbeddedAws(options.port, options.speed) as aws,
        _nodes(aws.endpoint) if options.nodes else nullcontext(),
    ):
        process.note(aws.port, clock.speed)
        print(f"embedded AWS at {aws.endpoint}", flush=True)
        stop.wait()
    return 0


def _nodes(endpoint: str) -> AbstractContextManager[object]:
    from local_aws.nodes.runner import simulated_nodes  # noqa: PLC0415  the other commands need no server

    node_commands.demand_support()
    return simulated_nodes(node_commands.folder(), endpoint, behaviour=node_commands.behaviour())


def _demo(options: argparse.Namespace) -> int:
    from local_aws.demo import DemoError, demo  # noqa: PLC0415  the other commands need no server

    try:
        demo(options.cluster)
    except DemoError as error:
        raise process.ProcessError(str(error)) from error
    return 0


def _port(text: str) -> int:
    if not 0 <= int(text) <= 65535:
        raise argparse.ArgumentTypeError(f"must be 0 to 65535, got {text}")
    return int(text)


def _speed(text: str) -> float:
    if not float(text) > 0:
        raise argparse.ArgumentTypeError(f"must be above 0, got {text}")
    return float(text)


def parser() -> argparse.ArgumentParser:
    """Return the parser, with one subcommand per action."""
    top = argparse.ArgumentParser(prog="python -m local_aws", description="run an AWS account on this machine")
    commands = top.add_subparsers(required=True, metavar="COMMAND")

    def command(name: str, run: Command, text: str) -> argparse.ArgumentParser:
        added = commands.add_parser(name, help=text, description=text)
        added.set_defaults(run=run)
        return added

    for starting in (
        command("up", _up, "start the embedded AWS in the background"),
        command("serve", _serve, "run the embedded AWS in the foreground until Ctrl-C"),
    ):
        starting.add_argument("--port", type=_port, default=0, help="port on loopback (default: any free port)")
        starting.add_argument("--speed", type=_speed, help="speed of AWS's clock, as a factor (default: 300)")
        starting.add_argument(
            "--nodes", action="store_true", help="run simulated nodes for clusters (as root, after `make nodes-setup`)"
        )
    node_commands.add(command)
    fault_commands.add(command)
    kubectl_command.add(command)
    command("down", _down, "stop the embedded AWS")
    command("status", _status, "show whether the embedded AWS is running, and its endpoint")
    command("reset", _reset, "delete everything in the embedded AWS")
    environment = command("env", _env, "print the settings that point a shell at the embedded AWS")
    running = command("run", _run, "run a command against the embedded AWS")
    for talking in (environment, running):
        talking.add_argument("--region", default="us-west-2")
        talking.add_argument("--role", metavar="NAME", help="IAM role to assume (default: the account's administrator)")
    running.add_argument(
        "command", nargs=argparse.REMAINDER, metavar="COMMAND", help="the command and its options, optionally after --"
    )
    demo = command("demo", _demo, "deploy a cluster to the embedded AWS with the real cdk command line")
    demo.add_argument(
        "cluster",
        nargs="?",
        default="",
        help="path of a file, or name of one in clusters/ (default: the only one there, else the example starter)",
    )
    return top


if __name__ == "__main__":
    sys.exit(main())
