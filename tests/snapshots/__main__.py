"""Rewrite the committed templates of the fixtures."""

import tempfile
from pathlib import Path

from tests import cluster_files
from tests.snapshots.files import FOLDER, committed, expected
from tests.synth.synthesized import synthesize


def rewrite(folder: Path, *clusters: Path) -> list[Path]:
    """Write each template that differs, delete those of removed clusters, and return the changed files."""
    with tempfile.TemporaryDirectory() as outdir:
        texts = expected(synthesize(Path(outdir), *clusters), folder)
    gone = committed(folder) - texts.keys()
    for file in gone:
        file.unlink()
    stale = [file for file, text in texts.items() if not file.exists() or file.read_text() != text]
    for file in stale:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(texts[file])
    return sorted({*gone, *stale})


def main() -> None:
    """Rewrite the templates and print the changed files."""
    for file in rewrite(FOLDER, *cluster_files.FOLDERS):
        print(file.relative_to(Path.cwd()) if file.is_relative_to(Path.cwd()) else file)


if __name__ == "__main__":
    main()
