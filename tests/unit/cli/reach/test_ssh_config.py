"""The entries for OpenSSH: what they say, and that nothing else in ~/.ssh/config changes."""

import json
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from cli.errors import CommandError
from cli.node_directory import node_directory
from cli.reach import ssh as module
from cli.reach.ssh import login_of, ssh_config
from cli.reach.ssh_config import INCLUDE, host_keys, known_hosts, with_include, write_private
from cli.remote.shell import Output
from cli.result import Result
from tests.unit.cli.commands import data_of
from tests.unit.cli.fake_nodes import NODES, FakeNodes, FakeShell, resource_config

KEYS = "".join(f"{address} ssh-ed25519 AAAA{node[-1]}=\n# {address}:22 SSH-2.0\n" for _, _, node, address in NODES)


@pytest.fixture(autouse=True)
def _without_profile(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_PROFILE", raising=False)
    monkeypatch.setattr(module, "require_aws_cli", lambda: None)


def written(home: Path, keys: str = KEYS, account: FakeNodes | None = None, **options: Any) -> Result:
    """What the command writes below a home."""
    shell = FakeShell(Output(0, resource_config()), Output(0, keys))
    chosen = {"user": "alice", "identity": None, "only_print": False, **options}
    return ssh_config((account or FakeNodes()).deployment(), home=home, shell=shell, **chosen)


def effective(home: Path, host: str) -> dict[str, str]:
    """The options that OpenSSH's own parser finds for a host."""
    if shutil.which("ssh") is None:
        pytest.skip("no OpenSSH client, which only its own parser needs; tests/nodes/reach requires one")
    # A relative Include is below ~/.ssh of the real user.
    own = home / ".ssh" / "hyperpod-cdk" / "draft.conf"
    printed = subprocess.run(["ssh", "-G", "-F", own, host], capture_output=True, text=True, check=True).stdout
    return {name: value for name, _, value in (line.partition(" ") for line in printed.splitlines())}


@pytest.mark.parametrize(
    ("alias", "node"),
    [
        ("draft", "entry-i-0000000000000000b"),
        ("draft-login", "entry-i-0000000000000000b"),
        ("draft-controller", "head-i-0000000000000000a"),
        ("draft-workers-2", "workers-i-0000000000000000d"),
        ("draft-ip-10-1-0-9", "workers-i-0000000000000000c"),
        ("draft-i-0000000000000000c", "workers-i-0000000000000000c"),
    ],
)
def test_openssh_reads_an_entry_for_every_name(tmp_path: Path, alias: str, node: str) -> None:
    written(tmp_path, identity=tmp_path / "a key")
    found = effective(tmp_path, alias)
    assert shlex.split(found["proxycommand"])[:7] == [
        *("aws", "ssm", "start-session", "--region", "us-west-2", "--target", f"sagemaker-cluster:abcdefghijkl_{node}")
    ]
    assert found["proxycommand"].endswith("--document-name AWS-StartSSHSession --parameters portNumber=%p")
    assert (found["user"], found["stricthostkeychecking"], found["identitiesonly"]) == ("alice", "true", "yes")
    assert found["userknownhostsfile"] == str(tmp_path / ".ssh" / "hyperpod-cdk" / "draft.known_hosts")
    assert found["identityfile"] == str(tmp_path / "a key")
    assert found["hostname"] == node.partition("-")[2]


def test_other_hosts_are_not_ours(tmp_path: Path) -> None:
    written(tmp_path)
    assert "proxycommand" not in effective(tmp_path, "draft-other")


def test_the_profile_of_the_deployment_is_in_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_PROFILE", "our prod")
    monkeypatch.delenv("AWS_ACCESS_KEY_ID", raising=False)
    written(tmp_path)
    assert "--profile 'our prod' --target" in (tmp_path / ".ssh" / "hyperpod-cdk" / "draft.conf").read_text()
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key")
    assert login_of(FakeNodes().deployment(), None, None).profile == ""


def test_host_keys_are_those_that_the_nodes_present(tmp_path: Path) -> None:
    result = written(tmp_path)
    assert (tmp_path / ".ssh" / "hyperpod-cdk" / "draft.known_hosts").read_text().splitlines()[2:] == [
        "i-0000000000000000c ssh-ed25519 AAAAc=",
        "i-0000000000000000d ssh-ed25519 AAAAd=",
    ]
    assert all(node["has_host_key"] for node in data_of(result)["nodes"])


def test_a_node_without_a_host_key_is_named(tmp_path: Path) -> None:
    text = str(written(tmp_path, keys="10.1.0.9 ssh-ed25519 AAAA\n"))
    assert text.count("no host key: ssh refuses") == 3
    assert "run `./hpod ssh draft --config` again" in text


def test_answers_for_other_addresses_are_ignored() -> None:
    nodes = node_directory(FakeNodes().deployment(), FakeShell()).nodes
    assert host_keys(FakeShell(Output(0, "10.9.9.9 ssh-rsa AAAA\nnothing ssh-rsa\n")), nodes[0], nodes) == {}


def test_known_hosts_are_sorted() -> None:
    assert known_hosts({"i-b": ["ssh-rsa B"], "i-a": ["ssh-rsa A"]}) == "i-a ssh-rsa A\ni-b ssh-rsa B\n"


def test_a_second_run_writes_nothing(tmp_path: Path) -> None:
    assert (first := written(tmp_path).data) is not None
    assert len(first["changed"]) == 3
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / ".ssh").rglob("*")}
    again = written(tmp_path)
    assert data_of(again)["changed"] == []
    assert "is up to date" in str(again)
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / ".ssh").rglob("*")} == before


def test_a_replaced_node_changes_only_our_files(tmp_path: Path) -> None:
    written(tmp_path)
    account = FakeNodes()
    account.summaries[3]["InstanceId"] = "i-0000000000000000e"
    result = written(tmp_path, account=account)
    assert [Path(path).name for path in data_of(result)["changed"]] == ["draft.known_hosts", "draft.conf"]
    assert "i-0000000000000000d" not in (tmp_path / ".ssh" / "hyperpod-cdk" / "draft.conf").read_text()


def test_the_users_own_lines_stay_below_ours(tmp_path: Path) -> None:
    (tmp_path / ".ssh").mkdir()
    own = tmp_path / ".ssh" / "config"
    own.write_text("# mine\nHost *\n  User me")
    own.chmod(0o644)
    written(tmp_path)
    assert own.read_text() == f"{INCLUDE}\n\n# mine\nHost *\n  User me"
    assert own.stat().st_mode & 0o777 == 0o644
    assert (tmp_path / ".ssh" / "hyperpod-cdk" / "draft.conf").stat().st_mode & 0o777 == 0o600


def test_a_linked_file_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / ".ssh").mkdir()
    target = tmp_path / "dotfiles"
    target.write_text("Host a\n")
    (tmp_path / ".ssh" / "config").symlink_to(target)
    written(tmp_path)
    assert (tmp_path / ".ssh" / "config").is_symlink()
    assert target.read_text() == f"{INCLUDE}\n\nHost a\n"


@pytest.mark.parametrize("text", [f"Host a\n{INCLUDE}\n", f"  {INCLUDE}  \n", "Include   hyperpod-cdk/*.conf"])
def test_a_line_that_is_there_is_not_added_again(text: str) -> None:
    assert with_include(text) == text


def test_a_write_that_fails_leaves_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "config").write_text("before")

    def fail(*_: object) -> None:
        raise OSError("disk")

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(OSError, match="disk"):
        write_private(tmp_path / "config", "after")
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("config", "before")]


def test_print_writes_nothing(tmp_path: Path) -> None:
    assert "Host draft draft-login draft-entry-1 draft-ip-10-1-0-5" in str(written(tmp_path, only_print=True))
    assert list(tmp_path.iterdir()) == []


def test_only_running_nodes_have_an_entry(tmp_path: Path) -> None:
    account = FakeNodes()
    account.summaries[2]["InstanceStatus"] = {"Status": "Pending"}
    result = written(tmp_path, account=account)
    assert len(data_of(result)["nodes"]) == 3
    for each in account.summaries:
        each["InstanceStatus"] = {"Status": "Failure"}
    with pytest.raises(CommandError, match="has no Running node"):
        written(tmp_path, account=account)


ATTACK = "login-1\n  ProxyCommand touch PWNED\nHost *\n  ProxyCommand touch PWNED"


@pytest.mark.parametrize("name", [ATTACK, "a b", "*", "!x", "%h", "x;y", "\x1b[31m", "n" * 10_000, ""])
def test_a_name_that_root_on_a_node_wrote_is_not_used(tmp_path: Path, name: str) -> None:
    shell = FakeShell(Output(0, resource_config().replace('"entry-1"', json.dumps(name))), Output(0, KEYS))
    ssh_config(FakeNodes().deployment(), home=tmp_path, shell=shell, user="alice", identity=None, only_print=False)
    lines = (tmp_path / ".ssh" / "hyperpod-cdk" / "draft.conf").read_text().splitlines()
    hosts = [line for line in lines if line.startswith("Host ")]
    assert "Host draft draft-login draft-ip-10-1-0-5 draft-i-0000000000000000b" in hosts
    options = {"HostName", "User", "ProxyCommand", "UserKnownHostsFile", "StrictHostKeyChecking"}
    assert {line.split()[0] for line in lines if line.startswith("  ")} == options
    assert sum("ProxyCommand aws ssm start-session" in line for line in lines) == len(hosts) == 4


@pytest.mark.parametrize("host", ["x\n  ProxyCommand touch PWNED", "* other", "x%h", '"x"'])
def test_a_word_that_ssh_could_read_otherwise_is_refused(tmp_path: Path, host: str) -> None:
    account = FakeNodes()
    account.summaries[1]["PrivateDnsHostname"] = host
    with pytest.raises(CommandError, match="is not allowed in an ssh configuration"):
        written(tmp_path, account=account)
    assert not (tmp_path / ".ssh").exists()


def test_a_percent_sign_in_a_profile_is_not_expanded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_PROFILE", "a%h")
    assert "--profile a%%h --target" in str(written(tmp_path, only_print=True))


@pytest.mark.parametrize("user", ["-oProxyCommand=x", "a b", "Alice", "a\nb"])
def test_a_user_name_cannot_be_an_option(tmp_path: Path, user: str) -> None:
    with pytest.raises(CommandError, match="not a user name"):
        written(tmp_path, user=user)


def test_the_default_user_is_ubuntu_unless_you_are_a_user_of_the_cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    deployment: Any = FakeNodes().deployment()
    monkeypatch.setattr("getpass.getuser", lambda: "carol")
    assert login_of(deployment, None, None).user == "ubuntu"
    assert "pass --user NAME for one of its `users`" in str(written(tmp_path, user=None))
    deployment.config = deployment.config.model_copy(update={"users": (type("User", (), {"name": "carol"})(),)})
    assert login_of(deployment, None, None).user == "carol"
