"""`./hpod validate`: check cluster files, without Node, the CDK or credentials."""

from collections.abc import Sequence
from pathlib import Path

from cli.cluster_files import checked
from cli.result import Result, Verbatim
from validation.checked_file import with_charts
from validation.report import FORMATS, counted, counts, problems


def validate(*, clusters: Path, files: Sequence[str], form: str = "text", strict: bool = False) -> Result:
    """Return the problems of the files; errors, and with ``strict`` warnings that the file does not suppress, fail."""
    found = with_charts(checked(clusters, files))
    is_failure = any(file.errors or (strict and file.warnings) for file in found)
    printed = FORMATS[form](found) if form in FORMATS else ""
    lines = [printed, counted(found) if form == "text" and not is_failure else ""]
    text = "\n".join(filter(None, lines))
    return Result(
        {"files": [file.name for file in found], "counts": counts(found)},
        (Verbatim(text),) if text else (),  # one line for each problem, as editors read it
        problems(found),
        counted(found) if is_failure else "",
    )
