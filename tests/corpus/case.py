r"""Cases of the corpus: a good cluster file, one mistake in it, and what `./hpod validate` says of that.

In the files of cases/, a case begins with `= ` and the mistake. Its change is written as in a diff: lines that stay begin with a
blank, those that go with `-`, those that come with `+`, or with `*` where they hold what nobody sees (`\t`, `\xe9`); `@` begins
another change, and lines that come alone are put at the end. `| ` begins what is said: `python -m tests.corpus accept` writes it.
Above the change may stand:

    in: team                    the good file of bases/ (small); `nothing` is an empty one
    as: other-name.yaml         the file's name (that of the good file)
    and as: second.yaml         a copy that is validated with it
    asked for: smal.yaml        the file that is validated instead
    beside: scripts/a.sh        a script that lies beside the folder of cluster files
    link: scripts/a -> /x       a link
    two because: ...            why it is right that one mistake is told as several problems
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

HERE = Path(__file__).parent
CASES, BASES = HERE / "cases", HERE / "bases"
SAID = "| "


class CaseError(Exception):
    """A case that does not say what it changes."""


@dataclass(frozen=True)
class Case:
    """One mistake: the lines in which it is written down, and those that it is answered with."""

    topic: str
    mistake: str
    lines: tuple[str, ...]
    says: tuple[str, ...]

    def settings(self, name: str) -> list[str]:
        """The values of the lines ``name: value`` above the first change."""
        head = [line for line in self.lines if line[:1] not in (*"+*- @#",)]
        return [line.partition(": ")[2] for line in head if line.startswith(f"{name}: ")]

    def setting(self, name: str, default: str) -> str:
        """The one value of that name."""
        return next(iter(self.settings(name)), default)

    @property
    def file(self) -> str:
        """The name of the file with the mistake."""
        return self.setting("as", f"{self.base}.yaml")

    @property
    def base(self) -> str:
        """The name of the good file."""
        return self.setting("in", "small")

    def source(self) -> bytes:
        """The file with the mistake."""
        text = "" if self.base == "nothing" else (BASES / f"{self.base}.yaml").read_text(encoding="utf-8")
        source = text.encode()
        for old, new in self._edits():
            source = self._edited(source, old, new)
        return source

    def _edits(self) -> Iterator[tuple[bytes, bytes]]:
        """What stands in the good file, and what in its place: as a diff tells it, each edit begun by ``@``."""
        blocks: list[list[str]] = [[]]
        for line in self.lines:
            if line.startswith("@"):
                blocks.append([])
            elif line[:1] in (*"+*- ",):
                blocks[-1].append(line)
        for block in filter(None, blocks):
            old = [line[1:].encode() for line in block if line[0] in " -"]
            new = [_escaped(line[1:]) if line[0] == "*" else line[1:].encode() for line in block if line[0] in " +*"]
            yield _joined(old), _joined(new)

    def _edited(self, source: bytes, old: bytes, new: bytes) -> bytes:
        if not old:
            return source + new
        found = f"\n{source.decode()}".count(f"\n{old.decode()}")
        if found != 1:
            raise CaseError(
                f"{self.topic}, {self.mistake!r}: {old.decode().rstrip()!r} stands {found} times in {self.base}.yaml; write one"
            )
        return (b"\n" + source).replace(b"\n" + old, b"\n" + new, 1)[1:]


def _joined(lines: Sequence[bytes]) -> bytes:
    return b"".join(line + b"\n" for line in lines)


def _escaped(text: str) -> bytes:
    r"""The bytes of a line in which ``\t`` and ``\xe9`` stand for what nobody would see."""
    return re.sub(rb"\\(?:t|x([0-9a-f]{2}))", lambda match: bytes.fromhex((match[1] or b"09").decode()), text.encode())


@dataclass(frozen=True)
class Topic:
    """A file of cases, and the lines above the first one."""

    path: Path
    preamble: tuple[str, ...]
    cases: tuple[Case, ...]

    def with_says(self, says: Sequence[Sequence[str]]) -> "Topic":
        """The same cases, answered otherwise."""
        cases = tuple(replace(case, says=tuple(said)) for case, said in zip(self.cases, says, strict=True))
        return replace(self, cases=cases)

    def text(self) -> str:
        """The file."""
        blocks = [self.preamble, *((f"= {case.mistake}", *case.lines, *map(_written, case.says)) for case in self.cases)]
        return "\n\n".join("\n".join(block) for block in blocks) + "\n"


def _written(said: str) -> str:
    return f"{SAID}{said}".rstrip()


def topics() -> tuple[Topic, ...]:
    """Every file of cases."""
    return tuple(_topic(path) for path in sorted(CASES.glob("*.txt")))


def all_cases() -> tuple[Case, ...]:
    """The cases of all files."""
    return tuple(case for topic in topics() for case in topic.cases)


def _topic(path: Path) -> Topic:
    preamble, *blocks = re.split(r"^= ", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return Topic(path, tuple(preamble.rstrip().split("\n")), tuple(_case(path.stem, block) for block in blocks))


def _case(topic: str, block: str) -> Case:
    mistake, *lines = block.rstrip("\n").split("\n")
    said = [line[len(SAID) :] for line in lines if line.startswith(SAID.rstrip())]
    return Case(topic, mistake, tuple(line for line in lines if line and not line.startswith(SAID.rstrip())), tuple(said))
