"""The file that `./hpod init` writes: the answers, and further settings as comments."""

from pathlib import Path

from cli.import_cluster.commented_yaml import Part, schema_note, written
from cli.questions import NEW, Answers

HEAD = (
    "One Slurm cluster. Every field is described in docs/reference/configuration.md; what you change here, `cdk diff` shows.",
)
NETWORK = "The id, not the name, of the zone with your quota, reservation or training plan; ids are the same in every account."
STORAGE = (
    "FSx for Lustre, at /fsx on every node: 1200 GiB, or a multiple of 2400. `cdk destroy` keeps it, unless `removal: destroy`."
)
LINK = "To link it to a bucket, for imports and exports: `data_repository_associations: [{path: /data}]`."
GROUPS = "One Slurm controller, a login node for users, and compute nodes by partition. Counts can change at any time."
CHECKS = (
    "For a compute group: `deep_health_checks: [InstanceStress, InstanceConnectivity]`, with `wait_hours: 3`; `overrides: {...}`."
)
SETUP = "HyperPod configures Slurm. Set only at creation: docs/operate/slurm-setup.md."
PROVISIONING = "HyperPod starts with the nodes that it gets, and adds the others later. Set only at creation."
USERS = (
    "People, by the same name and number on every node; `ssh_public_keys` and `sudo`: see docs/reference/configuration.md:",
    "users:",
    "  - name: alice",
    "    uid: 10001",
)


def first_file(answers: Answers, folder: Path) -> str:
    """Return the cluster file for the answers, to be written into ``folder``."""
    storage = answers["storage"] == NEW
    return written(
        [
            Part({}, (*schema_note(folder), *HEAD)),
            Part({"region": answers["region"]}),
            Part({"network": _network(answers)}, (NETWORK,)),
            Part({"storage": {"lustre": {"storage_capacity_gib": 1200}}} if storage else {}, (STORAGE, LINK) if storage else ()),
            Part({"instance_groups": _groups(answers)}, (GROUPS, CHECKS)),
            Part({"slurm": {"setup": "api"}}, (SETUP,)),
            Part({"provisioning": "continuous"}, (PROVISIONING,)),
            Part({}, USERS),
        ]
    )


def _network(answers: Answers) -> dict[str, object]:
    network: dict[str, object] = {"availability_zone_id": answers["zone"]}
    if answers["vpc"] != NEW:
        network["existing"] = {
            "vpc_id": answers["vpc"],
            "node_subnet_ids": [each.strip() for each in answers["subnets"].split(",")],
            "security_group_id": answers["security_group"],
        }
    return network


def _groups(answers: Answers) -> list[dict[str, object]]:
    workers = {"instance_type": answers["instance_type"], "instance_count": int(answers["instance_count"])}
    return [
        {"name": "controller", "role": "controller", "instance_type": "ml.c5.xlarge", "instance_count": 1},
        {"name": "login", "role": "login", "instance_type": "ml.m5.xlarge", "instance_count": 1},
        {"name": "workers", "role": "compute", "partition": "dev", **workers},
    ]
