"""A valid cluster file to break: tests change one thing of it and look at what is said."""

import copy
from functools import cache
from pathlib import Path
from typing import Any, Self

import pytest
import yaml

from config.errors import Problem
from config.model import ClusterConfig
from validation.checked_file import check_source
from validation.load import parse_cluster

VALID = """
region: us-west-2
network:
  availability_zone_id: usw2-az4
storage:
  lustre: {}
  data_repository_associations:
    - path: /data
instance_groups:
  - {name: head, role: controller, instance_type: ml.c5.xlarge, instance_count: 1}
  - {name: door, role: login, instance_type: ml.m5.xlarge, instance_count: 1}
  - {name: work, role: compute, partition: dev, instance_type: ml.p5.48xlarge, instance_count: 4}
slurm: {setup: scripts}
"""


VALID_EKS = """
region: us-west-2
network:
  availability_zone_id: usw2-az4
storage:
  lustre: {}
eks:
  version: "1.34"
  admins: [arn:aws:iam::123456789012:role/PlatformAdmin]
  teams:
    - name: vision
      role_arns: [arn:aws:iam::123456789012:role/Vision]
      quota: {resources: [{instance_type: ml.p5.48xlarge, count: 3}]}
    - {name: speech, quota: {}}
  scheduling: {priority_classes: [{name: training, weight: 90}]}
instance_groups:
  - {name: system, instance_type: ml.m5.2xlarge, instance_count: 2}
  - {name: work, instance_type: ml.p5.48xlarge, instance_count: 4, taints: [{key: pool, effect: NoSchedule}]}
"""


# libyaml writes a file in a seventh of the time.
_Dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


@cache
def _read(content: str) -> Any:
    return yaml.safe_load(content)


class Draft:
    """A cluster file in the making."""

    def __init__(self, folder: Path, content: str = VALID) -> None:
        self.content: dict[str, Any] = copy.deepcopy(_read(content))
        self.folder = folder

    def set(self, *path_and_value: Any) -> Self:
        """Put the last argument where the arguments before it lead; sections that are not there are made."""
        *path, last, value = path_and_value
        place: Any = self.content
        for part in path:
            place = place[part] if isinstance(place, list) else place.setdefault(part, {})
        place[last] = copy.deepcopy(value)
        return self

    def remove(self, *path: Any) -> Self:
        """Take away what is at the path."""
        place: Any = self.content
        for part in path[:-1]:
            place = place[part]
        del place[path[-1]]
        return self

    def put(self, *files: str) -> Self:
        """Lay files beside the cluster file."""
        for name in files:
            (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / name).write_text(f"#!/bin/bash\necho {name}\n")
        return self

    def link(self, name: str, target: str) -> Self:
        """Lay a link beside the cluster file."""
        (self.folder / name).symlink_to(target)
        return self

    def text(self) -> bytes:
        """The file."""
        text: str = yaml.dump(self.content, Dumper=_Dumper, sort_keys=False)
        return text.encode()

    def parsed(self) -> ClusterConfig | list[Problem]:
        """The cluster, or what is wrong."""
        return parse_cluster(self.text(), "draft", self.folder)

    def config(self) -> ClusterConfig:
        """The cluster of a draft that has nothing wrong."""
        parsed = self.parsed()
        assert isinstance(parsed, ClusterConfig), "\n".join(map(str, parsed))
        return parsed

    def problems(self) -> list[Problem]:
        """All that there is to say, warnings too."""
        return list(check_source(self.text(), "draft", self.folder).problems)

    def lines(self) -> list[str]:
        """What is wrong, as the user reads it."""
        return [str(problem) for problem in self.problems()]


@pytest.fixture
def draft(tmp_path: Path) -> Draft:
    return Draft(tmp_path)


@pytest.fixture
def eks_draft(tmp_path: Path) -> Draft:
    return Draft(tmp_path, VALID_EKS)
