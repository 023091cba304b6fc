"""Filter patterns of CloudWatch Logs in the JSON form: `{ $.level = "error" && ($.code = 5 || $.user.name = "x*") }`.

https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/FilterAndPatternSyntax.html has more forms; they are refused.
"""

import json
import re
from collections.abc import Callable
from fnmatch import fnmatchcase
from typing import Any

Matches = Callable[[str], bool]
Test = Callable[[Any], bool]

_TOKEN = re.compile(
    r'\s*(?P<token>[{}()]|&&|\|\||!=|>=|<=|[=<>]|\$\.[\w.-]+(?:\[\d+\][\w.-]*)*|"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?)'
)
_NUMBERS: dict[str, Callable[[float, float], bool]] = {
    "=": lambda have, expected: have == expected,
    "!=": lambda have, expected: have != expected,
    ">": lambda have, expected: have > expected,
    "<": lambda have, expected: have < expected,
    ">=": lambda have, expected: have >= expected,
    "<=": lambda have, expected: have <= expected,
}


class PatternError(Exception):
    """The pattern is not supported."""


def matcher(pattern: str) -> Matches:
    """Return a function that matches a line against the pattern; a line that is not a JSON object never matches."""
    test = _Parser(pattern).parsed()

    def matches(line: str) -> bool:
        try:
            value = json.loads(line)
        except ValueError:
            return False
        return isinstance(value, dict) and test(value)

    return matches


def value_at(selector: str, value: Any) -> Any:
    """Return the value at `$.a.b[0].c`, or None."""
    for name in re.findall(r"[^.\[\]]+", selector.removeprefix("$.")):
        if isinstance(value, list):
            value = value[int(name)] if name.isdigit() and int(name) < len(value) else None
        else:
            value = value.get(name) if isinstance(value, dict) else None
    return value


class _Parser:
    """Parses a pattern; `&&` binds closer than `||`."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._tokens = self._split(pattern)

    def parsed(self) -> Test:
        """Return the parsed pattern as a test."""
        self._expect("{")
        test = self._any()
        self._expect("}")
        if self._tokens:
            raise self._error(self._tokens[0])
        return test

    def _split(self, pattern: str) -> list[str]:
        found, place = [], 0
        while rest := pattern[place:].strip():
            token = _TOKEN.match(pattern, place)
            if token is None:
                raise self._error(rest)
            found.append(token["token"])
            place = token.end()
        return found

    def _any(self) -> Test:
        tests = [self._all()]
        while self._tokens[:1] == ["||"]:
            self._expect("||")
            tests.append(self._all())
        return lambda value: any(test(value) for test in tests)

    def _all(self) -> Test:
        tests = [self._one()]
        while self._tokens[:1] == ["&&"]:
            self._expect("&&")
            tests.append(self._one())
        return lambda value: all(test(value) for test in tests)

    def _one(self) -> Test:
        if self._tokens[:1] == ["("]:
            self._expect("(")
            test = self._any()
            self._expect(")")
            return test
        selector, operator, expected = self._take(), self._take(), self._take()
        if not selector.startswith("$.") or operator not in _NUMBERS:
            raise self._error(f"{selector} {operator}")
        return self._comparison(selector, operator, expected)

    def _comparison(self, selector: str, operator: str, expected: str) -> Test:
        if not expected.startswith('"'):
            number = float(expected)
            compare = _NUMBERS[operator]
            return lambda value: _is_number(have := value_at(selector, value)) and compare(have, number)
        if operator not in ("=", "!="):
            raise self._error(f"{operator} {expected}")
        text = json.loads(expected).replace("[", "[[]").replace("?", "[?]")  # CloudWatch only has fnmatch's star
        is_same = operator == "="
        return lambda value: isinstance(have := value_at(selector, value), str) and fnmatchcase(have, text) == is_same

    def _take(self) -> str:
        if not self._tokens:
            raise self._error("its end")
        return self._tokens.pop(0)

    def _expect(self, token: str) -> None:
        if (found := self._take()) != token:
            raise self._error(found)

    def _error(self, place: str) -> PatternError:
        return PatternError(
            f"not part of the embedded AWS: the filter pattern {self._pattern!r}, at {place!r}; use the JSON form"
        )


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
