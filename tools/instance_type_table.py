"""Write config/data/instance_types.json: `python -m tools.instance_type_table > config/data/instance_types.json`.

Development only: read the types from botocore, and their properties from moto's copy of DescribeInstanceTypes.
"""

import gzip
import json
from importlib.metadata import version
from importlib.resources import files
from typing import Any

from cluster_request.service_model import shape
from tools.fact_table import print_table

# DescribeInstanceTypes returns no sockets; these are published elsewhere.
SOCKETS = {"ml.p4d.24xlarge": 2, "ml.p4de.24xlarge": 2, "ml.p5.48xlarge": 2}
SOURCE_OF_SOCKETS = (
    "AWS's guide to distributed training on ParallelCluster, by https://github.com/aws/aws-parallelcluster/issues/5797"
)

# EC2 returns a wrong memory size: 512 GiB per chip, but AWS documents 96.
WRONG_MEMORY = {
    "Trainium2": "https://awsdocs-neuron.readthedocs-hosted.com/en/latest/about-neuron/arch/neuron-hardware/trainium2.html"
}

Facts = dict[str, object]


def instance_types() -> dict[str, Facts | None]:
    """Return the properties of each type that HyperPod supports, or None if moto does not know the type."""
    file = files("moto").joinpath("ec2/resources/instance_types.json.gz")
    known = json.loads(gzip.decompress(file.read_bytes()))
    names = sorted(shape("ClusterInstanceType")["enum"])
    return {name: _facts(name, known[of_ec2]) if (of_ec2 := name.removeprefix("ml.")) in known else None for name in names}


def _facts(name: str, described: dict[str, Any]) -> Facts:
    processor, network = described["VCpuInfo"], described["NetworkInfo"]
    return {
        "architecture": _only(described["ProcessorInfo"]["SupportedArchitectures"]),
        "vcpus": processor["DefaultVCpus"],
        "cores": processor["DefaultCores"],
        "threads_per_core": processor["DefaultThreadsPerCore"],
        "sockets": SOCKETS.get(name),
        "memory_mib": described["MemoryInfo"]["SizeInMiB"],
        **_devices("gpu", described.get("GpuInfo", {}).get("Gpus", [])),
        **_devices("neuron_device", described.get("NeuronInfo", {}).get("NeuronDevices", [])),
        "efa_interfaces": network["EfaInfo"]["MaximumEfaInterfaces"] if network["EfaSupported"] else 0,
        "network_cards": network["MaximumNetworkCards"],
        "network_interfaces": network["MaximumNetworkInterfaces"],
        "addresses_per_interface": network["Ipv4AddressesPerInterface"],
        **_disks(described.get("InstanceStorageInfo", {})),
    }


def _devices(kind: str, described: list[dict[str, Any]]) -> Facts:
    """Return count, model and memory of the accelerators; None without a reliable value."""
    device = _only(described)
    memory = device["MemoryInfo"]["SizeInMiB"] if device and device["Name"] not in WRONG_MEMORY else None
    return {
        f"{kind}s": device["Count"] if device else 0,
        kind: device["Name"].lower().replace(" ", "-") if device else None,
        f"{kind}_memory_mib": memory,
    }


def _disks(described: dict[str, Any]) -> Facts:
    """Return the number of NVMe disks, and the size of one in EC2's unit."""
    disk = _only(described.get("Disks", [])) if described.get("NvmeSupport", "unsupported") != "unsupported" else None
    return {"nvme_disks": disk["Count"] if disk else 0, "nvme_disk_gb": disk["SizeInGB"] if disk else None}


def _only(described: list[Any]) -> Any:
    """Return the only item, or None if there is none; the table has no place for two."""
    if len(described) > 1:
        raise ValueError(f"a type has {len(described)} kinds of one thing: {described}; give the table room for them")
    return described[0] if described else None


def table(date: str) -> dict[str, object]:
    """Return the table with its sources and date."""
    return {
        "source": f"types: botocore {version('botocore')}; facts: DescribeInstanceTypes, from moto {version('moto')}; "
        f"sockets: {SOURCE_OF_SOCKETS}",
        "date": date,
        "types": instance_types(),
    }


def rendered(content: dict[str, object]) -> str:
    """Return the table as JSON with one line for each type, for readable diffs and partial reads."""
    types: Any = content["types"]
    lines = ",\n".join(f"    {json.dumps(name)}: {json.dumps(facts)}" for name, facts in types.items())
    head = {key: value for key, value in content.items() if key != "types"}
    return f'{json.dumps(head, indent=2)[:-2]},\n  "types": {{\n{lines}\n  }}\n}}'


if __name__ == "__main__":
    print_table(__doc__, table, rendered)
