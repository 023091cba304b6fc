"""Map words of other tools to fields and choices."""

from collections.abc import Iterable

# By field, then by choice.
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
    "capacity": {
        "on_demand": ("on-demand", "ondemand"),
        "spot": ("preemptible", "low_priority"),
        "training_plan": ("plan", "reserved", "training-plan", "capacity_block"),
    },
    "wait": {"none": ("no", "off", "never"), "nodes": ("healthy", "running", "instances"), "cluster": ("inservice",)},
    "node_recovery": {"Automatic": ("true", "on", "yes", "auto"), "None": ("false", "off", "no", "manual")},
    "compression": {"NONE": ("false", "off", "no"), "LZ4": ("true", "on", "yes")},
}

# Words that are spelled more like another field.
_FIELDS = {
    "groups": "instance_groups",
    "node_groups": "instance_groups",
    "partitions": "partition",
    "training_plan": "training_plan_arn",
    "role_arn": "execution_role",
    "execution_role_arn": "execution_role",
    "capacity_type": "capacity",
    "spot": "capacity",
    "kms_key_id": "volume_key_arn",
    "volume_kms_key_id": "volume_key_arn",
    "kubernetes_version": "version",
    "k8s_version": "version",
    "node_labels": "labels",
    "ami": "image_id",
    "ami_id": "image_id",
}
# Fields that were removed, each with the reason and the fix.
FORMER = {"implementation": ("was removed, as a custom resource creates every cluster", "remove it (docs/limits.md)")}
# Other tools' words for members of CreateCluster.
_MEMBERS = {
    "mincount": "MinInstanceCount: ...",
    "minimuminstancecount": "MinInstanceCount: ...",
}


def meant(field: object, word: object) -> str | None:
    """Return the field's choice for another tool's word."""
    choices = _WORDS.get(str(field), {})
    return next((ours for ours, theirs in choices.items() if str(word).lower() in theirs), None)


def field_meant(word: object, known: Iterable[str]) -> str | None:
    """Return the ``known`` field for another tool's word."""
    return next((name for name in known if name == _FIELDS.get(str(word).lower())), None)


def member_meant(word: str, members: Iterable[str]) -> str | None:
    """Return the content of `overrides` for a misspelled or foreign name of one of the API's ``members``."""
    plain = word.lower().replace("_", "").replace("-", "")
    names = {name.lower(): name for name in members}
    found = _MEMBERS.get(plain, f"{names[plain]}: ..." if plain in names else "")
    return found if found.partition(":")[0].lower() in names else None
