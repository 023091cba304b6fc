"""`.ci/run` leaves out the simulator's own tests only if nothing that they import has changed."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
OURS = {path.name for path in ROOT.iterdir() if path.is_dir()} | {path.name for path in (ROOT / "lambda_assets").iterdir()}


def test_a_change_of_all_that_the_simulators_tests_import_runs_them() -> None:
    paths = re.search(r"^simulator=\((.+)\)$", (ROOT / ".ci/run").read_text(), re.MULTILINE)
    assert paths
    imported = set(_imported(ROOT / "tests" / "simulator")) | set(_imported(ROOT / "local_aws"))
    ours = {name for name in imported if name.split(".")[0] in OURS}
    assert len(ours) > 100
    assert {name for name in ours if not name.replace(".", "/").startswith(tuple(paths[1].split()))} == set()


def _imported(folder: Path) -> Iterator[str]:
    """Yield the modules that are imported below the folder, except by the demo, whose tests are the product's."""
    for file in folder.rglob("*.py"):
        if "demo" not in file.parts:
            for node in ast.walk(ast.parse(file.read_text())):
                if isinstance(node, ast.ImportFrom):
                    yield node.module or ""
                elif isinstance(node, ast.Import):
                    yield from (alias.name for alias in node.names)
