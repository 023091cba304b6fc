"""Collect the files for nodes that are known at synth."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Self

from config.local_folder import content_of
from config.model import ClusterConfig
from constructs.hyperpod.lifecycle import node_settings, provisioning_parameters

DEFAULT_SCRIPTS = Path(__file__).parents[3] / "lifecycle_assets"

# Generated for each cluster; a file of the user with such a name is ignored.
GENERATED = {node_settings.FILE, provisioning_parameters.SCRIPTS_FILE, provisioning_parameters.API_FILE}


@dataclass(frozen=True)
class ScriptBundle:
    """Files by path, relative to the folder that HyperPod downloads them to."""

    files: dict[str, bytes]

    @classmethod
    def of(cls, config: ClusterConfig) -> Self:
        """Return the default scripts plus `lifecycle.extra`, or `lifecycle.source`; and node_settings.json."""
        lifecycle = config.lifecycle
        files = _read(lifecycle.source) if lifecycle.source else dict(_default_scripts())
        if lifecycle.extra:
            files |= {f"extra/{name}": content for name, content in _read(lifecycle.extra).items()}
        others = {name: content for name, content in files.items() if name not in GENERATED}
        return cls({**others, node_settings.FILE: node_settings.render(node_settings.node_settings(config))})

    def plus(self, name: str, content: Mapping[str, object]) -> Self:
        """Return the bundle with a JSON file."""
        return type(self)({**self.files, name: json.dumps(content).encode()})

    @property
    def fingerprint(self) -> str:
        """A hash of all names and contents, equal on every machine."""
        total = hashlib.sha256()
        for name, content in sorted(self.files.items()):
            total.update(f"{name}\0{len(content)}\0".encode())
            total.update(content)
        return total.hexdigest()

    def write(self, folder: Path) -> None:
        """Write the files to the folder."""
        for parent in {(folder / name).parent for name in self.files}:
            parent.mkdir(parents=True, exist_ok=True)
        for name, content in self.files.items():
            (folder / name).write_bytes(content)


@cache
def _default_scripts() -> dict[str, bytes]:
    """Return the scripts of this project, read once for all clusters."""
    return _read(DEFAULT_SCRIPTS)


def _read(folder: Path) -> dict[str, bytes]:
    return {name: path.read_bytes() for name, path in content_of(folder).files.items()}
