"""`./hpod validate`: check cluster files, without Node, the CDK or credentials."""

from collections.abc import Sequence
from pathlib import Path

from cli.cluster_files import checked
from cli.result import Result
from validation.report import FORMATS, counted, counts, problems


def validate(*, clusters: Path, files: Sequence[str], form: str = "text", strict: bool = False) -> Result:
    """Return the problems of the files; errors, and with ``strict`` warnings that the file does not suppress, fail."""
    found = checked(clusters, files)
    is_failure = any(file.errors or (strict and file.warnings) for file in found)
    parts = [FORMATS[form](found)] if form in FORMATS else []
    if form == "text" and not is_failure:
        parts.append(counted(found))
    return Result(
        {"files": [file.name for file in found], "counts": counts(found)},
        ("\n".join(filter(None, parts)),) if any(parts) else (),
        problems(found),
        counted(found) if is_failure else "",
    )
