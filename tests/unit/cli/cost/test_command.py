"""`hpod cost` on the command line."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from cli.__main__ import main
from tests.cluster_files import CLUSTERS, PROJECT
from tests.unit.cli.test_import import CODE

pytestmark = pytest.mark.usefixtures("checkout")

REFERENCE = "clusters/reference.yaml"


def test_a_cluster_is_priced_by_its_name_and_by_its_path(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cost", "reference"]) == main(["cost", REFERENCE]) == 0
    first, _, second = capsys.readouterr().out.partition(f"{REFERENCE}: ")
    assert first.partition(": ")[2] == second
    told = " ".join(second.split())
    assert "4 x ml.trn1.32xlarge, 1 thread per core unknown " in told
    assert "total of 2 of 6 prices; no node's is known unknown unknown" in told


def test_a_table_costs_neither_the_sdk_of_aws_nor_the_cdk() -> None:
    command = [sys.executable, "-c", CODE, "cost", "reference", "--clusters", str(CLUSTERS)]
    ran = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=True)
    assert {"boto3", "botocore", "aws_cdk", "jsii", "constructs"} & set(ran.stderr.split()) == set()


def test_a_file_with_errors_is_not_priced(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "wrong.yaml").write_text("region: us-west-2\n")
    assert main(["cost", str(tmp_path / "wrong.yaml")]) == 1
    assert "wrong.yaml" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--save", "prices.json"], "--save writes the prices that --live asks for; give both\n"),
        (["--live", "--prices", "x.json"], "--prices takes the prices from a file, and --live asks for them; give one of both\n"),
        (["--prices", "x.json"], "cannot read x.json: No such file or directory; `--live --save x.json` makes one\n"),
    ],
)
def test_options_that_do_not_go_together_are_refused(options: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cost", "reference", *options]) == 1
    assert capsys.readouterr().err == said


def test_prices_can_be_of_a_table_of_ones_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    row = {"region": "us-west-2", "usage_type": "Cluster:ml.trn1.32xlarge", "unit": "Hrs", "usd": "20.5", "date": "2026-11-01"}
    (tmp_path / "prices.json").write_text(json.dumps({"prices": [{**row, "source": "ours"}]}))
    assert main(["cost", "reference", "--prices", str(tmp_path / "prices.json"), "--format", "json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["total"] == {"per_hour": "82.00000000", "per_month": "59860.00000000", "is_complete": False}


def test_the_region_is_that_of_the_zone_where_the_file_names_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = Path(REFERENCE).read_text().replace("region: us-west-2\n", "").replace("usw2-az4", "use1-az4")
    (tmp_path / "elsewhere.yaml").write_text(text)
    assert main(["cost", str(tmp_path / "elsewhere.yaml")]) == 0
    assert ": cluster elsewhere in us-east-1; " in capsys.readouterr().out
