"""Check Slurm's accounting."""

from collections.abc import Iterator

from cluster_request.effective_request import EffectiveRequest
from config.arns import Arn, elsewhere
from config.errors import ABSENT, Level, Path, Problem
from config.instance_group import Role
from config.model import ClusterConfig, slurm_of
from config.rds_authorities import rds_authorities, rds_region
from config.slurm import Database
from validation.rules.registry import slurm_request_rule, slurm_rule

ACCOUNTING: Path = ("slurm", "accounting")
NEEDED = {"host": "name of the database's host", "secret_arn": "ARN of the secret with its username and password"}
SERVERS = (Database.EXTERNAL, Database.MANAGED)
PATCHES = ("AutoPatchConfig", "ImageId", "ImageReleaseVersion", "ScheduledUpdateConfig")
OF_A_SERVER = ("host", "port", "secret_arn", "secret_key_arn")


@slurm_rule("external-accounting", "slurm.accounting")
def external_accounting(config: ClusterConfig) -> Iterator[Problem]:
    """An external or managed accounting database requires `host` and `secret_arn`.

    Without them slurmdbd cannot connect, and the controller's setup fails.
    """
    accounting = slurm_of(config).accounting
    if accounting.database in SERVERS:
        for name, what in NEEDED.items():
            if getattr(accounting, name) is None:
                yield Problem((*ACCOUNTING, name), ABSENT, f"required by `database: {accounting.database}`", f"add the {what}")


@slurm_rule("unused-accounting-fields", "slurm.accounting")
def unused_accounting_fields(config: ClusterConfig) -> Iterator[Problem]:
    """`host`, `port`, `secret_arn` and `secret_key_arn` require `database: external` or `managed`, and `schema_name` `managed`.

    Otherwise they have no effect, and jobs are recorded elsewhere.
    """
    accounting = slurm_of(config).accounting
    unused = () if accounting.database in SERVERS else OF_A_SERVER
    unused_schema = () if accounting.database is Database.MANAGED else ("schema_name",)
    for name in (*unused, *unused_schema):
        if name in accounting.model_fields_set and getattr(accounting, name) is not None:
            needed = Database.MANAGED if name == "schema_name" else Database.EXTERNAL
            message = f"has no effect with `database: {accounting.database}`"
            yield Problem((*ACCOUNTING, name), getattr(accounting, name), message, f"remove it, or set `database: {needed}`")


@slurm_rule("managed-accounting", "slurm.accounting.database", "slurm.setup", "provisioning")
def managed_accounting(config: ClusterConfig) -> Iterator[Problem]:
    """`database: managed` requires `slurm.setup: api` and `provisioning: continuous`.

    HyperPod connects to a database only on clusters that it configures, and rejects one without continuous provisioning.
    """
    # https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-external-accounting-db-slurm.html
    needed = {"slurm.setup: api": config.uses_slurm_api, "provisioning: continuous": config.provisioning is not None}
    missing = [f"`{line}`" for line, is_set in needed.items() if not is_set]
    if slurm_of(config).accounting.database is Database.MANAGED and missing:
        fix = "set that at the cluster's creation, or use `database: external`"
        yield Problem((*ACCOUNTING, "database"), Database.MANAGED.value, f"requires {' and '.join(missing)}", fix)


@slurm_rule("state-with-local-accounting", "slurm.state_folder", "slurm.accounting.database")
def state_with_local_accounting(config: ClusterConfig) -> Iterator[Problem]:
    """`slurm.state_folder` requires the accounting database `external` or `none`.

    A local database is lost with its controller. slurmctld then refuses to start, because the cluster id in its state differs
    from the new database's.
    """
    # UpdateClusterSoftware replaces the controller's root volume, and slurmctld then fails with "CLUSTER ID MISMATCH".
    slurm = slurm_of(config)
    if slurm.state_folder is not None and slurm.accounting.database is Database.LOCAL:
        message = "does not survive a patch or replacement of the controller, and then contradicts `state_folder`"
        yield Problem((*ACCOUNTING, "database"), slurm.accounting.database.value, message, "set `database: external`, or `none`")


@slurm_request_rule("local-accounting", "slurm.accounting.database", "instance_groups[]", level=Level.WARNING)
def local_accounting(request: EffectiveRequest) -> Iterator[Problem]:
    """A file that patches or replaces controllers should not use the accounting database `local`.

    The database is on the controller's root volume: a patch, another image or a replacement deletes all records of jobs.
    """
    database = slurm_of(request.config).accounting.database
    causes = [(group, name) for group in request.of_role(Role.CONTROLLER) for name in PATCHES if group.sets(name)]
    for group, name in causes if database is Database.LOCAL else ():
        message = "patching deletes the local accounting database"
        yield group.member(name).problem(message, "use `database: external`, or suppress this warning")


@slurm_rule("secret-location", "slurm.accounting.secret_arn", "region", "account", level=Level.WARNING)
def secret_location(config: ClusterConfig) -> Iterator[Problem]:
    """The accounting database's secret should be in the cluster's region and account.

    Otherwise every start of slurmdbd depends on another region, or on the permissions of another account.
    """
    arn = slurm_of(config).accounting.secret_arn
    if arn and (where := elsewhere(arn, config)):
        fix = "use a secret in the cluster's region and account, or suppress this warning"
        yield Problem((*ACCOUNTING, "secret_arn"), arn, where, fix)


@slurm_rule("database-region", "slurm.accounting.host", "region", level=Level.WARNING)
def database_region(config: ClusterConfig) -> Iterator[Problem]:
    """The accounting database should be in the cluster's region, as far as its RDS host name shows.

    slurmdbd queries it for each job: across regions, every Slurm command is slow or fails.
    """
    host = slurm_of(config).accounting.host
    if (region := rds_region(host)) and config.region and region != config.region:
        fix = f"use a database in {config.region}, or suppress this warning"
        yield Problem((*ACCOUNTING, "host"), host or "", f"is in {region}, but the cluster is in {config.region}", fix)


@slurm_rule("database-certificates", "slurm.accounting", level=Level.WARNING)
def database_certificates(config: ClusterConfig) -> Iterator[Problem]:
    """An external accounting database in RDS should be in a region whose certificate authorities are known, and not a proxy.

    Otherwise controllers verify the database only if a script stores its authorities there.
    """
    accounting = slurm_of(config).accounting
    if accounting.database is Database.EXTERNAL and rds_region(accounting.host) and not rds_authorities(accounting.host):
        fix = "see docs/operate/slurm.md, *TLS*, or suppress this warning"
        yield Problem((*ACCOUNTING, "host"), accounting.host, "its certificate authorities are unknown", fix)


@slurm_rule("secret-key-region", "slurm.accounting")
def secret_key_region(config: ClusterConfig) -> Iterator[Problem]:
    """The secret's KMS key must be in the secret's region.

    Secrets Manager uses only keys in its own region, so another key cannot decrypt the secret.
    """
    # https://docs.aws.amazon.com/kms/latest/developerguide/concepts.html: a key is used in its own region.
    secret, key = slurm_of(config).accounting.secret_arn, slurm_of(config).accounting.secret_key_arn
    if secret and key and Arn.of(secret).region != Arn.of(key).region:
        message = f"is in {Arn.of(key).region}, but the secret is in {Arn.of(secret).region}"
        yield Problem((*ACCOUNTING, "secret_key_arn"), key, message, "use the secret's key")
