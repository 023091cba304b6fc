"""What cdk-nag finds when nothing is acknowledged, and what is acknowledged."""

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
    """An acknowledgement: for which construct and all below it, of what, and why."""

    path: str
    rule: str
    reason: str

    def covers(self, finding: tuple[str, str]) -> bool:
        """Whether it is an acknowledgement of this finding."""
        path, rule = finding
        return rule == self.rule and f"{path}/".startswith(f"{self.path}/")


@dataclass
class Findings:
    """Findings as construct path and rule, and acknowledgements."""

    found: set[tuple[str, str]] = field(default_factory=set)
    acknowledged: list[Acknowledged] = field(default_factory=list)


def collect(outdir: Path, clusters: Path) -> Findings:
    """Synthesize the cluster files of a folder with every acknowledgement put aside."""
    findings = Findings()
    original = cdk.Validations.of
    with pytest.MonkeyPatch.context() as patched:
        recording = staticmethod(lambda scope: _Recorder(original(scope), scope, findings.acknowledged))
        patched.setattr(cdk.Validations, "of", recording)
        app = ClustersApp(context={"clusters": str(clusters)}, outdir=str(outdir))
        try:
            app.synth()
        except RuntimeError as error:
            # What cdk-nag finds ends a synthesis; the report is written all the same.
            if not str(error).startswith("ValidationFailed"):
                raise
    report = json.loads((outdir / REPORT).read_text())
    findings.found = {
        (construct["constructPath"], violation["ruleName"])
        for plugin in report["pluginReports"]
        for violation in plugin["violations"]
        if not violation["ruleName"].startswith("Annotation::")  # the warnings of the cluster files are in the report, too
        for construct in violation["violatingConstructs"]
    }
    return findings


class _Recorder:
    """Stands in for a construct's ``Validations``: plugins are added, acknowledgements only noted."""

    def __init__(self, validations: cdk.Validations, construct: IConstruct, noted: list[Acknowledged]) -> None:
        self._path = construct.node.path
        self._noted = noted
        self.add_plugins = validations.add_plugins

    def acknowledge(self, *rules: cdk.Acknowledgment) -> None:
        self._noted.extend(Acknowledged(self._path, rule.id, rule.reason or "") for rule in rules)
