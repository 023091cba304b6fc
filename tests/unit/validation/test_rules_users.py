from pathlib import Path
from typing import Any

import pytest

# By ssh-keygen of OpenSSH 9.2; nobody has their private halves.
ED25519, ECDSA, RSA = (Path(__file__).parents[2] / "data" / "ssh" / "public_keys.txt").read_text().splitlines()


def user(name: str = "eve", uid: object = 10001, **more: Any) -> dict[str, Any]:
    return {"name": name, "uid": uid, **more}


@pytest.mark.parametrize("name", ["alice", "_svc", "a", "alice-2", "a" * 32])
def test_names_that_useradd_accepts_are_accepted(draft: Any, name: str) -> None:
    assert draft.set("users", [user(name)]).problems() == []


@pytest.mark.parametrize("name", ["Alice", "2alice", "-a", "alice.b", "a b", "a" * 33, "", "alice$", "ä"])
def test_other_names_are_rejected(draft: Any, name: str) -> None:
    [line] = draft.set("users", [user(name)]).lines()
    assert line.startswith("users[0].name: ")


@pytest.mark.parametrize("name", ["root", "ubuntu", "slurm", "munge", "mysql", "systemd-network", "nobody", "docker"])
@pytest.mark.parametrize("section", ["users", "user_groups"])
def test_names_of_system_accounts_are_rejected(draft: Any, section: str, name: str) -> None:
    number = "uid" if section == "users" else "gid"
    [line] = draft.set(section, [{"name": name, number: 10001}]).lines()
    assert line.endswith("reserved for a system account; use another name")


@pytest.mark.parametrize("uid", [10000, 60000, 60578, 61183, 65520, 65533, 65536, 2147483646])
def test_free_ids_are_accepted(draft: Any, uid: int) -> None:
    assert draft.set("users", [user(uid=uid)]).problems() == []


@pytest.mark.parametrize(
    ("uid", "rule"),
    [
        *((uid, "uid-range") for uid in (1001, 9999)),
        *((uid, "systemd-uid-range") for uid in (60001, 60577, 61184, 65519)),
    ],
)
def test_ids_that_a_node_can_assign_are_a_warning(draft: Any, uid: int, rule: str) -> None:
    [problem] = draft.set("users", [user(uid=uid)]).problems()
    assert (problem.rule, problem.level) == (rule, "warning")
    assert draft.config().users[0].uid == uid


@pytest.mark.parametrize("uid", [0, -1, 999, 1000, 65534, 65535, 2147483647])
def test_ids_of_the_system_and_ubuntu_are_rejected(draft: Any, uid: int) -> None:
    [line] = draft.set("users", [user(uid=uid)]).lines()
    assert line.startswith(f"users[0].uid: {uid}: ")


def test_a_uid_in_quotes_is_not_a_number(draft: Any) -> None:
    [line] = draft.set("users", [user(uid="10001")]).lines()
    assert "must be a whole number, without quotes" in line


@pytest.mark.fault(68)
def test_a_duplicate_name_or_id_is_reported_once_with_the_first(draft: Any) -> None:
    draft.set("users", [user("eve", 10001), user("bob", 10001), user("eve", 10003)])
    assert draft.lines() == [
        "users[1].uid: 10001: already used by users[0]; use e.g. 10002",
        'users[2].name: "eve": already used by users[0]; use another name',
    ]


@pytest.mark.fault(68)
def test_a_group_cannot_have_the_name_or_id_of_a_user(draft: Any) -> None:
    draft.set("user_groups", [{"name": "eve", "gid": 20001}, {"name": "vision", "gid": 10001}])
    assert draft.set("users", [user("eve", 10001)]).lines() == [
        'users[0].name: "eve": already used by user_groups[0], as each user has a group with the same name; use another name',
        "users[0].uid: 10001: already used by user_groups[1], as each user has a group with the same id; use e.g. 10002",
    ]


def test_a_user_is_in_groups_of_the_file(draft: Any) -> None:
    draft.set("user_groups", [{"name": "vision", "gid": 20001}])
    assert draft.set("users", [user(groups=["vision"])]).problems() == []


@pytest.mark.parametrize(
    ("groups", "remedy"),
    [
        (["eve"], "is eve's own group, which is created automatically; remove it"),
        (["sudo"], "set `sudo: true` instead"),
        (["docker"], "remove it, and add the user in a script of lifecycle.extra"),
    ],
)
def test_unknown_groups_are_rejected_with_a_fix(draft: Any, groups: list[str], remedy: str) -> None:
    draft.set("user_groups", [{"name": "vision", "gid": 20001}])
    [line] = draft.set("users", [user(groups=groups)]).lines()
    assert line.endswith(remedy)


def test_an_undefined_group_suggests_its_definition(draft: Any) -> None:
    [line] = draft.set("users", [user(groups=["vision"])]).lines()
    assert line.endswith("unknown group; add it to `user_groups`: {name: vision, gid: 20001}")


@pytest.mark.parametrize("key", [ED25519, ECDSA, RSA, ED25519.rpartition(" ")[0]])
def test_public_keys_from_ssh_keygen_are_accepted(draft: Any, key: str) -> None:
    assert draft.set("users", [user(ssh_public_keys=[key])]).problems() == []


@pytest.mark.parametrize(
    "key",
    [
        f"ssh-dss {ED25519.split(' ')[1]}",
        f'command="ls" {ED25519}',
        f"{ED25519}\n{ED25519}",
        ED25519.replace("+", "*"),
    ],
)
def test_an_invalid_public_key_is_rejected(draft: Any, key: str) -> None:
    [line] = draft.set("users", [user(ssh_public_keys=[key])]).lines()
    assert "must be a line of a public key file (.pub)" in line


@pytest.mark.parametrize(
    "key",
    [
        " ".join(("ssh-ed25519", ED25519.split(" ")[1][:-4])),
        " ".join(("ssh-rsa", ED25519.split(" ")[1])),
        " ".join(("ssh-rsa", RSA.split(" ")[1][:-8])),
        " ".join(("ssh-rsa", RSA.split(" ")[1][:-1])),
    ],
)
def test_a_truncated_key_or_one_of_another_kind_is_rejected(draft: Any, key: str) -> None:
    [line] = draft.set("users", [user(ssh_public_keys=[key])]).lines()
    assert line.endswith("copy the whole line of the .pub file")
