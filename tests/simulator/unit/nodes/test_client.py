"""What who asks a hub is told when the hub ends meanwhile."""

import socket
import threading
from pathlib import Path

import pytest

from local_aws.builds.errors import HostError
from local_aws.nodes import client, protocol


@pytest.fixture
def listening(tmp_path: Path) -> socket.socket:
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(tmp_path / protocol.SOCKET))
    listener.listen()
    return listener


def test_a_hub_that_ends_before_it_answers_is_an_error_in_words(listening: socket.socket, tmp_path: Path) -> None:
    def end() -> None:
        connection, _ = listening.accept()
        connection.close()  # with the question unread: the one who asks gets a reset

    with listening:
        thread = threading.Thread(target=end)
        thread.start()
        with pytest.raises(HostError, match=r"ended before it responded; see its hub\.log"):
            client.ask(tmp_path, "run", "i-1", {"argv": ["x" * 1_000_000]})
        thread.join()
