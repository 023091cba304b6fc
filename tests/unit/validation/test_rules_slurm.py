from typing import Any

import pytest

SECRET = "arn:aws:secretsmanager:us-west-2:123456789012:secret:rds!cluster-0123-AbCdEf"
KEY = "arn:aws:kms:us-west-2:123456789012:key/01234567-89ab-cdef-0123-456789abcdef"
EXTERNAL = {"database": "external", "host": "db.example.com", "secret_arn": SECRET}


def accounting(draft: Any, **values: Any) -> Any:
    return draft.set("slurm", "accounting", values)


@pytest.mark.parametrize("database", ["local", "none"])
def test_a_database_that_is_not_external_needs_nothing_more(draft: Any, database: str) -> None:
    assert accounting(draft, database=database).problems() == []


@pytest.mark.parametrize("member", [{"AutoPatchConfig": {"PatchingStrategy": "WhenIdle"}}, {"ImageReleaseVersion": "1.0.0"}])
def test_a_patched_controller_deletes_its_local_accounting(draft: Any, member: Any) -> None:
    lines = draft.set("instance_groups", 0, "overrides", member).lines()
    assert any("patching deletes the local accounting database; use `database: external`" in line for line in lines)
    assert not [line for line in accounting(draft, database="none").lines() if "accounting" in line]


@pytest.mark.parametrize("more", [{}, {"port": 3307}, {"secret_key_arn": KEY}])
def test_an_external_database_with_host_and_secret_is_accepted(draft: Any, more: dict[str, Any]) -> None:
    assert accounting(draft, **EXTERNAL, **more).problems() == []


@pytest.mark.parametrize("database", ["local", "none"])
@pytest.mark.parametrize(("name", "value"), [("host", "db"), ("port", 3306), ("secret_arn", SECRET), ("secret_key_arn", KEY)])
def test_another_database_has_no_host_and_no_secret(draft: Any, database: str, name: str, value: Any) -> None:
    [line] = accounting(draft, **{"database": database, name: value}).lines()
    assert line.endswith(f"has no effect with `database: {database}`; remove it, or set `database: external`")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("secret_arn", "slurm"),
        ("secret_arn", "arn:aws:secretsmanager:us-west-2:123456789012:secret:slurm"),
        ("secret_arn", "arn:aws:secretsmanager:us-west-2:123456789012:secret:*-AbCdEf"),
        ("secret_key_arn", "alias/aws/secretsmanager"),
        ("host", "db.example.com:3306"),
        ("host", "mysql://db"),
    ],
)
def test_invalid_arns_and_hosts_are_rejected(draft: Any, name: str, value: str) -> None:
    [line] = accounting(draft, **{**EXTERNAL, name: value}).lines()
    assert line.startswith(f"slurm.accounting.{name}: ")


@pytest.mark.parametrize("database", [{"database": "none"}, EXTERNAL])
def test_several_controllers_need_a_shared_state_folder(draft: Any, database: dict[str, str]) -> None:
    draft.set("instance_groups", 0, "instance_count", 2).set("slurm", "accounting", database)
    assert [line.partition(":")[0] for line in draft.lines()] == ["slurm.state_folder"]
    assert draft.set("slurm", "state_folder", "/fsx/slurm").problems() == []


def test_controllers_with_custom_scripts_need_no_state_folder(draft: Any) -> None:
    draft.put("mine/on_create.sh").set("lifecycle", "source", "mine").set("instance_groups", 0, "instance_count", 2)
    assert "controller-state-folder" not in {problem.rule for problem in draft.problems()}


@pytest.mark.parametrize(
    ("folder", "openzfs", "remedy"),
    [
        ("/fsx/slurm", False, None),
        ("/home/slurm", True, None),
        ("/home/slurm", False, "use e.g. /fsx/slurm"),
        ("/fsx", False, "use e.g. /fsx/slurm"),
        ("/fsxx/slurm", False, "use e.g. /fsx/slurm"),
    ],
)
def test_the_state_folder_is_on_a_file_system_of_the_file(draft: Any, folder: str, *, openzfs: bool, remedy: str | None) -> None:
    accounting(draft, database="none").set("slurm", "state_folder", folder)
    if openzfs:
        draft.set("storage", "openzfs", "dns_name", "fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com")
    assert [problem.fix for problem in draft.problems()] == ([remedy] if remedy else [])


def test_a_state_folder_requires_a_file_system(draft: Any) -> None:
    [line] = accounting(draft, database="none").remove("storage").set("slurm", "state_folder", "/fsx/slurm").lines()
    assert line.endswith("not on a shared file system; add one (`storage.lustre`), or remove this line")


@pytest.mark.parametrize("folder", ["fsx/slurm", "/fsx/slurm/", "/fsx/../slurm", "/fsx//slurm", "/fsx/a b", "/"])
def test_a_state_folder_is_a_plain_path(draft: Any, folder: str) -> None:
    [line] = draft.set("slurm", "state_folder", folder).lines()
    assert "must start with a slash, not end with one" in line


@pytest.mark.parametrize(
    "text",
    [
        "SwitchName=s1 Nodes=ip-10-1-0-[4-5]\nSwitchName=s0 Switches=s1\n",
        "# by hand\nBlockName=b1 Nodes=ip-10-1-0-[4-5]\nBlockSizes=2\n",
        "SwitchName=s1 \\\n  Nodes=ip-10-1-0-4,\\  \nip-10-1-0-5\n",
        "blockname = b1 nodes = ip-10-1-0-[4-5] # two\nBlockSizes =2\n",
        'BlockName=b1 Nodes="ip-10-1-0-[4-5]"\n',
    ],
)
def test_switches_or_blocks_with_their_nodes_are_a_topology(draft: Any, text: str) -> None:
    assert draft.set("slurm", "topology", text).problems() == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("topology.conf", "start it with SwitchName=, BlockName=, BlockSizes= or #"),
        ("SwitchName=s0 Switches=s1", "contains no nodes; add e.g. `BlockName=b1 Nodes=ip-10-1-0-[4-7]`"),
        ("# Nodes=a", "contains no nodes; add e.g. `BlockName=b1 Nodes=ip-10-1-0-[4-7]`"),
        ("SwitchName=s1 Nodes=a\nBlockName=b1 Nodes=a", "has both switches and blocks; remove one kind"),
    ],
)
def test_other_texts_are_not_a_topology(draft: Any, text: str, said: str) -> None:
    [line] = draft.set("slurm", "topology", text).lines()
    assert line.endswith(said)


@pytest.mark.parametrize(("values", "refused"), [({}, True), ({"database": "none"}, False), (EXTERNAL, False)])
def test_slurmctlds_state_does_not_outlive_the_accounting_database(draft: Any, values: dict[str, Any], *, refused: bool) -> None:
    draft.set("slurm", "state_folder", "/fsx/slurm")
    lines = accounting(draft, **values).lines() if values else draft.lines()
    assert [line.partition(": ")[0] for line in lines] == (["slurm.accounting.database"] if refused else [])


MANAGED = {**EXTERNAL, "database": "managed"}


def test_a_managed_database_requires_continuous_provisioning_of_the_api(draft: Any) -> None:
    [line] = accounting(draft, **MANAGED).lines()
    assert "requires `slurm.setup: api` and `provisioning: continuous`; " in line
    [line] = draft.set("slurm", "setup", "api").lines()
    assert "requires `provisioning: continuous`; " in line
    assert draft.set("provisioning", "continuous").lines() == []
    assert draft.set("slurm", "accounting", "schema_name", "acct").lines() == []


@pytest.mark.parametrize("missing", ["host", "secret_arn"])
def test_a_managed_database_has_a_host_and_a_secret(draft: Any, missing: str) -> None:
    draft.set("provisioning", "continuous").set("slurm", {"setup": "api", "accounting": MANAGED})
    [line] = draft.remove("slurm", "accounting", missing).lines()
    assert f"{missing}: required by `database: managed`" in line
