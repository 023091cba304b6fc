"""Read YAML strictly: no duplicate keys, no implicit conversions, no tags."""

import re
from dataclasses import dataclass, field

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from config.errors import Path, Place, Problem
from validation.yaml.errors import syntax_problem

MAX_DEPTH = 32
MAX_VALUES = 50_000
TAG = "tag:yaml.org,2002:"

_READ_AS = {"int": "a number", "float": "a number", "bool": "a boolean", "null": "null"}
# Without quotes, no-break and zero-width spaces, as copied from web pages; in quotes, halves of surrogate pairs.
_ODD, _HALF = re.compile("[\u00a0\u2000-\u200b\u202f\u205f\u2060\u3000\ufeff]"), re.compile("[\ud800-\udfff]")

# https://github.com/aws/aws-cdk/blob/main/packages/aws-cdk-lib/core/lib/private/encoding.ts
_TOKEN = re.compile(r"[$#]\{Token\[")


class _Loader(yaml.SafeLoader):
    """Resolve scalars as in YAML 1.2: a bare ``no`` or ``2024-01-01`` is text."""

    # PyYAML's table from a first character to (tag, pattern); this one replaces that of YAML 1.1.
    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012  declared like this by PyYAML


_Loader.add_implicit_resolver(f"{TAG}bool", re.compile(r"^(true|True|TRUE|false|False|FALSE)$"), list("tTfF"))
_Loader.add_implicit_resolver(f"{TAG}null", re.compile(r"^(~|null|Null|NULL|)$"), ["~", "n", "N", ""])
_Loader.add_implicit_resolver(f"{TAG}int", re.compile(r"^[-+]?[0-9]{1,40}$"), list("-+0123456789"))
_Loader.add_implicit_resolver(
    f"{TAG}float", re.compile(r"^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]{1,3})?$"), list("-+0123456789.")
)


@dataclass
class Document:
    """A file's content with the spelling of scalars, the place of each path, and YAML problems."""

    content: object = None
    spelling: dict[Path, str] = field(default_factory=dict)
    # The start of a field's key, or of a list entry.
    places: dict[Path, Place] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    def place(self, path: Path) -> Place | None:
        """Return the place of the path, or of its nearest existing parent."""
        ends = range(len(path), -1, -1)
        return next((self.places[path[:end]] for end in ends if path[:end] in self.places), None)


def read_yaml(source: bytes) -> Document:
    """Read the document in ``source``."""
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
    """Convert nodes to values, and record their places and problems."""

    def __init__(self, loader: _Loader, document: Document) -> None:
        self._loader = loader
        self._document = document
        self._values = 0

    def value(self, node: Node, path: Path) -> object:
        """Return the node's value, or the nearest value if it has a problem."""
        self._values += 1
        if len(path) > MAX_DEPTH or self._values > MAX_VALUES:  # ends the recursion of an anchor that contains itself
            self._once(_too_large(path[:1]))
            return None
        self._document.places.setdefault(path, _place(node))
        if not isinstance(node, ScalarNode) and not node.tag.startswith(TAG):
            self._wrong(path, node.tag, "tags are not allowed", "remove it", "yaml.tag")
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
        duplicates: list[tuple[str, Place]] = []
        for key_node, value_node in node.value:
            place = _place(key_node)
            key = self._key(key_node, path)
            if key in lines:
                duplicates.append((key, place))
                continue
            lines[key] = place.line
            self._document.places.setdefault((*path, key), place)
            result[key] = self.value(value_node, (*path, key))
        self._duplicates(path, lines, duplicates)
        return result

    def _duplicates(self, path: Path, lines: dict[str, int], duplicates: list[tuple[str, Place]]) -> None:
        """Report duplicate keys; if an entry's minus is missing, report it only once."""
        keys = [key for key, _ in duplicates]
        is_entry = bool(path and duplicates) and isinstance(path[-1], int) and (len({*keys}) > 1 or keys[0] == next(iter(lines)))
        for key, place in duplicates[:1] if is_entry else duplicates:
            begins = f"add a minus before line {place.line} if it starts a new entry, or keep only one"
            message = f"duplicate key, on lines {lines[key]} and {place.line}"
            fix = begins if is_entry else "keep only one"
            self._once(Problem((*path, key), key, message, fix, rule="yaml.duplicate-key", place=place))

    def _key(self, node: Node, path: Path) -> str:
        if not isinstance(node, ScalarNode):
            message, fix = f"invalid key on line {node.start_mark.line + 1}", "write `key: value`"
            if isinstance(node, MappingNode) and node.flow_style:
                message, fix = "contains a template placeholder {{", "write the value"
            self._once(Problem(path, "?", message, fix, rule="yaml.key", place=_place(node)))
            return "?"
        if (tag := self._tag(node)) != "str":
            message = f"key is {_READ_AS.get(tag, tag)} in YAML"
            self._once(Problem(path, node.value, message, "put it in quotes", rule="yaml.key", place=_place(node)))
        elif node.value == "<<" and node.style is None:
            message = "merge keys are not allowed in YAML 1.2"
            self._once(Problem((*path, "<<"), "<<", message, "write the fields themselves", rule="yaml.key", place=_place(node)))
        key = self._plain(node, path, is_key=True)
        self._tokens(key, (*path, key))
        return key

    def _tokens(self, text: str, path: Path) -> None:
        """Report text that the CDK would read as a value from a template."""
        if found := _TOKEN.search(text):
            self._wrong(path, found[0], "is reserved by the CDK for values of templates", "write other text", "yaml.character")

    def _plain(self, node: ScalarNode, path: Path, *, is_key: bool = False) -> str:
        """Return the text, and report a character in it that looks like another or is none."""
        text, odd = str(node.value), _HALF if node.style else _ODD
        if not (found := odd.search(text)):
            return text
        place, plain = _place(node), odd.sub("", text).strip()
        message = f"character U+{ord(found[0]):04X} on line {place.line} is not allowed"
        at = (*path, plain) if is_key else path
        self._once(Problem(at, _HALF.sub("?", text), message, "write a plain one", rule="yaml.character", place=place))
        return plain

    def _scalar(self, node: ScalarNode, path: Path) -> object:
        text = str(node.value)
        self._document.spelling[path] = text
        self._tokens(text, path)
        match self._tag(node):
            case "bool":
                return text.lower() == "true"
            case "null":
                return None
            case "int":
                return int(text)
            case "float":
                return float(text)
            case "str":
                return self._plain(node, path)
            case tag:
                fix = "remove it" if text else "put the text in quotes, or remove it"
                message = f"tag {tag.removeprefix(TAG)} is not allowed"
                self._wrong(path, text, message, fix, "yaml.tag")
        return text

    def _tag(self, node: ScalarNode) -> str:
        """Return the scalar's type, or its full tag if the file sets one."""
        plain = node.style is None
        meant: str = self._loader.resolve(ScalarNode, node.value, (plain, not plain))  # type: ignore[no-untyped-call]  # PyYAML's stubs
        return node.tag.removeprefix(TAG) if node.tag in (meant, f"{TAG}str") else str(node.tag)

    def _wrong(self, path: Path, value: object, message: str, fix: str, rule: str) -> None:
        self._once(Problem(path, value, message, fix, rule=rule))

    def _once(self, problem: Problem) -> None:
        if problem not in self._document.problems:
            self._document.problems.append(problem)


def _place(node: Node) -> Place:
    return Place(node.start_mark.line + 1, node.start_mark.column + 1)


def _too_large(path: Path) -> Problem:
    return Problem(path, "...", f"exceeds {MAX_DEPTH} levels or {MAX_VALUES} values", "simplify it", rule="yaml.size")
