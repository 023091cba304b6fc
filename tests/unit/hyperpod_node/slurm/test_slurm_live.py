"""Slurm's settings on a running controller."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from hyperpod_node.context import Context
from hyperpod_node.errors import NodeError
from hyperpod_node.node_settings import NodeSettings
from hyperpod_node.provisioning_parameters import ProvisioningParameters
from hyperpod_node.resource_config import ResourceConfig
from hyperpod_node.slurm import configuration, keeper
from hyperpod_node.steps import accounting, slurm_controller
from tests.node_settings import LOCAL_DATABASE, node_settings, slurm, user
from tests.unit.hyperpod_node.slurm.slurm_machine import SlurmMachine, slurm_context
from tests.unit.hyperpod_node.slurm.test_keeper import PARAMETERS, resource_config

KEPT = keeper.FOLDER / keeper.SETTINGS


def new_context(machine: SlurmMachine, bundle: Path, **changes: object) -> Context:
    """The context of the live steps of a bundle with these settings."""
    (bundle / "node_settings.json").write_text(json.dumps(node_settings(**changes)))
    (bundle / "provisioning_parameters.json").write_text(json.dumps(PARAMETERS))
    file = machine.write("resource_config.json", resource_config("10.1.0.6"))
    parameters = ProvisioningParameters.load(bundle / "provisioning_parameters.json")
    settings = NodeSettings.load(bundle / "node_settings.json")
    return replace(slurm_context(), cluster=ResourceConfig.load(file), parameters=parameters, settings=settings)


@pytest.fixture
def controller(machine: SlurmMachine, bundle: Path) -> SlurmMachine:
    """A controller that started without accounting."""
    context = new_context(machine, bundle, slurm=slurm(prolog_and_epilog=False))
    keeper.install(context, machine.system)
    configuration.apply(context.settings, context.cluster, None, machine.system)
    return machine


def test_new_settings_are_written_and_read_by_all_daemons(controller: SlurmMachine, bundle: Path) -> None:
    context = new_context(controller, bundle, slurm=slurm(prolog_and_epilog=False, settings={"MaxJobCount": "5000"}))
    assert slurm_controller.apply_live(context, controller.system)
    assert "MaxJobCount=5000\n" in controller.system.slurm_conf.read_text()
    assert ("reconfigure",) in controller.run.named("scontrol")
    assert controller.units["hyperpod-slurm-conf"] == "active enabled"
    assert json.loads(controller.path(KEPT).read_text())["slurm"]["settings"] == {"MaxJobCount": "5000"}


def test_the_same_settings_change_nothing(controller: SlurmMachine, bundle: Path) -> None:
    context = new_context(controller, bundle, slurm=slurm(prolog_and_epilog=False))
    slurm_controller.apply_live(context, controller.system)  # now the settings are in the form of this step
    controller.run.commands.clear()
    assert not slurm_controller.apply_live(context, controller.system)
    assert controller.run.named("scontrol") == []


def test_accounting_and_state_folder_stay_with_a_warning(
    controller: SlurmMachine, bundle: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    changed = slurm(prolog_and_epilog=False, state_folder="/fsx/slurm", settings={"MaxJobCount": "5000"})
    slurm_controller.apply_live(new_context(controller, bundle, slurm=changed, accounting=LOCAL_DATABASE), controller.system)
    text = controller.system.slurm_conf.read_text()
    assert "AccountingStorageType" not in text
    assert "/fsx/slurm" not in text
    assert "MaxJobCount=5000" in text
    warnings = [line for line in capsys.readouterr().out.splitlines() if line.startswith("warning: ")]
    assert [line.split()[1] for line in warnings] == ["slurm.accounting", "slurm.state_folder"]


def test_settings_that_slurmctld_rejects_are_taken_back(controller: SlurmMachine, bundle: Path) -> None:
    before, kept = controller.system.slurm_conf.read_text(), controller.path(KEPT).read_text()

    def reject(arguments: tuple[str, ...], _: str | None) -> str:
        if "MaxJobCount=none" in controller.system.slurm_conf.read_text():
            raise NodeError("`scontrol reconfigure` ended with status 1: Invalid MaxJobCount")
        return ""

    controller.answers("scontrol", reject)
    context = new_context(controller, bundle, slurm=slurm(prolog_and_epilog=False, settings={"MaxJobCount": "none"}))
    with pytest.raises(NodeError, match="Invalid MaxJobCount"):
        slurm_controller.apply_live(context, controller.system)
    assert controller.system.slurm_conf.read_text() == before
    assert controller.path(KEPT).read_text() == kept


def test_a_controller_without_the_keeper_is_named(machine: SlurmMachine, bundle: Path) -> None:
    with pytest.raises(NodeError, match="run the lifecycle script on this controller again"):
        slurm_controller.apply_live(new_context(machine, bundle), machine.system)


def test_new_users_are_registered_where_slurm_has_accounting(controller: SlurmMachine, bundle: Path) -> None:
    context = new_context(controller, bundle, users=[user("carol", 10003)], accounting=LOCAL_DATABASE)
    assert not accounting.apply_live(context, controller.system)
    assert controller.run.named("sacctmgr") == []
    configuration.apply(context.settings, context.cluster, None, controller.system)
    assert accounting.apply_live(context, controller.system)
    assert any(words[1:4] == ("add", "user", "carol") for words in controller.run.named("sacctmgr"))


def test_only_the_first_controller_registers_users(controller: SlurmMachine, bundle: Path) -> None:
    context = new_context(controller, bundle, users=[user("carol", 10003)], accounting=LOCAL_DATABASE)
    configuration.apply(context.settings, context.cluster, None, controller.system)
    controller.host = "ip-10-1-0-5"
    assert not accounting.apply_live(context, controller.system)


def test_new_code_of_the_keeper_runs_without_new_settings(controller: SlurmMachine, bundle: Path) -> None:
    context = new_context(controller, bundle, slurm=slurm(prolog_and_epilog=False))
    slurm_controller.apply_live(context, controller.system)
    controller.run.commands.clear()
    (controller.path(keeper.FOLDER) / "new.py").write_text("")  # as of a new bundle
    assert not slurm_controller.apply_live(context, controller.system)
    assert ("restart", "hyperpod-slurm-conf") in controller.run.named("systemctl")


def test_a_database_that_does_not_respond_stops_no_other_change(
    controller: SlurmMachine, bundle: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    context = new_context(controller, bundle, users=[user("carol", 10003)], accounting=LOCAL_DATABASE)
    configuration.apply(context.settings, context.cluster, None, controller.system)
    controller.answers("sacctmgr", NodeError("`sacctmgr` ended with status 1: Connection refused"))
    assert accounting.apply_live(context, controller.system)
    assert "warning: new users and QOS are not in Slurm's accounting: `sacctmgr`" in capsys.readouterr().out
