"""Stands in for AWS's session-manager-plugin: opens the session on a simulated node.

It takes the arguments that the AWS CLI passes and refuses others: the name of the environment variable with StartSession's
answer, the region, the operation, the profile, StartSession's request and the endpoint. Session Manager's websocket protocol is
not emulated.
"""

import json
import os
import shlex
import sys
import urllib.error
import urllib.request
from collections.abc import Mapping
from http import HTTPStatus
from pathlib import Path
from typing import Any

from local_aws.credentials import CONTROL_HEADER
from local_aws.nodes import client
from local_aws.nodes.shell import enter

VERSION = "1.2.707.0"
TO_PORT = 'exec 3<>"/dev/tcp/127.0.0.1/$0" 4<&0 || exit 1; { cat >&3; kill $$ 2>/dev/null; } <&4 & cat <&3'
"""Copies bytes between a session and a port of the node, until one of the two ends."""


def main(arguments: list[str]) -> int:
    """Open the session; the status is 0 whatever the command's was, as the plugin's is."""
    if arguments == ["--version"]:
        print(VERSION)
        return 0
    variable, region, operation, _, request_text, endpoint = arguments
    session, request = json.loads(os.environ[variable]), json.loads(request_text)
    session_id = session["SessionId"]
    opened = _ask(endpoint, "sessions")[session_id]
    expected = {"Target": request["Target"], "TokenValue": session["TokenValue"]}
    if (operation, opened) != ("StartSession", expected) or f".{region}." not in session["StreamUrl"]:
        sys.exit(f"Cannot perform start session: {operation} of another session, token, target or region")
    node = _node(_ask(endpoint, "nodes"), request["Target"])
    if request.get("DocumentName") == "AWS-StartSSHSession":  # which prints nothing of its own
        enter(Path(node["folder"]), node["id"], ["bash", "-c", TO_PORT, request["Parameters"]["portNumber"][0]])
        return 0
    if not os.isatty(0):
        sys.exit("Cannot perform start session: EOF")
    print(f"\nStarting session with SessionId: {session_id}\r", flush=True)
    _open(node, request)
    print(f"\n\nExiting session with sessionId: {session_id}.\n")
    return 0


def _open(node: Mapping[str, str], request: Mapping[str, Any]) -> None:
    """Run what the document starts; without a document that is a shell."""
    document, folder = request.get("DocumentName", ""), Path(node["folder"])
    if document == "AWS-StartNonInteractiveCommand":
        _run(node, request["Parameters"]["command"][0])
    elif document == "AWS-StartInteractiveCommand":
        enter(folder, node["id"], shlex.split(request["Parameters"]["command"][0]))
    elif document:
        sys.exit(f"Cannot perform start session: unknown document {document}")
    else:
        enter(folder, node["id"])


def _run(node: Mapping[str, str], command: str) -> None:
    what: dict[str, object] = {"argv": ["sh", "-c", command], "environment": {}, "folder": "/", "unit": None, "timeout_s": 300.0}
    client.ask(Path(node["folder"]), "run", node["id"], what, on_line=lambda line: print(f"{line}\r"))


def _node(nodes: list[dict[str, str]] | None, target: str) -> dict[str, str]:
    for node in nodes or ():
        if target.endswith(f"_{node['group']}-{node['id']}"):
            return node
    sys.exit("this embedded AWS does not run the node; to boot nodes, start it as root on Debian")


def _ask(endpoint: str, path: str) -> Any:
    headers = {CONTROL_HEADER: os.environ["LOCAL_AWS_TOKEN"]}
    request = urllib.request.Request(f"{endpoint}/_local_aws/{path}", headers=headers)  # noqa: S310  http, on loopback
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310
            return json.load(answer)
    except urllib.error.HTTPError as error:
        if error.code == HTTPStatus.NOT_FOUND:  # an embedded AWS without simulated nodes has no such path
            return None
        raise


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
