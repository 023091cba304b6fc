"""The fix of an error is a field of its own: no message ends with it, and no reader splits a text."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
CODE = ("cli", "validation", "cluster_request", "config", "constructs", "stacks", "tools")
MESSAGE = {
    "Problem": 2,
    "CommandError": 0,
    "UnreachableError": 0,
    "RefusedError": 0,
    "SessionError": 0,
    "ShellError": 0,
    "HelmError": 0,
    "problem": 0,
    "error": 0,
}
"""The calls that take a message and a fix, with the message's position."""
SPLIT = re.compile(r"""\.r?(partition|split)\(["'];""")
OWN = {
    "of stack {}, which is busy; nothing was changed",
    "of stack {}; nothing was changed",
    "pods: unknown; {}",
    "an earlier deployment left {}; this one creates a new, empty file system",
    "released cluster {}; `{}` shows what a deployment would change",
    "is deployed; the outputs ...AfterDestroy list what cdk destroy would keep",
}
"""The ends of messages that have a semicolon of their own."""


def test_no_message_ends_with_a_fix() -> None:
    messages = [text for tree in _trees() for text in _messages(tree)]
    assert len(messages) > 200
    assert {text for text in messages if "; " in text and not text.endswith(tuple(OWN))} == set()


def test_no_text_is_split_into_a_message_and_a_fix() -> None:
    # A refusal of the custom resource is one text for CloudFormation, as Lambda reports it.
    found = {str(file.relative_to(ROOT)) for file in _files() if SPLIT.search(file.read_text())}
    assert found == {"cli/preflight/cluster.py"}


def _files() -> Iterator[Path]:
    return (file for folder in CODE for file in (ROOT / folder).rglob("*.py"))


def _trees() -> Iterator[ast.Module]:
    return (ast.parse(file.read_text()) for file in _files())


def _messages(tree: ast.Module) -> Iterator[str]:
    """Yield the literals that are passed as a message, or assigned to a variable of this name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            position = MESSAGE.get(getattr(node.func, "id", getattr(node.func, "attr", "")), 99)
            given = [*node.args[position : position + 1], *(each.value for each in node.keywords if each.arg == "message")]
        elif isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "message":
            given = [node.value]
        else:
            given = []
        yield from filter(None, map(_text, given))


def _text(node: ast.expr) -> str:
    """Return a literal, with an empty placeholder for each value; empty for another expression."""
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
