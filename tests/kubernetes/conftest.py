"""Real control planes on this machine: they need what `make kubernetes-setup` builds."""

import pytest

from local_aws.kubernetes import support


@pytest.fixture(scope="session", autouse=True)
def _able() -> None:
    reasons = support.missing()
    if reasons:
        pytest.exit(f"no control plane can run here: {'; '.join(reasons)}", returncode=1)
