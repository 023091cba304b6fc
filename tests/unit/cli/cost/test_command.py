"""`hpod cost` on the command line."""

import json
from pathlib import Path

import pytest

from cli.__main__ import main

pytestmark = pytest.mark.usefixtures("checkout")

REFERENCE = "clusters/reference.yaml"


def test_a_cluster_is_named_by_its_name_or_its_path(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cost", "reference"]) == main(["cost", REFERENCE]) == 0
    first, _, second = capsys.readouterr().out.partition(f"{REFERENCE}: ")
    assert first.partition(": ")[2] == second
    text = " ".join(second.split())
    assert "4 x ml.trn1.32xlarge, 1 thread per core 2,920 node-hours" in text
    assert "1,200 GiB-months" in text
    assert "unknown" not in text
    assert "not included: charges by use, root volumes" in text
    assert "`--live` adds prices" in text


def test_a_file_with_errors_is_not_priced(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "wrong.yaml").write_text("region: us-west-2\n")
    assert main(["cost", str(tmp_path / "wrong.yaml")]) == 1
    assert "wrong.yaml" in capsys.readouterr().err


def test_the_region_is_that_of_the_zone_where_the_file_names_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = Path(REFERENCE).read_text().replace("region: us-west-2\n", "").replace("usw2-az4", "use1-az4")
    (tmp_path / "elsewhere.yaml").write_text(text)
    assert main(["cost", str(tmp_path / "elsewhere.yaml")]) == 0
    assert ": cluster elsewhere in us-east-1; " in capsys.readouterr().out


def test_programs_get_quantities_without_prices(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cost", "reference", "--output", "json"]) == 0
    data = json.loads(capsys.readouterr().out)["data"]
    assert data["charges"][2] == {
        "section": "instance groups",
        "name": "compute-nodes",
        "description": "4 x ml.trn1.32xlarge, 1 thread per core",
        "quantity_per_month": "2920",
        "unit": "node-hours",
    }
    assert "total" not in data
