"""What `python -m ops init` asks, and which answers it takes."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from config.nearest import either, nearest
from config.service_model import shape
from config.zones import region_of_zone, regions, zone_remedy, zones_of

Answers = dict[str, str]

NEW, NONE = "new", "none"


@dataclass(frozen=True)
class Question:
    """One question: what it asks, what is taken without an answer, and what is wrong with one."""

    name: str
    text: Callable[[Answers], str]
    problem: Callable[[str, Answers], str | None]
    default: Callable[[Answers], str | None]
    is_asked: Callable[[Answers], bool] = lambda _: True

    @property
    def option(self) -> str:
        """The option that answers it beforehand."""
        return f"--{self.name.replace('_', '-')}"


def _region(answer: str, _: Answers) -> str | None:
    return None if answer in regions() else f"is no region that SageMaker is in; {nearest(answer, regions())}"


def _zone(answer: str, answers: Answers) -> str | None:
    region = answers.get("region")
    known = zones_of(region) if region else ()
    return None if answer in known or (region and not known) else f"is no zone of {region}; {zone_remedy(answer, region)}"


def _instance_type(answer: str, _: Answers) -> str | None:
    known = shape("ClusterInstanceType")["enum"]
    return None if answer in known else f"is no type that HyperPod takes; {nearest(answer, known)}"


def _count(answer: str, _: Answers) -> str | None:
    return None if re.fullmatch("[0-9]{1,4}", answer) else "is no number of nodes; write e.g. 4"


def _storage(answer: str, _: Answers) -> str | None:
    return None if answer in (NEW, NONE) else f"must be {NEW} or {NONE}; write one of both"


def _id_of(prefix: str) -> Callable[[str, Answers], str | None]:
    def problem(answer: str, _: Answers) -> str | None:
        ids = [each.strip() for each in answer.split(",")]
        wrong = [each for each in ids if not re.fullmatch(f"{prefix}-[0-9a-f]{{8,17}}", each)]
        return f"must be {prefix}- and 8 to 17 digits from 0 to 9 and a to f; look it up" if wrong else None

    return problem


def _network(answer: str, answers: Answers) -> str | None:
    return None if answer == NEW else _id_of("vpc")(answer, answers)


def _has_vpc(answers: Answers) -> bool:
    return answers["vpc"] != NEW


def _always(value: str | None) -> Callable[[Answers], str | None]:
    return lambda _: value


def _said(text: str) -> Callable[[Answers], str]:
    return lambda _: text


def _zones(answers: Answers) -> str:
    known = zones_of(answers["region"])
    return f"availability zone where your quota is ({either(known)})" if known else "id of the availability zone"


QUESTIONS = (
    Question("region", _said("region, e.g. us-west-2"), _region, lambda answers: region_of_zone(answers.get("zone", ""))),
    Question("zone", _zones, _zone, _always(None)),
    Question("instance_type", _said("instance type of the compute nodes"), _instance_type, _always(None)),
    Question("instance_count", _said("how many of them"), _count, _always("1")),
    Question("vpc", _said(f"VPC: `{NEW}`, or the id of one that is there"), _network, _always(NEW)),
    Question("subnets", _said("private subnets in that zone, with commas"), _id_of("subnet"), _always(None), _has_vpc),
    Question("security_group", _said("security group that allows all within itself"), _id_of("sg"), _always(None), _has_vpc),
    Question("storage", _said(f"FSx for Lustre file system: `{NEW}` or `{NONE}`"), _storage, _always(NEW)),
)
