"""Real nodes on this machine: needs root and what `make nodes-setup` brings. One hub for each module of tests."""

from collections.abc import Iterator

import pytest

from local_aws.nodes import support
from local_aws.nodes.hub import Hub, NodeFile, NodeSpec
from tests.nodes.machines.some_nodes import Nodes, vpc_with_file_systems


@pytest.fixture(scope="session", autouse=True)
def _able() -> None:
    reasons = support.missing()
    if reasons:
        pytest.exit(f"nodes cannot run here: {'; '.join(reasons)}", returncode=1)


@pytest.fixture(scope="module")
def nodes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nodes]:
    folder = tmp_path_factory.mktemp("nodes")
    hub = Hub(folder / "hub", support.image(), vpc_with_file_systems(folder))
    hub.start()
    yield Nodes(hub)
    hub.end()


@pytest.fixture(scope="module")
def node(nodes: Nodes) -> NodeSpec:
    """A node that the tests of a module share: whoever uses it leaves it running."""
    metadata = {"latest/meta-data/instance-id": "i-1", "latest/meta-data/placement/region": "us-west-2"}
    return nodes.boot(metadata=metadata, files={"/etc/secret": NodeFile(b"laid before boot\n", 0o640, "munge")})
