"""`hpod kubeconfig`."""

import stat
from pathlib import Path
from typing import Any

import pytest
import yaml

from cli.deployment import Deployment
from cli.errors import CommandError
from cli.kubeconfig import default_path, kubeconfig
from cli.result import Json
from tests.unit.cli.fake_eks import ADMIN, ARN, FakeEks, FakeSession, eks_config
from tests.unit.cli.test_retained import FILE, parsed

OTHER = {
    "apiVersion": "v1",
    "clusters": [{"name": "lab", "cluster": {"server": "https://lab"}}],
    "users": [{"name": "lab", "user": {"auth-provider": {"config": {"expiry": "2026-11-22T12:00:00Z"}}}}],
    "contexts": [{"name": "lab", "context": {"cluster": "lab", "user": "lab"}}],
    "current-context": "lab",
    "preferences": {"colors": True},
}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "config"
    path.write_text(yaml.safe_dump(OTHER))
    path.chmod(0o644)
    return path


def on(eks: FakeEks, **changes: Any) -> Deployment:
    session: Any = FakeSession(eks)
    return Deployment(eks_config(**changes), session)


def read(path: Path) -> Json:
    found: Json = yaml.safe_load(path.read_text())
    return found


def named(config: Json, key: str, name: str) -> Json:
    [found] = [each for each in config[key] if each["name"] == name]
    return dict(found)


def test_all_other_entries_stay(file: Path) -> None:
    kubeconfig(on(FakeEks()), write=file)
    found = read(file)
    assert {key: found[key] for key in ("current-context", "preferences")} == {
        "current-context": "lab",
        "preferences": {"colors": True},
    }
    for key in ("clusters", "users", "contexts"):
        assert named(found, key, "lab") == OTHER[key][0]  # type: ignore[index]  # they are lists


def test_only_the_owner_can_read_the_file(file: Path) -> None:
    kubeconfig(on(FakeEks()), write=file)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_the_context_gets_its_tokens_from_the_aws_cli(tmp_path: Path) -> None:
    file = tmp_path / "new" / "config"
    kubeconfig(on(FakeEks()), write=file, role_arn=ADMIN)
    found = read(file)
    context = named(found, "contexts", "draft")["context"]
    command = named(found, "users", context["user"])["user"]["exec"]
    assert [command["command"], *command["args"]] == [
        *("aws", "--region", "us-west-2", "eks", "get-token", "--cluster-name", "draft", "--output", "json"),
        *("--role-arn", ADMIN),
    ]
    assert named(found, "clusters", context["cluster"])["cluster"] == {
        "server": "https://ABC.gr7.us-west-2.eks.amazonaws.com",
        "certificate-authority-data": "YXV0aG9yaXR5",
    }
    assert found["current-context"] == "draft"


def test_roles_and_clusters_have_users_of_their_own(file: Path) -> None:
    kubeconfig(on(FakeEks()), write=file)
    kubeconfig(on(FakeEks()), write=file, role_arn=ADMIN, context="admin")
    kubeconfig(on(FakeEks()), write=file)
    found = read(file)
    assert [each["name"] for each in found["users"]] == ["lab", ARN, f"{ARN}#{ADMIN}"]
    assert [each["name"] for each in found["contexts"]] == ["lab", "draft", "admin"]


def test_a_context_of_another_cluster_is_replaced_only_by_force(file: Path) -> None:
    with pytest.raises(CommandError, match="context 'lab' belongs to cluster 'lab'; pass --context NAME, or --force"):
        kubeconfig(on(FakeEks()), write=file, context="lab")
    assert read(file) == OTHER
    kubeconfig(on(FakeEks()), write=file, context="lab", force=True)
    assert named(read(file), "contexts", "lab")["context"]["cluster"] == ARN


def test_a_recreated_cluster_gets_its_new_endpoint(file: Path) -> None:
    eks = FakeEks()
    kubeconfig(on(eks), write=file)
    eks.clusters["draft"]["endpoint"] = "https://NEW"
    kubeconfig(on(eks), write=file)
    assert named(read(file), "clusters", ARN)["cluster"]["server"] == "https://NEW"


def test_a_team_has_its_namespace(file: Path) -> None:
    kubeconfig(on(FakeEks()), write=file, team="research")
    assert named(read(file), "contexts", "draft")["context"]["namespace"] == "hyperpod-ns-research"
    with pytest.raises(CommandError, match="--team: unknown team 'nope'; available: research"):
        kubeconfig(on(FakeEks()), write=file, team="nope")


def test_print_writes_nothing(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBECONFIG", str(file))
    result = kubeconfig(on(FakeEks()), only_print=True)
    assert read(file) == OTHER
    assert yaml.safe_load(str(result.text[0]))["current-context"] == "draft"


def test_a_caller_without_an_access_entry_learns_who_has_one(file: Path) -> None:
    eks = FakeEks()
    text = str(kubeconfig(on(eks), write=file))
    assert "no access" not in text
    assert "to use it: `kubectl --context draft get nodes`" in text
    eks.caller = "arn:aws:sts::123456789012:assumed-role/Developer/bob"
    fix = f"Add it to `eks.admins` or to a team's `role_arns`, or use `--role-arn` with one that has access: {ADMIN}"
    role = "arn:aws:iam::123456789012:role/people/Developer"
    text = str(kubeconfig(on(eks), write=file))
    assert f"{role} has no access to the EKS cluster. {fix}" in text
    assert "to use it" not in text
    eks.refused.add("get_role")
    assert "arn:aws:iam::123456789012:role/Developer has no access" in str(kubeconfig(on(eks), write=file))
    eks.caller = "arn:aws:sts::123456789012:user/moto"
    assert "arn:aws:iam::123456789012:user/moto has no access" in str(kubeconfig(on(eks), write=file))
    eks.entries = None
    assert "no access" not in str(kubeconfig(on(eks), write=file))


def test_a_file_without_principals_requires_an_administrator(file: Path) -> None:
    eks = FakeEks()
    eks.entries = []
    warning = (
        "arn:aws:iam::123456789012:role/people/Admin has no access to the EKS cluster. "
        "The file names no role with access: add this one to `eks.admins`, then run `cdk deploy 'draft/*'`"
    )
    session: Any = FakeSession(eks)
    deployment = Deployment(eks_config(eks={"version": "1.34", "admins": []}), session)
    assert warning in str(kubeconfig(deployment, write=file))


def test_a_role_of_another_team_is_a_warning(file: Path) -> None:
    role = "arn:aws:iam::123456789012:role/Vision"
    teams = [{"name": "research", "role_arns": []}, {"name": "vision", "role_arns": [role]}]
    eks = FakeEks()
    eks.entries, eks.caller = [ADMIN, role], "arn:aws:sts::123456789012:assumed-role/Vision/bob"
    session: Any = FakeSession(eks)
    deployment = Deployment(eks_config(eks={"version": "1.34", "admins": [ADMIN], "teams": teams}), session)
    warning = "has access as another team, which cannot use hyperpod-ns-research"
    assert warning in str(kubeconfig(deployment, write=file, team="research"))
    assert "another team" not in str(kubeconfig(deployment, write=file, team="vision"))
    eks.caller = ADMIN
    assert "another team" not in str(kubeconfig(deployment, write=file, team="research"))


def test_an_eks_cluster_without_an_api_server_is_an_error(file: Path) -> None:
    eks = FakeEks()
    eks.clusters["draft"] |= {"status": "CREATING", "endpoint": None}
    with pytest.raises(CommandError, match="is CREATING and has no API server; try again when it is ACTIVE"):
        kubeconfig(on(eks), write=file)
    eks.clusters.clear()
    with pytest.raises(CommandError, match="EKS cluster 'draft' does not exist; deploy the cluster first"):
        kubeconfig(on(eks), write=file)
    assert read(file) == OTHER


def test_a_slurm_cluster_has_no_context(file: Path) -> None:
    session: Any = FakeSession(FakeEks())
    with pytest.raises(CommandError, match=r"cluster 'draft' has no `eks` section; `./hpod ssh`"):
        kubeconfig(Deployment(parsed(FILE), session), write=file)


@pytest.mark.parametrize("text", ["- a list", "contexts: text", "contexts: [1]", "a: [", "contexts: [{}]"])
def test_a_file_that_is_no_kubeconfig_is_not_changed(file: Path, text: str) -> None:
    file.write_text(text)
    with pytest.raises(CommandError, match="correct it, or pass --write FILE"):
        kubeconfig(on(FakeEks()), write=file)
    assert file.read_text() == text


def test_the_first_file_of_kubeconfig_is_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBECONFIG", "/tmp/first:/tmp/second")
    assert default_path() == Path("/tmp/first")
    monkeypatch.delenv("KUBECONFIG")
    monkeypatch.setenv("HOME", "/home/alice")
    assert default_path() == Path("/home/alice/.kube/config")
