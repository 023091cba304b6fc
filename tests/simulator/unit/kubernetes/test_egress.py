"""The API server's way to nodes and pods."""

import json
import socket
from pathlib import Path

from local_aws.kubernetes import egress


def test_the_api_server_connects_where_the_embedded_aws_listens(tmp_path: Path) -> None:
    [selection] = json.loads(egress.write_settings(tmp_path).read_text())["egressSelections"]
    name = selection["connection"]["transport"]["uds"]["udsName"]
    assert name.startswith("@")
    with egress.listen(tmp_path) as listener, socket.socket(socket.AF_UNIX) as client:
        client.connect("\0" + name[1:])
        peer, _ = listener.accept()
        with peer:
            assert egress.is_own(peer)


def test_control_planes_in_different_folders_have_sockets_of_their_own(tmp_path: Path) -> None:
    assert egress.name_of(tmp_path / "a") != egress.name_of(tmp_path / "b")
