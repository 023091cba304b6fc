"""How the simulated agent behaves where HyperPod's agents differ, or have been seen to do harm. Tests turn these on."""

from dataclasses import dataclass
from enum import Enum


class AutomaticTopology(Enum):
    """What the agent writes of a topology that it does not describe."""

    NONE = "none"
    # https://github.com/aws-samples/sample-physical-ai-scaffolding-kit/pull/14 (2026-04-30)
    TREE_WITHOUT_FILE = "tree_without_file"
    # https://github.com/aws-samples/sample-physical-ai-scaffolding-kit/pull/23 (2026-07-09)
    EMPTY_YAML = "empty_yaml"


@dataclass(frozen=True)
class Behaviour:
    """One field for each behaviour, with its source; the defaults are the kind ones."""

    automatic_topology: AutomaticTopology = AutomaticTopology.NONE
    # `Gres=gpu:4,file=/dev/nvidia-[0-3]` in node lines:
    # https://github.com/awslabs/ai-on-sagemaker-hyperpod/blob/main/website/docs/08-Tips/Slurm/08-gres.md
    gres_with_file: bool = False


KIND = Behaviour()
