"""What an operator of the cluster ml has: its file, a stack that outputs its name, and what the commands print."""

import json
from typing import Any

from tests.command_schemas import check_data

WIDTH = 80
FILE = """\
region: us-west-2
cluster_name: ml
network:
  availability_zone_id: usw2-az2
instance_groups:
  - {name: controller, role: controller, instance_type: ml.c5.xlarge, instance_count: 1}
  - {name: login, role: login, instance_type: ml.c5.xlarge, instance_count: 1}
  - name: workers
    role: compute
    partition: dev
    instance_type: ml.c5.xlarge
    instance_count: 2
"""
STACK = {
    "Resources": {"Wait": {"Type": "AWS::CloudFormation::WaitConditionHandle"}},
    "Outputs": {"ClusterName": {"Value": "ml", "Description": "name of the cluster"}},
}


def data_of(command: str, printed: str) -> dict[str, Any]:
    """The `data` that a command printed with `--output json`, which matches the command's schema."""
    data: dict[str, Any] = json.loads(printed)["data"]
    check_data(command, data)
    return data


def fitting(printed: str) -> str:
    """What a command printed, which fits a terminal."""
    assert [line for line in printed.splitlines() if len(line) > WIDTH] == []
    return printed
