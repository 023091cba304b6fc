"""The text of slurm.conf, and what is added to it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hyperpod_node.node_settings import Accounting, InstanceType
from hyperpod_node.resource_config import Instance, ResourceConfig
from hyperpod_node.slurm.configuration import apply, render
from hyperpod_node.slurm.managed_block import EPILOG, PROLOG
from hyperpod_node.slurm.node_lines import InstanceTypes, complete, default_line, gpu_lines, of_gres_conf
from hyperpod_node.slurm.slurm_conf import BEGIN, END, Controller, SlurmConf, expand
from hyperpod_node.slurm.topology import mismatch, plugin
from tests.unit.hyperpod_node.slurm.slurm_machine import PLAIN, SLURM_CONF, WORKER, SlurmMachine, slurm_context

P5 = InstanceType(2, 48, 8, "h100", efa=True)
NO_ACCOUNTING = Accounting("none", None, 3306, None)


def block(text: str) -> list[str]:
    lines = text.splitlines()
    return lines[lines.index(BEGIN) + 1 : lines.index(END)] if BEGIN in lines else []


@pytest.mark.parametrize(
    ("names", "hosts"),
    [
        ("a", ["a"]),
        ("ip-10-1-0-[6-8]", ["ip-10-1-0-6", "ip-10-1-0-7", "ip-10-1-0-8"]),
        ("a[1,3-4],b", ["a1", "a3", "a4", "b"]),
        ("n[08-10]", ["n08", "n09", "n10"]),
        ("r[1-2]n[1-2]", ["r1n1", "r1n2", "r2n1", "r2n2"]),
    ],
)
def test_host_lists_are_read_as_slurm_reads_them(names: str, hosts: list[str]) -> None:
    assert expand(names) == hosts


def test_the_last_value_of_a_key_counts_and_comments_do_not() -> None:
    conf = SlurmConf.parse("# PrologFlags=x\nprologflags=Alloc\nPrologFlags=NoHold # note\n")
    assert conf.value("PrologFlags") == "NoHold"
    assert conf.with_added("PrologFlags", "contain") == "NoHold,contain"
    assert conf.with_added("PrologFlags", "nohold") is None


def test_controllers_are_known_by_name_and_address_in_their_order() -> None:
    conf = SlurmConf.parse("SlurmctldHost=ip-10-1-0-4(10.1.0.4)\nSlurmctldHost=other\n")
    assert conf.controllers == [Controller("ip-10-1-0-4", "10.1.0.4"), Controller("other", "other")]


def test_nodes_are_expanded_and_defaults_are_none() -> None:
    assert SlurmConf.parse("NodeName=DEFAULT CPUs=2\nNodeName=n[1-2] CPUs=2\n").nodes == ["n1", "n2"]


@pytest.mark.fault(66)
def test_a_second_block_never_comes_into_the_file_and_the_agents_lines_stay() -> None:
    once = SlurmConf.parse(SLURM_CONF).with_block({"Prolog": "a"})
    assert SlurmConf.parse(once).with_block({"Prolog": "a"}) == once
    assert SlurmConf.parse(once).text == SLURM_CONF
    assert SlurmConf.parse(once + "NodeName=new\n").with_block({"Prolog": "a"}).startswith(SLURM_CONF + "NodeName=new\n" + BEGIN)


def test_a_line_of_the_agent_whose_key_is_ours_is_put_out_and_comes_back_with_our_block_gone() -> None:
    made = SlurmConf.parse(SLURM_CONF).with_block({"StateSaveLocation": "/fsx/slurm"})
    assert [line for line in made.splitlines() if line.startswith("StateSaveLocation")] == ["StateSaveLocation=/fsx/slurm"]
    assert SlurmConf.parse(made).value("StateSaveLocation") == "/var/spool/slurmctld"
    assert SlurmConf.parse(made).with_block({}) == SLURM_CONF


def types(*kinds: InstanceType, names: tuple[str, ...] = ("ip-10-1-0-6", "ip-10-1-0-7")) -> InstanceTypes:
    return InstanceTypes(dict(zip(names, kinds, strict=False)))


@pytest.mark.parametrize(
    ("line", "added"),
    [
        ("CPUs=192 State=UNKNOWN", " Sockets=2 CoresPerSocket=48 ThreadsPerCore=2 Gres=gpu:h100:8"),
        ("CPUs=96", " Sockets=2 CoresPerSocket=48 ThreadsPerCore=1 Gres=gpu:h100:8"),
        ("CPUs=2", " Gres=gpu:h100:8"),  # another machine than the type says
        ("CPUs=192 Gres=gpu:8", " Sockets=2 CoresPerSocket=48 ThreadsPerCore=2"),
        ("CPUs=192 Boards=1 SocketsPerBoard=2 CoresPerSocket=48 Gres=gpu:8", ""),
    ],
)
def test_a_node_line_gets_what_the_agent_left_out_and_keeps_what_it_says(line: str, added: str) -> None:
    text = f"NodeName=ip-10-1-0-6 {line}"
    assert complete(text, types(P5)) == text + added
    assert complete(text + added, types(P5)) == text + added


def test_a_comment_stays_behind_what_is_added() -> None:
    assert complete("NodeName=ip-10-1-0-6 CPUs=2 # slow", types(P5)) == "NodeName=ip-10-1-0-6 CPUs=2 Gres=gpu:h100:8 # slow"


def test_lines_of_several_or_unknown_types_and_defaults_are_unchanged() -> None:
    text = "NodeName=DEFAULT CPUs=192\nNodeName=ip-10-1-0-[6-7] CPUs=192\nNodeName=stranger CPUs=192\n"
    assert complete(text, types(P5, replace(P5, gpus=4))) == text
    assert complete(text, types(P5, P5)) == text.replace(
        "[6-7] CPUs=192", "[6-7] CPUs=192 Sockets=2 CoresPerSocket=48 ThreadsPerCore=2 Gres=gpu:h100:8"
    )


@pytest.mark.parametrize(
    ("gres", "kind", "line"),
    [
        ("gpu:h100:8", P5, "Name=gpu Type=h100 File=/dev/nvidia[0-7]"),
        ("gpu:8", P5, "Name=gpu File=/dev/nvidia[0-7]"),
        ("gpu:1", replace(P5, gpus=1), "Name=gpu File=/dev/nvidia0"),
    ],
)
def test_gres_conf_fits_what_the_node_line_says(gres: str, kind: InstanceType, line: str) -> None:
    nodes = f"NodeName=ip-10-1-0-6 Gres={gres}\n"
    assert gpu_lines(nodes, types(kind)) == [line]  # without NodeName: it covers nodes that join later, too
    assert gpu_lines(f"{nodes}NodeName=ip-10-1-0-7 CPUs=2\n", types(kind, P5)) == [f"NodeName=ip-10-1-0-6 {line}"]


def test_nodes_of_several_gpu_types_have_a_line_each_because_slurmd_stops_where_a_device_is_missing() -> None:
    text = "NodeName=ip-10-1-0-6 Gres=gpu:h100:8\nNodeName=ip-10-1-0-7 Gres=gpu:h100:4\n"
    assert gpu_lines(text, types(P5, replace(P5, gpus=4))) == [
        "NodeName=ip-10-1-0-6 Name=gpu Type=h100 File=/dev/nvidia[0-7]",
        "NodeName=ip-10-1-0-7 Name=gpu Type=h100 File=/dev/nvidia[0-3]",
    ]


@pytest.mark.parametrize(
    ("gres", "kept"),
    [
        ("gpu:8,file=/dev/nvidia-[0-7]", "gpu:8"),
        ("gpu:8,File=/dev/nvidia[0,1-7]", "gpu:8"),
        ("gpu:8,mps:800", "gpu:8,mps:800"),
    ],
)
def test_files_in_a_node_line_are_moved_to_gres_conf(gres: str, kept: str) -> None:
    text = complete(f"NodeName=ip-10-1-0-6 CPUs=2 Gres={gres} State=CLOUD\n", types(P5))
    assert text == f"NodeName=ip-10-1-0-6 CPUs=2 Gres={kept} State=CLOUD\n"
    assert gpu_lines(text, types(P5)) == ["Name=gpu File=/dev/nvidia[0-7]"]
    assert default_line(text) == f"NodeName=DEFAULT Gres={kept}"


@pytest.mark.parametrize(
    ("gres_conf", "model"),
    [
        ("", "h100"),
        ("AutoDetect=nvml\n", "h100"),
        ("Name=gpu Type=h100 File=/dev/nvidia[0-7]\n", "h100"),
        ("# Name=gpu File=/dev/nvidia0\n", "h100"),
        ("NodeName=ip-10-1-0-6 Name=gpu File=/dev/nvidia[0-7]\n", None),
    ],
)
def test_gpus_have_no_model_if_those_of_the_agents_gres_conf_have_none(gres_conf: str, model: str | None) -> None:
    assert of_gres_conf({"ml.p5.48xlarge": P5}, gres_conf) == {"ml.p5.48xlarge": replace(P5, gpu=model)}


def test_a_node_with_two_kinds_of_gpus_gets_no_line_of_ours() -> None:
    assert gpu_lines("NodeName=ip-10-1-0-6 Gres=gpu:h100:4,gpu:a100:4\n", types(P5)) == []


def test_a_cluster_of_one_type_has_a_default_for_nodes_to_come_and_one_of_several_has_none() -> None:
    text = complete("NodeName=ip-10-1-0-6 CPUs=192\nNodeName=ip-10-1-0-7 CPUs=192\n", types(P5, P5))
    assert default_line(text) == "NodeName=DEFAULT Sockets=2 CoresPerSocket=48 ThreadsPerCore=2 Gres=gpu:h100:8"
    assert default_line(text + "NodeName=small CPUs=2\n") is None
    assert default_line("NodeName=small CPUs=2\n") is None


TREE = "SwitchName=a Nodes=ip-10-1-0-[6-7]\n"


@pytest.mark.parametrize(
    ("nodes", "problem"),
    [
        (["ip-10-1-0-6", "ip-10-1-0-7"], None),
        (["ip-10-1-0-6", "ip-10-1-0-7", "n8"], "it lacks n8"),
        (["ip-10-1-0-6"], "names ip-10-1-0-7, which the cluster does not have"),
        (["ip-10-1-0-6", "ip-10-1-0-7", "a", "b", "c", "d"], "it lacks a, b, c and 1 more"),
    ],
)
def test_a_topology_that_does_not_fit_the_cluster_says_why(nodes: list[str], problem: str | None) -> None:
    found = mismatch(TREE, nodes)
    assert (found is None) if problem is None else problem in (found or "")


def test_blocks_and_trees_are_read_by_their_own_plugins() -> None:
    assert plugin(TREE) == "topology/tree"
    assert plugin("BlockName=b1 Nodes=a\nBlockSizes=4\n") == "topology/block"


@pytest.mark.parametrize(
    "text",
    [
        "BlockName = b1 Nodes = ip-10-1-0-[6-7]\n",
        "BlockName=b1 \\\n  Nodes=ip-10-1-0-6,\\ \nip-10-1-0-7\n",
        '# both\nblockname=b1 nodes="ip-10-1-0-[6-7]" # two\n',
    ],
)
def test_a_topology_is_read_as_slurm_reads_it(text: str) -> None:
    assert plugin(text) == "topology/block"
    assert mismatch(text, ["ip-10-1-0-6", "ip-10-1-0-7"]) is None


def rendered(text: str = SLURM_CONF, **of: object) -> list[str]:
    context = slurm_context(**of)  # type: ignore[arg-type]  # each test names what it sets
    return block(render(text, context.settings, context.cluster).slurm_conf)


def test_slurm_conf_stays_the_agents_where_the_cluster_file_asks_for_nothing() -> None:
    context = slurm_context(accounting=NO_ACCOUNTING, types={})
    assert render(SLURM_CONF, context.settings, context.cluster).slurm_conf == SLURM_CONF


def test_accounting_names_the_controllers_address_because_sacct_asks_from_every_node() -> None:
    lines = rendered(types={})
    assert "AccountingStorageHost=10.1.0.4" in lines
    assert "AccountingStorageType=accounting_storage/slurmdbd" in lines
    assert "JobAcctGatherType=jobacct_gather/linux" in lines


def test_the_agents_way_to_gather_is_left_to_it() -> None:
    assert not [x for x in rendered(SLURM_CONF + "JobAcctGatherType=jobacct_gather/cgroup\n", types={}) if "Gather" in x]


@pytest.mark.parametrize(
    ("slurm", "lines"),
    [
        (replace(PLAIN, prolog_and_epilog=True), [f"Prolog={PROLOG}", f"Epilog={EPILOG}"]),
        (replace(PLAIN, restrict_ssh=True), ["PrologFlags=contain"]),
        (replace(PLAIN, state_folder="/fsx/slurm"), ["StateSaveLocation=/fsx/slurm"]),
        (replace(PLAIN, topology="SwitchName=a Nodes=ip-10-1-0-6\n"), ["TopologyPlugin=topology/tree"]),
        (replace(PLAIN, topology="SwitchName=a Nodes=other\n"), []),
        (replace(PLAIN, settings={"MailProg": "/bin/mail -s x"}), ['MailProg="/bin/mail -s x"']),
    ],
)
def test_each_option_of_the_cluster_file_is_one_of_slurm_confs(slurm: object, lines: list[str]) -> None:
    assert rendered(accounting=NO_ACCOUNTING, types={}, slurm=slurm) == lines


OF_THE_IMAGE = "Prolog=/opt/slurm/etc/prolog.d/*\nEpilog=/opt/slurm/etc/epilog.d/*\n"


def test_a_prolog_of_the_agent_is_kept_and_said_where_slurm_runs_only_one() -> None:
    context = slurm_context(accounting=NO_ACCOUNTING, types={}, slurm=replace(PLAIN, prolog_and_epilog=True))
    made = render(SLURM_CONF + OF_THE_IMAGE, context.settings, context.cluster)
    assert block(made.slurm_conf) == []
    problem = "slurm.prolog_and_epilog is not used: slurm.conf has a prolog or epilog already, and Slurm before 24.11 runs one"
    assert made.warnings == (problem,)


@pytest.mark.parametrize("theirs", [OF_THE_IMAGE, *OF_THE_IMAGE.splitlines(keepends=True)])
@pytest.mark.parametrize(
    ("version", "is_set", "is_used"),
    [
        ("slurm-wlm 24.11.5", True, True),
        ("slurm 25.11.0", True, True),
        ("slurm 23.11.10", True, False),
        ("slurm 25.11.0", False, False),
    ],
)
def test_both_prologs_run_where_slurm_runs_several(
    machine: SlurmMachine, theirs: str, version: str, *, is_set: bool, is_used: bool
) -> None:
    machine.answers("scontrol", version)
    machine.system.slurm_conf.write_text(SLURM_CONF + theirs)
    context = slurm_context(accounting=NO_ACCOUNTING, types={}, slurm=replace(PLAIN, prolog_and_epilog=is_set))
    for _ in range(2):
        _, warnings = apply(context.settings, context.cluster, None, machine.system)
        text = machine.system.slurm_conf.read_text()
        lines = [line for line in text.splitlines() if line.startswith(("Prolog=", "Epilog="))]
        assert lines == [*theirs.splitlines(), *[f"Prolog={PROLOG}", f"Epilog={EPILOG}"] * is_used]
        assert text.startswith(SLURM_CONF + theirs)
        assert len(warnings) == is_set - is_used


def test_nodes_with_gpus_bring_their_kind_of_resource_with_them() -> None:
    assert rendered()[-2:] == ["GresTypes=gpu", "AccountingStorageTRES=gres/gpu"]


def test_gpus_are_not_counted_without_slurmdbd_because_slurmctld_would_not_start() -> None:
    assert rendered(accounting=NO_ACCOUNTING) == ["GresTypes=gpu"]
    theirs = SLURM_CONF + "AccountingStorageType=accounting_storage/slurmdbd\n"
    assert rendered(theirs, accounting=NO_ACCOUNTING) == ["GresTypes=gpu", "AccountingStorageTRES=gres/gpu"]


def test_a_node_is_found_by_the_host_name_that_its_address_gives_it(tmp_path: object) -> None:
    cluster = ResourceConfig(
        path=slurm_context().cluster.path, cluster_name="x", instances=(WORKER, Instance("y", "1.2.3.4", "i", "g"))
    )
    assert InstanceTypes.of(cluster, {"ml.p5.48xlarge": P5}).by_host == {"ip-10-1-0-6": P5}


def settings(**of: str) -> object:
    return replace(PLAIN, settings=of)


def test_settings_of_the_cluster_file_override_the_agents() -> None:
    context = slurm_context(accounting=NO_ACCOUNTING, types={}, slurm=settings(slurmuser="x", KillWait="60"))  # type: ignore[arg-type]
    made = render(SLURM_CONF, context.settings, context.cluster).slurm_conf
    assert block(made) == ["slurmuser=x", "KillWait=60"]
    assert "#hyperpod_node# SlurmUser=slurm" in made
    assert SlurmConf.parse(made).text == SLURM_CONF
    assert render(made, context.settings, context.cluster).slurm_conf == made


@pytest.mark.parametrize(
    ("name", "value", "line"),
    [
        ("SlurmctldParameters", "idle_on_node_suspend", "SlurmctldParameters=idle_on_node_suspend,enable_configless"),
        ("slurmctldparameters", "enable_configless", "slurmctldparameters=enable_configless"),
        ("GresTypes", "shard", "GresTypes=shard,gpu"),
        ("AccountingStorageTRES", "license/x", "AccountingStorageTRES=license/x,gres/gpu"),
    ],
)
def test_a_list_keeps_the_words_that_our_settings_need(name: str, value: str, line: str) -> None:
    lines = rendered(slurm=settings(**{name: value}))
    assert [each for each in lines if each.lower().startswith(f"{name.lower()}=")] == [line]
