"""Maintain the corpus: `python -m tests.corpus accept` after changing a message, `show WORDS` to print cases."""

import argparse
import sys
import tempfile
from pathlib import Path

from tests.corpus.case import Case, Topic, all_cases, topics
from tests.corpus.validate_case import output_of


def accept() -> None:
    """Write the current output to every case; review the diff."""
    changed = 0
    for topic in topics():
        outputs = [_output(case) for case in topic.cases]
        changed += sum(output != case.output for output, case in zip(outputs, topic.cases, strict=True))
        _write(topic.with_outputs(outputs))
    print(f"{changed} of {len(all_cases())} cases changed; read `git diff tests/corpus` before you commit it")


def _write(topic: Topic) -> None:
    topic.path.write_text(topic.text(), encoding="utf-8")


def _output(case: Case) -> tuple[str, ...]:
    with tempfile.TemporaryDirectory() as folder:
        return output_of(case, Path(folder))


def show(words: str) -> int:
    """Print the file and the output for every case with these words in its title."""
    found = [case for case in all_cases() if words.lower() in case.title.lower()]
    for case in found:
        print(f"{case.topic}: {case.title}\n")
        for number, line in enumerate(case.source().decode("utf-8", "backslashreplace").splitlines(), 1):
            print(f"{number:4} {line}")
        print("", *_output(case), sep="\n")
    if not found:
        print(f"no case has {words!r} in its title; list the titles with `grep -h ^= tests/corpus/cases/*`", file=sys.stderr)
    return 0 if found else 1


def run(arguments: list[str]) -> int:
    """Run a command."""
    parser = argparse.ArgumentParser(prog="python -m tests.corpus", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("accept", help="write the current output to the cases")
    commands.add_parser("show", help="print cases with these words in their title").add_argument("words")
    given = parser.parse_args(arguments)
    if given.command == "show":
        return show(given.words)
    accept()
    return 0


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
