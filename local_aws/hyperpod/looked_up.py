"""Nodes that do not run: their lifecycle scripts are looked up with the execution role, and the log says that this is all."""

from local_aws.hyperpod.lifecycle_scripts import LifecycleScripts, check, failed
from local_aws.hyperpod.logs import NodeLog
from local_aws.hyperpod.node_runner import Done, Launch, Outcome


class LookedUp:
    """A node runner that runs nothing: a node has started well if its scripts are there and its role may read them."""

    takes_its_time = False

    def start(self, launch: Launch, done: Done) -> None:
        """Look the scripts up, write the node's log and say how it went."""
        failure, lines = _look_up(launch)
        log = NodeLog(launch.cluster, launch.node)
        log.write([*lines, failure] if failure else lines)
        done(failed(failure, log) if failure else Outcome())

    def stop(self, node_id: str) -> None:
        """Do nothing: no node runs."""

    def reboot(self, node_id: str, done: Done) -> None:  # noqa: ARG002  part of every runner's signature
        """Say that it is done: no node runs."""
        done(Outcome())

    def reset(self) -> None:
        """Do nothing: no node runs."""


def _look_up(launch: Launch) -> tuple[str | None, list[str]]:
    scripts = LifecycleScripts.of(launch.node.spec)
    if scripts is None:
        return None, ["the group names no lifecycle scripts"]
    failure = check(launch, scripts)
    lines = [f"lifecycle scripts: {scripts.uri}", f"script: {scripts.key(scripts.entry)}"]
    return failure, lines if failure else [*lines, "the embedded AWS looked the scripts up and did not run them"]
