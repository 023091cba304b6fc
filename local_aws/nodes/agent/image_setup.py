"""What HyperPod and its image set up from a request with SlurmConfig: mounts, and Slurm before an OnInitComplete script.

With an OnCreate script, the script starts Slurm. Sources: InstanceStorageConfigs and LifeCycleConfig of
https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ClusterInstanceGroupSpecification.html, and
https://github.com/aws-samples/sample-physical-ai-scaffolding-kit (cluster-stack.ts). The image's own scripts are not published:
here they start slurmctld without accounting, which is harder for the scripts that follow, or with slurmdbd beside it.
"""

import shlex
from collections.abc import Iterator

from local_aws.builds.errors import HostError
from local_aws.json_service import Json
from local_aws.nodes.agent import files
from local_aws.nodes.agent.cluster_nodes import ClusterNodes
from local_aws.nodes.agent.log_stream import LogStream
from local_aws.nodes.agent.machine import Machine
from local_aws.nodes.agent.view import hostname
from local_aws.nodes.hub import Hub

_LUSTRE_OPTIONS = "defaults,noatime,flock,_netdev"
_NFS_OPTIONS = "nfsvers=4.2,_netdev"
# AWS's public setup_mariadb_accounting.sh does the same: a user with a password, and the template filled in.
_ACCOUNTING = """\
systemctl enable --now mariadb
mariadb --execute "CREATE DATABASE slurm_acct_db; CREATE USER slurm@localhost IDENTIFIED BY 'image'; \
GRANT ALL ON slurm_acct_db.* TO slurm@localhost"
export SLURM_DB_USER=slurm SLURM_DB_PASSWORD=image
envsubst < {etc}/slurmdbd.conf.template | install -o slurm -m 0600 /dev/stdin {etc}/slurmdbd.conf
systemctl enable slurmdbd
cat >> {etc}/accounting.conf <<END
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=localhost
JobAcctGatherType=jobacct_gather/linux
END
"""
_START_ACCOUNTING = "systemctl start slurmdbd; until sacctmgr --immediate add cluster {cluster}; do sleep 0.2; done"
# As if Slurm were built without slurmdbd's unit; not yet started; masked by those who build the image.
_OF_SLURMDBD = {
    "absent": "rm -f /usr/lib/systemd/system/slurmdbd.service /etc/init.d/slurmdbd; systemctl daemon-reload",
    "masked": "systemctl mask slurmdbd",
    "starting": _ACCOUNTING + "systemd-run sh -c 'sleep 8; " + _START_ACCOUNTING + "'",
    "running": _ACCOUNTING + _START_ACCOUNTING,
}

# AWS's public start_slurm.sh substitutes the variable, too: units of running nodes have `--conf-server ADDRESS` and no variable.
# https://github.com/awslabs/awsome-distributed-ai (base-config/start_slurm.sh; devops-agent/docs/hyperpod-mental-model.md)
_SLURMD = """\
unit=/etc/systemd/system/slurmd.service
SLURMD_OPTIONS="--conf-server {addresses}" envsubst '$SLURMD_OPTIONS' < $unit > $unit.new
mv $unit.new $unit
systemctl daemon-reload
systemctl enable slurmd"""
# How many of this machine's seconds later the daemons start that start beside the scripts. No source says.
_BESIDE_S = 5
_PROLOGS = "printf 'Prolog={etc}/prolog.d/*\\nEpilog={etc}/epilog.d/*\\n' >> {conf}"


def run(hub: Hub, machine: Machine, nodes: ClusterNodes, stream: LogStream) -> None:
    """Set up the node; raise HostError if that fails."""
    spec = machine.launch.node.spec
    commands = [*_mounts(spec)]
    if "OnCreate" not in (spec.get("LifeCycleConfig") or {}):
        commands += _slurm(machine, nodes)
    if hub.run(machine.id, "/bin/bash", "-euc", "\n".join(commands), on_line=stream.add):
        raise HostError(f"its image could not set it up: {stream.last_line or 'no output'}")


def _mounts(spec: Json) -> Iterator[str]:
    for entry in spec.get("InstanceStorageConfigs") or ():
        if lustre := entry.get("FsxLustreConfig"):
            source = f"{lustre['DnsName']}@tcp:/{lustre['MountName']}"
            yield _mount(source, lustre.get("MountPath", "/fsx"), "lustre", _LUSTRE_OPTIONS)
        if openzfs := entry.get("FsxOpenZfsConfig"):
            yield _mount(f"{openzfs['DnsName']}:/fsx", openzfs.get("MountPath", "/home"), "nfs", _NFS_OPTIONS)


def _mount(source: str, path: str, kind: str, options: str) -> str:
    line = shlex.quote(f"{source} {path} {kind} {options} 0 0")
    return f"mkdir -p {path}; echo {line} >> /etc/fstab; systemctl daemon-reload; mount {path}"


def _slurm(machine: Machine, nodes: ClusterNodes) -> list[str]:
    layout = machine.layout
    if layout is None:
        return []
    if machine.is_controller:
        own = f"^SlurmctldHost={hostname(machine.launch.node.address)}"
        accounting = _OF_SLURMDBD[nodes.behaviour.image_accounting]
        return [
            f"until grep -q {shlex.quote(own)} {files.SLURM_CONF}; do sleep 0.2; done",
            *([_PROLOGS.format(etc=files.ETC, conf=files.SLURM_CONF)] if nodes.behaviour.image_prologs == "present" else []),
            accounting.format(etc=files.ETC, cluster=shlex.quote(machine.launch.cluster.name)),
            "systemctl enable slurmctld",
            _start("slurmctld", nodes),
        ]
    if machine.launch.node.group not in layout.partitions and nodes.behaviour.login_nodes == "absent":
        return []
    controllers = nodes.view(machine.launch.cluster).members_of(layout.controller_group)
    return [_SLURMD.format(addresses=",".join(each.address for each in controllers)), _start("slurmd", nodes)]


def _start(daemon: str, nodes: ClusterNodes) -> str:
    start = "systemctl start" + (" --no-block" if daemon == "slurmd" else "")  # slurmd retries until slurmctld knows the node
    if nodes.behaviour.slurm_start == "beside":
        return f"systemd-run --quiet --collect sh -c 'sleep {_BESIDE_S}; {start} {daemon}'"
    return f"{start} {daemon}"
