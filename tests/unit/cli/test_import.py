"""`hpod import` on the command line: what it prints, writes and refuses, and what it does without."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from cli.__main__ import main
from tests.unit.cli.import_cluster.originals import DATA, PARAMETERS, REQUEST, changed
from validation.load import load_cluster

PAIR = [str(DATA / "login-node" / name) for name in ("create_cluster.json", "provisioning_parameters.json")]
TRIPLE = [str(DATA / "base-config" / f"{name}.json") for name in ("cluster-config", "provisioning_parameters", "vpc-config")]


def test_the_file_is_printed(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["import", *PAIR]) == 0
    (tmp_path / "mine.yaml").write_text(capsys.readouterr().out)
    assert load_cluster(tmp_path / "mine.yaml").cluster_name == "your-hyperpod-cluster"


def test_a_reader_that_has_read_enough_is_no_error() -> None:
    command = f"{sys.executable} -m cli import {PAIR[0]} {PAIR[1]}; echo $? >&2"
    ran = subprocess.run(["bash", "-c", f"({command}) | true"], cwd=DATA.parents[2], capture_output=True, text=True, check=True)
    assert ran.stderr in ("0\n", "141\n")  # it may have written all before nobody listens


def test_the_file_is_written_and_never_over_another_unless_it_is_forced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "1000")
    file = tmp_path / "clusters" / "mine.yaml"
    assert main(["import", *PAIR, "--write", str(file)]) == 1
    assert f"--write: no folder {file.parent}; create it, or choose another" in capsys.readouterr().err
    file.parent.mkdir()
    assert main(["import", *PAIR, "--write", str(file)]) == 0
    assert f"wrote {file}; " in capsys.readouterr().out
    assert load_cluster(file).cluster_name == "your-hyperpod-cluster"
    file.write_text("# mine\n")
    assert main(["import", *PAIR, "--write", str(file)]) == 1
    assert "already exists; choose another name, or pass --force to overwrite it" in capsys.readouterr().err
    assert file.read_text() == "# mine\n"
    assert main(["import", *PAIR, "--write", str(file), "--force"]) == 0
    assert load_cluster(file).cluster_name == "your-hyperpod-cluster"


def test_a_name_that_is_no_cluster_files_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["import", *PAIR, "--write", str(tmp_path / "mine.json")]) == 1
    assert "cluster files end in .yaml" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_the_pair_that_disagrees_with_itself_is_reported_and_imports_without_what_is_not_there(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["import", *TRIPLE]) == 1
    refused = capsys.readouterr()
    problem = 'login_group: "my-login-group": login_group my-login-group is not an instance group; all of them have other roles'
    assert refused.err.endswith(f"provisioning_parameters.json:5:3: {problem}: leave it out with --drop-unknown-groups\n")
    assert (refused.out, len(refused.err.splitlines())) == ("", 1)
    assert main(["import", *TRIPLE, "--drop-unknown-groups"]) == 0
    printed = capsys.readouterr().out
    assert "# Dropped, because they are not instance groups: my-login-group of provisioning_parameters.json." in printed
    assert [group["role"] for group in yaml.safe_load(printed)["instance_groups"]] == ["controller", "compute"]


def test_a_cluster_that_needs_the_users_hand_is_written_and_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    request, parameters, file = (tmp_path / name for name in ("create.json", "parameters.json", "mine.yaml"))
    request.write_text(json.dumps(changed(REQUEST, "InstanceGroups", 0, "InstanceCount", 2)))
    parameters.write_text(json.dumps(PARAMETERS))
    assert main(["import", str(request), str(parameters), "--write", str(file)]) == 1
    assert "required for 2 controllers" in capsys.readouterr().err
    assert "instance_count: 2" in file.read_text()


def test_a_request_that_lets_hyperpod_configure_slurm_keeps_that(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "mine.yaml"
    assert main(["import", str(DATA / "physical-ai" / "create_cluster.json"), "--write", str(file), "--zone", "use1-az4"]) == 0
    text = file.read_text()
    assert "slurm:\n  setup: api\n" in text
    assert "overrides" not in text.replace("`overrides`", "")
    assert main(["validate", "--strict", str(file)]) == 0, capsys.readouterr().out


def test_scripts_of_the_user_conflict_with_slurm_configs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "on_create.sh").touch()
    request, file = DATA / "physical-ai" / "create_cluster.json", tmp_path / "mine.yaml"
    assert main(["import", str(request), "--write", str(file), "--zone", "use1-az4", "--scripts", "src"]) == 1
    assert capsys.readouterr().err.count("; remove it, as `role` and `partition` already set this\n") == 4
    assert "setup: scripts" in file.read_text()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            [],
            "nothing to import; give create_cluster.json [provisioning_parameters.json [vpc-config.json]], or",
        ),
        ([*TRIPLE, "more"], "4 files given, at most 3 allowed; give create_cluster.json"),
        (["--from-cluster", "theirs", *PAIR], "2 files given with --from-cluster, which takes only provisioning_parameters.json"),
        (
            [*PAIR, "--keep", "everything", "--scripts", "scripts"],
            "--keep everything keeps them; remove one of the two",
        ),
        ([*PAIR, "--keep", "nothing", "--vpc", "vpc-0123456789abcdef0"], "--keep nothing creates one; remove one of the two"),
    ],
)
def test_options_that_do_not_go_together_are_refused(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["import", *words]) == 1
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--region", "us-wst-2"], "--region: us-wst-2 is not a region of SageMaker; did you mean us-west-2"),
        (["--zone", "usw2-4"], "--zone: usw2-4 is not an availability zone id; did you mean usw2-az4"),
        (
            ["--region", "us-west-2", "--zone", "us-west-2a"],
            "is a zone name, which differs between accounts; use its id: usw2-az1",
        ),
        (["--zone", "us-east-1a"], "use its id: use1-az1, use1-az2"),
        (
            ["--region", "us-west-2", "--zone", "use1-az4"],
            "--zone use1-az4 is in us-east-1, but --region is us-west-2; remove or correct one of the two",
        ),
        (["--region", "us-east-1"], "is in us-west-2, and --region is us-east-1; remove --region"),
        (["--zone", "use1-az4"], "is in us-west-2, and --zone is use1-az4, in us-east-1; remove --zone"),
        (["--vpc", "vpc-x", "--zone", "usw2-az4"], "--vpc vpc-x: must be vpc- and 8 to 17 hexadecimal digits"),
        (["--scripts", "nowhere"], "--scripts nowhere: folder not found; create 'nowhere', relative to the cluster file"),
        (["--write", "Mine_1.yaml"], "--write Mine_1.yaml: file name must be"),
        (["--write", "mine.json"], "cluster files end in .yaml"),
    ],
)
def test_an_option_that_is_wrong_is_refused_before_anything_is_written(
    words: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    output = [] if "--write" in words else ["--write", "mine.yaml"]
    assert main(["import", *PAIR, *words, *output]) == 1
    told = capsys.readouterr()
    assert (said in told.err, told.out) == (True, ""), told
    assert list(tmp_path.iterdir()) == []


def test_the_vpc_of_a_network_says_that_the_network_is_kept(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["import", *PAIR, "--vpc", "vpc-0123456789abcdef0", "--zone", "usw2-az4"]) == 0
    assert "vpc_id: vpc-0123456789abcdef0" in capsys.readouterr().out
