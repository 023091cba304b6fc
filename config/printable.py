"""Show characters that a terminal interprets instead of printing."""

import re

# Control characters except tab and line feed (C0, DEL, C1), line separators, marks that change the direction of text or have no
# width, and surrogates.
_UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")


def printable(text: str) -> str:
    r"""Return the text with unprintable characters as escapes, such as `\\x1b`; tabs and line feeds stay."""
    return _UNPRINTABLE.sub(lambda found: found[0].encode("unicode_escape").decode(), text)
