"""A SageMaker that takes down what it is asked and answers with every field that it could."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.asset.samples import answer_of
from tests.web_server import Handler, serving

Asked = dict[str, Any]


@contextmanager
def sagemaker_server() -> Iterator[tuple[str, Asked]]:
    """Its endpoint, and the last request to each operation."""
    asked: Asked = {}

    class Recorder(Handler):
        """Answers one request."""

        def do_POST(self) -> None:  # noqa: N802  as http.server names it
            operation = self.headers["X-Amz-Target"].removeprefix("SageMaker.")
            request = json.loads(self.body())
            if request == {"ClusterName": "absent"}:
                self.answer(400, json.dumps({"__type": "ResourceNotFound", "message": "no such cluster"}).encode())
                return
            asked[operation] = request
            self.answer(200, json.dumps(answer_of(operation)).encode())

    with serving(Recorder) as endpoint:
        yield endpoint, asked
