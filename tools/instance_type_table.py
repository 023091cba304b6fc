"""Writes config/data/instance_types.json: `python -m tools.instance_type_table > config/data/instance_types.json`.

Development only: reads DescribeInstanceTypes' answers from moto's wheel, and HyperPod's types from botocore's.
"""

import argparse
import gzip
import json
from datetime import UTC, datetime
from importlib.metadata import version
from importlib.resources import files
from typing import Any

from config.service_model import shape

# DescribeInstanceTypes tells cores and no sockets: what is known of these stands where it was published.
SOCKETS = {"ml.p4d.24xlarge": 2, "ml.p4de.24xlarge": 2, "ml.p5.48xlarge": 2}
SOURCE_OF_SOCKETS = (
    "AWS's guide to distributed training on ParallelCluster, by https://github.com/aws/aws-parallelcluster/issues/5797"
)

Facts = dict[str, object]


def instance_types() -> dict[str, Facts]:
    """What is known of each type that HyperPod takes; nothing of a type that moto does not know."""
    file = files("moto").joinpath("ec2/resources/instance_types.json.gz")
    known = json.loads(gzip.decompress(file.read_bytes()))
    names = sorted(shape("ClusterInstanceType")["enum"])
    return {name: _facts(name, known[name.removeprefix("ml.")]) for name in names if name.removeprefix("ml.") in known}


def _facts(name: str, described: dict[str, Any]) -> Facts:
    processor, network = described["VCpuInfo"], described["NetworkInfo"]
    sockets, cores = SOCKETS.get(name), processor.get("DefaultCores")
    return {
        "vcpus": processor["DefaultVCpus"],
        "cores": cores,
        "threads_per_core": processor.get("DefaultThreadsPerCore"),
        "sockets": sockets,
        **_gpus(described.get("GpuInfo")),
        "efa_interfaces": network["EfaInfo"]["MaximumEfaInterfaces"] if network["EfaSupported"] else 0,
        "nvme": (described.get("InstanceStorageInfo") or {}).get("NvmeSupport", "unsupported") != "unsupported",
    }


def _gpus(described: dict[str, Any] | None) -> Facts:
    """How many GPUs, and of which model; a type that has a part of one has one."""
    gpus = described["Gpus"] if described else []
    return {"gpus": sum(gpu["Count"] for gpu in gpus), "gpu": gpus[0]["Name"].lower().replace(" ", "-") if gpus else None}


def table(date: str) -> dict[str, object]:
    """The facts, with where they come from and when they were taken from there."""
    return {
        "source": f"types: botocore {version('botocore')}; facts: DescribeInstanceTypes, from moto {version('moto')}; "
        f"sockets: {SOURCE_OF_SOCKETS}",
        "date": date,
        "types": instance_types(),
    }


def rendered(content: dict[str, object]) -> str:
    """The table as JSON with one line for each type, so that a change of it reads well."""
    types: Any = content["types"]
    lines = ",\n".join(f"    {json.dumps(name)}: {json.dumps(facts)}" for name, facts in types.items())
    head = {key: value for key, value in content.items() if key != "types"}
    return f'{json.dumps(head, indent=2)[:-2]},\n  "types": {{\n{lines}\n  }}\n}}'


def main() -> None:
    """Print the table."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--date", default=datetime.now(UTC).date().isoformat())
    print(rendered(table(arguments.parse_args().date)))  # noqa: T201  its output is the file


if __name__ == "__main__":
    main()
