"""`./hpod init NAME`: ask a few questions and write a commented cluster file."""

import re
import shlex
import sys
from collections.abc import Callable
from pathlib import Path

from cli.cluster_files import write_new
from cli.cluster_folder import CLUSTERS
from cli.cluster_template import first_file
from cli.confirm import prompt
from cli.errors import CommandError, as_one
from cli.questions import NEW, QUESTIONS, Answers, Question
from cli.result import Result
from config.errors import Level, Problem
from config.model import FILE_NAME, ClusterConfig, Orchestrator
from validation import report
from validation.load import check_files, parse_cluster
from validation.patterns import in_words

Ask = Callable[[str], str]


def init(*, name: str, clusters: Path, force: bool, ask: Ask | None = None, **given: str | None) -> Result:
    """Write the file; on a terminal, ask for what no option answers."""
    if problem := _name_problem(name):
        raise problem
    path = clusters / f"{name}.yaml"
    if path.exists() and not force:
        raise CommandError(f"{path} already exists", "choose another name, or pass --force to overwrite it")
    asking = ask or (prompt if sys.stdin.isatty() else None)
    answers: Answers = {option: answer for option, answer in given.items() if answer is not None}
    _check(answers)
    if asking is None:
        _demand(answers)
    for question in QUESTIONS:
        if question.is_asked(answers):
            answers[question.name] = _answer(question, answers, asking)
        elif question.name in answers:
            raise CommandError(f"{question.option} requires {question.requires}")
    text = first_file(answers, clusters)
    parsed = parse_cluster(text.encode(), name, clusters)
    if not isinstance(parsed, ClusterConfig):
        raise CommandError(_refused(parsed, name, clusters, answers))
    write_new(path, text, force=force)
    checked = check_files([path])
    lines = [report.text(checked), f"wrote {path}; edit it, then run `./hpod validate {path}`"]
    return Result({"file": str(path)}, ("\n".join(filter(None, lines)),), report.problems(checked))


def _name_problem(name: str) -> CommandError | None:
    """Return the problem of the new file's name, with a valid name."""
    if re.fullmatch(FILE_NAME, name):
        return None
    meant = re.sub("[^a-z0-9]+", "-", name.removesuffix(".yaml").removesuffix(".yml").lower()).lstrip("-0123456789")[:31]
    fix = f"write {meant.rstrip('-')}" if re.fullmatch(FILE_NAME, meant.rstrip("-")) else "write e.g. mine"
    return CommandError(f"{name} is not a valid cluster name, which {in_words(f'^{FILE_NAME}$')}", fix)


def _check(answers: Answers) -> None:
    """Refuse all wrong answers of options at once, before anybody is asked for more."""
    wrong = [
        CommandError(f"{question.option}: {answers[question.name]} {problem.message}", problem.fix)
        for question in QUESTIONS
        if question.name in answers and (problem := question.problem(answers[question.name], answers))
    ]
    if wrong:
        raise as_one(wrong)


def _demand(answers: Answers) -> None:
    """Refuse all missing options at once, without a terminal; the zone determines the region."""
    known = {"orchestrator": Orchestrator.SLURM, "vpc": NEW, **answers}
    missing = [
        question.option
        for question in QUESTIONS
        if question.name not in answers and question.name != "region" and question.is_asked(known) and not question.default(known)
    ]
    if missing:
        raise CommandError(f"not a terminal: pass {' and '.join(filter(None, [', '.join(missing[:-1]), missing[-1]]))}")


def _refused(problems: list[Problem], name: str, clusters: Path, answers: Answers) -> str:
    """Return why the answers make no valid file, and the command that repeats all of them."""
    folder = [] if clusters == CLUSTERS else ["--clusters", str(clusters)]
    options = [
        word for question in QUESTIONS for word in (question.option, answers.get(question.name)) if question.name in answers
    ]
    again = shlex.join(["./hpod", "init", name, *folder, *filter(None, options)])
    errors = "\n".join(str(problem) for problem in problems if problem.level is Level.ERROR)
    return f"nothing was written, because these answers contradict each other:\n{errors}\ncorrect the wrong one: `{again}`"


def _answer(question: Question, answers: Answers, ask: Ask | None) -> str:
    """Return the answer of the option, of the user, or the default."""
    if question.name in answers:
        return answers[question.name]
    default = question.default(answers)
    if ask is not None:
        return _asked(question, answers, ask, default)
    if default is None:
        raise CommandError(f"not a terminal: pass {question.option}")
    return default


def _asked(question: Question, answers: Answers, ask: Ask, default: str | None) -> str:
    shown = f"{question.text(answers)}{f' [{default}]' if default else ''}: "
    while True:
        try:
            answer = ask(shown).strip() or default or ""
        except EOFError:
            raise CommandError(f"the input ended before the {question.text(answers)}", f"pass {question.option}") from None
        problem = question.problem(answer, answers)
        if problem is None:
            return answer
        shown = f"{answer} {problem}: " if answer else f"enter the {question.text(answers)}: "
