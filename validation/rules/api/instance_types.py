"""Check the instance types of the groups."""

from collections.abc import Iterator, Sequence

from cluster_request.effective_request import EffectiveRequest
from cluster_request.kubernetes_objects.dependencies import node_types
from cluster_request.kubernetes_objects.device_plugins import has_efa
from config.errors import Level, Problem
from config.instance_types import InstanceType, accelerator, instance_type, is_listed, is_plausible_type, listed_types
from config.model import Orchestrator
from config.suggestions import either, like
from config.zones import region_of_zone, zones_of, zones_with_type
from validation.rules.registry import request_rule


@request_rule("known-instance-type", "instance_groups[]", "overrides", level=Level.WARNING)
def known_instance_type(request: EffectiveRequest) -> Iterator[Problem]:
    """Each instance type must be one that HyperPod is known to support, with known properties.

    HyperPod rejects an unknown type only after network and storage are created. A type newer than this release works, but checks
    of its properties are skipped. Slurm does not know its GPUs and sockets, and EKS nodes get device plugins by its family.
    """
    for each in (each for group in request.all_groups for each in group.instance_types()):
        if instance_type(each.text) is None and is_plausible_type(each.text):  # the request check reports invalid names
            yield each.problem(*_unknown(each.text, request))


def _unknown(name: str, request: EffectiveRequest) -> tuple[str, str]:
    """Return what is not checked, and the fix."""
    effect = "Slurm does not know its GPUs and sockets"
    if request.orchestrator is Orchestrator.EKS:
        kind = accelerator(name)
        effect = f"pods get {f'{kind}, as its family has them' if kind else 'no GPUs or Neuron devices'}, and "
        effect += "EFA" if has_efa(name, node_types(request.config)) else "no EFA without `overrides.NetworkInterface`"
    unchecked = f"addresses, threads, accelerators and EFA are not checked, and {effect}"
    if is_listed(name):
        return f"properties of this type are unknown: {unchecked}", "check them yourself, then suppress this warning"
    similar = like(name, listed_types())
    meant = f"did you mean {either(similar)}? " if similar else ""
    return f"unknown instance type: {unchecked}", f"{meant}If HyperPod supports it now, suppress this warning"


@request_rule("type-in-zone", "instance_groups[]", "network", "region", "overrides", level=Level.WARNING)
def type_in_zone(request: EffectiveRequest) -> Iterator[Problem]:
    """The availability zone should offer the accelerated types of the groups.

    HyperPod reports missing capacity only after network and storage are created. The offerings are EC2's at the time of this
    release, and can be out of date. Groups with their own subnets or a training plan are not checked.
    """
    zone = request.config.network.availability_zone_id
    region = request.config.region or region_of_zone(zone) or ""
    for group in request.all_groups if zone in zones_of(region) else ():  # zone-region reports other zones
        if group.member("OverrideVpcConfig").is_given or group.training_plan:
            continue
        offering = {name: zones_with_type(name, region) for name in group.types}
        if all(zones is not None and zone not in zones for zones in offering.values()):
            for each in group.instance_types():
                move = f"set `network.availability_zone_id` to {either(found)}, or " if (found := offering[each.text]) else ""
                yield each.problem(f"{zone} does not offer this type", f"{move}use another type{'' if found else ' or region'}")


@request_rule("threads-per-core", "instance_groups[]", level=Level.WARNING)
def threads_per_core(request: EffectiveRequest) -> Iterator[Problem]:
    """`threads_per_core` must be 1 for types with one thread per core.

    The API documentation requires it. HyperPod may reject another value only after network and storage are created.
    """
    for group in request.groups:
        threads = group.member("ThreadsPerCore")
        single = [name for name, known in group.known_types().items() if known.threads_per_core == 1]
        if (threads.number or 0) > 1 and single:
            yield threads.problem(f"{single[0]} has only one thread per core", "set 1")


@request_rule("mixed-instance-types", "instance_groups[]", level=Level.WARNING)
def mixed_instance_types(request: EffectiveRequest) -> Iterator[Problem]:
    """The instance types of one group should have the same architecture and accelerators, and all or none should have EFA.

    A job cannot choose among the nodes of a group: it waits for the slowest node, and fails on a node without the required
    hardware.
    """
    for group in request.groups:
        known = group.known_types()
        if differences := list(_differences(list(known.values()))):
            message = f"types differ in {' and in '.join(differences)}"
            fix = "use one group for each kind, or suppress this warning"
            yield group.member("InstanceRequirements", "InstanceTypes").problem(message, fix, list(known))


def _differences(types: Sequence[InstanceType]) -> Iterator[str]:
    kinds = {
        "architecture": [each.architecture for each in types],
        "accelerators": [_accelerators(each) for each in types],
        "EFA": ["some" if each.efa_interfaces else "none" for each in types],
    }
    for kind, values in kinds.items():
        if len({*values}) > 1:
            yield f"{kind} ({', '.join(dict.fromkeys(values))})"


def _accelerators(known: InstanceType) -> str:
    if known.neuron_devices:
        return f"{known.neuron_devices} {known.neuron_device}"
    return f"{known.gpus} {known.gpu}" if known.gpus else "none"


@request_rule("efa-single-zone", "instance_groups[]", level=Level.WARNING)
def efa_single_zone(request: EffectiveRequest) -> Iterator[Problem]:
    """A group of types with EFA should have only one subnet.

    EFA traffic cannot cross availability zones (https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa.html): the first job on
    nodes of two zones hangs.
    """
    for group in request.groups:
        subnets = group.member("OverrideVpcConfig", "Subnets")
        if len(list(subnets.entries())) > 1 and group.has_efa:
            fix = "use one subnet, or suppress this warning if all are in one zone"
            yield subnets.problem("EFA cannot cross availability zones", fix)


@request_rule("efa-interface-type", "instance_groups[]", level=Level.WARNING)
def efa_interface_type(request: EffectiveRequest) -> Iterator[Problem]:
    """`overrides.NetworkInterface` must not request EFA interfaces for types without EFA.

    HyperPod's behavior is not documented: it may ignore the setting, or the group may not start.
    """
    for group in request.groups:
        requested = group.member("NetworkInterface", "InterfaceType")
        without = [name for name, known in group.known_types().items() if not known.efa_interfaces]
        if requested.text and without:
            yield requested.problem(f"{either(without)} has no EFA", "remove it, or use a type with EFA")


@request_rule("efa-file-system", "instance_groups", "storage.existing", level=Level.WARNING)
def efa_file_system(request: EffectiveRequest) -> Iterator[Problem]:
    """`storage.existing.efa` requires a group whose type has EFA.

    Nodes without EFA mount the file system over TCP, at lower throughput.
    """
    existing = request.config.storage.existing
    types = [instance_type(name) for name in request.type_names()]
    if existing is not None and existing.efa and all(known is not None and not known.efa_interfaces for known in types):
        message = "no group has a type with EFA, so all nodes mount over TCP"
        yield Problem(("storage", "existing", "efa"), value=True, message=message, fix="remove it, or use types with EFA")
