"""The start of a node, as HyperPod does it: download the scripts, boot, write the agent's files, run the entry script."""

import logging
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import boto3

from local_aws import iam
from local_aws.builds.errors import HostError
from local_aws.errors import AwsError
from local_aws.hyperpod import roles
from local_aws.hyperpod.lifecycle_scripts import LifecycleScripts, check, failed
from local_aws.hyperpod.logs import NodeLog
from local_aws.hyperpod.node_runner import Outcome
from local_aws.nodes import support
from local_aws.nodes.agent import bundle, files, image_setup, kubelet, slurm_conf, unattended_upgrades
from local_aws.nodes.agent.behaviour import Behaviour
from local_aws.nodes.agent.cluster_nodes import ClusterNodes
from local_aws.nodes.agent.log_stream import LogStream
from local_aws.nodes.agent.machine import Machine
from local_aws.nodes.agent.metadata import credentials, devices, metadata
from local_aws.nodes.agent.view import hostname, specs
from local_aws.nodes.agent.vpc import reaches_aws, vpc_of
from local_aws.nodes.hub import Hub
from local_aws.nodes.machines import imds
from local_aws.nodes.specs import NodeSpec

_PATH = "/opt/slurm/bin:/opt/slurm/sbin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
UNIT = "hyperpod-lifecycle"
_TO_PROXY = (
    "table ip hyperpod { chain output { type nat hook output priority -100; "
    f"ip daddr {imds.ADDRESS} tcp dport 80 dnat to {imds.PROXY}:{imds.PROXY_PORT}; }}; }}"
)
_log = logging.getLogger(__name__)


class ScriptsError(Exception):
    """The lifecycle scripts cannot be downloaded, or failed."""


@dataclass(frozen=True)
class StartContext:
    """The shared context of all nodes' starts."""

    endpoint: str
    file_systems: Path
    store: bundle.Store


@dataclass(frozen=True)
class NodeStart:
    """The start of a machine."""

    machine: Machine
    nodes: ClusterNodes
    context: StartContext

    def run(self) -> Outcome:
        """Start the node and return the result; the node's log already has it."""
        log = NodeLog(self.machine.launch.cluster, self.machine.launch.node)

        def write(lines: list[str]) -> None:
            if self.machine.is_wanted:
                log.write(lines)

        with LogStream(write) as stream:
            try:
                self._carry_out(stream)
            except ScriptsError as error:
                stream.add(f"[SageMaker] {error}")
                return failed(str(error), log)
            except HostError as error:
                stream.add(f"[SageMaker] the node did not start: {error}")
                return Outcome(f"The node did not start: {error}")
        return Outcome()

    def _carry_out(self, stream: LogStream) -> None:
        node = self.machine.launch.node
        if not node.interfaces:
            raise HostError("a simulated node needs an address in a VPC of the account: give the cluster a VpcConfig")
        scripts, content = LifecycleScripts.of(node.spec), {}
        if scripts:
            stream.add(f"[SageMaker] Downloading lifecycle scripts from {scripts.uri}")
            content = dict(self._download(scripts))
        of_request = slurm_conf.parameters_of(specs(self.machine.launch.cluster))
        hub = self._boot(of_request or content.get(slurm_conf.PARAMETERS))
        self._translate_metadata(hub)
        self._hold_apt(hub)
        self.nodes.refresh()
        self.nodes.name_controllers(self.machine)
        if of_request:
            image_setup.run(hub, self.machine, self.nodes, stream)
        if scripts:
            run_scripts(hub, self.machine.id, scripts, content, stream, behaviour=self.nodes.behaviour)
            stream.add("[SageMaker] The lifecycle scripts succeeded.")
        hub.name(self.machine.id)
        if self.machine.runs_kubelet:
            kubelet.join(hub, self.machine)
            stream.add(f"[SageMaker] The node joined the EKS cluster as {kubelet.name_of(node)}.")
        elif self.machine.launch.cluster.eks_arn:
            stream.add(f"[SageMaker] No kubelet runs: {'; '.join(support.missing_for_pods())}")

    def _translate_metadata(self, hub: Hub) -> None:
        """Lead the node's own programs, not its containers, to the role proxy; a boot keeps the node's network."""
        if self.nodes.behaviour.metadata_path == "proxied" and hub.run(self.machine.id, "nft", _TO_PROXY):
            raise HostError("the metadata service's address was not translated")

    def _hold_apt(self, hub: Hub) -> None:
        """Let a service of the node hold apt's lock for a while."""
        seconds = self.nodes.behaviour.apt_lock_s
        if seconds:
            service = ("systemd-run", "--quiet", "--collect", "--unit=unattended-upgrades", "--service-type=notify")
            program = Path(unattended_upgrades.__file__).read_text()
            if hub.run(self.machine.id, *service, "python3", "-I", "-c", program, str(seconds)):
                raise HostError("unattended-upgrades did not start")

    def _boot(self, parameters: bytes | None) -> Hub:
        machine, launch = self.machine, self.machine.launch
        if parameters is not None:
            machine.layout = slurm_conf.SlurmLayout.read(parameters)
        view = self.nodes.first_view(machine)
        laid = files.at_boot(view, self.nodes.munge_key) | files.of_aws(self.nodes.behaviour)
        if parameters is not None and machine.layout:
            placeholder = machine.has_placeholder
            group, behaviour = launch.node.group, self.nodes.behaviour
            laid |= files.of_slurm(view, machine.layout, group, parameters, behaviour, placeholder=placeholder)
        vpc = vpc_of(launch.cluster, launch.node, self.context.file_systems)
        machine.runs_kubelet = bool(vpc.api_server)
        if machine.runs_kubelet:
            laid |= kubelet.files(launch.cluster, launch.node, vpc.resolver)
        spec = NodeSpec(
            id=machine.id,
            hostname=hostname(launch.node.address),
            address=launch.node.address,
            metadata=metadata(launch.cluster, launch.node) | self._credentials(),
            files=laid,
            binds=devices(launch.node.type),
            has_name=self.nodes.behaviour.host_name == "known",
            disk_mib=int(self.nodes.behaviour.root_volume_mib),
            rank=0 if machine.is_controller else 1,  # all others need it; on AWS no node waits for another
            links={"/opt/slurm": "/opt/slurm-24.11"} if self.nodes.behaviour.slurm_folder == "link" else {},
            reaches_aws=reaches_aws(launch.cluster, launch.node),
        )
        return self.nodes.boot(machine, spec, vpc, view)

    def _credentials(self) -> dict[str, str]:
        """Return the metadata with the execution role's credentials; none if the role cannot be assumed."""
        try:
            return credentials(self._role, self._session())
        except AwsError as error:
            _log.info("node %s has no credentials: %s", self.machine.id, error)
            return {}

    def _download(self, scripts: LifecycleScripts) -> bundle.Files:
        refused = check(self.machine.launch, scripts)
        if refused:
            raise ScriptsError(refused)
        try:
            return self.context.store.fetch(self._s3(), self._role, scripts)
        except (HostError, AwsError) as error:
            raise ScriptsError(str(error)) from error

    def _s3(self) -> Any:
        """Return a client with only the execution role's rights."""
        place = {"endpoint_url": self.context.endpoint, "region_name": self.machine.launch.cluster.region}
        return boto3.session.Session().client("s3", **place, **self._session().client_keys)

    @property
    def _role(self) -> str:
        return str(self.machine.launch.node.spec["ExecutionRole"])

    def _session(self) -> iam.Session:
        launch = self.machine.launch
        name = launch.node.id if self.nodes.behaviour.caller == "instance" else "SageMaker"
        if launch.cluster.eks_arn:
            name = kubelet.name_of(launch.node)  # the access entry's user name has it
        return iam.assume(launch.cluster.account, self._role, roles.SERVICE, name)


def run_scripts(
    hub: Hub, node_id: str, scripts: LifecycleScripts, content: bundle.Files, stream: LogStream, *, behaviour: Behaviour
) -> None:
    """Run the entry script on a node, in a folder with all scripts; write its output to ``stream``."""
    folder = f"/tmp/{scripts.bucket}/{scripts.prefix}".rstrip("/")  # noqa: S108  HyperPod's path; a boot empties it
    if behaviour.scripts_folder == "random":
        folder = f"/tmp/sagemaker-lifecycle-{secrets.token_hex(4)}/src"  # noqa: S108  as above
    hub.put(node_id, bundle.on_node(content, folder, scripts.entry))
    status = hub.run(
        node_id,
        *bundle.command(folder, scripts.entry, content[scripts.entry]),
        environment={"SAGEMAKER_RESOURCE_CONFIG_PATH": files.RESOURCE_CONFIG, "PATH": _PATH},
        folder=folder,
        unit=UNIT,
        on_line=stream.add,
        mounts=behaviour.script_mounts,
    )
    if status:
        output = f": {stream.last_line}" if stream.last_line else " without output"
        raise ScriptsError(f"{scripts.entry} ended with status {status}{output}")
