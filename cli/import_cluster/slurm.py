"""The slurm section of an imported cluster: who configures Slurm, and the database and state of several controllers."""

from pathlib import Path

from pydantic import ValidationError

from cli.import_cluster.api_setup import is_continuous, uses_api
from cli.import_cluster.choices import Choices, Keep
from cli.import_cluster.commented_yaml import Part
from cli.import_cluster.kubernetes import eks_arn_of, eks_part
from cli.import_cluster.original import Original
from cli.import_cluster.roles import SLURM
from config.slurm import AccountingConfig

SECRET, ENDPOINT, DIRECTORY = "slurm_database_secret_arn", "slurm_database_endpoint", "slurm_shared_directory"


def slurm_part(original: Original, choices: Choices) -> Part:
    """Return the section with what configures Slurm, and its accounting; on EKS, the eks section."""
    if eks_arn_of(original.request):
        return eks_part(original, choices)
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
