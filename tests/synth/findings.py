"""Collect cdk-nag findings and acknowledgements."""

import json
from dataclasses import dataclass, field
from pathlib import Path

import aws_cdk as cdk
import pytest
from constructs import IConstruct

from stacks.clusters_app import ClustersApp

REPORT = "validation-report.json"


@dataclass(frozen=True)
class Acknowledged:
    """An acknowledgement of a rule for a construct and its children, with its reason."""

    path: str
    rule: str
    reason: str

    def covers(self, finding: tuple[str, str]) -> bool:
        """Return whether it acknowledges the finding."""
        path, rule = finding
        return rule == self.rule and f"{path}/".startswith(f"{self.path}/")


@dataclass
class Findings:
    """Findings as construct path and rule, and acknowledgements."""

    found: set[tuple[str, str]] = field(default_factory=set)
    acknowledged: list[Acknowledged] = field(default_factory=list)


def collect(outdir: Path, clusters: Path) -> Findings:
    """Synthesize the cluster files of a folder, ignoring acknowledgements."""
    findings = Findings()
    original = cdk.Validations.of
    with pytest.MonkeyPatch.context() as patched:
        recording = staticmethod(lambda scope: _Recorder(original(scope), scope, findings.acknowledged))
        patched.setattr(cdk.Validations, "of", recording)
        app = ClustersApp(context={"clusters": str(clusters)}, outdir=str(outdir))
        try:
            app.synth()
        except RuntimeError as error:
            # Findings fail the synthesis, which writes the report nevertheless.
            if not str(error).startswith("ValidationFailed"):
                raise
    report = json.loads((outdir / REPORT).read_text())
    findings.found = {
        (construct["constructPath"], violation["ruleName"])
        for plugin in report["pluginReports"]
        for violation in plugin["violations"]
        if not violation["ruleName"].startswith("Annotation::")  # warnings of the cluster files
        for construct in violation["violatingConstructs"]
    }
    return findings


class _Recorder:
    """Fake a construct's ``Validations``: add plugins, but only record acknowledgements."""

    def __init__(self, validations: cdk.Validations, construct: IConstruct, recorded: list[Acknowledged]) -> None:
        self._path = construct.node.path
        self._recorded = recorded
        self.add_plugins = validations.add_plugins

    def acknowledge(self, *rules: cdk.Acknowledgment) -> None:
        self._recorded.extend(Acknowledged(self._path, rule.id, rule.reason or "") for rule in rules)
