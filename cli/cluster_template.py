"""The file that `./hpod init` writes: the answers, and further settings as comments."""

from pathlib import Path

from cli.import_cluster.commented_yaml import Part, schema_note, written
from cli.questions import NEW, NONE, Answers, listed
from cluster_request.eks_addons import versions
from config.model import Orchestrator

HEAD = "{}. Every field is described in docs/reference/configuration.md; what you change here, `cdk diff` shows."
NETWORK = "The id, not the name, of the zone with your quota, reservation or training plan; ids are the same in every account."
STORAGE = (
    "FSx for Lustre, at /fsx on every node: 1200 GiB, or a multiple of 2400. `cdk destroy` keeps it, unless `removal: destroy`."
)
LINK = "To link it to a bucket, for imports and exports: `data_repository_associations: [{path: /data}]`."
CLAIM = STORAGE.replace("at /fsx on every node", "a volume claim in each team's namespace")
GROUPS = "One Slurm controller, a login node for users, and compute nodes by partition. Counts can change at any time."
CHECKS = (
    "For a compute group: `deep_health_checks: [InstanceStress, InstanceConnectivity]`, with `wait_hours: 3`; `overrides: {...}`."
)
EKS = (
    "The Kubernetes cluster; only `admins` administer it: docs/operate/eks.md.",
    "A team with its own namespace: `teams: [{name: research, role_arns: [...]}]`.",
)
NODES = "Nodes that run pods. Counts can change at any time; `labels` and `taints` are those of Kubernetes."
RECOVERY = "HyperPod replaces or reboots nodes whose hardware fails."
SETUP = (
    "HyperPod configures Slurm; only controllers can read the secret of a database. Set only at creation: docs/operate/slurm.md."
)
PROVISIONING = "HyperPod starts with the nodes that it gets, and adds the others later. Set only at creation."
USERS = (
    "People, by the same name and number on every node; `ssh_public_keys` and `sudo`: see docs/reference/configuration.md:",
    "users:",
    "  - name: alice",
    "    uid: 10001",
)


def first_file(answers: Answers, folder: Path) -> str:
    """Return the cluster file for the answers, to be written into ``folder``."""
    is_eks = answers["orchestrator"] == Orchestrator.EKS
    head = HEAD.format("A cluster on Amazon EKS" if is_eks else "One Slurm cluster")
    storage = answers["storage"] == NEW
    about_storage = (CLAIM if is_eks else STORAGE, LINK) if storage else ()
    return written(
        [
            Part({}, (*schema_note(folder), head)),
            Part({"region": answers["region"]}),
            Part({"network": _network(answers)}, (NETWORK,)),
            Part({"storage": {"lustre": {"storage_capacity_gib": 1200}}} if storage else {}, about_storage),
            *(_eks_parts(answers) if is_eks else _slurm_parts(answers)),
        ]
    )


def _slurm_parts(answers: Answers) -> list[Part]:
    groups = [
        {"name": "controller", "role": "controller", "instance_type": "ml.c5.xlarge", "instance_count": 1},
        {"name": "login", "role": "login", "instance_type": "ml.m5.xlarge", "instance_count": 1},
        {"name": "workers", "role": "compute", "partition": "dev", **_workers(answers)},
    ]
    return [
        Part({"instance_groups": groups}, (GROUPS, CHECKS)),
        Part({"slurm": {"setup": "api", "controller_role": "own"}}, (SETUP,)),
        Part({"provisioning": "continuous"}, (PROVISIONING,)),
        Part({}, USERS),
    ]


def _eks_parts(answers: Answers) -> list[Part]:
    eks: dict[str, object] = {"version": max(versions())}
    if answers["vpc"] != NEW:
        eks["control_plane_subnet_ids"] = listed(answers["control_plane_subnets"])
    eks["admins"] = [] if answers["admins"] == NONE else listed(answers["admins"])
    return [
        Part({"eks": eks}, EKS),
        Part({"instance_groups": [{"name": "workers", **_workers(answers)}]}, (NODES, CHECKS)),
        Part({"provisioning": "continuous"}, (PROVISIONING,)),
        Part({"node_recovery": "Automatic"}, (RECOVERY,)),
    ]


def _workers(answers: Answers) -> dict[str, object]:
    return {"instance_type": answers["instance_type"], "instance_count": int(answers["instance_count"])}


def _network(answers: Answers) -> dict[str, object]:
    network: dict[str, object] = {"availability_zone_id": answers["zone"]}
    if answers["vpc"] != NEW:
        network["existing"] = {
            "vpc_id": answers["vpc"],
            "node_subnet_ids": listed(answers["subnets"]),
            "security_group_id": answers["security_group"],
        }
    return network
