"""YAML as cluster files use it: no key twice, no words that turn into something else, no tags."""

import re
from dataclasses import dataclass, field

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from config.errors import Path, Place, Problem
from validation.yaml.errors import syntax_problem

DEEPEST = 32
MOST_VALUES = 50_000
TAG = "tag:yaml.org,2002:"

_READ_AS = {"int": "a number", "float": "a number", "bool": "true or false", "null": "nothing"}
# No-break and zero-width ones, as word processors and web pages put them in.
_ODD_BLANK = re.compile("[\u00a0\u2000-\u200b\u202f\u205f\u2060\u3000\ufeff]")


class _Loader(yaml.SafeLoader):
    """Knows the words of YAML 1.2 alone: a bare ``no`` or ``2024-01-01`` is text, as it looks."""

    # The rules are PyYAML's own table, from a first character to (tag, pattern); ours replaces that of YAML 1.1.
    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012  declared so by PyYAML


_Loader.add_implicit_resolver(f"{TAG}bool", re.compile(r"^(true|True|TRUE|false|False|FALSE)$"), list("tTfF"))
_Loader.add_implicit_resolver(f"{TAG}null", re.compile(r"^(~|null|Null|NULL|)$"), ["~", "n", "N", ""])
_Loader.add_implicit_resolver(f"{TAG}int", re.compile(r"^[-+]?[0-9]{1,40}$"), list("-+0123456789"))
_Loader.add_implicit_resolver(
    f"{TAG}float", re.compile(r"^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]{1,3})?$"), list("-+0123456789.")
)


@dataclass
class Document:
    """What a file holds, how its scalars are spelled there, where each thing stands, and what is wrong with it as YAML."""

    content: object = None
    spelling: dict[Path, str] = field(default_factory=dict)
    # Of a field where its key begins, of an entry of a list where that begins.
    places: dict[Path, Place] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    def place(self, path: Path) -> Place | None:
        """Where the path stands; of what is missing, where the section or the list begins that it is missing from."""
        ends = range(len(path), -1, -1)
        return next((self.places[path[:end]] for end in ends if path[:end] in self.places), None)


def read_yaml(source: bytes) -> Document:
    """The one document in ``source``."""
    document = Document()
    try:
        loader = _Loader(source)
        root = loader.get_single_node()
        if root is not None:
            document.content = _Reader(loader, document).value(root, ())
    except yaml.YAMLError as error:
        document.problems.append(syntax_problem(error, source))
    except RecursionError:
        document.problems.append(_too_large(()))
    return document


class _Reader:
    """Turns nodes into values, and notes where each stands and what is wrong with it."""

    def __init__(self, loader: _Loader, document: Document) -> None:
        self._loader = loader
        self._document = document
        self._values = 0

    def value(self, node: Node, path: Path) -> object:
        """The node's value; where something is wrong, the nearest value that the checks after this one can go on with."""
        self._values += 1
        if len(path) > DEEPEST or self._values > MOST_VALUES:  # so that an anchor which contains itself ends, too
            self._once(_too_large(path[:1]))
            return None
        self._document.places.setdefault(path, _place(node))
        if not isinstance(node, ScalarNode) and not node.tag.startswith(TAG):
            self._wrong(path, node.tag, "is a tag, which cluster files do not use; remove it", "yaml.tag")
        if isinstance(node, MappingNode):
            return self._mapping(node, path)
        if isinstance(node, SequenceNode):
            return [self.value(item, (*path, index)) for index, item in enumerate(node.value)]
        if isinstance(node, ScalarNode):
            return self._scalar(node, path)
        raise TypeError(f"YAML has no node {node!r}")

    def _mapping(self, node: MappingNode, path: Path) -> dict[str, object]:
        result: dict[str, object] = {}
        lines: dict[str, int] = {}
        again: list[tuple[str, Place]] = []
        for key_node, value_node in node.value:
            place = _place(key_node)
            key = self._key(key_node, path)
            if key in lines:
                again.append((key, place))
                continue
            lines[key] = place.line
            self._document.places.setdefault((*path, key), place)
            result[key] = self.value(value_node, (*path, key))
        self._given_twice(path, lines, again)
        return result

    def _given_twice(self, path: Path, lines: dict[str, int], again: list[tuple[str, Place]]) -> None:
        """Tell of the keys that a mapping has already; of an entry whose minus is forgotten, once for all of them."""
        keys = [key for key, _ in again]
        is_entry = bool(path and again) and isinstance(path[-1], int) and (len({*keys}) > 1 or keys[0] == next(iter(lines)))
        for key, place in again[:1] if is_entry else again:
            begins = f"put a minus before line {place.line} if another entry begins there, else keep one of them"
            message = f"is given twice, in lines {lines[key]} and {place.line}; {begins if is_entry else 'keep one of them'}"
            self._once(Problem((*path, key), key, message, "yaml.given-twice", place=place))

    def _key(self, node: Node, path: Path) -> str:
        if not isinstance(node, ScalarNode):
            message = f"a key in line {node.start_mark.line + 1} is no word; write `key: value`"
            if isinstance(node, MappingNode) and node.flow_style:
                message = "holds {{, as templates have it where a value is to be filled in; write the value"
            self._once(Problem(path, "?", message, "yaml.key", place=_place(node)))
            return "?"
        if (tag := self._tag(node)) != "str":
            message = f"is a key that is read as {_READ_AS.get(tag, tag)}, and keys are words; put it in quotes"
            self._once(Problem(path, node.value, message, "yaml.key", place=_place(node)))
        elif node.value == "<<" and node.style is None:
            message = "is a merge key, which YAML 1.2 has no more; write the fields themselves"
            self._once(Problem((*path, "<<"), "<<", message, "yaml.key", place=_place(node)))
        key = _without_surrogates(node.value)
        if node.style is None and _ODD_BLANK.search(key):
            key = _ODD_BLANK.sub("", key).strip()
        self._blanks(node, (*path, key))
        return key

    def _blanks(self, node: ScalarNode, path: Path) -> None:
        """Tell of a blank that YAML takes for a letter, where nobody would see it."""
        if node.style is None and (found := _ODD_BLANK.search(node.value)):
            place = _place(node)
            message = f"line {place.line} holds U+{ord(found[0]):04X}, which looks like a blank and is none; write a plain one"
            self._once(Problem(path, node.value, message, "yaml.character", place=place))

    def _scalar(self, node: ScalarNode, path: Path) -> object:
        text = str(node.value)
        self._document.spelling[path] = text
        match self._tag(node):
            case "bool":
                return text.lower() == "true"
            case "null":
                return None
            case "int":
                return int(text)
            case "float":
                return float(text)
            case "str" if _without_surrogates(text) == text:
                self._blanks(node, path)
                return text
            case "str":
                message = "holds half a character; write the character itself"
                self._wrong(path, _without_surrogates(text), message, "yaml.character")
            case tag:
                remedy = "remove it" if text else "put the text in quotes, or remove it"
                message = f"has the tag {tag.removeprefix(TAG)}, which cluster files do not use; {remedy}"
                self._wrong(path, text, message, "yaml.tag")
        return _without_surrogates(text)

    def _tag(self, node: ScalarNode) -> str:
        """The kind of the scalar: what its spelling means, or the tag in full where the file gives it another one."""
        plain = node.style is None
        meant: str = self._loader.resolve(ScalarNode, node.value, (plain, not plain))  # type: ignore[no-untyped-call]  # PyYAML's stubs
        return node.tag.removeprefix(TAG) if node.tag in (meant, f"{TAG}str") else str(node.tag)

    def _wrong(self, path: Path, value: object, message: str, rule: str) -> None:
        self._once(Problem(path, value, message, rule))

    def _once(self, problem: Problem) -> None:
        if problem not in self._document.problems:
            self._document.problems.append(problem)


def _place(node: Node) -> Place:
    return Place(node.start_mark.line + 1, node.start_mark.column + 1)


def _too_large(path: Path) -> Problem:
    message = f"is nested over {DEEPEST} levels deep, contains itself, or has over {MOST_VALUES} values; make it flat"
    return Problem(path, "...", message, "yaml.size")


def _without_surrogates(text: str) -> str:
    return text.encode("utf-8", "replace").decode()
