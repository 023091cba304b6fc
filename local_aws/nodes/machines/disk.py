"""A node's root volume: the image's layers, shared and read-only, below a layer in memory for the node's own files."""

from collections.abc import Sequence
from pathlib import Path

from local_aws.builds.programs import run, succeeds

# In the hub's own mount namespace: the volumes end with the hub, however it ends.
_VOLUMES = Path("/run/volumes")


class Disk:
    """The root volume of a node."""

    def __init__(self, node_id: str, layers: Sequence[Path], size_mib: int) -> None:
        self._place = _VOLUMES / node_id
        self._layers, self._size_mib = layers, size_mib
        self.root = self._place / "root"

    def folder(self, name: str) -> Path:
        """Create a folder in the volume's memory, beside its layers: for files that cannot lie on an overlay."""
        made = self._place / name
        made.mkdir()
        return made

    def make(self) -> None:
        """Create an empty volume above the image."""
        self._place.mkdir(parents=True)
        run("mount", "-t", "tmpfs", "-o", f"size={self._size_mib}m,mode=0755", "volume", str(self._place))
        for part in ("upper", "work", "root"):
            (self._place / part).mkdir()
        lower = ":".join(str(layer) for layer in self._layers)
        layers = f"lowerdir={lower},upperdir={self._place}/upper,workdir={self._place}/work"
        run("mount", "-t", "overlay", "-o", f"{layers},volatile", "root", str(self.root))

    def drop(self) -> None:
        """Remove the volume, if it exists."""
        succeeds("umount", "--lazy", str(self.root))
        succeeds("umount", "--lazy", str(self._place))
        if self._place.is_dir():
            self._place.rmdir()
