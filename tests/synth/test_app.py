"""Run the app as a program: `cdk synth` and `python app.py` give the same templates, and errors are one line each."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from stacks.clusters_app import PROJECT, ClustersApp
from tests import cluster_files
from tests.synth.synthesized import Synthesized, read_assembly

CDK = PROJECT / "node_modules" / ".bin" / "cdk"
# No credentials, or the command line would add facts about the account to the templates.
ISOLATED = {
    "HOME": os.environ.get("HOME", "/"),  # contains the cache of jsii
    "AWS_CONFIG_FILE": "/nonexistent",
    "AWS_SHARED_CREDENTIALS_FILE": "/nonexistent",
    "AWS_EC2_METADATA_DISABLED": "true",
    "PATH": os.pathsep.join([str(PROJECT / ".venv" / "bin"), os.environ["PATH"]]),
    "PYTHONDONTWRITEBYTECODE": "1",
    # To load the CDK's validation of templates takes five seconds; `shipped` and the walks of tests/local run it.
    "CDK_VALIDATION": "false",
    # Else each program compiles aws-cdk-lib: six seconds.
    **{name: value for name, value in os.environ.items() if name == "PYTHONPYCACHEPREFIX"},
}


def run(*command: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a program in the checkout."""
    return subprocess.run(
        [str(part) for part in command],
        cwd=PROJECT,
        env={**ISOLATED, **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def test_a_slurm_file_does_not_load_what_only_eks_clusters_need(tmp_path: Path) -> None:
    context = {"clusters": str(cluster_files.CLUSTERS), "nag": "false"}
    script = (
        "import sys; from stacks.clusters_app import ClustersApp;"
        f"ClustersApp(context={context!r}, outdir={str(tmp_path)!r}).synth();"
        "others = ('aws_eks', 'aws_sagemaker', 'constructs.hyperpod.kubernetes');"
        "print(*(name for name in sys.modules if any(other in name for other in others)))"
    )
    done = run(sys.executable, "-c", script)
    assert (done.returncode, done.stdout.strip()) == (0, ""), done.stderr


@pytest.mark.cdk
def test_cdk_synth_gives_the_same_templates_as_the_app(shipped: Synthesized, tmp_path: Path) -> None:
    """tests/snapshots/test_determinism.py compares `python app.py` with the same templates."""
    done = run(CDK, "synth", "--quiet", "--context", f"clusters={cluster_files.CLUSTERS}", "--output", tmp_path)
    assert done.returncode == 0, done.stderr
    ours = {names: template.text for names, template in shipped.templates.items() if names[0] == "reference"}
    assert {names: template.text for names, template in read_assembly(tmp_path).items()} == ours


def wrong(folder: Path, *, wrong: str, right: str) -> str:
    """Write a reference cluster with a mistake; return the context that selects it."""
    text = cluster_files.REFERENCE.read_text()
    assert right in text
    (folder / "mistaken.yaml").write_text(text.replace(right, wrong))
    return f'{{"clusters": "{folder}"}}'


def test_an_error_in_a_file_is_one_line_on_stderr_and_exit_status_1(tmp_path: Path) -> None:
    context = wrong(tmp_path, right='version: "2.15"', wrong='version: "2.16"')
    done = run(sys.executable, "app.py", CDK_CONTEXT_JSON=context, CDK_OUTDIR=str(tmp_path / "out"))
    assert done.returncode == 1
    assert done.stdout == ""
    [line] = done.stderr.splitlines()
    assert line.startswith(f'{tmp_path}/mistaken.yaml:12:5: storage.lustre.version: "2.16": ')


def test_all_errors_of_all_files_are_reported_at_once(tmp_path: Path) -> None:
    wrong(tmp_path, right="ml.m5.xlarge", wrong="ml.m5.xxlarge")
    context = wrong(tmp_path, right="usw2-az4", wrong="us-west-2a")
    (tmp_path / "other.yaml").write_text("region: 1\n")
    done = run(sys.executable, "app.py", CDK_CONTEXT_JSON=context, CDK_OUTDIR=str(tmp_path / "out"))
    assert done.returncode == 1
    assert {line.split(":")[0] for line in done.stderr.splitlines()} == {f"{tmp_path}/mistaken.yaml", f"{tmp_path}/other.yaml"}


def test_an_unknown_cluster_gets_a_suggestion(tmp_path: Path) -> None:
    context = json.dumps({"clusters": str(cluster_files.CLUSTERS), "cluster": "referenze"})
    done = run(sys.executable, "app.py", CDK_CONTEXT_JSON=context, CDK_OUTDIR=str(tmp_path / "out"))
    assert done.returncode == 1
    [line] = done.stderr.splitlines()
    assert "reference" in line


def test_a_folder_of_clusters_is_relative_to_the_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "ours").mkdir()
    shutil.copy(cluster_files.EXAMPLES / "starter.yaml", tmp_path / "ours" / "staging.yaml")
    monkeypatch.chdir(tmp_path)
    ClustersApp(context={"clusters": "ours", "nag": "false"}, outdir=str(tmp_path / "out")).synth()
    assert {cluster for cluster, _ in read_assembly(tmp_path / "out")} == {"staging"}


def test_one_cluster_of_a_folder_can_be_selected(tmp_path: Path) -> None:
    context = {"clusters": str(cluster_files.EXAMPLES), "cluster": "fsdp-g5", "nag": "false"}
    ClustersApp(context=context, outdir=str(tmp_path)).synth()
    assert {cluster for cluster, _ in read_assembly(tmp_path)} == {"fsdp-g5"}
