"""What replacing or rebooting a controller costs."""

from collections.abc import Sequence

from cli.counted import counted
from cli.errors import CommandError
from cli.node_actions.site import Site
from cli.node_directory import Node
from config.instance_group import Role
from config.model import slurm_of
from config.slurm import Database

PAGE = "docs/operate/slurm.md"


def warnings(site: Site, action: str, nodes: Sequence[Node]) -> list[str]:
    """Return a warning for each loss with the controllers and login nodes among the nodes."""
    chosen = [node for node in nodes if node.role == Role.CONTROLLER]
    found = (_replaced(site) if action == "replace" else _rebooted(site, chosen)) if chosen else []
    if any(node.role == Role.LOGIN for node in nodes):
        found.append("open shells on login nodes end")
    return found


def demand_another(site: Site, action: str, nodes: Sequence[Node], *, force: bool) -> None:
    """Raise a CommandError if the nodes include every controller while jobs run, unless ``force``."""
    chosen = {node.instance for node in nodes if node.role == Role.CONTROLLER}
    others = [node for node in site.of_role(Role.CONTROLLER) if node.instance not in chosen]
    if not chosen or force or any(node.status == "Running" for node in others) or site.scheduler is None:
        return
    jobs = site.scheduler.jobs()
    if jobs:
        running = f"{counted(len(jobs), 'job')} running"
        raise CommandError(
            f"cannot {action} the only controller: {running}", f"wait until they end, or pass --force (see {PAGE})"
        )


def _replaced(site: Site) -> list[str]:
    slurm = slurm_of(site.deployment.config)
    lines = ["HyperPod may refuse to replace Slurm controllers (AWS documents that it does)"]
    if slurm.state_folder is None:
        lines.append("replacing the controller ends all running jobs and empties the queue: `slurm.state_folder` is not set")
    if slurm.accounting.database is Database.LOCAL:
        lines.append("the accounting database is deleted with the controller's disk: `slurm.accounting.database` is local")
    return [*lines, f"see {PAGE}"]


def _rebooted(site: Site, chosen: Sequence[Node]) -> list[str]:
    if len(chosen) < len(site.of_role(Role.CONTROLLER)):
        return ["another controller takes over during the reboot"]
    return ["jobs run on, but Slurm's commands do not answer until the controller is back"]
