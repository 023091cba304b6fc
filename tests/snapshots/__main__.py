"""Rewrite the committed templates of the fixtures, and the snapshots in examples/team-repository."""

import tempfile
from pathlib import Path

from cli.snapshot.command import snapshot, update
from tests import cluster_files
from tests.snapshots.files import FOLDER, committed, expected
from tests.synth.synthesized import synthesize


def rewrite(folder: Path, *clusters: Path) -> list[Path]:
    """Write each template that differs, delete those of removed clusters, and return the changed files."""
    with tempfile.TemporaryDirectory() as outdir:
        texts = expected(synthesize(Path(outdir), *clusters), folder)
    return update({file: text.encode() for file, text in texts.items()}, committed(folder))


def main() -> None:
    """Rewrite the templates and snapshots, and print the changed files of the fixtures."""
    for file in rewrite(FOLDER, *cluster_files.FOLDERS):
        print(file.relative_to(Path.cwd()) if file.is_relative_to(Path.cwd()) else file)
    snapshot(clusters=cluster_files.TEAM)


if __name__ == "__main__":
    main()
