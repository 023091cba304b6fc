"""What a machine lacks for a control plane, with the fix."""

import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from local_aws.kubernetes import __main__, machine, support


def test_nothing_is_missing_where_the_programs_are_built(built: Callable[..., Path]) -> None:
    assert ["make kubernetes-setup" in reason for reason in support.missing()] == [True]
    built()
    assert support.missing() == []


def test_a_control_plane_needs_no_apt(built: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> None:
    built()
    monkeypatch.setattr(shutil, "which", lambda name: None if name == "apt-get" else name)
    assert support.missing() == []
    assert machine.missing_for_building() == ["no program apt-get; install package apt"]


def test_a_bare_debian_12_lacks_nothing_for_a_build(monkeypatch: pytest.MonkeyPatch) -> None:
    # Programs of Debian 12's essential packages and of apt, which a bare Debian has; it lacks xz.
    present = {"apt-get", "dpkg-deb", "gpgv", "gzip", "setpriv", "tar"}
    monkeypatch.setattr(shutil, "which", lambda name: name if name in present else None)
    assert machine.missing_for_building() == []


def test_another_system_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    assert support.missing() == ["a control plane needs Linux, this is darwin; use a virtual machine with Debian 12 or 13"]


def test_check_exits_with_a_status(built: Callable[..., Path], capsys: pytest.CaptureFixture[str]) -> None:
    assert __main__.main(["check"]) == 1
    built()
    assert __main__.main(["check"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "this machine can run a control plane"
