r"""A corpus of cluster files with one mistake each, and the output of `./hpod validate` for them.

In the files of cases/, a case begins with `= ` and its title. Its change has the form of a diff: unchanged lines start with a
space, removed ones with `-`, added ones with `+`, or with `*` if they contain escapes (`\t`, `\xe9`). `@` starts another change.
Added lines without context are appended. `| ` starts the expected output, written by `python -m tests.corpus accept`; an output
without an exit status ends in the lines of `USUAL_END`.
These settings are possible above the change:

    base: team                  the valid file in bases/ (default: small; `nothing` is an empty file)
    name: other-name.yaml       the name of the file (default: that of the valid file)
    copy: second.yaml           a copy to validate together with the file
    validate: smal.yaml         another file name to validate
    script: scripts/a.sh        a script, relative to the parent of the folder of cluster files
    link: scripts/a -> /x       a link
    chart: hyperpod             a Helm chart of tests/data/charts, in charts/ beside the folder of cluster files
    two problems: ...           the reason why one mistake causes several problems
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

HERE = Path(__file__).parent
CASES, BASES = HERE / "cases", HERE / "bases"
OUTPUT = "| "
USUAL_END = ("1 error and 0 warnings in 1 file", "exit status 1")


class CaseError(Exception):
    """A case with an invalid change."""


@dataclass(frozen=True)
class Case:
    """One mistake: the lines of its change, and the expected output."""

    topic: str
    title: str
    lines: tuple[str, ...]
    output: tuple[str, ...]

    def settings(self, name: str) -> list[str]:
        """Return the values of a setting."""
        head = [line for line in self.lines if line[:1] not in (*"+*- @#",)]
        return [line.partition(": ")[2] for line in head if line.startswith(f"{name}: ")]

    def setting(self, name: str, default: str) -> str:
        """Return the first value of a setting."""
        return next(iter(self.settings(name)), default)

    @property
    def file(self) -> str:
        """Return the name of the file with the mistake."""
        return self.setting("name", f"{self.base}.yaml")

    @property
    def base(self) -> str:
        """Return the name of the valid file."""
        return self.setting("base", "small")

    def source(self) -> bytes:
        """Return the content of the file with the mistake."""
        text = "" if self.base == "nothing" else (BASES / f"{self.base}.yaml").read_text(encoding="utf-8")
        source = text.encode()
        for old, new in self._edits():
            source = self._edited(source, old, new)
        return source

    def _edits(self) -> Iterator[tuple[bytes, bytes]]:
        """Yield the old and new text of each edit; ``@`` separates edits."""
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
                f"{self.topic}, {self.title!r}: {old.decode().rstrip()!r} occurs {found} times in {self.base}.yaml, not once"
            )
        return (b"\n" + source).replace(b"\n" + old, b"\n" + new, 1)[1:]


def _joined(lines: Sequence[bytes]) -> bytes:
    return b"".join(line + b"\n" for line in lines)


def _escaped(text: str) -> bytes:
    r"""Replace the escapes ``\t`` and ``\xe9`` in a line."""
    return re.sub(rb"\\(?:t|x([0-9a-f]{2}))", lambda match: bytes.fromhex((match[1] or b"09").decode()), text.encode())


@dataclass(frozen=True)
class Topic:
    """A file of cases, with the lines above the first case."""

    path: Path
    preamble: tuple[str, ...]
    cases: tuple[Case, ...]

    def with_outputs(self, outputs: Sequence[Sequence[str]]) -> "Topic":
        """Return the same cases with other outputs."""
        cases = tuple(replace(case, output=tuple(output)) for case, output in zip(self.cases, outputs, strict=True))
        return replace(self, cases=cases)

    def text(self) -> str:
        """Return the content of the file."""
        blocks = [self.preamble, *((f"= {case.title}", *case.lines, *_output_lines(case.output)) for case in self.cases)]
        return "\n\n".join("\n".join(block) for block in blocks) + "\n"


def _output_lines(output: tuple[str, ...]) -> list[str]:
    """Return the lines of the output without its usual end."""
    shown = output[:-2] if output[-2:] == USUAL_END else output
    return [f"{OUTPUT}{line}".rstrip() for line in shown]


def topics() -> tuple[Topic, ...]:
    """Return every file of cases."""
    return tuple(_topic(path) for path in sorted(CASES.glob("*.txt")))


def all_cases() -> tuple[Case, ...]:
    """Return the cases of all files."""
    return tuple(case for topic in topics() for case in topic.cases)


def _topic(path: Path) -> Topic:
    preamble, *blocks = re.split(r"^= ", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return Topic(path, tuple(preamble.rstrip().split("\n")), tuple(_case(path.stem, block) for block in blocks))


def _case(topic: str, block: str) -> Case:
    title, *lines = block.rstrip("\n").split("\n")
    output = [line[len(OUTPUT) :] for line in lines if line.startswith(OUTPUT.rstrip())]
    if not any(line.startswith("exit status ") for line in output):
        output.extend(USUAL_END)
    return Case(topic, title, tuple(line for line in lines if line and not line.startswith(OUTPUT.rstrip())), tuple(output))
