"""What all tests share: a check of the checkout, a supported Node, and the synthesized clusters."""

from __future__ import annotations

import gc
import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.faults_table.recording import pytest_runtest_call, pytest_runtest_setup
from tests.groups import LONGEST, GroupScheduling, group_of
from tests.users_files import guard

if TYPE_CHECKING:
    from tests.synth.synthesized import Synthesized

__all__ = ["pytest_runtest_call", "pytest_runtest_setup"]

ROOT = Path(__file__).parents[1]
NODE = ROOT / ".venv" / "bin" / "node"

# Started without `make`, jsii would take whatever `node` comes first in PATH: often one that it no longer supports.
if NODE.exists():
    os.environ.setdefault("JSII_NODE", str(NODE))
# Templates must not depend on the account and region that somebody's shell happens to name.
for name in ("CDK_DEFAULT_ACCOUNT", "CDK_DEFAULT_REGION"):
    os.environ.pop(name, None)


guard()
# A quarter of the time of collection went into looking for garbage among ten thousand tests, which stay.
gc.disable()


def pytest_configure() -> None:
    """Explain a mistake that otherwise shows as an import error inside aws-cdk-lib."""
    if mistake := hidden_package(ROOT):
        raise pytest.UsageError(mistake)


def hidden_package(root: Path) -> str | None:
    """What to do about a file that hides the package `constructs`, if there is one."""
    for folder in ("constructs", "tests/constructs"):
        if (root / folder / "__init__.py").exists():
            return (
                f"{folder}/__init__.py hides the package `constructs`, on which aws-cdk-lib stands; remove the file "
                "(docs/adr/0001-constructs-folder.md says why)"
            )
    return None


@pytest.fixture(scope="session")
def shipped_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the cloud assemblies of ``shipped`` are."""
    return tmp_path_factory.mktemp("shipped")


@pytest.fixture(scope="session")
def shipped(shipped_folder: Path) -> Synthesized:
    """The reference and the examples, synthesized once."""
    from tests.synth.synthesized import synthesize_shipped  # noqa: PLC0415 - unit tests must not pay for importing the CDK

    return synthesize_shipped(shipped_folder)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the groups that take longest, then with tests of the `cdk` command line."""
    rank = {group: number for number, group in enumerate(LONGEST)}
    items.sort(key=lambda item: (rank.get(group_of(item.nodeid), len(rank)), item.get_closest_marker("cdk") is None))


def pytest_collection_finish() -> None:
    """Look for garbage from now on, but not among the tests and modules, and after more new objects than Python's 700."""
    gc.freeze()
    gc.set_threshold(50_000)
    gc.enable()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> GroupScheduling:
    """Keep the tests of a group on one worker; each other file has its embedded account for itself while it runs."""
    return GroupScheduling(config, log)
