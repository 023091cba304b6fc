"""Rules about the instance types of the groups."""

from collections.abc import Iterator, Sequence

from config.errors import Level, Path, Problem
from config.instance_types import InstanceType, could_be_a_type, instance_type, is_listed, listed_types, placed_types
from config.model import ClusterConfig
from config.suggestions import either, like
from validation.entries import numbered
from validation.rules.registry import rule
from validation.rules.verbatim import items, text


@rule("known-instance-type", "instance_groups[]", "overrides", level=Level.WARNING)
def known_instance_type(config: ClusterConfig) -> Iterator[Problem]:
    """Each instance type is among those that HyperPod is known to take, and its figures are known.

    HyperPod refuses a name that is none once network and storage are made. Of a type that is newer than this release all else
    works, but what follows from its figures is not checked, and Slurm is not told of its GPUs and sockets.
    """
    for place, name in _named(config):
        if instance_type(name) is None and could_be_a_type(name):  # of what cannot be one, the request's own check tells
            yield Problem(place, name, _unknown(name))


def _unknown(name: str) -> str:
    unchecked = "its addresses, threads, accelerators and EFA are not checked"
    if is_listed(name):
        return f"nobody published its figures where ours come from: {unchecked}; look them up, then silence this"
    similar = like(name, listed_types())
    meant = f"if {either(similar)} is meant, write that; " if similar else ""
    return f"this release knows no such type: {unchecked}; {meant}if HyperPod takes it by now, silence this"


@rule("threads-of-the-type", "instance_groups[]", level=Level.WARNING)
def threads_of_the_type(config: ClusterConfig) -> Iterator[Problem]:
    """`threads_per_core` is 1 for types whose cores have one thread each.

    HyperPod's API asks for it. What it makes of another number shows once the nodes are asked for, after network and storage.
    """
    for index, group in numbered(config.instance_groups):
        overridden = "ThreadsPerCore" in group.overrides
        path = ("overrides", "ThreadsPerCore") if overridden else ("threads_per_core",)
        threads = group.overrides["ThreadsPerCore"] if overridden else group.threads_per_core
        single = (name for _, name in placed_types(group) if (known := instance_type(name)) and known.threads_per_core == 1)
        if isinstance(threads, int) and threads > 1 and (name := next(single, None)):
            yield Problem(("instance_groups", index, *path), threads, f"{name} has one thread per core; set 1")


@rule("alike-types-in-a-group", "instance_groups[]", level=Level.WARNING)
def alike_types_in_a_group(config: ClusterConfig) -> Iterator[Problem]:
    """The types that one group can have are alike: in architecture, in accelerators, and in whether they have EFA.

    A job does not choose among the nodes of a group: it waits for the slowest, and fails on one that lacks what it asks for.
    """
    for index, group in numbered(config.instance_groups):
        known = {name: found for _, name in placed_types(group) if (found := instance_type(name))}
        if differences := list(_differences(list(known.values()))):
            path = ("instance_groups", index, "overrides", "InstanceRequirements", "InstanceTypes")
            message = f"differ in {' and in '.join(differences)}; give each kind a group of its own, or silence this"
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


@rule("efa-within-a-zone", "instance_groups[]", level=Level.WARNING)
def efa_within_a_zone(config: ClusterConfig) -> Iterator[Problem]:
    """A group of types with EFA has one subnet, where it has subnets of its own.

    EFA traffic does not leave a zone (https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa.html): nodes of two zones run, and
    the first job over both of them hangs.
    """
    for index, group in numbered(config.instance_groups):
        subnets = [subnet for _, subnet in items(group.overrides, "OverrideVpcConfig", "Subnets")]
        if len(subnets) > 1 and any((known := instance_type(name)) and known.efa_interfaces for _, name in placed_types(group)):
            message = (
                "can be in several zones, and EFA does not reach from one to another; name one, or silence this if all are in one"
            )
            yield Problem(("instance_groups", index, "overrides", "OverrideVpcConfig", "Subnets"), subnets, message)


@rule("efa-interfaces-of-efa-types", "instance_groups[]", level=Level.WARNING)
def efa_interfaces_of_efa_types(config: ClusterConfig) -> Iterator[Problem]:
    """`overrides.NetworkInterface` asks for EFA interfaces of types that have EFA.

    What HyperPod makes of it is not published: at best nothing, at worst the group does not start.
    """
    for index, group in numbered(config.instance_groups):
        asked = text(group.overrides, "NetworkInterface", "InterfaceType")
        without = [name for _, name in placed_types(group) if (known := instance_type(name)) and not known.efa_interfaces]
        if asked and without:
            path = ("instance_groups", index, "overrides", "NetworkInterface", "InterfaceType")
            yield Problem(path, asked, f"{either(without)} has no EFA; remove it, or take a type that has")


@rule("efa-of-the-file-system", "instance_groups", "storage.existing", level=Level.WARNING)
def efa_of_the_file_system(config: ClusterConfig) -> Iterator[Problem]:
    """With `storage.existing.efa`, some group has a type with EFA.

    The nodes of other types mount over TCP whatever is written: the file system costs and promises more than they can take.
    """
    existing = config.storage.existing
    types = [instance_type(name) for group in config.instance_groups for _, name in placed_types(group)]
    if existing is not None and existing.efa and all(known is not None and not known.efa_interfaces for known in types):
        message = "no group has a type with EFA, so that all nodes mount over TCP; remove it, or take types that have"
        yield Problem(("storage", "existing", "efa"), value=True, message=message)


def _named(config: ClusterConfig) -> Iterator[tuple[Path, str]]:
    """Every type that the file names, with the place: also those of restricted groups, which only `overrides` have."""
    for index, group in numbered(config.instance_groups):
        for path, name in placed_types(group):
            yield ("instance_groups", index, *path), name
    for index, each in items(config.overrides, "RestrictedInstanceGroups"):
        if name := text(each, "InstanceType"):
            yield ("overrides", "RestrictedInstanceGroups", index, "InstanceType"), name
