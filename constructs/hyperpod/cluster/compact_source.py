"""Python source without what only its readers need."""

import ast
import io
import re
import tokenize
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from constructs.hyperpod.cluster.tight_source import tight_source


class Cut(NamedTuple):
    """A stretch of source to take out: from a line and a column in it to another; lines count from 1."""

    first: int
    begin: int
    last: int
    end: int
    instead: str = ""


def compact_source(source: str) -> str:
    """The same program without docstrings, comments, functions' annotations, what is imported for these, and spare space.

    Each statement stays in its line, so that a traceback's numbers are those of the repository. A docstring that is all that a
    body holds becomes `pass`.
    """
    lines, tree = source.splitlines(), ast.parse(source)
    program = _without(source, (*_texts(tree, lines), *_comments(source), *_annotations(tree, lines)))
    return tight_source(_without(program, _idle_imports(ast.parse(program), program.splitlines())))


def _without(source: str, cuts: Iterable[Cut]) -> str:
    lines = source.splitlines()
    # From the end, so that what is still to be taken out keeps its place.
    for cut in sorted(cuts, reverse=True):
        kept = lines[cut.first - 1][: cut.begin] + cut.instead + lines[cut.last - 1][cut.end :]
        lines[cut.first - 1 : cut.last] = [kept.rstrip(), *[""] * (cut.last - cut.first)]
    return "\n".join(lines).rstrip() + "\n"


def is_text(statement: ast.stmt) -> bool:
    """Whether the statement is just a string: a docstring, or one below a constant."""
    return (
        isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant) and isinstance(statement.value.value, str)
    )


def _texts(tree: ast.Module, lines: list[str]) -> Iterator[Cut]:
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if not isinstance(body, list):
            continue
        for statement in filter(is_text, body):
            is_all = len(body) == 1 and node is not tree
            yield _stretch(statement, lines)._replace(instead="pass" if is_all else "")


def _comments(source: str) -> Iterator[Cut]:
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield Cut(*token.start, *token.end)


def _annotations(tree: ast.Module, lines: list[str]) -> Iterator[Cut]:
    """Annotations of parameters and results; those over several lines stay, as what follows them would move up."""
    for node in ast.walk(tree):
        if isinstance(node, ast.arg) and node.annotation and node.lineno == node.end_lineno:
            whole = _stretch(node, lines)
            yield whole._replace(begin=whole.begin + len(node.arg))
        elif isinstance(node, ast.FunctionDef) and node.returns and node.returns.lineno == node.returns.end_lineno:
            result = _stretch(node.returns, lines)
            arrow = lines[result.first - 1].rindex("->", 0, result.begin)
            yield result._replace(begin=len(lines[result.first - 1][:arrow].rstrip()))


def _idle_imports(tree: ast.Module, lines: list[str]) -> Iterator[Cut]:
    """Names that a module imports and does not use; what stands in a string may be an annotation that does."""
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    texts = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    used.update(word for text in texts for word in re.findall(r"\w+", text))
    for statement in tree.body:
        if not isinstance(statement, ast.ImportFrom) or statement.level or statement.module == "__future__":
            continue
        kept = [ast.unparse(alias) for alias in statement.names if (alias.asname or alias.name) in used]
        if statement.lineno == statement.end_lineno and len(kept) < len(statement.names):
            yield _stretch(statement, lines)._replace(instead=f"from {statement.module} import {', '.join(kept)}" if kept else "")


def _stretch(node: ast.stmt | ast.expr | ast.arg, lines: list[str]) -> Cut:
    """Where the node is; `ast` counts columns in bytes."""
    last, end = node.end_lineno or node.lineno, node.end_col_offset or 0
    return Cut(node.lineno, _column(lines[node.lineno - 1], node.col_offset), last, _column(lines[last - 1], end))


def _column(line: str, offset: int) -> int:
    return len(line.encode()[:offset].decode())
