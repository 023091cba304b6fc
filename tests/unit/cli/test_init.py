"""`hpod init` requests what no option answers, and writes a file that validates."""

import re
from io import StringIO
from pathlib import Path

import pytest

from cli.__main__ import main
from cli.errors import CommandError
from cli.init import Ask, init
from cli.questions import QUESTIONS
from config.model import slurm_of
from validation.load import load_cluster

ENOUGH = {"zone": "usw2-az4", "instance_type": "ml.p5.48xlarge"}
EXISTING = {"vpc": "vpc-0123456789abcdef0", "subnets": "subnet-01234567, subnet-89abcdef", "security_group": "sg-01234567"}


@pytest.fixture(autouse=True)
def no_region(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody's environment changes what is offered."""
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION"):
        monkeypatch.delenv(name, raising=False)


class Person:
    """Somebody at the terminal, with answers ready."""

    def __init__(self, *answers: str) -> None:
        self.answers = iter(answers)
        self.asked: list[str] = []

    def __call__(self, text: str) -> str:
        self.asked.append(text)
        try:
            return next(self.answers)
        except StopIteration:
            raise EOFError from None


def run(folder: Path, given: dict[str, str], ask: Ask | None = None, *, force: bool = False) -> list[str]:
    """What the command says."""
    options = {question.name: given.get(question.name) for question in QUESTIONS}
    options["orchestrator"] = options["orchestrator"] or "slurm"
    return [str(init(name="mine", clusters=folder, force=force, ask=ask, **options))]


def test_options_without_answers_give_a_file_that_validates(tmp_path: Path) -> None:
    [said] = run(tmp_path, ENOUGH)
    config = load_cluster(tmp_path / "mine.yaml")
    assert said.startswith(f"wrote {tmp_path / 'mine.yaml'}")
    assert (config.region, config.network.availability_zone_id) == ("us-west-2", "usw2-az4")
    assert [(str(group.role), group.instance_type, group.instance_count) for group in config.instance_groups] == [
        ("controller", "ml.c5.xlarge", 1),
        ("login", "ml.m5.xlarge", 1),
        ("compute", "ml.p5.48xlarge", 1),
    ]
    assert config.storage.lustre is not None
    assert config.network.existing is None
    assert (slurm_of(config).setup, config.provisioning) == ("api", "continuous")


def test_every_section_of_the_file_says_what_it_is_for(tmp_path: Path) -> None:
    run(tmp_path, ENOUGH)
    lines = (tmp_path / "mine.yaml").read_text().splitlines()
    sections = [index for index, line in enumerate(lines) if line[:1].isalpha() and not line.startswith("region")]
    assert len(sections) == 5
    assert all(lines[index - 1].startswith("# ") for index in sections)


def test_what_no_option_answers_is_asked(tmp_path: Path) -> None:
    person = Person("us-east-1", "use1-az4", "ml.g5.48xlarge", "8", "", "none")
    run(tmp_path, {}, person)
    config = load_cluster(tmp_path / "mine.yaml")
    assert (config.region, config.network.availability_zone_id, config.instance_groups[2].instance_count) == (
        "us-east-1",
        "use1-az4",
        8,
    )
    assert config.storage.lustre is None
    assert [text.partition(" (")[0] for text in person.asked[:2]] == [
        "region, e.g. us-west-2: ",
        "id of the availability zone with your quota",
    ]


def test_what_an_option_answers_is_not_asked(tmp_path: Path) -> None:
    person = Person("", "", "", "")
    run(tmp_path, ENOUGH, person)
    assert [text.split("[")[1] for text in person.asked] == ["us-west-2]: ", "1]: ", "new]: ", "new]: "]


def test_an_answer_that_is_wrong_is_asked_for_again_with_what_is_near(tmp_path: Path) -> None:
    person = Person("us-west-2", "use1-az1", "usw2-az1", "ml.p5.48xlrge", "ml.p5.48xlarge", "many", "4", "", "")
    run(tmp_path, {}, person)
    assert "use1-az1 is a zone of us-east-1, not of us-west-2; use usw2-az1, usw2-az2, usw2-az3 or usw2-az4: " in person.asked
    assert any(
        text.startswith("ml.p5.48xlrge is not an instance type of HyperPod; did you mean ml.p5.48xlarge") for text in person.asked
    )
    assert "many is not a number of nodes; enter e.g. 4: " in person.asked
    assert load_cluster(tmp_path / "mine.yaml").instance_groups[2].instance_count == 4


def test_a_vpc_that_is_there_is_used_with_its_subnets_and_group(tmp_path: Path) -> None:
    run(tmp_path, {**ENOUGH, **EXISTING})
    existing = load_cluster(tmp_path / "mine.yaml").network.existing
    assert existing is not None
    assert existing.node_subnet_ids == ("subnet-01234567", "subnet-89abcdef")
    assert (existing.vpc_id, existing.security_group_id) == (EXISTING["vpc"], EXISTING["security_group"])


def test_of_a_vpc_that_is_there_the_rest_is_asked(tmp_path: Path) -> None:
    person = Person("", "", "subnet-01234567", "sg-01234567", "")
    run(tmp_path, {**ENOUGH, "vpc": EXISTING["vpc"]}, person)
    assert load_cluster(tmp_path / "mine.yaml").network.existing is not None


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "not a terminal: pass --zone and --instance-type$"),
        ({"region": "us-west-2", "instance_type": "ml.p5.48xlarge"}, "not a terminal: pass --zone$"),
        ({**ENOUGH, "vpc": EXISTING["vpc"]}, "not a terminal: pass --subnets and --security-group$"),
        ({"vpc": EXISTING["vpc"]}, "pass --zone, --instance-type, --subnets and --security-group$"),
        ({**ENOUGH, "region": "us-west-2a"}, "--region: us-west-2a is not a region of SageMaker; did you mean us-west-2"),
        ({**ENOUGH, "vpc": "vpc"}, "--vpc: vpc must be vpc- and 8 to 17 hexadecimal digits"),
        ({**ENOUGH, "subnets": EXISTING["subnets"]}, "--subnets requires --vpc"),
        ({**ENOUGH, "storage": "big"}, "--storage: big must be new or none"),
        ({**ENOUGH, "instance_count": "-1"}, "--instance-count: -1 is not a number of nodes"),
    ],
)
def test_without_anybody_to_ask_a_missing_or_wrong_answer_ends_it(
    tmp_path: Path, given: dict[str, str], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", StringIO())
    with pytest.raises(CommandError, match=said):
        run(tmp_path, given)
    assert not (tmp_path / "mine.yaml").exists()


@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        ("Mine", "write mine"),
        ("my_cluster", "write my-cluster"),
        ("mine.yaml", "write mine"),
        ("my_cluster_2", "write my-cluster-2"),
        ("Train32", "write train32"),
        ("7-nodes", "write nodes"),
        ("team/mine", "write team-mine"),
        ("a" * 40, f"write {'a' * 31}"),
        ("x", "write e.g. mine"),
        ("", "write e.g. mine"),
    ],
)
def test_an_invalid_name_is_reported_first_with_a_valid_one(tmp_path: Path, name: str, remedy: str) -> None:
    person = Person()
    with pytest.raises(CommandError, match=f"is not a valid cluster name, .*; {remedy}$"):
        init(name=name, clusters=tmp_path, force=False, ask=person, zone="nowhere")
    assert person.asked == []


def test_all_wrong_options_are_reported_before_the_first_question(tmp_path: Path) -> None:
    person = Person("us-west-2")
    with pytest.raises(CommandError) as told:
        run(tmp_path, {"zone": "usw2az4", "instance_type": "p5", "instance_count": "7000", "storage": "big"}, person)
    assert person.asked == []
    assert str(told.value).splitlines() == [
        "--zone: usw2az4 is not an availability zone id; did you mean usw2-az4?",
        "--instance-type: p5 is not an instance type of HyperPod; did you mean ml.p5.48xlarge or ml.p5.4xlarge?",
        "--instance-count: 7000 exceeds the limit of 6758 nodes per group; enter e.g. 4",
        "--storage: big must be new or none",
    ]


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("g5.8xlarge", "did you mean ml.g5.8xlarge?"),
        ("ML.G5.8xlarge", "did you mean ml.g5.8xlarge?"),
        ("ml.trn1", "did you mean ml.trn1.32xlarge"),
        ("H100", "did you mean ml.p5.48xlarge or ml.p5.4xlarge?"),
        ("ml.p5.48xlrge", "did you mean ml.p5.48xlarge, "),
        ("quantum", "none of the 209 known values is similar"),
    ],
)
def test_a_type_is_meant_by_its_ec2_name_its_family_its_gpu_or_its_spelling(tmp_path: Path, given: str, meant: str) -> None:
    with pytest.raises(CommandError, match=re.escape(meant)):
        run(tmp_path, {"instance_type": given}, Person())


@pytest.mark.parametrize(("region", "zone"), [("us-west-1", "usw1-az2"), ("us-west-2", "usw2-lax1-az1")])
def test_a_zone_that_only_some_accounts_see_is_taken(tmp_path: Path, region: str, zone: str) -> None:
    run(tmp_path, {**ENOUGH, "region": region, "zone": zone})
    assert load_cluster(tmp_path / "mine.yaml").network.availability_zone_id == zone


def test_a_zones_name_is_derived_from_its_id(tmp_path: Path) -> None:
    said = "us-west-2a is a zone name, which differs between accounts; use its id: usw2-az1, usw2-az2"
    with pytest.raises(CommandError, match=said):
        run(tmp_path, {"zone": "us-west-2a"}, Person())


def test_answers_that_end_too_early_are_reported(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match=r"the input ended before the id of the availability zone .*; pass --zone"):
        run(tmp_path, {}, Person("us-west-2"))


def test_a_file_that_is_there_is_kept_unless_it_is_forced(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text("mine")
    with pytest.raises(CommandError, match=r"mine\.yaml already exists; choose another name, or pass --force"):
        run(tmp_path, ENOUGH)
    assert (tmp_path / "mine.yaml").read_text() == "mine"
    run(tmp_path, ENOUGH, force=True)
    assert load_cluster(tmp_path / "mine.yaml").region == "us-west-2"


def test_what_the_rules_reject_is_reported_and_not_written(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="addresses") as told:
        run(tmp_path, {**ENOUGH, "instance_count": "6000"})
    first, *_, last = str(told.value).splitlines()
    assert first == "nothing was written, because these answers contradict each other:"
    again = (
        "--orchestrator slurm --region us-west-2 --zone usw2-az4 --instance-type ml.p5.48xlarge --instance-count 6000 "
        "--vpc new --storage new`"
    )
    assert last == f"correct the wrong one: `./hpod init mine --clusters {tmp_path} {again}"
    assert not (tmp_path / "mine.yaml").exists()


def test_the_command_line_gives_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["init", "mine", "--clusters", str(tmp_path), "--zone", "usw2-az4", "--instance-type", "ml.trn1.32xlarge"]
    assert main(words) == 0
    assert "wrote" in capsys.readouterr().out
    assert main(words) == 1
    assert "already exists" in capsys.readouterr().err


def test_an_empty_answer_is_asked_for_again_in_one_short_line(tmp_path: Path) -> None:
    person = Person("", "us-west-2", "", "usw2-az4", "", "ml.", "ml.p5.48xlarge", "", "", "")
    run(tmp_path, {}, person)
    again = [person.asked[at] for at in (1, 3, 5, 6)]
    assert again[0] == "enter the region, e.g. us-west-2: "
    assert again[1].startswith("enter the id of the availability zone with your quota (usw2-az1, ")
    assert again[2] == "enter the instance type of the compute nodes, e.g. ml.p5.48xlarge: "
    assert again[3] == "ml. is not an instance type of HyperPod; enter e.g. ml.p5.48xlarge: "
    assert max(map(len, person.asked)) < 100


@pytest.mark.parametrize("name", ["AWS_REGION", "AWS_DEFAULT_REGION"])
def test_the_region_of_the_environment_is_offered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(name, "us-east-1")
    person = Person("", "use1-az4", "ml.g5.48xlarge", "", "", "")
    run(tmp_path, {}, person)
    assert person.asked[0] == "region, e.g. us-west-2 [us-east-1]: "
    assert load_cluster(tmp_path / "mine.yaml").region == "us-east-1"


def test_aws_region_comes_before_aws_default_region_and_a_zone_before_both(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-west-1")
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    person = Person("", "use1-az4", "ml.g5.48xlarge", "", "", "")
    run(tmp_path, {}, person)
    assert person.asked[0].endswith(" [us-east-1]: ")
    run(tmp_path, ENOUGH, force=True)
    assert load_cluster(tmp_path / "mine.yaml").region == "us-west-2"


def test_a_region_of_the_environment_that_is_none_is_not_offered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_REGION", "mars-1")
    person = Person("us-west-2", "usw2-az4", "ml.p5.48xlarge", "", "", "")
    run(tmp_path, {}, person)
    assert person.asked[0] == "region, e.g. us-west-2: "


def test_a_zone_that_the_release_does_not_know_is_a_warning(tmp_path: Path) -> None:
    [text] = run(tmp_path, {**ENOUGH, "zone": "use1-az99"})
    warning, *_, said = text.splitlines()
    assert f"{tmp_path}/mine.yaml:" in warning
    assert ': warning: network.availability_zone_id: "use1-az99": unknown zone; ' in warning
    assert said.startswith("wrote ")
