"""One control plane for all tests of this folder; each test has a namespace of its own."""

import itertools
from collections.abc import Iterator

import pytest

from local_aws.kubernetes import control_plane
from local_aws.kubernetes.client import Client
from local_aws.kubernetes.control_plane import ControlPlane
from tests.kubernetes.webhook import Webhook

_numbers = itertools.count()


@pytest.fixture(scope="session")
def webhook() -> Iterator[Webhook]:
    with Webhook() as running:
        yield running


@pytest.fixture(scope="session")
def plane(webhook: Webhook, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    running = control_plane.start(
        "ml",
        tmp_path_factory.mktemp("control-plane"),
        token_webhook=f"{webhook.endpoint}/authenticate",
        authorization_webhook=f"{webhook.endpoint}/authorize",
    )
    yield running
    running.stop()


@pytest.fixture
def admin(plane: ControlPlane) -> Client:
    return plane.admin_client()


@pytest.fixture
def namespace(admin: Client) -> str:
    name = f"test-{next(_numbers)}"
    created = admin.call("POST", "/api/v1/namespaces", {"metadata": {"name": name}})
    assert created.status == 201, created
    return name
