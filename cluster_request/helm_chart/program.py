"""Run the author's `helm`, which reads only local files."""

import json
import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

RELEASE, NAMESPACE = "hyperpod-dependencies", "kube-system"
"""As in https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-install-packages-using-helm-chart.html"""
OLDEST = (3, 8)
TIMEOUT_S = 60
INSTALL = f"install Helm {OLDEST[0]}.{OLDEST[1]} or newer (https://helm.sh/docs/intro/install)"
MAX_TEXT = 300


class HelmError(Exception):
    """Helm cannot render the chart: why, and the fix."""

    def __init__(self, message: str, fix: str) -> None:
        self.message = message
        self.fix = fix
        super().__init__(f"{message}; {fix}")


def template(chart: Path, values: Mapping[str, Any], kubernetes_version: str | None) -> str:
    """Return the manifests of the chart's release, with its CRDs; raise HelmError if Helm cannot render them."""
    program = shutil.which("helm")
    if program is None:
        raise HelmError("`helm` is not on the PATH", INSTALL)
    _check_version(program)
    version = ["--kube-version", kubernetes_version] if kubernetes_version else []
    options = ["--namespace", NAMESPACE, "--include-crds", "--skip-tests", "--values", "-", *version]
    return _run([program, "template", RELEASE, str(chart), *options], json.dumps(values), chart)


def _check_version(program: str) -> None:
    text = _run([program, "version", "--template", "{{.Version}}"], "", None).strip()
    found = re.match(r"v(\d+)\.(\d+)", text)
    if found and (int(found[1]), int(found[2])) < OLDEST:
        raise HelmError(f"Helm {text} is too old", INSTALL)


def _run(command: list[str], given: str, chart: Path | None) -> str:
    try:
        done = subprocess.run(command, input=given, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
    except subprocess.TimeoutExpired:
        raise HelmError(f"`helm {command[1]}` has not ended in {TIMEOUT_S} seconds", "run it in a terminal to see why") from None
    except (OSError, UnicodeDecodeError) as error:
        raise HelmError(f"`{command[0]}` cannot run ({error})", INSTALL) from None
    if done.returncode == 0:
        return done.stdout
    if chart is None:  # Helm 2 has no such command without its server
        raise HelmError(f"`helm version` fails: {_reason(done.stderr)}", INSTALL)
    raise HelmError(f"`helm template` fails: {_reason(done.stderr)}", _fix(done.stderr, chart))


def _reason(text: str) -> str:
    """Return the error in Helm's output, in a single line."""
    lines = [line.strip() for line in text.splitlines() if line.strip() and not re.match(r"level=|WARNING|Use --debug", line)]
    start = next((index for index, line in enumerate(lines) if line.startswith("Error:")), 0)
    reason = " ".join(lines[start:]).removeprefix("Error:").strip().replace("; ", ", ") or "no message"
    return reason if len(reason) <= MAX_TEXT else f"{reason[: MAX_TEXT - 3]}..."


def _fix(text: str, chart: Path) -> str:
    if "missing in charts/" in text:
        return f"run `helm dependency update {chart.name}` in the folder above it"
    if "kubeVersion" in text:
        return "use a chart for this Kubernetes version"
    return "correct `eks.helm_chart.values` or the chart"
