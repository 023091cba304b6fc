"""The slurm section of an imported cluster: several controllers, which share a database and slurmctld's state."""

from pathlib import Path

from cli.import_cluster.choices import Choices, Keep
from cli.import_cluster.commented_yaml import Part
from cli.import_cluster.original import Original
from cli.import_cluster.roles import SLURM

SECRET, ENDPOINT, DIRECTORY = "slurm_database_secret_arn", "slurm_database_endpoint", "slurm_shared_directory"


def slurm_part(original: Original, choices: Choices) -> Part:
    """Return the section for `slurm_configurations`, which AWS's scripts read for several controllers."""
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
    return Part({"slurm": section} if section else {}, tuple(comments))
