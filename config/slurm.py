"""Define the slurm section."""

from enum import StrEnum
from typing import Annotated

from pydantic import StrictBool, StrictInt, StringConstraints

from config.instance_group import PARTITION_NAME
from config.section import Change, KeyArn, Section, setting

# One line of printable ASCII without the characters that end or escape a value in slurm.conf.
Parameter = Annotated[str, StringConstraints(pattern=r"^[!$-\[\]-~]([ !$-\[\]-~]*[!$-\[\]-~])?$", max_length=1024)]

# HyperPod's agent writes this partition of all nodes, which is the default.
ALL_NODES = "dev"


class Database(StrEnum):
    """The location of Slurm's accounting database."""

    LOCAL = "local"
    EXTERNAL = "external"
    MANAGED = "managed"
    NONE = "none"


class Setup(StrEnum):
    """Who configures Slurm on the nodes."""

    SCRIPTS = "scripts"
    API = "api"


class MetadataAccess(StrEnum):
    """The users of a node that can use its role."""

    ADMINISTRATORS = "administrators"
    ALL = "all"


class ControllerRole(StrEnum):
    """The IAM role of the controllers."""

    OWN = "own"
    SHARED = "shared"


METADATA_ACCESS = "MetadataAccess"
"""The metadata of Custom::HyperPodRollout in a template: the value of ``metadata_access`` on running nodes."""
SCRIPTS_LINE = "slurm: {setup: scripts}"


class AccountingConfig(Section):
    """Slurm accounting of jobs, accounts and users (`sacct`, `sacctmgr`)."""

    database: Database = setting(
        "`local`: MariaDB on the (first) controller; `external`: an existing MySQL database, e.g. Aurora or RDS; `managed`: "
        "likewise, but HyperPod connects to it (requires `setup: api`, `provisioning: continuous` and an image of September 2026 "
        "or later; HyperPod cannot return to `local`); `none`: no accounting",
        Change.NEW_NODES,
        Database.LOCAL,
    )
    host: str | None = setting(
        "host name or address of an `external` or `managed` database, whose security group must allow the nodes",
        Change.NEW_NODES,
        None,
        pattern=r"^[a-zA-Z0-9]([a-zA-Z0-9.-]*[a-zA-Z0-9])?$",
        max_length=253,
        api="sagemaker:CreateCluster Orchestrator.Slurm.AccountingDatabase.Endpoint",
    )
    port: StrictInt = setting(
        "port of an `external` or `managed` database",
        Change.NEW_NODES,
        3306,
        ge=1,
        le=65535,
        api="sagemaker:CreateCluster Orchestrator.Slurm.AccountingDatabase.Port",
    )
    schema_name: str | None = setting(
        "name of a `managed` database's schema, which the user of the secret must be able to create; default: HyperPod's, with "
        "the cluster's ID",
        Change.NEW_NODES,
        None,
        pattern=r"^[a-zA-Z0-9$_]+$",
        max_length=64,
        api="sagemaker:CreateCluster Orchestrator.Slurm.AccountingDatabase.Name",
    )
    secret_arn: str | None = setting(
        "Secrets Manager secret with `username` and `password` of an `external` or `managed` database, in RDS's format",
        Change.NEW_NODES,
        None,
        pattern=r"^arn:aws[a-z-]*:secretsmanager:[a-z0-9-]+:[0-9]{12}:secret:[a-zA-Z0-9/_+=.@!-]+-[a-zA-Z0-9]{6}$",
        max_length=2048,
        api="sagemaker:CreateCluster Orchestrator.Slurm.AccountingDatabase.SecretArn",
    )
    secret_key_arn: KeyArn | None = setting(
        "customer managed KMS key of the secret; its key policy must allow access through IAM policies", Change.IN_PLACE, None
    )


class PartitionState(StrEnum):
    """The availability of a partition for jobs."""

    UP = "UP"
    DOWN = "DOWN"
    DRAIN = "DRAIN"
    INACTIVE = "INACTIVE"


class PartitionConfig(Section):
    """A partition of Slurm with its nodes and limits; partitions without limits need only `partition` of their groups."""

    name: str = setting("name of the partition", Change.RUNNING_NODES, pattern=PARTITION_NAME)
    groups: tuple[str, ...] | None = setting(
        "names of its compute groups, which can be in several partitions; default: the groups whose `partition` is this name",
        Change.RUNNING_NODES,
        None,
        min_length=1,
        max_length=100,
    )
    default: StrictBool = setting(
        "use this partition for jobs that name none, instead of HyperPod's `dev`", Change.RUNNING_NODES, default=False
    )
    max_time: str | None = setting(
        'time limit of jobs, e.g. `"60"` (minutes), `"12:00:00"`, `1-00:00:00` (days-hours) or `UNLIMITED`; default: none',
        Change.RUNNING_NODES,
        None,
        pattern=r"^([0-9]{1,7}(:[0-5][0-9]){0,2}|[0-9]{1,4}-([01]?[0-9]|2[0-3])(:[0-5][0-9]){0,2}|UNLIMITED|INFINITE)$",
    )
    priority_tier: StrictInt | None = setting(
        "jobs of a higher tier start first, and can preempt others with `PreemptType: preempt/partition_prio`; default: 1",
        Change.RUNNING_NODES,
        None,
        ge=0,
        le=65533,
    )
    priority_job_factor: StrictInt | None = setting(
        "the partition's share in a job's priority with `PriorityType: priority/multifactor`; default: 1",
        Change.RUNNING_NODES,
        None,
        ge=0,
        le=65533,
    )
    qos: str | None = setting(
        "QOS whose limits apply to the partition; the controller creates it without limits if it does not exist",
        Change.RUNNING_NODES,
        None,
        pattern=PARTITION_NAME,
    )
    allow_accounts: tuple[Annotated[str, StringConstraints(pattern=PARTITION_NAME)], ...] = setting(
        "accounts that may use the partition; default: all", Change.RUNNING_NODES, (), max_length=100
    )
    state: PartitionState | None = setting(
        "`UP`, `DOWN` (queues jobs), `DRAIN` (refuses new jobs) or `INACTIVE`; default: `UP`", Change.RUNNING_NODES, None
    )


class SlurmConfig(Section):
    """The configuration of Slurm beyond HyperPod's defaults."""

    setup: Setup = setting(
        "`scripts`: the lifecycle scripts configure Slurm, from provisioning_parameters.json; `api`: HyperPod configures Slurm "
        "and mounts file systems from the request, then runs the scripts (see docs/operate/slurm-setup.md)",
        Change.AT_CREATION,
        Setup.API,
    )
    accounting: AccountingConfig = setting("accounting of jobs and users", Change.NEW_NODES, AccountingConfig())
    state_folder: str | None = setting(
        "folder on a shared file system for slurmctld's state, e.g. `/fsx/slurm`, required for several controllers; a replaced "
        "controller keeps the queue; not with accounting `local`; default: the controller's disk",
        Change.NEW_NODES,
        None,
        pattern=r"^(/[a-zA-Z0-9_-][a-zA-Z0-9._-]*)+$",
        max_length=255,
    )
    prolog_and_epilog: StrictBool = setting(
        "prepare nodes before a job, and clean up processes and temporary files after it", Change.RUNNING_NODES, default=True
    )
    restrict_ssh: StrictBool = setting(
        "allow SSH to a compute node only to users with a running job there; administrators always have access",
        Change.RUNNING_NODES,
        default=False,
    )
    metadata_access: MetadataAccess = setting(
        "users of a node who reach its metadata service, and so can use the node role: `administrators` (root, slurm, ubuntu and "
        "users with `sudo`), or `all` with their jobs (see docs/operate/metadata-access.md)",
        Change.RUNNING_NODES,
        MetadataAccess.ADMINISTRATORS,
    )
    controller_role: ControllerRole = setting(
        "IAM role of the controllers: `own`, the only one that can read the secret of `accounting`, or `shared` with all nodes; "
        "`./hpod init` writes `own`",
        Change.AT_CREATION,
        ControllerRole.SHARED,
    )
    topology: str | None = setting(
        "text of topology.conf, which must contain every compute node; update it with every instance_count",
        Change.RUNNING_NODES,
        None,
        min_length=1,
        max_length=65536,
    )
    settings: dict[str, Parameter] = setting(
        "parameters of slurm.conf, e.g. `SchedulerParameters: bf_continue`, which take precedence over HyperPod's; numbers and "
        "all other values are text",
        Change.RUNNING_NODES,
        {},
        max_length=200,
    )
    partitions: tuple[PartitionConfig, ...] = setting(
        "partitions with limits, or with several groups; each `partition` of a group exists without an entry here",
        Change.RUNNING_NODES,
        (),
        max_length=100,
    )
