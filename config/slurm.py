"""Define the slurm section."""

from enum import StrEnum
from typing import Annotated

from pydantic import StrictBool, StrictInt, StringConstraints

from config.section import Change, Section, setting

# One line of printable ASCII without the characters that end or escape a value in slurm.conf.
Parameter = Annotated[str, StringConstraints(pattern=r"^[!$-\[\]-~]([ !$-\[\]-~]*[!$-\[\]-~])?$", max_length=1024)]


class Database(StrEnum):
    """The location of Slurm's accounting database."""

    LOCAL = "local"
    EXTERNAL = "external"
    NONE = "none"


class AccountingConfig(Section):
    """Slurm accounting of jobs, accounts and users (`sacct`, `sacctmgr`)."""

    database: Database = setting(
        "`local`: MariaDB on the (first) controller; `external`: an existing MySQL database, e.g. Aurora or RDS; `none`: no "
        "accounting",
        Change.NEW_NODES,
        Database.LOCAL,
    )
    host: str | None = setting(
        "host name or address of an external database, whose security group must allow the nodes",
        Change.NEW_NODES,
        None,
        pattern=r"^[a-zA-Z0-9]([a-zA-Z0-9.-]*[a-zA-Z0-9])?$",
        max_length=253,
    )
    port: StrictInt = setting("port of an external database", Change.NEW_NODES, 3306, ge=1, le=65535)
    secret_arn: str | None = setting(
        "Secrets Manager secret with `username` and `password` of the external database, in RDS's format",
        Change.NEW_NODES,
        None,
        pattern=r"^arn:aws[a-z-]*:secretsmanager:[a-z0-9-]+:[0-9]{12}:secret:[a-zA-Z0-9/_+=.@!-]+-[a-zA-Z0-9]{6}$",
        max_length=2048,
    )
    secret_key_arn: str | None = setting(
        "customer managed KMS key of the secret; its key policy must allow access through IAM policies",
        Change.IN_PLACE,
        None,
        pattern=r"^arn:aws[a-z-]*:kms:[a-z0-9-]+:[0-9]{12}:key/[a-zA-Z0-9-]+$",
        max_length=2048,
    )


class SlurmConfig(Section):
    """The configuration of Slurm beyond HyperPod's defaults."""

    accounting: AccountingConfig = setting("accounting of jobs and users", Change.NEW_NODES, AccountingConfig())
    state_folder: str | None = setting(
        "folder on a shared file system for slurmctld's state, e.g. `/fsx/slurm`, required for several controllers; a replaced "
        "controller keeps the queue; requires accounting `external` or `none`; default: the controller's disk",
        Change.NEW_NODES,
        None,
        pattern=r"^(/[a-zA-Z0-9_-][a-zA-Z0-9._-]*)+$",
        max_length=255,
    )
    prolog_and_epilog: StrictBool = setting(
        "prepare nodes before a job, and clean up processes and temporary files after it", Change.NEW_NODES, default=True
    )
    restrict_ssh: StrictBool = setting(
        "allow SSH to a compute node only to users with a running job there; administrators always have access",
        Change.NEW_NODES,
        default=False,
    )
    topology: str | None = setting(
        "text of topology.conf, which must contain every compute node; update it with every instance_count",
        Change.NEW_NODES,
        None,
        min_length=1,
        max_length=65536,
    )
    settings: dict[str, Parameter] = setting(
        "parameters of slurm.conf, e.g. `SchedulerParameters: bf_continue`, which take precedence over HyperPod's; numbers and "
        "all other values are text",
        Change.NEW_NODES,
        {},
        max_length=200,
    )
