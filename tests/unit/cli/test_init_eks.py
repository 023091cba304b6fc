"""`hpod init --orchestrator eks` writes an EKS file that validates."""

from io import StringIO
from pathlib import Path

import pytest

from cli.__main__ import main
from cli.errors import CommandError
from cli.init import init
from cluster_request.eks_addons import versions
from tests.unit.cli.test_init import ENOUGH, EXISTING, Person, no_region, run
from validation.load import check_files, load_cluster

__all__ = ["no_region"]

GIVEN = {**ENOUGH, "orchestrator": "eks"}
ADMIN, USER = "arn:aws:iam::123456789012:role/PlatformAdmin", "arn:aws:iam::123456789012:user/alice"


def test_options_without_answers_give_a_file_whose_only_warning_is_that_it_has_no_administrators(tmp_path: Path) -> None:
    run(tmp_path, GIVEN)
    path = tmp_path / "mine.yaml"
    config = load_cluster(path)
    assert config.creates_eks_cluster
    assert config.eks is not None
    assert (config.eks.version, config.eks.admins) == (max(versions()), ())
    assert [(group.name, group.role, group.instance_type) for group in config.instance_groups] == [
        ("workers", None, "ml.p5.48xlarge")
    ]
    assert (config.provisioning, config.node_recovery) == ("continuous", "Automatic")
    assert config.storage.lustre is not None
    assert [problem.rule for file in check_files([path]) for problem in file.warnings] == ["no-admins"]
    text = path.read_text()
    assert "slurm" not in text.lower()
    assert "# A cluster on Amazon EKS. " in text


def test_administrators_and_an_existing_vpc_come_into_the_file(tmp_path: Path) -> None:
    subnets = "subnet-0123abcd, subnet-4567cdef"
    run(tmp_path, {**GIVEN, **EXISTING, "control_plane_subnets": subnets, "admins": f"{ADMIN}, {USER}", "storage": "none"})
    config = load_cluster(tmp_path / "mine.yaml")
    assert config.eks is not None
    assert config.eks.control_plane_subnet_ids == ("subnet-0123abcd", "subnet-4567cdef")
    assert config.eks.admins == (ADMIN, USER)
    assert config.network.existing is not None


def test_the_orchestrator_is_asked_first_and_its_questions_after_it(tmp_path: Path) -> None:
    person = Person("nomad", "eks", "", "", "Admin", ADMIN, "")
    init(name="mine", clusters=tmp_path, force=False, ask=person, region="us-west-2", **ENOUGH)
    assert person.asked[:2] == ["orchestrator: `slurm` or `eks` [slurm]: ", "nomad must be slurm or eks: "]
    assert person.asked[4].startswith("ARNs of IAM roles or users that administer Kubernetes, comma-separated, ")
    assert person.asked[5].startswith("Admin must be ARNs of IAM roles or users like arn:aws:iam::")
    config = load_cluster(tmp_path / "mine.yaml")
    assert config.eks is not None
    assert config.eks.admins == (ADMIN,)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({**ENOUGH, "admins": ADMIN}, "^--admins requires --orchestrator eks$"),
        (
            {**GIVEN, "control_plane_subnets": "subnet-0123abcd"},
            "^--control-plane-subnets requires --orchestrator eks and --vpc$",
        ),
        ({**GIVEN, **EXISTING}, "^not a terminal: pass --control-plane-subnets$"),
        ({**ENOUGH, "orchestrator": "kubernetes"}, "^--orchestrator: kubernetes must be slurm or eks$"),
        ({**GIVEN, "admins": "alice"}, "^--admins: alice must be ARNs of IAM roles or users"),
    ],
)
def test_wrong_and_missing_options_are_reported(
    tmp_path: Path, given: dict[str, str], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", StringIO())
    with pytest.raises(CommandError, match=message):
        run(tmp_path, given)


def test_the_command_writes_an_eks_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--orchestrator", "eks", "--zone", "usw2-az4", "--instance-type", "ml.g5.4xlarge", "--admins", ADMIN]
    assert main(["init", "mine", "--clusters", str(tmp_path), *words]) == 0
    assert "wrote" in capsys.readouterr().out
    assert load_cluster(tmp_path / "mine.yaml").creates_eks_cluster
