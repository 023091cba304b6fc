"""A node runner without nodes: check the lifecycle scripts with the execution role, and say so in the node's log."""

from collections.abc import Callable, Sequence

from local_aws.hyperpod.lifecycle_scripts import LifecycleScripts, check, failed
from local_aws.hyperpod.logs import NodeLog
from local_aws.hyperpod.node_runner import Done, Launch, Outcome, Reserved


class CheckOnlyRunner:
    """A node runner that runs no nodes: a start succeeds if the scripts exist and the role may read them."""

    starts_in_real_time = False
    runs_kubelets = False

    def start(self, launch: Launch, done: Done) -> None:
        """Check the scripts, write the node's log and report the result."""
        failure, lines = _check(launch)
        log = NodeLog(launch.cluster, launch.node)
        log.write([*lines, failure] if failure else lines)
        done(failed(failure, log) if failure else Outcome())

    def stop(self, node_id: str) -> None:
        """Do nothing: no node runs."""

    def reboot(self, node_id: str, done: Done) -> None:  # noqa: ARG002  part of every runner's signature
        """Report success: no node runs."""
        done(Outcome())

    def reserve(self, name: str, node_ids: Sequence[str], done: Reserved) -> None:  # noqa: ARG002  as above
        """Report that no jobs run: there is no Slurm."""
        done(set())

    def release(self, name: str, node_ids: Sequence[str], done: Callable[[], None]) -> None:  # noqa: ARG002  as above
        """Report success: there is no Slurm."""
        done()

    def reset(self) -> None:
        """Do nothing: no node runs."""


def _check(launch: Launch) -> tuple[str | None, list[str]]:
    scripts = LifecycleScripts.of(launch.node.spec)
    if scripts is None:
        return None, ["the group has no lifecycle scripts"]
    failure = check(launch, scripts)
    lines = [f"lifecycle scripts: {scripts.uri}", f"script: {scripts.key(scripts.entry)}"]
    return failure, lines if failure else [*lines, "the embedded AWS checked the scripts but did not run them"]
