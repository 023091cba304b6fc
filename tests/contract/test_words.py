"""Pages and messages use one word per thing: docs/reference/words.md."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
INSIDE = ("adr", "internals")  # docs for developers, and the page that says which words are not used
PAGES = [
    ROOT / "README.md",
    *(page for page in (ROOT / "docs").rglob("*.md") if page.parent.name not in INSIDE and page.name != "words.md"),
]
CODE = ("cli", "validation", "cluster_request", "constructs/hyperpod", "stacks", "lambda_assets", "lifecycle_assets")


@pytest.mark.parametrize("word", ["pointer", "generation"])
def test_the_rollout_of_a_bundle_has_no_second_word(word: str) -> None:
    pattern = re.compile(rf"\b{word}s?\b")
    assert len(PAGES) > 20
    texts = [(page, page.read_text()) for page in PAGES] + list(_messages())
    assert [(file.name, text) for file, text in texts if pattern.search(text)] == []


def _messages() -> Iterator[tuple[Path, str]]:
    """Yield the texts in the code that people may read: those with a space, without docstrings."""
    for file in (file for folder in CODE for file in (ROOT / folder).rglob("*.py")):
        tree = ast.parse(file.read_text())
        prose = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value and id(node) not in prose:
                yield file, node.value
