"""What runs on a node of a cluster on Amazon EKS, and how it ends."""

from __future__ import annotations

import ast
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from hyperpod_node.errors import NodeError
from hyperpod_node.kubernetes.kubernetes_plan import STEPS, KubernetesContext, run_kubernetes_steps
from hyperpod_node.node_settings import EKS, SLURM, orchestrator_of
from tests.unit.hyperpod_node.fake_system import FakeSystem

ASSETS = Path(__file__).parents[4] / "lifecycle_assets"
OLDEST = (3, 7)
"""Python of Amazon Linux 2; Amazon Linux 2023 has 3.9."""
LOADED = ("kubernetes.kubernetes_plan", "node_settings", "resource_config", "system")
"""What lifecycle_script.py loads on Amazon EKS."""
CONFIG = {
    "ClusterConfig": {"ClusterName": "ml-cluster"},
    "InstanceGroups": [
        {"Name": "workers", "Instances": [{"InstanceName": "workers-1", "CustomerIpAddress": "10.1.0.6", "InstanceId": "i-6"}]}
    ],
}


def modules_of(*arguments: str) -> list[Path]:
    """Return the files of this project that a Python program loads."""
    code = f"import sys; sys.path.insert(0, {str(ASSETS)!r}); {'; '.join(arguments)}; import hyperpod_node; "
    listing = "print('\\n'.join(m.__file__ for m in list(sys.modules.values()) if getattr(m, '__file__', None)))"
    done = subprocess.run([sys.executable, "-c", code + listing], capture_output=True, text=True, check=True)
    return [Path(line) for line in done.stdout.splitlines() if line.startswith(str(ASSETS))]


def test_the_disk_is_ready_between_the_scripts_of_both_points() -> None:
    assert list(STEPS) == [
        "log rotation",
        "your scripts before Kubernetes",
        "disk for containers",
        "your scripts after Kubernetes",
    ]


def test_own_scripts_run_at_both_points_and_know_their_node(tmp_path: Path) -> None:
    for point in ("before_kubernetes", "after_kubernetes"):
        (tmp_path / "extra" / point).mkdir(parents=True)
        (tmp_path / "extra" / point / "10-own.sh").write_text("")
    node = FakeSystem(tmp_path / "node")
    node.write("/proc/1/mountinfo", "")
    context = KubernetesContext(tmp_path, "workers-1", "10.1.0.6", "workers", "ml-cluster")
    run_kubernetes_steps(context, node.system)
    scripts = [command[-1].rpartition("extra/")[2] for command in node.run.commands]
    assert scripts == ["before_kubernetes/10-own.sh", "after_kubernetes/10-own.sh"]
    assert node.run.environments[0] == {
        "HYPERPOD_GROUP": "workers",
        "HYPERPOD_NODE_NAME": "workers-1",
        "HYPERPOD_CLUSTER_NAME": "ml-cluster",
    }


def test_the_first_failure_ends_the_node_with_the_title_of_its_step(tmp_path: Path) -> None:
    def fails(*_: object) -> None:
        raise NodeError("no disk")

    ran: list[str] = []
    steps = {"disk for containers": fails, "later": lambda *_: ran.append("later")}
    with pytest.raises(NodeError, match=r"^step 'disk for containers': no disk$"):
        run_kubernetes_steps(KubernetesContext(tmp_path), FakeSystem(tmp_path).system, steps)
    assert ran == []


def test_a_node_without_hyperpods_file_is_set_up_anyway(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    context = KubernetesContext.load(tmp_path, Path("/opt/ml/config/resource_config.json"), FakeSystem(tmp_path).system)
    assert context == KubernetesContext(tmp_path)
    assert capsys.readouterr().out.startswith("warning: the names of this node and its group are unknown: ")


def test_a_node_finds_itself_in_hyperpods_file(tmp_path: Path) -> None:
    node = FakeSystem(tmp_path)
    node.write("/opt/ml/config/resource_config.json", json.dumps(CONFIG))
    node.answers("hostname", "172.16.0.1 10.1.0.6 \n")
    context = KubernetesContext.load(tmp_path, Path("/opt/ml/config/resource_config.json"), node.system)
    assert (context.name, context.group, context.cluster_name) == ("workers-1", "workers", "ml-cluster")


@pytest.mark.parametrize(
    ("content", "orchestrator"),
    [({"version": 1, "orchestrator": "eks"}, EKS), ({"version": 1, "orchestrator": "slurm"}, SLURM), ({"version": 1}, SLURM)],
)
def test_the_settings_name_the_orchestrator(tmp_path: Path, content: dict[str, object], orchestrator: str) -> None:
    path = tmp_path / "node_settings.json"
    path.write_text(json.dumps(content))
    assert orchestrator_of(path) == orchestrator


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"version": 1, "orchestrator": "nomad"}, "has orchestrator 'nomad'; these scripts support slurm and eks"),
        ({"version": 2, "orchestrator": "eks"}, "has version 2; these scripts support version 1"),
        ({"orchestrator": "eks"}, "has no 'version'"),
    ],
)
def test_settings_of_another_release_are_refused(tmp_path: Path, content: dict[str, object], message: str) -> None:
    path = tmp_path / "node_settings.json"
    path.write_text(json.dumps(content))
    with pytest.raises(NodeError, match=message):
        orchestrator_of(path)


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    """The uploaded scripts, with a script of the user that fails, so that no step changes this machine."""
    folder = tmp_path / "bundle"
    shutil.copytree(ASSETS, folder, ignore=shutil.ignore_patterns("__pycache__"))
    plan = folder / "hyperpod_node" / "kubernetes" / "kubernetes_plan.py"
    plan.write_text(plan.read_text().replace('    "log rotation": rotate_logs,\n', ""))
    (folder / "on_create.sh").write_text(
        (folder / "on_create.sh").read_text().replace("/var/log/provision", str(tmp_path / "log"))
    )
    (folder / "node_settings.json").write_text(json.dumps({"version": 1, "orchestrator": "eks"}))
    (folder / "extra" / "before_kubernetes").mkdir(parents=True)
    (folder / "extra" / "before_kubernetes" / "10-own.sh").write_text("echo reason\nexit 4\n")
    return folder


def test_a_failure_has_the_status_and_the_last_line_that_slurm_nodes_have(bundle: Path) -> None:
    done = subprocess.run(["bash", bundle / "on_create.sh"], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    last = done.stdout.splitlines()[-1]
    assert last.startswith(
        "lifecycle script failed: step 'your scripts before Kubernetes': extra/before_kubernetes/10-own.sh: `bash "
    )
    assert last.endswith("ended with status 4: reason")
    assert (bundle.parent / "log" / "provisioning.log").read_text() == done.stdout


def test_an_old_python_is_named_with_the_image_to_use(bundle: Path, tmp_path: Path) -> None:
    python = tmp_path / "bin" / "python3"
    python.parent.mkdir()
    python.write_text("#!/bin/sh\n[ $1 = --version ] && echo Python 3.6.15 || exit 1\n")
    python.chmod(0o755)
    environment = {**os.environ, "PATH": f"{python.parent}:{os.environ['PATH']}"}
    done = subprocess.run(["bash", bundle / "on_create.sh"], env=environment, capture_output=True, text=True, check=False)
    problem = "these scripts require Python 3.7 or later, found: Python 3.6.15"
    assert (done.returncode, done.stdout) == (1, f"lifecycle script failed: {problem}; use an image with Amazon Linux 2023\n")


def test_the_scripts_have_the_syntax_of_the_oldest_python() -> None:
    found = modules_of(*(f"import hyperpod_node.{name}" for name in LOADED))
    names = {path.name for path in found}
    assert {"kubernetes_plan.py", "container_disk.py", "own_scripts.py", "shell.py"} <= names
    assert not names & {"slurm_client.py", "users.py", "plan.py"}
    for path in [*found, ASSETS / "lifecycle_script.py"]:
        tree = ast.parse(path.read_text(), str(path), feature_version=OLDEST)
        # Annotations like `str | None` are errors there unless they are not evaluated.
        has_functions = any(isinstance(node, ast.FunctionDef) for node in ast.walk(tree))
        assert not has_functions or "from __future__ import annotations" in path.read_text() or _is_plain(tree), path


def _is_plain(tree: ast.Module) -> bool:
    """Return whether all annotations are plain names."""
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    annotations = [each.annotation for node in functions for each in (*node.args.args, *node.args.kwonlyargs)]
    returns = [node.returns for node in functions]
    return all(each is None or isinstance(each, ast.Name | ast.Constant) for each in [*annotations, *returns])
