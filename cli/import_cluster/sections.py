"""The storage, slurm and eks sections of an imported cluster."""

import re
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from cli.import_cluster.choices import Choices, Keep
from cli.import_cluster.commented_yaml import Part
from cli.import_cluster.instance_storage import Mounts
from cli.import_cluster.node_setup import is_continuous, mounts_of, uses_api
from cli.import_cluster.original import Original, eks_arn_of
from cli.import_cluster.roles import SLURM
from cluster_request.eks_addons import versions
from cluster_request.request import CONTINUOUS
from config.errors import ABSENT, ConfigError, Problem
from config.section import Section
from config.slurm import AccountingConfig
from config.storage import DEFAULT_HOMES, ExistingFileSystem, OpenZfsConfig
from validation.patterns import fallback_fix, in_words

LUSTRE, MOUNT, OPENZFS = "fsx_dns_name", "fsx_mountname", "fsx_openzfs_dns_name"
AWS_HOMES = "/fsx"
NEW = "A new, empty file system; the new network does not reach the original's, {}. Choose its size."
SECRET, ENDPOINT, DIRECTORY = "slurm_database_secret_arn", "slurm_database_endpoint", "slurm_shared_directory"
NOT_ADOPTED = "HyperPod allows one HyperPod cluster on an EKS cluster: delete the original first."
KARPENTER = {"Mode": "Enable", "AutoScalerType": "Karpenter"}


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
        section["openzfs"] = {"dns_name": _checked(original, OPENZFS, OpenZfsConfig, "dns_name")}
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
            raise _wrong(original, name, ABSENT, "a file system requires its DNS name and its mount name", "add it")
    found = re.match(r"(fs-[0-9a-f]{8,17})\.", parameters[LUSTRE])
    if not found:
        fix = "enter e.g. fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com"
        raise _wrong(original, LUSTRE, parameters[LUSTRE], "does not begin with a file system id", fix)
    return {"file_system_id": found[1], "mount_name": _checked(original, MOUNT, ExistingFileSystem, "mount_name")}


def _checked(original: Original, name: str, section: type[Section], field: str) -> str:
    """Return the parameter's text; raise a ConfigError if the field does not accept it."""
    text = str((original.parameters or {})[name])
    pattern = next(each.pattern for each in section.model_fields[field].metadata if hasattr(each, "pattern"))
    if not re.fullmatch(pattern, text):
        raise _wrong(original, name, text, in_words(pattern), fallback_fix(pattern) or "correct it")
    return text


def _wrong(original: Original, name: str, value: object, message: str, fix: str) -> ConfigError:
    return ConfigError({original.parameters_file: [Problem((name,), value, message, fix)]})


def slurm_part(original: Original, choices: Choices) -> Part:
    """Return the section with what configures Slurm, and its accounting; on EKS, the eks section."""
    if eks_arn_of(original.request):
        return _eks(original, choices)
    if uses_api(original, choices):
        part = _managed(original) if is_continuous(original, choices) else _external(original, choices)
        return Part({"slurm": {"setup": "api", **part.sections}}, part.comments)
    part = _external(original, choices)
    is_kept = choices.keep is not Keep.NOTHING or choices.scripts is not None
    comments = (*part.comments, *["Scripts set up Slurm, as in the original, a part of which is kept."] * is_kept)
    return Part({"slurm": {"setup": "scripts", **part.sections}}, comments)


def _managed(original: Original) -> Part:
    """Return the database that HyperPod connects to; one with values that no field accepts stays in `overrides`."""
    database = original.request.get("Orchestrator", {}).get("Slurm", {}).get("AccountingDatabase") or {}
    names = {"host": "Endpoint", "port": "Port", "schema_name": "Name", "secret_arn": "SecretArn"}
    section = {"database": "managed", **{field: database[member] for field, member in names.items() if member in database}}
    try:
        AccountingConfig.model_validate(section)
    except ValidationError as error:
        wrong = " and ".join(sorted({str(each["loc"][0]) for each in error.errors()}))
        note = f"The accounting database is in `overrides`, as slurm.accounting does not accept its {wrong}; correct and move it."
        return Part({}, (note,))
    return Part({"accounting": section} if database else {})


def _external(original: Original, choices: Choices) -> Part:
    """Return the fields for `slurm_configurations`, which AWS's scripts read for several controllers."""
    given: dict[str, str] = (original.parameters or {}).get(SLURM) or {}
    if not given or choices.keep is Keep.EVERYTHING:
        return Part({})
    if choices.scripts is not None:
        return Part({}, (f"Left out: {SLURM}, which the generated provisioning_parameters.json lacks; change the scripts.",))
    section: dict[str, object] = {}
    comments = [f"From {SLURM} of {Path(original.parameters_file).name}."]
    if given.get(SECRET) and given.get(ENDPOINT):
        host, _, port = given[ENDPOINT].partition(":")
        section["accounting"] = {
            "database": "external",
            "host": host,
            **({"port": int(port)} if port.isdecimal() else {}),
            "secret_arn": given[SECRET],
        }
        comments.append("The secret must contain `username` and `password`, and the network must reach the database.")
    if given.get(DIRECTORY):
        section["state_folder"] = f"{given[DIRECTORY].rstrip('/')}/slurm"
    if unused := [name for name in given if name not in (SECRET, ENDPOINT, DIRECTORY)]:
        comments.append(f"Left out: {', '.join(unused)}.")
    return Part(section, tuple(comments))


def _eks(original: Original, choices: Choices) -> Part:
    """Return the section: the original's EKS cluster if the network is kept, else a new one."""
    request = original.request
    arn = str(eks_arn_of(request))
    is_continuous = request.get("NodeProvisioningMode") == CONTINUOUS
    scaling = {"autoscaling": "karpenter"} if request.get("AutoScaling") == KARPENTER and is_continuous else {}
    if choices.keep is not Keep.NOTHING:
        section = {"existing": {"name": arn.rpartition("/")[2]}, **scaling}
        note = "The original's EKS cluster."
        return Part({"eks": section}, (note,) if choices.adopt else (note, NOT_ADOPTED))
    newest = max(versions(), key=lambda name: int(name.partition(".")[2]))
    comments = (
        f"A new EKS cluster, instead of {arn}.",
        "Not taken over: the software in it. Add your roles to `admins`, and check the version.",
    )
    return Part({"eks": {"version": newest, **scaling}}, comments)
