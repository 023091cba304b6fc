"""Let mkdocs build the site: replace links from docs/ to other files of the repository by their paths."""

import re
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parents[1] / "docs"
_LINK = re.compile(r"\[([^\]]+)\]\(((?:\.\./)+[^)#]+)(?:#[^)]*)?\)")


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Return the page's text as the site shows it."""
    folder = (DOCS / page.file.src_uri).parent

    def replaced(link: re.Match[str]) -> str:
        target = (folder / link[2]).resolve()
        if target.is_relative_to(DOCS):
            return link[0]
        if not target.exists():
            raise FileNotFoundError(f"{page.file.src_uri}: {link[2]}: no such file; fix the link")
        path = f"`{target.relative_to(DOCS.parent)}`"
        return path if link[1].strip("`") == path.strip("`") else f"{link[1]} ({path})"

    return _LINK.sub(replaced, markdown)
