"""Check the parameters of slurm.conf in `slurm.settings`."""

import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path as File

from config.entries import repeated
from config.errors import Level, Path, Problem
from config.model import ClusterConfig, slurm_of
from config.suggestions import nearest
from validation.rules.registry import slurm_rule

TABLE = File(__file__).parents[3] / "config" / "data" / "slurm_parameters.json"
SETTINGS: Path = ("slurm", "settings")
NAME = re.compile(r"[A-Za-z][A-Za-z0-9]*")
_REMOVE = ("written by HyperPod's agent", "remove it")
_LINE = ("starts a line of several keys", "use a script in `controller_ready/`")
_ACCOUNTING = ("reserved", "use `slurm.accounting`")
# By lower-case name; lifecycle_assets/hyperpod_node/slurm/managed_block.py and the agent's slurm.conf have these.
_RESERVED = {
    **dict.fromkeys(
        (
            *("clustername", "slurmctldhost", "slurmctldaddr", "controlmachine", "controladdr", "backupcontroller", "backupaddr"),
            *("nodename", "frontendname", "slurmuser", "slurmduser", "slurmctldport", "slurmdport", "slurmdspooldir"),
            *("slurmctldpidfile", "slurmdpidfile", "slurmctldlogfile", "slurmdlogfile"),
            *("authtype", "authinfo", "authalttypes", "authaltparameters", "credtype", "cryptotype"),
        ),
        _REMOVE,
    ),
    **dict.fromkeys(("downnodes", "nodeset"), _LINE),
    **{f"accountingstorage{key}": _ACCOUNTING for key in ("type", "host", "backuphost", "port", "user", "pass", "loc")},
    "partitionname": ("reserved", "use `slurm.partitions`"),
    "statesavelocation": ("reserved", "use `slurm.state_folder`"),
    "topologyplugin": ("reserved", "use `slurm.topology`"),
    "include": ("reserved", "write the parameters of the included file here"),
}
_SCRIPTS = ("prolog", "epilog")


@slurm_rule("slurm-setting-names", "slurm.settings")
def slurm_setting_names(config: ClusterConfig) -> Iterator[Problem]:
    """Names in `slurm.settings` must consist of letters and digits, and start with a letter.

    Each becomes a line `name=value` of slurm.conf.
    """
    for name, value in slurm_of(config).settings.items():
        if not NAME.fullmatch(name):
            key = name.partition("=")[0].strip()
            fix = f"write `{key}: ...`" if NAME.fullmatch(key) else "use a parameter of slurm.conf"
            yield Problem((*SETTINGS, name), value, "not a parameter name", fix)


@slurm_rule("duplicate-slurm-settings", "slurm.settings")
def duplicate_slurm_settings(config: ClusterConfig) -> Iterator[Problem]:
    """`slurm.settings` must contain each parameter only once; Slurm ignores case.

    Slurm uses only the last of several lines.
    """
    settings = slurm_of(config).settings
    for name, _, first in repeated((name, name.lower()) for name in settings):
        yield Problem((*SETTINGS, name), settings[name], f"same parameter as {first}", "remove one")


@slurm_rule("reserved-slurm-settings", "slurm.settings", "slurm.prolog_and_epilog")
def reserved_slurm_settings(config: ClusterConfig) -> Iterator[Problem]:
    """`slurm.settings` must not contain parameters that HyperPod's agent or another field sets.

    Two writers contradict each other: slurmctld loses its nodes, its state or its accounting, or does not start.
    """
    for name, value in slurm_of(config).settings.items():
        parts = _RESERVED.get(name.lower())
        if parts is None and name.lower() in _SCRIPTS and slurm_of(config).prolog_and_epilog:
            parts = "reserved", "set `slurm.prolog_and_epilog: false` to use another script"
        if parts is not None:
            yield Problem((*SETTINGS, name), value, *parts)


@slurm_rule("unknown-slurm-settings", "slurm.settings", level=Level.WARNING)
def unknown_slurm_settings(config: ClusterConfig) -> Iterator[Problem]:
    """`slurm.settings` should contain only parameters of slurm.conf in Slurm 24.11.

    slurmctld does not start with an unknown parameter, and the controller fails; a newer image may have more.
    """
    known = {name.lower() for name in slurm_parameters()} | _RESERVED.keys()
    for name, value in slurm_of(config).settings.items():
        if NAME.fullmatch(name) and name.lower() not in known:
            yield Problem((*SETTINGS, name), value, "unknown parameter", nearest(name, slurm_parameters()))


@cache
def slurm_parameters() -> tuple[str, ...]:
    """Return the names of all parameters, as Slurm spells them; it ignores case."""
    return tuple(json.loads(TABLE.read_text(encoding="utf-8"))["parameters"])
