"""Rules about the parameters of slurm.conf."""

from typing import Any

import pytest

from validation.rules.slurm.parameters import NAME, slurm_parameters


def lines(draft: Any, settings: Any) -> list[str]:
    return list(draft.set("slurm", "settings", settings).lines())


def test_parameters_are_accepted_in_any_case(draft: Any) -> None:
    assert lines(draft, {"SchedulerParameters": "bf_continue,bf_window=60", "killwait": "60", "MailProg": "/bin/mail -s x"}) == []


@pytest.mark.parametrize(
    ("name", "fix"),
    [
        ("ClusterName", "written by HyperPod's agent; remove it"),
        ("slurmctldhost", "written by HyperPod's agent; remove it"),
        ("AccountingStorageHost", "reserved; use `slurm.accounting`"),
        ("PartitionName", "reserved; use `"),
        ("Include", "reserved; write the parameters"),
        ("TopologyPlugin", "reserved; use `slurm.topology`"),
        ("NodeSet", "starts a line of several keys; use a script in `controller_ready/`"),
        ("Epilog", "reserved; set `slurm.prolog_and_epilog: false`"),
    ],
)
def test_parameters_of_other_writers_are_errors(draft: Any, name: str, fix: str) -> None:
    [line] = lines(draft, {name: "x"})
    assert line.startswith(f'slurm.settings.{name}: "x": {fix}')


@pytest.mark.parametrize("name", ["AccountingStorageEnforce", "AccountingStorageTRES", "PrologFlags", "TaskProlog"])
def test_their_neighbours_are_accepted(draft: Any, name: str) -> None:
    assert lines(draft, {name: "x"}) == []


def test_a_prolog_is_accepted_instead_of_the_default(draft: Any) -> None:
    assert lines(draft.set("slurm", "prolog_and_epilog", False), {"Prolog": "/opt/prolog.sh"}) == []


@pytest.mark.parametrize("value", ["a\nSlurmUser=root", "a\r", 'a" SlurmUser=root', "a # b", "a\\", " a", "a ", "", "é", "\0"])
def test_a_value_cannot_start_another_line(draft: Any, value: str) -> None:
    [line] = lines(draft, {"KillWait": value})
    assert "must be one line of printable ASCII" in line


@pytest.mark.parametrize("name", ["KillWait\nSlurmUser", "Kill Wait", "KillWait=60", "#x", "1x", ""])
def test_a_name_cannot_start_another_line(draft: Any, name: str) -> None:
    [line] = lines(draft, {name: "60"})
    assert "not a parameter name" in line


def test_every_known_parameter_is_a_name() -> None:
    assert len(slurm_parameters()) > 200
    assert all(NAME.fullmatch(name) for name in slurm_parameters())
