"""A Git repository of this project, from which a team's Makefile fetches it."""

from pathlib import Path

import pytest

from tests.local.team_repository.team import project_repository


@pytest.fixture(scope="session")
def origin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a Git repository of this project, with the tags v0.1.0 and v0.2.0."""
    return project_repository(tmp_path_factory.mktemp("origin") / "hyperpod-cdk")
