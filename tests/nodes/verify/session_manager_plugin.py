"""Stands in for AWS's session-manager-plugin: runs the session's command on a simulated node.

It takes the arguments that the AWS CLI passes and refuses others: the name of the environment variable with StartSession's
answer, the region, the operation, the profile, StartSession's request and the endpoint.
"""

import json
import os
import sys
import urllib.request
from pathlib import Path
from typing import Any

from local_aws.credentials import CONTROL_HEADER
from local_aws.nodes import client

VERSION = "1.2.707.0"


def main(arguments: list[str]) -> int:
    """Run the command; the status is 0 whatever the command's was, as the plugin's is."""
    if arguments == ["--version"]:
        print(VERSION)
        return 0
    variable, region, operation, _, request_text, endpoint = arguments
    session, request = json.loads(os.environ[variable]), json.loads(request_text)
    session_id = session["SessionId"]
    opened = _ask(endpoint, "sessions")[session_id]
    assert opened == {"Target": request["Target"], "TokenValue": session["TokenValue"]}, "another session's token or target"
    assert operation == "StartSession", operation
    assert f".{region}." in session["StreamUrl"], region
    assert os.isatty(0), "Cannot perform start session: EOF"
    print(f"\nStarting session with SessionId: {session_id}\r")
    _run(_node(_ask(endpoint, "nodes"), request["Target"]), request["Parameters"]["command"][0])
    print(f"\n\nExiting session with sessionId: {session_id}.\n")
    return 0


def _run(node: dict[str, str], command: str) -> None:
    what: dict[str, object] = {"argv": ["sh", "-c", command], "environment": {}, "folder": "/", "unit": None, "timeout_s": 300.0}
    client.ask(Path(node["folder"]), "run", node["id"], what, on_line=lambda line: print(f"{line}\r"))


def _node(nodes: list[dict[str, str]], target: str) -> dict[str, str]:
    [node] = [node for node in nodes if target.endswith(f"_{node['group']}-{node['id']}")]
    return node


def _ask(endpoint: str, path: str) -> Any:
    request = urllib.request.Request(f"{endpoint}/_local_aws/{path}", headers={CONTROL_HEADER: os.environ["LOCAL_AWS_TOKEN"]})
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.load(answer)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
