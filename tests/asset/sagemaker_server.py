"""A SageMaker that takes down what it is asked and answers with every field that it could."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.asset.samples import answer_of

Asked = dict[str, Any]


@contextmanager
def sagemaker_server() -> Iterator[tuple[str, Asked]]:
    """Its endpoint, and the last request to each operation."""
    asked: Asked = {}

    class Handler(BaseHTTPRequestHandler):
        """Answers one request."""

        def do_POST(self) -> None:
            operation = self.headers["X-Amz-Target"].removeprefix("SageMaker.")
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if request == {"ClusterName": "absent"}:
                self._answer(400, {"__type": "ResourceNotFound", "message": "no such cluster"})
                return
            asked[operation] = request
            self._answer(200, answer_of(operation))

        def _answer(self, status: int, answer: object) -> None:
            body = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/x-amz-json-1.1")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Leave out the access log."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", asked
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
