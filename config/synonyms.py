"""Words of other tools for choices of ours: nothing in their spelling shows which one is meant."""

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


def meant(field: object, word: object) -> str | None:
    """Our word for it, where another tool has this one."""
    choices = _WORDS.get(str(field), {})
    return next((ours for ours, theirs in choices.items() if str(word).lower() in theirs), None)
