"""The slurm section of a cluster file."""

from enum import StrEnum

from pydantic import StrictBool, StrictInt

from config.section import Change, Section, setting


class Database(StrEnum):
    """Where Slurm's accounting database is."""

    LOCAL = "local"
    EXTERNAL = "external"
    NONE = "none"


class AccountingConfig(Section):
    """Slurm's records of jobs, accounts and users (`sacct`, `sacctmgr`)."""

    database: Database = setting(
        "`local`: MariaDB on the (first) controller; `external`: a MySQL database that is there already, e.g. Aurora or RDS; "
        "`none`: no accounting",
        Change.NEW_NODES,
        Database.LOCAL,
    )
    host: str | None = setting(
        "name or address of an external database, whose security group must let the nodes in",
        Change.NEW_NODES,
        None,
        pattern=r"^[a-zA-Z0-9]([a-zA-Z0-9.-]*[a-zA-Z0-9])?$",
        max_length=253,
    )
    port: StrictInt = setting("port of an external database", Change.NEW_NODES, 3306, ge=1, le=65535)
    secret_arn: str | None = setting(
        "secret in Secrets Manager with the external database's `username` and `password`, as RDS writes it",
        Change.NEW_NODES,
        None,
        pattern=r"^arn:aws[a-z-]*:secretsmanager:[a-z0-9-]+:[0-9]{12}:secret:[a-zA-Z0-9/_+=.@!-]+-[a-zA-Z0-9]{6}$",
        max_length=2048,
    )
    secret_key_arn: str | None = setting(
        "KMS key of the secret, where it is one of yours; its key policy must leave its use to the account's roles",
        Change.IN_PLACE,
        None,
        pattern=r"^arn:aws[a-z-]*:kms:[a-z0-9-]+:[0-9]{12}:key/[a-zA-Z0-9-]+$",
        max_length=2048,
    )


class SlurmConfig(Section):
    """How Slurm is set up beyond what HyperPod does by itself."""

    accounting: AccountingConfig = setting("records of jobs and users", Change.NEW_NODES, AccountingConfig())
    state_folder: str | None = setting(
        "folder on a shared file system for slurmctld's state, e.g. `/fsx/slurm`: several controllers need it, and a replaced "
        "controller finds the queue there; it goes with accounting that is `external` or `none`; without it, the state is on the "
        "controller's own disk",
        Change.NEW_NODES,
        None,
        pattern=r"^(/[a-zA-Z0-9_-][a-zA-Z0-9._-]*)+$",
        max_length=255,
    )
    prolog_and_epilog: StrictBool = setting(
        "prepare nodes for a job, and clear away what it left (processes, temporary files)", Change.NEW_NODES, default=True
    )
    restrict_ssh: StrictBool = setting(
        "let users log in to a compute node only while a job of theirs runs there; administrators always can",
        Change.NEW_NODES,
        default=False,
    )
    topology: str | None = setting(
        "text of topology.conf; it must name every compute node, so whoever changes a count changes it too",
        Change.NEW_NODES,
        None,
        min_length=1,
        max_length=65536,
    )
