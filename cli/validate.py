"""`./hpod validate`: all that is wrong with cluster files, without Node, the CDK or credentials."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from cli.cluster_files import checked
from cli.errors import OpsError
from validation.report import FORMATS, counted


def validate(*, clusters: Path, files: Sequence[str], format: str, strict: bool) -> Iterator[str]:
    """What there is to say of the files, in the format; then an OpsError that counts the errors, if there are any."""
    found = checked(clusters, files)
    said = FORMATS[format](found)
    if said:
        yield said
    if any(file.errors or (strict and file.warnings) for file in found):
        raise OpsError(counted(found))
    if format == "text":
        yield counted(found)
