"""A control plane that cannot start says why, and leaves nothing."""

from collections.abc import Callable
from pathlib import Path

import pytest

from local_aws.kubernetes import control_plane
from local_aws.kubernetes.control_plane import KubernetesError

WEBHOOK = "http://127.0.0.1:9/"


def start(folder: Path) -> None:
    control_plane.start("ml", folder, token_webhook=WEBHOOK)


def test_programs_that_are_not_built_are_named_with_the_fix(tmp_path: Path) -> None:
    with pytest.raises(KubernetesError, match="programs are not built; build them with `make kubernetes-setup`"):
        start(tmp_path / "plane")
    assert not (tmp_path / "plane").exists()


def test_a_missing_program_is_named(tmp_path: Path, built: Callable[..., Path]) -> None:
    (built() / "etcd").unlink()
    with pytest.raises(KubernetesError, match=r"etcd ended with status 127; its last lines:\n.*etcd: No such file"):
        start(tmp_path / "plane")
    assert not (tmp_path / "plane").exists()


def test_a_program_that_ends_at_once_is_named_with_its_last_lines(tmp_path: Path, built: Callable[..., Path]) -> None:
    built(kube_apiserver="seq 20; echo unknown flag >&2; exit 3")
    with pytest.raises(KubernetesError, match=r"^kube-apiserver ended with status 3; its last lines:\n12\n(?s:.*)unknown flag$"):
        start(tmp_path / "plane")


def test_a_folder_may_be_relative(tmp_path: Path, built: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> None:
    built(etcd="exit 4")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(KubernetesError, match="etcd ended with status 4"):
        start(Path("plane"))


def test_a_lost_race_for_a_port_is_tried_again_once(tmp_path: Path, built: Callable[..., Path]) -> None:
    tries = tmp_path / "tries"
    built(kube_apiserver=f"echo >>{tries}; echo bind: address already in use; seq 20; exit 1")
    with pytest.raises(KubernetesError, match="kube-apiserver ended with status 1"):
        start(tmp_path / "plane")
    assert len(tries.read_text().splitlines()) == 2


def test_a_program_that_is_never_ready_is_named(
    tmp_path: Path, built: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(control_plane, "_START_S", 5.0)
    built(kube_apiserver="echo waiting for etcd; exec sleep 600")
    with pytest.raises(KubernetesError, match=r"kube-apiserver was not ready within 5 s; its last lines:\nwaiting for etcd"):
        start(tmp_path / "plane")


def test_a_folder_with_files_is_refused(tmp_path: Path, built: Callable[..., Path]) -> None:
    built()
    (tmp_path / "plane").mkdir()
    (tmp_path / "plane" / "mine").touch()
    with pytest.raises(KubernetesError, match="plane: not empty; delete it, or name another folder"):
        start(tmp_path / "plane")
    assert (tmp_path / "plane" / "mine").exists()


def test_a_start_that_fails_before_any_program_leaves_no_keys(
    tmp_path: Path, built: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(folder: Path) -> None:
        assert list(folder.rglob("*.key"))
        raise OSError("no more processes")

    monkeypatch.setattr(control_plane, "_start_guardian", fail)
    built()
    with pytest.raises(OSError, match="no more processes"):
        start(tmp_path / "plane")
    assert not (tmp_path / "plane").exists()
