"""Put the recorded facts of AWS to an account: `python -m tests.verify_aws --facts [PREFIX ...]`."""

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import boto3
import botocore

from tests.contract.aws_facts.engine import NAMES, Engine
from tests.contract.aws_facts.fact import Fact, load
from tests.verify_aws import printing
from tests.verify_aws.interruption import interruptible

PAUSE_S, PATIENCE_S = 2.0, 900.0
INTRODUCTION = """\
This asks {count} questions in account {account}, region {region}, as {arn}.
  creates   stacks, functions, state machines, executions, rules, parameters, buckets, roles and logs, all named {names}*
  total     less than 0.10 US dollars; no instance is started and no quota is used
  time      about half an hour; everything is deleted at the end; Ctrl-C deletes at once
  saves     the answers, in {folder}"""


@dataclass(frozen=True)
class Answer:
    """An account's answer to the question of a fact."""

    id: str
    expected: Any
    answer: Any

    @property
    def is_good(self) -> bool:
        """Return whether the account answers as the fact says."""
        return bool(self.answer == self.expected)

    def __str__(self) -> str:
        return f"  ok     {self.id}" if self.is_good else f"  DIFFERS {self.id}: {self.answer}; expected {self.expected}"


def verify(session: boto3.Session, prefixes: Sequence[str], into: Path, *, confirm: Callable[[], None]) -> bool:
    """Ask, print and save the answers; return whether all are as expected and nothing is left."""
    facts = chosen(prefixes)
    caller = session.client("sts").get_caller_identity()
    where = {"account": caller["Account"], "region": session.region_name, "arn": caller["Arn"]}
    printing.say(INTRODUCTION.format(count=len(facts), names=NAMES, folder=into, **where))
    confirm()
    is_local = any(key.startswith("AWS_ENDPOINT_URL") for key in os.environ)
    with interruptible(printing.say) as interruption:
        with Engine(session.client, *(() if is_local else (PAUSE_S, PATIENCE_S))) as judge:
            try:
                answers = [_answer(fact, judge) for fact in facts]
            finally:
                interruption.disarm()
        _save(answers, into)
    left = [f"not deleted: {each}" for each in judge.left] or ["everything is deleted"]
    printing.say("\n".join(["", *left]))
    return all(answer.is_good for answer in answers) and not judge.left


def chosen(prefixes: Sequence[str]) -> list[Fact]:
    """Return the facts that an account can answer whose ids begin with one of the prefixes; without prefixes all."""
    facts = load().values()
    return [fact for fact in facts if "engine" in fact.judges and fact.id.startswith(tuple(prefixes) or "")]


def _answer(fact: Fact, judge: Engine) -> Answer:
    try:
        answer = fact.question(judge)
    except Exception as error:  # noqa: BLE001  a question that fails must not keep the others from being asked
        answer = f"{type(error).__name__}: {error}"
    found = Answer(fact.id, fact.expected, answer)
    printing.say(str(found))
    return found


def _save(answers: list[Answer], into: Path) -> None:
    into.mkdir(parents=True, exist_ok=True)
    head = {"date": f"{datetime.now(UTC):%Y-%m-%d}", "botocore": botocore.__version__}
    content = {**head, "answers": [asdict(answer) for answer in answers]}
    (into / "facts.json").write_text(json.dumps(content, indent=2, default=str) + "\n", encoding="utf-8")
