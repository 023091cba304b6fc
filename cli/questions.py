"""The questions of `./hpod init`, and their valid answers."""

import os
import re
from collections.abc import Callable
from dataclasses import dataclass

from cli.access import asked_region
from cli.errors import CommandError
from cluster_request.service_model import shape
from config.eks import PRINCIPAL_ARN
from config.instance_group import InstanceGroup
from config.instance_types import instance_type
from config.model import Orchestrator
from config.network import ZONE_ID
from config.suggestions import either, nearest
from config.zones import region_of_name, region_of_zone, regions, zone_fix, zones_of

Answers = dict[str, str]

NEW, NONE = "new", "none"


@dataclass(frozen=True)
class Question:
    """A question with its default and the check of its answer; ``requires`` names the options that it depends on."""

    name: str
    text: Callable[[Answers], str]
    problem: Callable[[str, Answers], CommandError | None]
    default: Callable[[Answers], str | None]
    is_asked: Callable[[Answers], bool] = lambda _: True
    requires: str = ""

    @property
    def option(self) -> str:
        """The option that answers the question."""
        return f"--{self.name.replace('_', '-')}"


def _default_region(answers: Answers) -> str | None:
    """Return the region of the zone, or else the environment's if SageMaker is in it."""
    environment = asked_region(None) or os.environ.get("AWS_DEFAULT_REGION", "")
    return region_of_zone(answers.get("zone", "")) or (environment if environment in regions() else None)


def _region(answer: str, _: Answers) -> CommandError | None:
    return None if answer in regions() else CommandError("is not a region of SageMaker", nearest(answer, regions()))


def zone_id_problem(text: str, region: str | None) -> CommandError | None:
    """Return why the text is not the id of a zone; None if it is one."""
    if (named := region_of_name(text)) and (ids := zones_of(named)):
        return CommandError("is a zone name, which differs between accounts", f"use its id: {either(ids)}")
    return None if re.fullmatch(ZONE_ID, text) else CommandError("is not an availability zone id", zone_fix(text, region))


def _zone(answer: str, answers: Answers) -> CommandError | None:
    region, home = answers.get("region"), region_of_zone(answer)
    if problem := zone_id_problem(answer, region):
        return problem
    # Zones that the table lacks, which only some accounts see, are a warning of `validate`.
    if region and home not in (None, region):
        return CommandError(f"is a zone of {home}, not of {region}", zone_fix(answer, region))
    return None


def _instance_type(answer: str, _: Answers) -> CommandError | None:
    known = shape("ClusterInstanceType")["enum"]
    if answer.lower() in ("", "ml", "ml."):
        return CommandError("is not an instance type of HyperPod", "enter e.g. ml.p5.48xlarge")
    return None if answer in known else CommandError("is not an instance type of HyperPod", _types_like(answer.lower(), known))


def _types_like(answer: str, known: list[str]) -> str:
    """Return the types that may be meant: of an EC2 type, a family or a GPU, else those with a similar name."""
    plain = answer.removeprefix("ml.")
    for meant in (
        [name for name in known if name == f"ml.{plain}"],
        sorted(name for name in known if name.split(".")[1] == plain),
        sorted(name for name in known if (facts := instance_type(name)) and facts.gpu and facts.gpu.lower() == plain),
    ):
        if meant:
            return f"did you mean {either(meant)}?"
    return nearest(answer, known)


def _count(answer: str, _: Answers) -> CommandError | None:
    most = next(bound.le for bound in InstanceGroup.model_fields["instance_count"].metadata if hasattr(bound, "le"))
    if not re.fullmatch("[0-9]{1,6}", answer):
        return CommandError("is not a number of nodes", "enter e.g. 4")
    return None if int(answer) <= most else CommandError(f"exceeds the limit of {most} nodes per group", "enter e.g. 4")


def _one_of(*words: str) -> Callable[[str, Answers], CommandError | None]:
    return lambda answer, _: None if answer in words else CommandError(f"must be {' or '.join(words)}")


def listed(answer: str) -> list[str]:
    """Return the entries of an answer that is comma-separated."""
    return [each.strip() for each in answer.split(",")]


def _each_matches(pattern: str, message: str, word: str | None = None) -> Callable[[str, Answers], CommandError | None]:
    """Return a check that the answer is ``word``, or that all its entries match."""

    def problem(answer: str, _: Answers) -> CommandError | None:
        is_right = answer == word or all(re.fullmatch(pattern, each) for each in listed(answer))
        return None if is_right else CommandError(message)

    return problem


def _id_of(prefix: str, word: str | None = None) -> Callable[[str, Answers], CommandError | None]:
    return _each_matches(f"{prefix}-[0-9a-f]{{8,17}}", f"must be {prefix}- and 8 to 17 hexadecimal digits", word)


def _has_vpc(answers: Answers) -> bool:
    return answers["vpc"] != NEW


def _has_eks(answers: Answers) -> bool:
    return answers["orchestrator"] == Orchestrator.EKS


def _always(value: str | None) -> Callable[[Answers], str | None]:
    return lambda _: value


def _text(text: str) -> Callable[[Answers], str]:
    return lambda _: text


def _zones(answers: Answers) -> str:
    known = zones_of(answers["region"])
    return f"id of the availability zone with your quota ({either(known)})" if known else "id of the availability zone"


_SUBNETS = "private subnets in that zone, comma-separated"
_GROUP = "security group that allows all traffic within itself"
_SUBNETS_OF_THE_CONTROL_PLANE = "subnets for the EKS control plane in two zones, comma-separated"
_ADMINS = f"ARNs of IAM roles or users that administer Kubernetes, comma-separated, or `{NONE}`"
_NOT_ARNS = "must be ARNs of IAM roles or users like arn:aws:iam::123456789012:role/PlatformAdmin"

QUESTIONS = (
    Question("orchestrator", _text("orchestrator: `slurm` or `eks`"), _one_of(*Orchestrator), _always(Orchestrator.SLURM)),
    Question("region", _text("region, e.g. us-west-2"), _region, _default_region),
    Question("zone", _zones, _zone, _always(None)),
    Question("instance_type", _text("instance type of the compute nodes, e.g. ml.p5.48xlarge"), _instance_type, _always(None)),
    Question("instance_count", _text("number of compute nodes"), _count, _always("1")),
    Question("vpc", _text(f"VPC: `{NEW}`, or the id of an existing one"), _id_of("vpc", NEW), _always(NEW)),
    Question("subnets", _text(_SUBNETS), _id_of("subnet"), _always(None), _has_vpc, "--vpc"),
    Question("security_group", _text(_GROUP), _id_of("sg"), _always(None), _has_vpc, "--vpc"),
    Question(
        "control_plane_subnets",
        _text(_SUBNETS_OF_THE_CONTROL_PLANE),
        _id_of("subnet"),
        _always(None),
        lambda answers: _has_eks(answers) and _has_vpc(answers),
        "--orchestrator eks and --vpc",
    ),
    Question(
        "admins", _text(_ADMINS), _each_matches(PRINCIPAL_ARN, _NOT_ARNS, NONE), _always(NONE), _has_eks, "--orchestrator eks"
    ),
    Question("storage", _text(f"FSx for Lustre file system: `{NEW}` or `{NONE}`"), _one_of(NEW, NONE), _always(NEW)),
)
