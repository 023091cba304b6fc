"""A cache of its own for each test, and programs that are short scripts."""

from collections.abc import Callable
from pathlib import Path

import pytest

from local_aws.kubernetes.programs import store


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return store.place()


@pytest.fixture
def built() -> Callable[..., Path]:
    """Put a finished build into the cache, of scripts that wait unless ``scripts`` names others."""

    def put(**scripts: str) -> Path:
        folder = store.build_of(store.CONTROL_PLANE, "inputs")
        folder.mkdir(parents=True)
        for program in store.CONTROL_PLANE.programs:
            path = folder / program
            path.write_text(f"#!/bin/sh\n{scripts.get(program.replace('-', '_'), 'exec sleep 600')}\n")
            path.chmod(0o755)
        return folder

    return put
