"""What a verification saves, redacted: requests, answers, files of nodes and log lines."""

import json
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from tests.verify_aws.redaction import Redactor


@dataclass
class Evidence:
    """The files below a folder; what is saved again is replaced."""

    folder: Path
    redactor: Redactor = field(default_factory=Redactor)

    def call(self, checkpoint: str, operation: str, request: Any, response: Any, label: str = "") -> None:
        """Save a call of AWS's API, or a request without a recorded response."""
        answer = {key: value for key, value in response.items() if key != "ResponseMetadata"} if response is not None else None
        content = {"operation": operation, "request": request, **({} if answer is None else {"response": answer})}
        name = f"{operation}-{label}" if label else operation
        self.json(f"api/{checkpoint}/{name}.json", content)

    def json(self, path: str, content: Any) -> None:
        """Save a JSON value."""
        value = self.redactor.json(json_of(content))
        self._write(path, json.dumps(value, indent=2, sort_keys=True) + "\n")

    def text(self, path: str, text: str) -> None:
        """Save a text; a JSON file by its values, so that it stays one."""
        if path.endswith(".json"):
            try:
                content = json.loads(text)
            except ValueError:
                content = None
            if content is not None:
                self._write(path, json.dumps(self.redactor.json(content), indent=1) + "\n")
                return
        self._write(path, self.redactor(text))

    def _write(self, path: str, text: str) -> None:
        file = self.folder / self.redactor(path).translate({ord("<"): None, ord(">"): None})
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


def json_of(content: Any) -> Any:
    """Return a value of boto3 as JSON, in which times are texts."""
    return json.loads(json.dumps(content, default=_as_text))


def _as_text(value: Any) -> str:
    return value.isoformat() if isinstance(value, datetime) else str(value)
