"""What a node gets, but for what is known at deployment only."""

import hashlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Self

from config.local_folder import content_of
from config.model import ClusterConfig
from constructs.hyperpod.lifecycle import node_settings, provisioning_parameters

OURS = Path(__file__).parents[3] / "lifecycle_assets"

# A file of the user's of one of these names would say what another cluster is.
WRITTEN_HERE = {node_settings.FILE, provisioning_parameters.FILE}


@dataclass(frozen=True)
class ScriptBundle:
    """Files by their paths on the node, relative to the folder that HyperPod downloads them to."""

    files: dict[str, bytes]

    @classmethod
    def of(cls, config: ClusterConfig) -> Self:
        """Our scripts with the user's extra ones, or the user's own, and node_settings.json in either case."""
        lifecycle = config.lifecycle
        files = _read(lifecycle.source) if lifecycle.source else dict(_ours())
        if lifecycle.extra:
            files |= {f"extra/{name}": content for name, content in _read(lifecycle.extra).items()}
        others = {name: content for name, content in files.items() if name not in WRITTEN_HERE}
        return cls({**others, node_settings.FILE: node_settings.rendered(node_settings.node_settings(config))})

    @property
    def fingerprint(self) -> str:
        """A hash of all of it, which is the same on every machine and in every folder."""
        total = hashlib.sha256()
        for name, content in sorted(self.files.items()):
            total.update(f"{name}\0{len(content)}\0".encode())
            total.update(content)
        return total.hexdigest()

    def write(self, folder: Path) -> None:
        """Write the files below the folder."""
        for place in {(folder / name).parent for name in self.files}:
            place.mkdir(parents=True, exist_ok=True)
        for name, content in self.files.items():
            (folder / name).write_bytes(content)


@cache
def _ours() -> dict[str, bytes]:
    """Our scripts, which an app with many clusters reads once."""
    return _read(OURS)


def _read(folder: Path) -> dict[str, bytes]:
    return {name: path.read_bytes() for name, path in content_of(folder).files.items()}
