"""What the steps of a test node are told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hyperpod_node.context import Context
from hyperpod_node.node_settings import Accounting, Directory, Group, InstanceType, NodeSettings, Slurm, User
from hyperpod_node.provisioning_parameters import ProvisioningParameters
from hyperpod_node.resource_config import Instance, ResourceConfig
from tests.node_settings import directory as directory_section

LUSTRE, OPENZFS = "fs-0a.fsx.us-west-2.amazonaws.com", "fs-0b.fsx.us-west-2.amazonaws.com"
P5 = "ml.p5.48xlarge"
INSTANCES = (
    Instance("controller-machine-1", "10.1.0.4", "i-4", "controller-machine", "ml.c5.xlarge"),
    Instance("compute-nodes-1", "10.1.0.6", "i-6", "compute-nodes", P5),
)


def user(
    name: str = "alice", uid: int = 4001, *, groups: tuple[str, ...] = (), keys: tuple[str, ...] = (), sudo: bool = False
) -> User:
    return User(name, uid, groups, keys, sudo)


def a_context(
    *,
    groups: tuple[Group, ...] = (),
    users: tuple[User, ...] = (),
    lustre: str | None = None,
    openzfs: str | None = None,
    homes: str = "/fsx/home",
    message: str | None = None,
    directory: Directory | None = None,
    role: str = "compute",
    accounting: str = "none",
    bundle: Path = Path("/bundle"),
    instances: tuple[Instance, ...] = INSTANCES,
) -> Context:
    """The worker's view of a cluster of two."""
    return Context(
        node=instances[-1],
        role=role,
        cluster=ResourceConfig(Path("resource_config.json"), "ml-cluster", instances),
        parameters=ProvisioningParameters(
            path=bundle / "provisioning_parameters.json",
            controller_group="controller-machine",
            login_group=None,
            partitions={"compute-nodes": "dev"},
            fsx_dns_name=lustre,
            fsx_mountname="abcdefgh" if lustre else None,
            fsx_openzfs_dns_name=openzfs,
        ),
        settings=NodeSettings(
            path=bundle / "node_settings.json",
            groups=groups,
            users=users,
            homes=Path(homes),
            accounting=Accounting(accounting, None, 3306, None),
            slurm=Slurm(
                None, prolog_and_epilog=False, restrict_ssh=False, topology=None, setup="scripts", settings={}, partitions=()
            ),
            instance_types={P5: InstanceType(2, 48, 8, "h100", efa=True)},
            message_of_the_day=message,
            directory=directory,
        ),
    )


def a_directory(**changes: object) -> Directory:
    """The settings of a directory."""
    section = directory_section(**changes)
    values: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in section.items()}
    return Directory(**values)
