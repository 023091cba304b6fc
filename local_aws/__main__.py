"""The embedded AWS from the command line: `python -m local_aws up|nodes|shell|fault|down|status|reset|env|run|serve|demo`."""

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

from local_aws import fault_commands, node_commands, process
from local_aws.environment import as_shell, aws_environment

Command = Callable[[argparse.Namespace], int]

_NEXT = """embedded AWS at {endpoint}

Next:
    eval "$({python} -m local_aws env)"     # this shell talks to it, and to nothing else
    cdk bootstrap                           # once, as in any account
    cdk deploy 'reference/*'
    {python} -m local_aws down              # ends it; nothing of it survives"""


def main(arguments: list[str] | None = None) -> int:
    """Run one command; the exit status."""
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
    return 0


def _down(_: argparse.Namespace) -> int:
    print("the embedded AWS is down" if process.down() else "no embedded AWS was up")
    if node_commands.clear_leftovers():
        print("the nodes that it left are ended")
    return 0


def _status(_: argparse.Namespace) -> int:
    state = process.status()
    if state is None:
        print("no embedded AWS is up; `python -m local_aws up` starts one")
        return 1
    print(f"embedded AWS at {state.endpoint}, pid {state.pid}, its clock {state.speed:g} times as fast")
    return 0


def _reset(_: argparse.Namespace) -> int:
    if process.status() is None and node_commands.clear_leftovers():
        print("no embedded AWS was up; the nodes that one had left are ended")
        return 0
    process.reset()
    print("the embedded AWS is empty")
    return 0


def _environment(options: argparse.Namespace) -> dict[str, str]:
    state = process.status()
    if state is None:
        raise process.ProcessError("no embedded AWS is up; `python -m local_aws up` starts one")
    return aws_environment(state.endpoint, options.region, process.home(), state.owner)


def _env(options: argparse.Namespace) -> int:
    print(as_shell(_environment(options)))
    return 0


def _run(options: argparse.Namespace) -> int:
    command = options.command[1:] if options.command[:1] == ["--"] else options.command
    if not command:
        raise process.ProcessError("there is no command to run; give one, e.g. `python -m local_aws run aws s3 ls`")
    environment = _environment(options)
    os.environ["PATH"] = environment["PATH"]  # execvpe looks the program up in this process's PATH
    try:
        os.execvpe(command[0], command, environment)  # noqa: S606  replaced, so that signals reach it
    except FileNotFoundError:
        raise process.ProcessError(f"no program {command[0]!r} in PATH") from None
    except OSError as error:
        raise process.ProcessError(f"{command[0]!r} cannot be run: {error.strerror}") from None


def _serve(options: argparse.Namespace) -> int:
    """Be the embedded AWS until Ctrl-C or SIGTERM."""
    from local_aws.clock import clock  # noqa: PLC0415  the other commands need no server
    from local_aws.server import EmbeddedAws  # noqa: PLC0415

    process.refuse_second()
    stop = threading.Event()

    def end(_: int, __: FrameType | None) -> None:
        stop.set()

    signal.signal(signal.SIGTERM, end)
    signal.signal(signal.SIGINT, end)
    with EmbeddedAws(options.port, options.speed) as aws, _nodes(aws.endpoint) if options.nodes else nullcontext():
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
        raise argparse.ArgumentTypeError(f"a port is a number from 0 to 65535, got {text}")
    return int(text)


def _speed(text: str) -> float:
    if not float(text) > 0:
        raise argparse.ArgumentTypeError(f"the clock's speed is a number above 0, got {text}")
    return float(text)


def parser() -> argparse.ArgumentParser:
    """The command line: one subcommand for each thing to do with it."""
    top = argparse.ArgumentParser(prog="python -m local_aws", description="an AWS account on this machine")
    commands = top.add_subparsers(required=True, metavar="COMMAND")

    def command(name: str, run: Command, text: str) -> argparse.ArgumentParser:
        added = commands.add_parser(name, help=text, description=text)
        added.set_defaults(run=run)
        return added

    for starting in (
        command("up", _up, "start it in the background"),
        command("serve", _serve, "be it in the foreground, until Ctrl-C"),
    ):
        starting.add_argument("--port", type=_port, default=0, help="on loopback; any free one by default")
        starting.add_argument("--speed", type=_speed, help="how many times as fast AWS's time passes; 300 by default")
        starting.add_argument(
            "--nodes", action="store_true", help="let clusters have nodes that run (as root, after make nodes-setup)"
        )
    node_commands.add(command)
    fault_commands.add(command)
    command("down", _down, "end it")
    command("status", _status, "say whether it runs, and where")
    command("reset", _reset, "empty it")
    environment = command("env", _env, "print what a shell must set to talk to it")
    running = command("run", _run, "run a command that talks to it")
    for talking in (environment, running):
        talking.add_argument("--region", default="us-west-2")
    running.add_argument(
        "command", nargs=argparse.REMAINDER, metavar="COMMAND", help="with its own options; -- may stand before it"
    )
    demo = command("demo", _demo, "bring up a cluster on it with the real cdk command line")
    demo.add_argument("cluster", nargs="?", default="reference")
    return top


if __name__ == "__main__":
    sys.exit(main())
