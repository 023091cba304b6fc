"""What the embedded AWS will be: the server that the API server asks about tokens and permissions."""

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, Self


class Webhook:
    """Answers from tables, and keeps the reviews."""

    def __init__(self) -> None:
        self.users: dict[str, dict[str, Any]] = {}  # token -> user of a TokenReview
        self.allowed: set[tuple[str, str, str]] = set()  # user, verb, resource
        self.reviews: list[dict[str, Any]] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def answer(self, review: dict[str, Any]) -> dict[str, Any]:
        self.reviews.append(review)
        spec = review["spec"]
        if review["kind"] == "TokenReview":
            user = self.users.get(spec["token"])
            return {"authenticated": True, "user": user} if user else {"authenticated": False, "error": "unknown token"}
        asked = spec.get("resourceAttributes", {})
        return {"allowed": (spec["user"], asked.get("verb"), asked.get("resource")) in self.allowed}


def _handler(webhook: Webhook) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            review = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            status = webhook.answer(review)
            answer = json.dumps({"apiVersion": review["apiVersion"], "kind": review["kind"], "status": status}).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: object) -> None:
            pass

    return Handler
