"""Policy patterns: `*` and `?`, ARNs compared part by part, and policy variables such as ${aws:PrincipalAccount}."""

import re
from collections.abc import Mapping
from functools import lru_cache

Context = Mapping[str, tuple[str, ...]]
_VARIABLE = re.compile(r"\$\{\s*([^,}]+?)\s*(?:,\s*'([^']*)'\s*)?\}")
_LITERALS = {"*": "\\*", "?": "\\?", "$": "$"}
_TOKENS = re.compile(r"\\[*?]|[*?]|[^*?\\]+|\\")


class UnresolvedVariableError(LookupError):
    """A policy variable has no value in this request; as on AWS, the statement then matches nothing."""


@lru_cache(maxsize=4096)
def _expression(pattern: str) -> re.Pattern[str]:
    wild = {"*": ".*", "?": ".", "\\*": r"\*", "\\?": r"\?"}
    return re.compile("".join(wild.get(token) or re.escape(token) for token in _TOKENS.findall(pattern)), re.DOTALL)


def matches(pattern: str, value: str) -> bool:
    """Return whether ``value`` matches ``pattern``, with the wildcards `*` and `?`."""
    return _expression(pattern).fullmatch(value) is not None


def arn_matches(pattern: str, arn: str) -> bool:
    """Return whether each of the six parts of ``arn`` matches its part of ``pattern``."""
    patterns, parts = pattern.split(":", 5), arn.split(":", 5)
    return len(patterns) == len(parts) == 6 and all(map(matches, patterns, parts))


def fill(text: str, context: Context) -> str:
    """Return ``text`` with its policy variables replaced by the request's values."""

    def value(found: re.Match[str]) -> str:
        name, default = found[1], found[2]
        if name in _LITERALS:
            return _LITERALS[name]
        values = context.get(name.lower(), ())
        if len(values) == 1:
            return values[0].replace("*", "\\*").replace("?", "\\?")
        if default is not None:
            return str(default)
        raise UnresolvedVariableError(name)

    return _VARIABLE.sub(value, text)
