"""The storage section of an imported cluster."""

import re
from typing import Any

from cli.import_cluster.api_setup import mounts_of, uses_api
from cli.import_cluster.choices import Choices, Keep
from cli.import_cluster.commented_yaml import Part
from cli.import_cluster.instance_storage import Mounts
from cli.import_cluster.original import Original
from config.errors import ABSENT, ConfigError, Problem
from config.storage import DEFAULT_HOMES

LUSTRE, MOUNT, OPENZFS = "fsx_dns_name", "fsx_mountname", "fsx_openzfs_dns_name"
AWS_HOMES = "/fsx"
NEW = "A new, empty file system; the new network does not reach the original's, {}. Choose its size."


def storage_part(original: Original, choices: Choices) -> Part:
    """Return the original's file systems if its network is kept; a new network does not reach them."""
    if uses_api(original, choices) and not original.has_moved:
        return _mounted_by_hyperpod(original, choices)
    parameters, keep = original.parameters or {}, choices.keep
    has_our_scripts = keep is not Keep.EVERYTHING and choices.scripts is None
    if keep is Keep.NOTHING:
        return _new(parameters, has_our_scripts=has_our_scripts)
    section: dict[str, object] = {}
    if parameters.get(LUSTRE) or parameters.get(MOUNT):
        section["existing"] = _existing(original)
    if parameters.get(OPENZFS):
        section["openzfs"] = {"dns_name": parameters[OPENZFS]}
    comments = ["The original's file systems."] if section else []
    if "existing" in section and "openzfs" not in section and has_our_scripts:
        section["homes"] = AWS_HOMES
        comments.append(f"AWS's scripts put homes in {AWS_HOMES}. Remove `homes` if the original has them in {DEFAULT_HOMES}.")
    return Part({"storage": section} if section else {}, tuple(comments))


def _mounted_by_hyperpod(original: Original, choices: Choices) -> Part:
    """Return the file systems of all groups' `InstanceStorageConfigs`; others stay in `overrides`."""
    mounts = mounts_of(original, choices)
    if mounts is None or mounts == Mounts():
        return Part({})
    lustre, openzfs = mounts
    if choices.keep is Keep.NOTHING and lustre is not None:
        return Part({"storage": {"lustre": {"storage_capacity_gib": 1200}}}, (NEW.format(lustre["DnsName"]),))
    section: dict[str, object] = {}
    if lustre is not None:
        section["existing"] = {"file_system_id": mounts.file_system_id, "mount_name": lustre["MountName"]}
    if openzfs is not None:
        section["openzfs"] = {"dns_name": openzfs["DnsName"]}
    return Part({"storage": section}, ("The original's file systems.",))


def _new(parameters: Any, *, has_our_scripts: bool) -> Part:
    comments = []
    if parameters.get(OPENZFS):
        comments.append(
            f"Homes were on {parameters[OPENZFS]}, which the new network does not reach; now they are in {DEFAULT_HOMES}."
        )
    if not parameters.get(LUSTRE):
        return Part({}, tuple(comments))
    comments.append(NEW.format(parameters[LUSTRE]))
    if has_our_scripts and not parameters.get(OPENZFS):
        comments.append(f"Homes are in {DEFAULT_HOMES}; AWS's scripts put them in {AWS_HOMES}. To keep that, set `homes`.")
    return Part({"storage": {"lustre": {"storage_capacity_gib": 1200}}}, tuple(comments))


def _existing(original: Original) -> dict[str, str]:
    parameters = original.parameters or {}
    for name in (LUSTRE, MOUNT):
        if not parameters.get(name):
            raise _wrong(original, name, ABSENT, "a file system requires its DNS name and its mount name; add it")
    found = re.match(r"(fs-[0-9a-f]{8,17})\.", parameters[LUSTRE])
    if not found:
        message = "does not begin with a file system id; enter e.g. fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com"
        raise _wrong(original, LUSTRE, parameters[LUSTRE], message)
    return {"file_system_id": found[1], "mount_name": parameters[MOUNT]}


def _wrong(original: Original, name: str, value: object, message: str) -> ConfigError:
    return ConfigError({original.parameters_file: [Problem((name,), value, message)]})
