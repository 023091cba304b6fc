"""Writes new cluster files."""

from pathlib import Path

from cli.errors import CommandError


def write_new(path: Path, text: str, *, force: bool) -> None:
    """Write the file; one that is there already is replaced only with ``force``."""
    if path.suffix != ".yaml":
        raise CommandError(f"{path}: cluster files end in .yaml", "choose another name")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w" if force else "x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise CommandError(f"{path} already exists", "choose another name, or pass --force to overwrite it") from None
    except OSError as error:
        raise CommandError(f"cannot write {path}: {error.strerror or error}", "choose another name") from error
