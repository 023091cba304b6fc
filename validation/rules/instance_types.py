"""Check the instance types of the groups."""

from collections.abc import Iterator, Sequence

from config.errors import Level, Path, Problem
from config.instance_types import InstanceType, instance_type, is_listed, is_plausible_type, listed_types, types_with_paths
from config.model import ClusterConfig
from config.suggestions import either, like
from validation.entries import numbered
from validation.rules.overrides import items, text
from validation.rules.registry import rule


@rule("known-instance-type", "instance_groups[]", "overrides", level=Level.WARNING)
def known_instance_type(config: ClusterConfig) -> Iterator[Problem]:
    """Each instance type must be one that HyperPod is known to support, with known properties.

    HyperPod rejects an unknown type only after network and storage are created. A type newer than this release works, but checks
    that depend on its properties are skipped, and Slurm does not know its GPUs and sockets.
    """
    for place, name in _named(config):
        if instance_type(name) is None and is_plausible_type(name):  # the request check reports invalid names
            yield Problem(place, name, _unknown(name))


def _unknown(name: str) -> str:
    unchecked = "addresses, threads, accelerators and EFA are not checked"
    if is_listed(name):
        return f"properties of this type are unknown: {unchecked}; check them yourself, then suppress this warning"
    similar = like(name, listed_types())
    meant = f"did you mean {either(similar)}? " if similar else ""
    return f"unknown instance type: {unchecked}; {meant}If HyperPod supports it now, suppress this warning"


@rule("threads-per-core", "instance_groups[]", level=Level.WARNING)
def threads_per_core(config: ClusterConfig) -> Iterator[Problem]:
    """`threads_per_core` must be 1 for types with one thread per core.

    The API documentation requires it. HyperPod may reject another value only after network and storage are created.
    """
    for index, group in numbered(config.instance_groups):
        overridden = "ThreadsPerCore" in group.overrides
        path = ("overrides", "ThreadsPerCore") if overridden else ("threads_per_core",)
        threads = group.overrides["ThreadsPerCore"] if overridden else group.threads_per_core
        single = (name for _, name in types_with_paths(group) if (known := instance_type(name)) and known.threads_per_core == 1)
        if isinstance(threads, int) and threads > 1 and (name := next(single, None)):
            yield Problem(("instance_groups", index, *path), threads, f"{name} has only one thread per core; set 1")


@rule("mixed-instance-types", "instance_groups[]", level=Level.WARNING)
def mixed_instance_types(config: ClusterConfig) -> Iterator[Problem]:
    """The instance types of one group should have the same architecture and accelerators, and all or none should have EFA.

    A job cannot choose among the nodes of a group: it waits for the slowest node, and fails on a node without the required
    hardware.
    """
    for index, group in numbered(config.instance_groups):
        known = {name: found for _, name in types_with_paths(group) if (found := instance_type(name))}
        if differences := list(_differences(list(known.values()))):
            path = ("instance_groups", index, "overrides", "InstanceRequirements", "InstanceTypes")
            message = f"types differ in {' and in '.join(differences)}; use one group for each kind, or suppress this warning"
            yield Problem(path, list(known), message)


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


@rule("efa-single-zone", "instance_groups[]", level=Level.WARNING)
def efa_single_zone(config: ClusterConfig) -> Iterator[Problem]:
    """A group of types with EFA should have only one subnet.

    EFA traffic cannot cross availability zones (https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa.html): the first job on
    nodes of two zones hangs.
    """
    for index, group in numbered(config.instance_groups):
        subnets = [subnet for _, subnet in items(group.overrides, "OverrideVpcConfig", "Subnets")]
        if len(subnets) > 1 and any(
            (known := instance_type(name)) and known.efa_interfaces for _, name in types_with_paths(group)
        ):
            message = "EFA cannot cross availability zones; use one subnet, or suppress this warning if all are in one zone"
            yield Problem(("instance_groups", index, "overrides", "OverrideVpcConfig", "Subnets"), subnets, message)


@rule("efa-interface-type", "instance_groups[]", level=Level.WARNING)
def efa_interface_type(config: ClusterConfig) -> Iterator[Problem]:
    """`overrides.NetworkInterface` must not request EFA interfaces for types without EFA.

    HyperPod's behavior is not documented: it may ignore the setting, or the group may not start.
    """
    for index, group in numbered(config.instance_groups):
        requested = text(group.overrides, "NetworkInterface", "InterfaceType")
        without = [name for _, name in types_with_paths(group) if (known := instance_type(name)) and not known.efa_interfaces]
        if requested and without:
            path = ("instance_groups", index, "overrides", "NetworkInterface", "InterfaceType")
            yield Problem(path, requested, f"{either(without)} has no EFA; remove it, or use a type with EFA")


@rule("efa-file-system", "instance_groups", "storage.existing", level=Level.WARNING)
def efa_file_system(config: ClusterConfig) -> Iterator[Problem]:
    """`storage.existing.efa` requires a group whose type has EFA.

    Nodes without EFA mount the file system over TCP, at lower throughput.
    """
    existing = config.storage.existing
    types = [instance_type(name) for group in config.instance_groups for _, name in types_with_paths(group)]
    if existing is not None and existing.efa and all(known is not None and not known.efa_interfaces for known in types):
        message = "no group has a type with EFA, so all nodes mount over TCP; remove it, or use types with EFA"
        yield Problem(("storage", "existing", "efa"), value=True, message=message)


def _named(config: ClusterConfig) -> Iterator[tuple[Path, str]]:
    """Yield every instance type in the file with its path, including restricted groups in `overrides`."""
    for index, group in numbered(config.instance_groups):
        for path, name in types_with_paths(group):
            yield ("instance_groups", index, *path), name
    for index, each in items(config.overrides, "RestrictedInstanceGroups"):
        if name := text(each, "InstanceType"):
            yield ("overrides", "RestrictedInstanceGroups", index, "InstanceType"), name
