"""Rewrites the committed templates: `python -m tests.snapshots`."""

import tempfile
from pathlib import Path

from tests.snapshots.files import committed, expected
from tests.synth.synthesized import synthesize_shipped


def rewrite() -> list[Path]:
    """Write every template that differs and remove those of clusters that are gone; what was touched."""
    with tempfile.TemporaryDirectory() as outdir:
        texts = expected(synthesize_shipped(Path(outdir)))
    gone = committed() - texts.keys()
    for file in gone:
        file.unlink()
    stale = [file for file, text in texts.items() if not file.exists() or file.read_text() != text]
    for file in stale:
        file.parent.mkdir(exist_ok=True)
        file.write_text(texts[file])
    return sorted({*gone, *stale})


if __name__ == "__main__":
    for touched in rewrite():
        print(touched.relative_to(Path.cwd()) if touched.is_relative_to(Path.cwd()) else touched)
