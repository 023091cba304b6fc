"""Remove each action from each policy in turn and check that a scenario fails without it.

`make privilege` runs this; PRIVILEGE_EVERY=8 tests only every eighth action. The embedded AWS enforces policies; a failure
counts only if its log shows that this role was denied this action. UNTESTED in the constructs lists the other actions and why.
"""

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from cluster_request.request import merged
from constructs.hyperpod.cluster import node_permissions, step_permissions
from local_aws import server
from local_aws.clock import clock
from local_aws.server import EmbeddedAws
from local_aws.testing import SPEED, aws, clients_of
from tests.cluster_files import REFERENCE
from tests.privilege.account import NODES, Account, PartFailedError
from tests.privilege.deployment import Deployment
from tests.privilege.rights import Right, denials, used, without
from tests.privilege.scenarios import SCENARIOS, Scenario

__all__ = ["aws"]

CHANGES = {
    "storage": {"lustre": None, "data_repository_associations": []},  # not used by the roles under test
    "wait_hours": 2,
    "tags": {"team": "research"},
}
UNTESTED = {
    **{("Step", action): reason for action, reason in step_permissions.UNTESTED.items()},
    **{(NODES, action): reason for action, reason in node_permissions.UNTESTED.items()},
}
MOST_UNTESTED = 3
IMPATIENCE_S = 15.0  # two and a half of CloudFormation's hours


@pytest.fixture(scope="module")
def account(aws: EmbeddedAws, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Account]:
    """Return the account with the deployed stack."""
    server.reset()
    clock.set_speed(SPEED)
    folder = tmp_path_factory.mktemp("clusters")
    file = merged(yaml.safe_load(REFERENCE.read_text()), CHANGES)
    (folder / "reference.yaml").write_text(yaml.safe_dump(file, sort_keys=False))
    client = clients_of(aws)
    yield Account(client, Deployment(client, folder, Path(tmp_path_factory.mktemp("out"))))
    server.reset()


@pytest.fixture(scope="module")
def needing(account: Account) -> dict[tuple[str, str], list[Scenario]]:
    """Return the scenarios that use each action of each role, fastest first; with all rights, all succeed."""
    found: dict[tuple[str, str], list[tuple[float, int]]] = {}
    for number, scenario in enumerate(SCENARIOS):
        started = time.monotonic()
        scenario.run(account)
        for each in used():
            found.setdefault(each, []).append((time.monotonic() - started, number))
    return {key: [SCENARIOS[number] for _, number in sorted(numbers)] for key, numbers in found.items()}


def test_without_each_action_a_scenario_fails(
    account: Account, needing: dict[tuple[str, str], list[Scenario]], capsys: pytest.CaptureFixture[str]
) -> None:
    account.patience_s = IMPATIENCE_S
    untested: list[Right] = []
    rights = account.rights()[:: int(os.environ.get("PRIVILEGE_EVERY", "1"))]
    for right in rights:
        failure = missed(account, right, needing.get((right.role, right.action), []))
        if not failure:
            untested.append(right)
        with capsys.disabled():
            reason = UNTESTED.get((right.holder, right.action), "nothing failed")
            print(f"{right}  {failure or f'UNTESTED: {reason}'}", flush=True)
    with capsys.disabled():
        print(f"PRIVILEGE {len(rights) - len(untested)} tested {len(untested)} untested")
    expected = set(UNTESTED) & {(right.holder, right.action) for right in rights}
    assert {(right.holder, right.action) for right in untested} == expected, "list untested actions in the constructs"
    assert len(untested) <= MOST_UNTESTED


def missed(account: Account, right: Right, scenarios: list[Scenario]) -> str:
    """Return how the first scenario failed for lack of the right, or nothing if none did."""
    for scenario in scenarios:
        try:
            scenario.run(account, without(account.client("iam"), right))
        except PartFailedError as error:
            if denials(right):
                text = " ".join(str(error).split())
                who = "it" if right.action in text else "IAM's record"
                return f"{scenario.name}: {text[:120]} ({who} names the action)"
    return ""
