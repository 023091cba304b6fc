"""The files of a node at its first boot, and those that are rewritten when the cluster changes."""

from pathlib import Path

from local_aws.nodes.agent import slurm_conf
from local_aws.nodes.agent.behaviour import Behaviour
from local_aws.nodes.agent.slurm_conf import SlurmLayout
from local_aws.nodes.agent.view import ClusterView
from local_aws.nodes.specs import ENDPOINT_PORT, NodeFile

RESOURCE_CONFIG = "/opt/ml/config/resource_config.json"
ETC = "/opt/slurm/etc"
BIN, SLURM_CONF = "/opt/slurm/bin", f"{ETC}/slurm.conf"
# The daemon itself is in /opt/slurm/sbin: `slurmd -C` would print this machine's hardware.
_SLURMD = """\
#!/bin/sh
[ "$1" != -C ] || exec echo "NodeName=$(hostname) {}"
exec /opt/slurm/sbin/slurmd "$@"
"""
_MAP = "/run/slurm/dcgm-job-mapping"
_PARAMETERS = f"/opt/ml/config/{slurm_conf.PARAMETERS}"
_JOB_SCRIPTS = {
    f"{ETC}/prolog.d/700_dcgm_job_map_register.sh": f"#!/bin/sh\nmkdir -p {_MAP}; echo $SLURM_JOB_ID >{_MAP}/0\nexit 0\n",
    f"{ETC}/epilog.d/700_dcgm_job_map_cleanup.sh": f"#!/bin/sh\nrm -f {_MAP}/0\nexit 0\n",
}
_PROXY_UNIT, _PROXY_RULES = "sagemaker-role-proxy.service", "/opt/ml/role-proxy.nft"  # no source names HyperPod's own
_TO_PROXY = "ip daddr 169.254.169.254 tcp dport 80 dnat to 169.254.0.2:9081"
_ROLE_PROXY = {
    _PROXY_RULES: f"""\
table ip sagemaker_role_proxy {{
    chain output {{ type nat hook output priority -100; {_TO_PROXY}; }}
    chain prerouting {{ type nat hook prerouting priority -100; {_TO_PROXY}; }}
}}
""",
    f"/etc/systemd/system/{_PROXY_UNIT}": f"""[Unit]
DefaultDependencies=no
[Service]
Type=oneshot
ExecStart=nft --file {_PROXY_RULES}
""",
    "/etc/systemd/system/sysinit.target.d/role-proxy.conf": f"[Unit]\nWants={_PROXY_UNIT}\n",
}
_MUNGE_KEY = "/etc/munge/munge.key"
_ENDPOINT = "/etc/systemd/system.conf.d/endpoint.conf"
_TIMER = "/etc/systemd/system/hyperpod-follow.timer.d/simulation.conf"
# AWS's public accounting script fills in this template with envsubst, and replaces StorageHost for an external database.
_SLURMDBD_TEMPLATE = b"""\
AuthType=auth/munge
DbdHost=localhost
SlurmUser=slurm
StorageType=accounting_storage/mysql
StorageHost=localhost
StorageUser=${SLURM_DB_USER}
StoragePass=${SLURM_DB_PASSWORD}
StorageLoc=slurm_acct_db
LogFile=/var/log/slurm/slurmdbd.log
PidFile=/run/slurmdbd.pid
"""


def resource_config(view: ClusterView) -> NodeFile:
    """Return resource_config.json, which tells a node its cluster."""
    return NodeFile(view.resource_config.encode())


def at_boot(view: ClusterView, munge_key: bytes) -> dict[str, NodeFile]:
    """Return the files of every node."""
    return {RESOURCE_CONFIG: resource_config(view), _MUNGE_KEY: NodeFile(munge_key, 0o400, "munge")}


def of_aws(behaviour: Behaviour) -> dict[str, NodeFile]:
    """Return the files that lead a node's services to the embedded AWS, and that shorten the interval of our own agent."""
    endpoint = f"[Manager]\nDefaultEnvironment=AWS_ENDPOINT_URL=http://127.0.0.1:{ENDPOINT_PORT}\n"
    found = {_ENDPOINT: NodeFile(endpoint.encode())}
    if behaviour.follow_every_s:
        timer = f"OnActiveSec=\nOnActiveSec=0.1s\nOnUnitInactiveSec={behaviour.follow_every_s}s\nRandomizedDelaySec=0\n"
        found[_TIMER] = NodeFile(f"[Timer]\n{timer}AccuracySec=100ms\n".encode())
    return found


def companions(view: ClusterView, layout: SlurmLayout, behaviour: Behaviour) -> dict[str, NodeFile]:
    """Return the files that the agent writes whenever it writes slurm.conf: the topology's description, and gres.conf."""
    texts = slurm_conf.topology(view, layout, behaviour) | slurm_conf.gres_conf(view, layout, behaviour)
    return {f"{ETC}/{name}": NodeFile(text.encode()) for name, text in texts.items()}


def of_slurm(
    view: ClusterView, layout: SlurmLayout, group: str, parameters: bytes, behaviour: Behaviour, *, placeholder: bool = False
) -> dict[str, NodeFile]:
    """Return the Slurm files of a group's nodes; only controllers have Slurm's own files."""
    files = {_PARAMETERS: NodeFile(parameters)}
    if behaviour.image_prologs == "present":
        files |= {path: NodeFile(text.encode(), 0o755) for path, text in _JOB_SCRIPTS.items()}
    if behaviour.metadata_path == "proxied":
        files |= {path: NodeFile(text.encode()) for path, text in _ROLE_PROXY.items()}
    if group != layout.controller_group:
        files[f"{BIN}/slurmd"] = NodeFile(_SLURMD.format(view.shapes[group].as_slurmd_prints).encode(), 0o755)
        stub = {SLURM_CONF: NodeFile(b"# HyperPod's agent completes this file on controllers\n")}
        return files | (stub if behaviour.stub_slurm_conf == "present" else {})
    text = slurm_conf.placeholder(view) if placeholder else slurm_conf.new(view, layout, behaviour)
    return files | {
        SLURM_CONF: NodeFile(text.encode()),
        f"{ETC}/accounting.conf": NodeFile(b"# filled in by lifecycle scripts\n"),  # Slurm warns of an empty one
        f"{ETC}/cgroup.conf": NodeFile(f"CgroupPlugin={cgroup_plugin(Path('/proc/self/cgroup').read_text())}\n".encode()),
        f"{ETC}/slurmdbd.conf.template": NodeFile(_SLURMDBD_TEMPLATE),
        **companions(view, layout, behaviour),
    }


def cgroup_plugin(hierarchies: str) -> str:
    """Return the plugin for this /proc/self/cgroup: Slurm cannot choose if version 1 is mounted beside 2."""
    return "cgroup/v2" if all(line.startswith("0::") for line in hierarchies.splitlines()) else "cgroup/v1"
