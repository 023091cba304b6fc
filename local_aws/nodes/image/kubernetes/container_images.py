"""`python container_images.py FILE`: write an archive with the container images of simulated nodes, for `ctr images import`.

Their layers hold only a marker: nodes show the node image, and the layers on it, in their place. So they need no disk.
"""

import hashlib
import io
import json
import os
import sys
import tarfile
from pathlib import Path

_KIND = "application/vnd.oci.image"
_ENVIRONMENT = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_PLUGIN = ("/usr/bin/python3", "/usr/local/lib/device_plugin.py")
# Name -> layers, entry point and arguments. The last four take the place of images from registries.
_IMAGES: dict[str, tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]] = {
    "localhost/pause:1": (("debian",), (), ("/usr/bin/sleep", "infinity")),
    "localhost/debian:1": (("debian",), (), ("/bin/bash",)),
    "localhost/pytorch:1": (("debian", "pytorch"), (), ("/usr/bin/python3",)),
    "localhost/nvidia-plugin:1": (("debian", "kubernetes"), (*_PLUGIN, "nvidia.com/gpu"), ()),
    "localhost/efa-plugin:1": (("debian", "kubernetes"), (*_PLUGIN, "vpc.amazonaws.com/efa"), ()),
    "localhost/neuron-plugin:1": (("debian", "kubernetes"), (*_PLUGIN, "aws.amazon.com/neuron"), ()),
    "localhost/health-agent:1": (("debian",), ("/bin/sh", "-c", "exec sleep infinity", "agent"), ()),
}

Json = dict[str, object]


def write(path: Path) -> None:
    """Write the archive."""
    with tarfile.open(path, "w") as archive:
        written: set[str] = set()

        def blob(kind: str, content: bytes) -> Json:
            digest = hashlib.sha256(content).hexdigest()
            if digest not in written:
                _put(archive, f"blobs/sha256/{digest}", content)
                written.add(digest)
            return {"mediaType": f"{_KIND}.{kind}", "digest": f"sha256:{digest}", "size": len(content)}

        manifests = []
        for name, (layers, entry, command) in _IMAGES.items():
            blobs = [blob("layer.v1.tar", _marker(layer)) for layer in layers]
            config = {
                "architecture": {"x86_64": "amd64", "aarch64": "arm64"}[os.uname().machine],
                "os": "linux",
                "config": {"Entrypoint": entry, "Cmd": command, "Env": [_ENVIRONMENT]},
                "rootfs": {"type": "layers", "diff_ids": [each["digest"] for each in blobs]},
            }
            manifest = {
                "schemaVersion": 2,
                "mediaType": f"{_KIND}.manifest.v1+json",
                "config": blob("config.v1+json", json.dumps(config).encode()),
                "layers": blobs,
            }
            names = {"io.containerd.image.name": name, "org.opencontainers.image.ref.name": name}
            manifests.append(blob("manifest.v1+json", json.dumps(manifest).encode()) | {"annotations": names})
        _put(archive, "index.json", json.dumps({"schemaVersion": 2, "manifests": manifests}).encode())
        _put(archive, "oci-layout", b'{"imageLayoutVersion": "1.0.0"}')


def _marker(layer: str) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as content:
        _put(content, f".{layer}", b"")
    return buffer.getvalue()


def _put(archive: tarfile.TarFile, name: str, content: bytes) -> None:
    entry = tarfile.TarInfo(name)
    entry.size = len(content)
    archive.addfile(entry, io.BytesIO(content))


if __name__ == "__main__":
    write(Path(sys.argv[1]))
