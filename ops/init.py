"""`python -m ops init NAME`: a commented cluster file, by a few questions."""

import argparse
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from config.errors import ConfigError
from config.load import parse_cluster
from config.model import ClusterConfig
from ops.errors import OpsError
from ops.first_file import first_file
from ops.new_file import write_new
from ops.questions import QUESTIONS, Answers, Question

Ask = Callable[[str], str]


def options(command: argparse.ArgumentParser) -> None:
    """Add what the command takes."""
    command.add_argument("name", metavar="NAME", help="the new file's name, without .yaml")
    for question in QUESTIONS:
        what = question.text({"region": "", "vpc": ""})
        command.add_argument(question.option, metavar=question.name.upper(), help=what)
    command.add_argument("--force", action="store_true", help="write over a file that is there")


def init(*, name: str, clusters: Path, force: bool, ask: Ask | None = None, **given: str | None) -> Iterator[str]:
    """Write the file; what no option answers is asked, where somebody is there to ask."""
    path = clusters / f"{name}.yaml"
    if path.exists() and not force:
        raise OpsError(f"{path} is there already; give another name, or --force to write over it")
    asking = ask or (input if sys.stdin.isatty() else None)
    answers: Answers = {option: answer for option, answer in given.items() if answer is not None}
    for question in QUESTIONS:
        if question.is_asked(answers):
            answers[question.name] = _answer(question, answers, asking)
        elif question.name in answers:
            raise OpsError(f"{question.option} is of a VPC that is there; give --vpc, too")
    text = first_file(answers, clusters)
    parsed = parse_cluster(text.encode(), name, clusters)
    if not isinstance(parsed, ClusterConfig):
        raise ConfigError({str(path): parsed})
    write_new(path, text, force=force)
    yield f"wrote {path}; edit it, then run `python -m ops validate {path}`"


def _answer(question: Question, answers: Answers, ask: Ask | None) -> str:
    """The answer that an option gave, or that is given now, or that goes without asking."""
    if question.name in answers:
        answer = answers[question.name]
        if problem := question.problem(answer, answers):
            raise OpsError(f"{question.option}: {answer} {problem}")
        return answer
    default = question.default(answers)
    if ask is not None:
        return _asked(question, answers, ask, default)
    if default is None:
        raise OpsError(f"nobody is there to ask for the {question.text(answers)}; give {question.option}")
    return default


def _asked(question: Question, answers: Answers, ask: Ask, default: str | None) -> str:
    shown = f"{question.text(answers)}{f' [{default}]' if default else ''}: "
    while True:
        try:
            answer = ask(shown).strip() or default or ""
        except EOFError:
            raise OpsError(f"the answers ended before the {question.text(answers)}; give {question.option}") from None
        problem = question.problem(answer, answers)
        if problem is None:
            return answer
        shown = f"{answer or 'nothing'} {problem}: "
