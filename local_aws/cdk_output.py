"""Shorten the output of `cdk` for a demo: one line per quarter of a stack, and every failure."""

import re
from collections.abc import Iterable, Iterator

# `reference-Cluster | 23/30 | 10:23:49 AM | CREATE_COMPLETE | AWS::IAM::Role | ...`
_EVENT = re.compile(r"^(?P<stack>\S+) \| +(?P<done>\d+)/(?P<total>\d+) \|[^|]*\| (?P<status>\w+) +\| ")
_ORDINARY = re.compile(r"(CREATE|UPDATE|DELETE|REVIEW|UPDATE_COMPLETE_CLEANUP)_(IN_PROGRESS|COMPLETE)")
# `reference-Cluster: start: Building Lifecycle/Deployment/Bundle`
_ASSET = re.compile(r"^\S+: (start|success): (Building|Built|Publishing|Published) ")
# `reference-Network.PublishOutputRefVpc0123ABCD = vpc-0123`: a value that the CDK passes to another stack
_REFERENCE = re.compile(r"^\S+\.\w*Output(FnGetAtt|Ref)\w+ = ")


def shorten(lines: Iterable[str]) -> Iterator[str]:
    """Yield the lines without successful asset steps, the CDK's outputs, and ordinary events between the quarters of a stack."""
    quarters: dict[str, int] = {}
    for line in lines:
        event = _EVENT.match(line)
        if event is None:
            if not (_ASSET.match(line) or _REFERENCE.match(line)):
                yield line
            continue
        quarter = int(event["done"]) * 4 // max(int(event["total"]), 1)
        if not _ORDINARY.fullmatch(event["status"]) or quarter > quarters.get(event["stack"], 0):
            yield line
        quarters[event["stack"]] = quarter
