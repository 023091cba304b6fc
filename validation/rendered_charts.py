"""Check the rendered Helm charts of cluster files."""

from collections.abc import Iterable

from config.model import ClusterConfig
from validation.checked_file import CheckedFile
from validation.rules import broken_chart_rules
from validation.suppressions import with_chart_suppressions


def with_charts(files: Iterable[CheckedFile]) -> tuple[CheckedFile, ...]:
    """Return the files with the problems of their charts; a file without a chart does not call Helm."""
    return tuple(_with_chart(file, file.config) if file.config and file.config.renders_chart else file for file in files)


def _with_chart(file: CheckedFile, config: ClusterConfig) -> CheckedFile:
    return file.with_problems(with_chart_suppressions(broken_chart_rules(config), config))
