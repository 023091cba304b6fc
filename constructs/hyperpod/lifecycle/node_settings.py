"""Write node_settings.json: the settings of the cluster file that provisioning_parameters.json has no field for."""

import json

from cluster_request.effective_request import EffectiveRequest
from config.bucket_names import script_bucket_name
from config.instance_types import instance_type
from config.model import ClusterConfig, Orchestrator, slurm_of
from config.operation_names import bundle_parameter, node_log_group
from config.rds_authorities import rds_authorities
from config.slurm import ALL_NODES, PartitionConfig

FILE = "node_settings.json"

# Read by lifecycle_assets/hyperpod_node/node_settings.py.
VERSION = 1

Settings = dict[str, object]


def node_settings(config: ClusterConfig) -> Settings:
    """Return the content of the file, without instance counts: the hash in the scripts' prefix includes it."""
    if config.orchestrator is Orchestrator.EKS:
        return {"version": VERSION, "orchestrator": config.orchestrator.value}
    return {
        "version": VERSION,
        "groups": [{"name": group.name, "gid": group.gid} for group in config.user_groups],
        "users": [
            {
                "name": user.name,
                "uid": user.uid,
                "groups": list(user.groups),
                "ssh_public_keys": list(user.ssh_public_keys),
                "sudo": user.sudo,
            }
            for user in config.users
        ],
        "homes": config.storage.homes,
        "accounting": _accounting(config),
        "slurm": _slurm(config),
        "instance_types": _instance_types(config),
        "message_of_the_day": config.lifecycle.message_of_the_day,
        "directory": _directory(config),
        "follow": _follow(config),
    }


def render(settings: Settings) -> bytes:
    """Return the text of the file."""
    return (json.dumps(settings, indent=2) + "\n").encode()


def _accounting(config: ClusterConfig) -> Settings:
    accounting = slurm_of(config).accounting
    return {
        "database": accounting.database.value,
        "host": accounting.host,
        "port": accounting.port,
        "secret_arn": accounting.secret_arn,
        "authorities": rds_authorities(accounting.host),
    }


def _directory(config: ClusterConfig) -> Settings | None:
    """Return the section without the secret's key, which only the role needs."""
    return config.directory.model_dump(mode="json", exclude={"secret_key_arn"}) if config.directory else None


def _follow(config: ClusterConfig) -> Settings | None:
    """Return what a running node reads and writes; nothing if it does not follow the cluster file."""
    if not config.lifecycle.has_agent:
        return None
    # Only the deployment knows an account or a region that the file does not name.
    bucket = script_bucket_name(config.name, config.account or "*", config.region or "*")
    return {"parameter": bundle_parameter(config.name), "log_group": node_log_group(config.name), "bucket": bucket}


def _slurm(config: ClusterConfig) -> Settings:
    slurm = slurm_of(config)
    return {
        "setup": slurm.setup.value,
        "state_folder": slurm.state_folder,
        "prolog_and_epilog": slurm.prolog_and_epilog,
        "restrict_ssh": slurm.restrict_ssh,
        "metadata_access": slurm.metadata_access.value,
        "topology": slurm.topology,
        "settings": slurm.settings,
        "partitions": _partitions(config),
    }


def _partitions(config: ClusterConfig) -> list[Settings]:
    """Return the partitions of the file, and those that only compute groups name: HyperPod's agent may lack a new one."""
    groups = {name: [group.name for group in members] for name, members in config.partition_groups().items()}
    declared = {each.name: each for each in slurm_of(config).partitions}
    named = [name for name in groups if name not in declared and name != ALL_NODES]
    found: list[Settings] = [
        {"name": name, "groups": groups.get(name), "options": _options(each)} for name, each in declared.items()
    ]
    return found + [{"name": name, "groups": groups[name], "options": {}} for name in named]


def _options(partition: PartitionConfig) -> dict[str, str]:
    """Return the fields as keys and values of a PartitionName line."""
    options = {
        "Default": "YES" if partition.default else None,
        "MaxTime": partition.max_time,
        "PriorityTier": partition.priority_tier,
        "PriorityJobFactor": partition.priority_job_factor,
        "QOS": partition.qos,
        "AllowAccounts": ",".join(partition.allow_accounts) or None,
        "State": partition.state,
    }
    return {key: str(value) for key, value in options.items() if value is not None}


def _instance_types(config: ClusterConfig) -> Settings:
    """Return the hardware of the cluster's instance types, without unknown types."""
    known = {name: found for name in EffectiveRequest(config).type_names() if (found := instance_type(name))}
    existing = config.storage.existing
    lustre_has_efa = existing is not None and existing.efa
    return {
        name: {
            "sockets": found.sockets,
            "cores_per_socket": found.cores_per_socket,
            "gpus": found.gpus,
            "gpu": found.gpu,
            "efa": lustre_has_efa and found.efa_interfaces > 0,
        }
        for name, found in known.items()
    }
