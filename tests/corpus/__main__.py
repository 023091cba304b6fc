"""Keeps the corpus: `python -m tests.corpus accept` after a message was changed on purpose, `show WORDS` to look at a case."""

import argparse
import sys
import tempfile
from pathlib import Path

from tests.corpus.case import Case, Topic, all_cases, topics
from tests.corpus.telling import told


def accept() -> None:
    """Write what is said today into every case; the diff is what gets reviewed."""
    changed = 0
    for topic in topics():
        answers = [_told(case) for case in topic.cases]
        changed += sum(answer != case.says for answer, case in zip(answers, topic.cases, strict=True))
        _write(topic.with_says(answers))
    print(f"{changed} of {len(all_cases())} cases say something else now; read `git diff tests/corpus` before you commit it")


def _write(topic: Topic) -> None:
    topic.path.write_text(topic.text(), encoding="utf-8")


def _told(case: Case) -> tuple[str, ...]:
    with tempfile.TemporaryDirectory() as folder:
        return told(case, Path(folder))


def show(words: str) -> int:
    """Print the file and what is said of it, for every case with these words in its mistake."""
    found = [case for case in all_cases() if words.lower() in case.mistake.lower()]
    for case in found:
        print(f"{case.topic}: {case.mistake}\n")
        for number, line in enumerate(case.source().decode("utf-8", "backslashreplace").splitlines(), 1):
            print(f"{number:4} {line}")
        print("", *_told(case), sep="\n")
    if not found:
        print(f"no mistake of the corpus has {words!r} in it; `grep -h ^= tests/corpus/cases/*` lists them", file=sys.stderr)
    return 0 if found else 1


def run(arguments: list[str]) -> int:
    """Run the one command or the other."""
    parser = argparse.ArgumentParser(prog="python -m tests.corpus", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("accept", help="write what is said today into the cases")
    commands.add_parser("show", help="print cases by words of their mistake").add_argument("words")
    given = parser.parse_args(arguments)
    if given.command == "show":
        return show(given.words)
    accept()
    return 0


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
