"""Check the invariants of every cluster file."""

from pathlib import Path

from jsonschema import Draft7Validator

from config.errors import ConfigError
from validation.catalog import catalog
from validation.checked_file import CheckedFile, check_source
from validation.report import FORMATS
from validation.schema import cluster_schema

SCHEMA = Draft7Validator(cluster_schema())
CATALOG = catalog()
# Values possibly newer than this release are warnings, but errors in the schema.
MAY_BE_NEW = {"known-region", "known-zone", "known-instance-type"}


def check_invariants(source: bytes, folder: Path = Path()) -> CheckedFile:
    """Check that the file is valid, also for the schema, or has problems of one line with a fix each."""
    checked = check_source(source, "draft", folder, "draft.yaml")
    if checked.config and not MAY_BE_NEW & {problem.rule for problem in checked.problems}:
        assert [error.message for error in SCHEMA.iter_errors(checked.document.content)] == [], "editors must not complain"
    assert checked.config or checked.errors
    text = str(ConfigError({"draft.yaml": checked.problems}))
    assert len(text.splitlines()) == len(checked.problems)
    assert all(problem.fix for problem in checked.problems), text
    assert all(problem.rule in CATALOG for problem in checked.problems), text
    lines = len(source.decode("utf-8", "replace").splitlines()) + 1
    assert all(problem.place and problem.place.line <= lines for problem in checked.problems if problem.rule != "file.empty"), (
        text
    )
    for form in FORMATS.values():
        form([checked]).encode()
    return checked
