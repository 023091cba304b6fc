"""The account that the machinery's tests work in."""

import pytest

from local_aws.testing import Client
from tests.simulator.machinery.account import Account


@pytest.fixture
def account(client: Client) -> Account:
    """The emptied account."""
    return Account(client)
