"""What holds for whatever is given as a cluster file."""

from pathlib import Path

from jsonschema import Draft7Validator  # type: ignore[import-untyped]  # has no stubs here

from config.errors import ConfigError
from validation.catalog import catalog
from validation.checked_file import CheckedFile, check_source
from validation.report import FORMATS
from validation.schema import cluster_schema

SCHEMA = Draft7Validator(cluster_schema())
CATALOG = catalog()
# What may be newer than this release: a warning, while editors mark it, as they offer what there is.
MAY_BE_NEW = {"known-region", "known-zone", "known-instance-type"}


def looked_at(source: bytes, folder: Path = Path()) -> CheckedFile:
    """The file: a cluster, also to editors, or with problems, each of them one line that says what is wrong, and a remedy."""
    checked = check_source(source, "draft", folder, "draft.yaml")
    if checked.config and not MAY_BE_NEW & {problem.rule for problem in checked.problems}:
        assert [error.message for error in SCHEMA.iter_errors(checked.document.content)] == [], "editors must not complain"
    assert checked.config or checked.errors
    text = str(ConfigError({"draft.yaml": checked.problems}))
    assert len(text.splitlines()) == len(checked.problems)
    assert all("; " in problem.message for problem in checked.problems), text
    assert all(problem.rule in CATALOG for problem in checked.problems), text
    lines = len(source.decode("utf-8", "replace").splitlines()) + 1
    assert all(problem.place and problem.place.line <= lines for problem in checked.problems if problem.rule != "file.empty"), (
        text
    )
    for form in FORMATS.values():
        form([checked]).encode()
    return checked
