"""The demo of a Slurm cluster: its first jobs."""

from collections.abc import Callable
from functools import partial

from config.instance_group import Role
from config.model import ClusterConfig, slurm_of
from config.slurm import Database
from local_aws.builds.errors import HostError
from local_aws.demo.step import Environment, Goal, Say, Step, output, wait_for
from local_aws.nodes import setup, support

WORKERS_WITHIN_S = 120.0
_ON_NODE = ("python", "-m", "local_aws", "shell", "--")


def prepare(say: Say) -> bool:
    """Set this machine up for simulated nodes; if it cannot run any, say why and return false."""
    reasons = support.missing_of_machine()
    if not reasons:
        try:
            setup.setup(say, training=False)
        except HostError as error:
            reasons = [str(error)]
    if reasons:
        say(f"no simulated nodes, only a control plane: {'; '.join(reasons)}")
    return not reasons


def first_steps(config: ClusterConfig, *, nodes: bool) -> tuple[Step, ...]:
    """Return the first commands of a new user on the login node or controller: as root, then as the file's first user."""
    count = _workers(config)

    def wait(environment: Environment) -> None:
        wait_for_workers(count, partial(_idle_hosts, environment))

    jobs = [
        Step("sinfo: the nodes in Slurm", (*_ON_NODE, "sinfo"), before=wait),
        Step(
            f"srun: run a program on all {count} workers", (*_ON_NODE, "srun", f"--nodes={count}", "--immediate=60", "hostname")
        ),
    ]
    for user in config.users[:1]:
        submit = ("sbatch", "--wait", f"--nodes={count}", "--output=first-job.txt", "--wrap=id --name --user; srun hostname")
        jobs.append(Step(f"sbatch: submit a job as {user.name}", (*_ON_NODE, "sudo", "--login", f"--user={user.name}", *submit)))
    if slurm_of(config).accounting.database is not Database.NONE:
        jobs.append(Step("sacct: the accounting records of both", (*_ON_NODE, "sacct", "--allusers", "--allocations")))
    if not nodes:
        return ()
    return tuple(jobs) if count else tuple(jobs[:1])


def next_commands(config: ClusterConfig, cluster: str, *, nodes: bool) -> list[str]:
    """Return commands to try on the cluster."""
    if not nodes:
        return []
    where = "login node" if config.of_role(Role.LOGIN) else "controller"
    return [
        f"./hpod ssh {cluster}                     # a shell on the {where}; any name of a node works, too",
        f"./hpod run {cluster} controller -- sinfo # a command on nodes",
    ]


def wait_for_workers(count: int, look: Callable[[], set[str]], within_s: float = WORKERS_WITHIN_S) -> None:
    """Wait until Slurm has ``count`` idle workers: HyperPod's agent may add nodes to Slurm after they are InService."""
    wait_for(Goal(count, "workers", "idle", "in Slurm", "shell -- sinfo"), look, within_s)


def _idle_hosts(environment: Environment) -> set[str]:
    """Return the idle hosts in Slurm; none while it does not respond."""
    return set((output((*_ON_NODE, "sinfo", "--noheader", "--Node", "--states=idle", "--format=%N"), environment) or "").split())


def _workers(config: ClusterConfig) -> int:
    return sum(group.instance_count for group in config.of_role(Role.COMPUTE))
