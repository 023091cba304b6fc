"""The agent's behaviour where AWS's sources disagree or are silent. The defaults are the worst case."""

from dataclasses import dataclass, fields, replace
from typing import Literal, get_args, get_origin, get_type_hints

from local_aws.builds.errors import HostError

ENVIRONMENT = "HYPERPOD_AGENT"  # of `python -m local_aws up`: "node_lines=before_scripts,placeholder_s=0"


@dataclass(frozen=True)
class Behaviour:
    """A variant of the agent's behaviour. The default of each field is the worst case."""

    # Only the script sees its mounts: awsome-distributed-ai PR 682 ("in /etc/fstab, just not in df -Th") and PR 1208.
    script_mounts: Literal["slave", "private", "host"] = "slave"
    # A new node gets its line after its scripts: sample-physical-ai-scaffolding-kit, register_slurm_features.sh.
    node_lines: Literal["after_scripts", "before_scripts"] = "after_scripts"
    # "until ~5 minutes after the node reaches InService", in AWS's seconds: the same file.
    node_lines_after_s: float = 300.0
    # `Instances` of a group without nodes: awsome-distributed-ai 2b673935 repairs `group["Instances"]` for an empty group.
    empty_instances: Literal["null", "absent", "list"] = "null"
    # The first slurm.conf does not name the cluster's controller: base-config's lifecycle_script.py waits until it does.
    first_slurm_conf: Literal["placeholder", "complete"] = "placeholder"
    # How long it does not, in AWS's seconds, which are the host's while scripts run. No source says; the scripts must see it.
    placeholder_s: float = 2.0
    # base-config's setup_mariadb_accounting.sh at the first boot: "hostname: Name or service not known". Until the scripts end.
    host_name: Literal["unknown", "known"] = "unknown"
    # TopologyPlugin=topology/tree without a topology.conf: sample-physical-ai-scaffolding-kit PR 14. Empty topology.yaml and
    # `Topology=` on partitions: its PR 23. `described`: what AWS documents, a tree with all nodes.
    automatic_topology: Literal["tree_without_file", "empty_yaml", "described", "none"] = "tree_without_file"
    # `Gres=gpu:4,file=/dev/nvidia-[0-3]` in node lines: ai-on-sagemaker-hyperpod, docs/08-Tips/Slurm/08-gres.md.
    gres: Literal["with_file", "none"] = "with_file"
    # The published node line has none: the same page. sample-physical-ai-scaffolding-kit submits jobs with --mem.
    real_memory: Literal["absent", "written"] = "absent"
    # The same line ends in `State=CLOUD`: before its slurmd registers, sinfo prints such a node as `idle~`.
    node_state: Literal["CLOUD", "UNKNOWN"] = "CLOUD"
    # The same page removes `OverSubscribe=EXCLUSIVE` from `dev`; it shows no other partition. Jobs get whole nodes with it.
    partitions: Literal["exclusive", "shared"] = "exclusive"
    # ClusterType and SlurmConfig or KubernetesConfig in resource_config.json: awsome-distributed-ai,
    # devops-agent/docs/hyperpod-mental-model.md. hyperpod_k8s (yubingjiaocn, 2024) has a file without them.
    cluster_type: Literal["written", "absent"] = "written"
    # AgentIpAddress is of HyperPod's own network: both sources (172.16.102.203 beside 10.1.…).
    agent_address: Literal["other_network", "same"] = "other_network"
    # "workers may show instance groups that have since been scaled to 0": the same document of awsome-distributed-ai.
    worker_copies: Literal["lagging", "current"] = "lagging"
    # The scripts are in /tmp/BUCKET/PREFIX/: the same document. `random`: a folder of their own at each run.
    scripts_folder: Literal["bucket", "random"] = "bucket"
    # `assumed-role/ROLE/SageMaker` of get-caller-identity on a Slurm node: ai-on-sagemaker-hyperpod,
    # docs/08-Tips/Slurm/20-troubeshoot-permissions.md. On EKS, the access entry needs the node's name: assumed.
    caller: Literal["SageMaker", "instance"] = "SageMaker"
    # `iptables -t nat -I OUTPUT 1 -d 169.254.169.254 -p tcp --dport 80 -j DNAT --to-destination 169.254.0.2:9081`:
    # https://github.com/shimomut/sagemaker-solutions, hyperpod_imds_proxy (2025-07). `direct`: as on other instances.
    metadata_path: Literal["proxied", "direct"] = "proxied"
    # No source shows that the agent writes gres.conf. If it does, it loses what scripts have written there, or names the devices.
    gres_conf: Literal["emptied", "devices", "kept"] = "emptied"
    # AWS's sources disagree: awsome-distributed-ai, devops-agent/docs/hyperpod-mental-model.md (login nodes are registered, run
    # slurmd and are in `dev`), and base-config's start_slurm.sh (they are not in slurm.conf).
    login_nodes: Literal["listed", "absent"] = "listed"
    # A slurm.conf without settings on all other nodes. No source shows it; Slurm's commands would prefer it to the controllers'.
    stub_slurm_conf: Literal["present", "absent"] = "present"
    # Ubuntu's unattended-upgrades holds apt's lock after a boot. No source says how long on HyperPod's image.
    apt_lock_s: float = 1.0
    # API-driven images deploy MariaDB and slurmdbd on the controller, say the developer guide and Extensions/add-users, which
    # waits up to 60 s for slurmdbd. Older images may have none: then slurmctld has run without the database's cluster id.
    image_accounting: Literal["starting", "absent", "masked", "running"] = "starting"
    # "OnInitComplete and lifecycle scripts can run before or in parallel with Slurm service startup": awsome-distributed-ai,
    # 5.sagemaker-hyperpod/Extensions/detect-node. Extensions/add-users says that Slurm starts before.
    slurm_start: Literal["beside", "before_scripts"] = "beside"
    # Scripts that map jobs to GPUs, in prolog.d and epilog.d, and with SlurmConfig their lines in slurm.conf: the same folder's
    # Extensions/observability/README.md.
    image_prologs: Literal["present", "absent"] = "present"
    # /opt/slurm is a link to /opt/slurm-24.11 or -25.11: sample-physical-ai-scaffolding-kit, ensure_topology_conf.sh.
    slurm_folder: Literal["link", "folder"] = "link"
    # The interval of this project's own agent on nodes instead of its minute, for tests and demos; 0: the minute.
    follow_every_s: float = 0.0
    # The size of root volumes, which are in memory. HyperPod's have 100 GB: a test fills a small one.
    root_volume_mib: float = 4096.0

    @classmethod
    def parse(cls, text: str) -> "Behaviour":
        """Parse "field=value,field=value"; omitted fields keep their default."""
        hints, known = get_type_hints(cls), [field.name for field in fields(cls)]
        changes: dict[str, object] = {}
        for part in filter(None, (word.strip() for word in text.split(","))):
            name, _, value = (word.strip() for word in part.partition("="))
            if name not in known:
                raise HostError(f"{ENVIRONMENT}: unknown field {name!r}; available: {', '.join(known)}")
            changes[name] = _read(name, value, hints[name])
        return replace(cls(), **changes)  # type: ignore[arg-type]  # _read has checked the types


def _read(name: str, value: str, kind: object) -> object:
    if get_origin(kind) is Literal:
        if value not in get_args(kind):
            raise HostError(f"{ENVIRONMENT}: unknown {name} {value!r}; available: {', '.join(get_args(kind))}")
        return value
    try:
        return float(value)
    except ValueError:
        raise HostError(f"{ENVIRONMENT}: {name} must be a number of seconds, got {value!r}") from None
