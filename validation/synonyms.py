"""Words of other tools for choices and fields of ours: nothing in their spelling shows which one is meant."""

from collections.abc import Iterable

# By the field, then by our word.
_WORDS: dict[str, dict[str, tuple[str, ...]]] = {
    "role": {
        "controller": ("head", "headnode", "head_node", "head-node", "master", "manager", "slurmctld"),
        "login": ("submit", "bastion", "frontend", "gateway"),
        "compute": ("worker", "workers", "work", "node", "nodes", "execute", "slurmd"),
    },
    "removal": {
        "retain": ("keep", "snapshot", "protect"),
        "destroy": ("delete", "remove", "drop"),
    },
    "database": {
        "external": ("aurora", "rds", "mysql", "remote"),
        "local": ("mariadb", "internal", "controller"),
        "none": ("off", "no", "disabled"),
    },
    "wait": {"none": ("no", "off", "never"), "nodes": ("healthy", "running", "instances"), "cluster": ("inservice",)},
    "implementation": {"native": ("cloudformation", "cfn"), "custom_resource": ("custom", "lambda")},
    "node_recovery": {"Automatic": ("true", "on", "yes", "auto"), "None": ("false", "off", "no", "manual")},
    "compression": {"NONE": ("false", "off", "no"), "LZ4": ("true", "on", "yes")},
}

# Words for fields that other words of ours are spelled more like.
_FIELDS = {"groups": "instance_groups", "node_groups": "instance_groups"}
# What other tools call members of CreateCluster, as `overrides` have them.
_MEMBERS = {
    "mincount": "MinInstanceCount: ...",
    "capacitytype": "CapacityRequirements: {Spot: {}}",
    "spot": "CapacityRequirements: {Spot: {}}",
    "trainingplan": "TrainingPlanArn: ...",
    "minimuminstancecount": "MinInstanceCount: ...",
    "ami": "ImageId: ...",
    "amiid": "ImageId: ...",
}


def meant(field: object, word: object) -> str | None:
    """Our word for it, where another tool has this one."""
    choices = _WORDS.get(str(field), {})
    return next((ours for ours, theirs in choices.items() if str(word).lower() in theirs), None)


def field_meant(word: object, known: Iterable[str]) -> str | None:
    """The one of the ``known`` fields that another tool calls by this word."""
    return next((name for name in known if name == _FIELDS.get(str(word).lower())), None)


def member_meant(word: str, members: Iterable[str]) -> str | None:
    """What `overrides` say for this word, if it is one of the API's ``members`` in another spelling or other words."""
    plain = word.lower().replace("_", "").replace("-", "")
    names = {name.lower(): name for name in members}
    told = _MEMBERS.get(plain, f"{names[plain]}: ..." if plain in names else "")
    return told if told.partition(":")[0].lower() in names else None
