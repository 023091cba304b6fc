"""What the functions run is what stands in the repository, line for line, without what only readers need."""

import ast
from pathlib import Path

import pytest

from constructs.hyperpod.cluster.compact_source import compact_source, is_text
from constructs.hyperpod.cluster.function_package import PACKAGE

MODULES = sorted(PACKAGE.rglob("*.py"))


class _Bare(ast.NodeTransformer):
    """Takes out of a tree what is taken out of the source."""

    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        body = getattr(node, "body", None)
        if isinstance(body, list):
            kept = [statement for statement in body if not is_text(statement) and not isinstance(statement, ast.ImportFrom)]
            node.body = kept or ([] if isinstance(node, ast.Module) else [ast.Pass()])  # type: ignore[attr-defined]  # has a body
        if isinstance(node, ast.FunctionDef):
            node.returns = None
        if isinstance(node, ast.arg):
            node.annotation = None
        return node


def bare(source: str) -> str:
    return ast.dump(_Bare().visit(ast.parse(source)))


def lines_of_statements(source: str) -> list[tuple[str, int]]:
    statements = [node for node in ast.walk(_Bare().visit(ast.parse(source))) if isinstance(node, ast.stmt)]
    return [(type(node).__name__, node.lineno) for node in statements if not isinstance(node, ast.Pass)]


def imports(source: str) -> set[tuple[str, int]]:
    """The names that are imported from modules, and in which lines."""
    found = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.ImportFrom)]
    return {(f"{node.module}.{alias.name}", node.lineno) for node in found for alias in node.names}


@pytest.mark.parametrize("module", MODULES, ids=lambda path: path.stem)
def test_a_module_stays_the_same_program_with_every_statement_in_its_line(module: Path) -> None:
    source = module.read_text()
    compact = compact_source(source)
    assert bare(compact) == bare(source)
    assert lines_of_statements(compact) == lines_of_statements(source)
    assert imports(compact) <= imports(source)


@pytest.mark.parametrize("module", MODULES, ids=lambda path: path.stem)
def test_no_word_for_readers_is_left_in_a_module(module: Path) -> None:
    tree = ast.parse(compact_source(module.read_text()))
    assert not [node for node in ast.walk(tree) if isinstance(node, ast.stmt) and is_text(node)]
    assert "# " not in compact_source(module.read_text())


@pytest.mark.parametrize(
    ("source", "compact"),
    [
        ('"""Only a docstring."""\n', "\n"),
        ('class E(Exception):\n    """Raised."""\n', "class E(Exception):\n pass\n"),
        ('def f():\n    """Does.\n\n    More.\n    """\n    return 1\n', "def f():\n\n\n\n\n return 1\n"),
        ('LIMIT = 3\n"""How many."""\nx = 1\n', "LIMIT=3\n\nx=1\n"),
        ("x = '# no comment'  # one\n# one more\ny = 1\n", "x='# no comment'\n\ny=1\n"),
        ("def f(a: int, *b: str, c: str = 'ü', **d: int) -> dict[str, int]:\n    pass\n", "def f(a,*b,c='ü',**d):\n pass\n"),
        ("def f(a: 'x -> y') -> Callable[[int], None]:  # ü\n    pass\n", "def f(a):\n pass\n"),
        ("def f(\n    a: int,  # first\n) -> None:\n    pass\n", "def f(\na,\n):\n pass\n"),
        ("from a import B, c\n\ndef f(b: B) -> None:\n    c(b)\n", "from a import c\n\ndef f(b):\n c(b)\n"),
        ("from a import B\n\ndef f(b: B) -> None:\n    pass\n", "\n\ndef f(b):\n pass\n"),
        ("from a import B\n\nclass C(T):\n    b: 'list[B]'\n", "from a import B\n\nclass C(T):\n b:'list[B]'\n"),
        ("from __future__ import annotations\n", "from __future__ import annotations\n"),
        ("x = 1 if not y else -2 * z[1:, 3]\n", "x=1 if not y else-2*z[1:,3]\n"),
        ("x = f'{a + 1!r:>{w}} {{b}}' f'{c}'\n", "x=f'{a + 1!r:>{w}} {{b}}' f'{c}'\n"),
        ('x = f"""\n  {a +\n b}"""  # a\ny = """\n  # b\n"""\n', 'x=f"""\n  {a +\n b}"""\ny="""\n  # b\n"""\n'),
        ("x = 1 + \\\n    2\nif x:\n    if y:\n        z\n\n    w\n", "x=1+\\\n2\nif x:\n if y:\n  z\n\n w\n"),
    ],
)
def test_what_is_taken_out_and_what_stays(source: str, compact: str) -> None:
    assert compact_source(source) == compact


def test_an_annotation_over_several_lines_stays_as_what_follows_it_would_change_its_line() -> None:
    source = "def f(\n    a: dict[\n        str, int\n    ],\n) -> dict[\n    str, int\n]:\n    return a\n"
    assert compact_source(source) == "def f(\na:dict[\nstr,int\n],\n)->dict[\nstr,int\n]:\n return a\n"
