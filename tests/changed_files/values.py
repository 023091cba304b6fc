"""Draw values for cluster files: plausible ones by field, and odd ones."""

import json
from random import Random

from config.errors import Path
from config.instance_types import listed_types
from config.zones import regions, zones_of
from tests.unit.cluster_request.request_leaves import holding, leaves

EVENTS = ("[]", "[NEW]", "[NEW, CHANGED]", "[NEW, CHANGED, DELETED]")
RANGES = ("10.0.0.0/16", "10.1.0.0/16", "10.2.0.0/20", "10.0.4.0/22", "100.64.0.0/16", "172.20.0.0/16", "192.168.0.0/24")

SECRET = "arn:aws:secretsmanager:us-west-2:123456789012:secret:slurm-AbCdEf"

FITTING: dict[str, tuple[str, ...]] = {
    "instance_type": tuple(listed_types()),
    "instance_count": ("0", "1", "2", "3", "4", "8", "32", "500"),
    "threads_per_core": ("1", "2"),
    "partition": ("dev", "gpu-2", "ml.g5.48xlarge", "a_b", "Default", '"2"'),
    "volume_gib": ("1", "500", "16384"),
    "deep_health_checks": ("[]", "[InstanceStress]", "[InstanceStress, InstanceConnectivity]"),
    "role": ("controller", "login", "compute"),
    "deployment_type": ("PERSISTENT_1", "PERSISTENT_2"),
    "version": ('"2.12"', '"2.15"'),
    "storage_capacity_gib": ("1200", "2400", "4800", "9600"),
    "throughput_mbps_per_tib": ("50", "125", "250", "500", "1000"),
    "compression": ("LZ4", "NONE"),
    "path": ("/data", "/results/one", "/x", "/fsx/data"),
    "bucket": ("our-data", "our.data", "their-results"),
    "prefix": ("sets", "sets/one", '""'),
    "import_metadata_on_create": ("true", "false"),
    "imported_file_chunk_size_mib": ("1", "1024", "512000"),
    "auto_import": EVENTS,
    "auto_export": EVENTS,
    "vpc_cidr": RANGES,
    "node_cidr": RANGES,
    "public_subnet_cidr": RANGES,
    "flow_logs_retention_days": ("1", "30", "365", "3653"),
    "uid": ("1001", "10003", "20005", "70000"),
    "gid": ("1001", "10004", "20006", "70001"),
    "sudo": ("true", "false"),
    "groups": ("[]", "[vision]"),
    "restrict_ssh": ("true", "false"),
    "prolog_and_epilog": ("true", "false"),
    "metadata_access": ("administrators", "all"),
    "controller_role": ("own", "shared"),
    "state_folder": ("/fsx/slurm", "/home/slurm"),
    "homes": ("/fsx", "/fsx/people"),
    "database": ("local", "external", "managed", "none"),
    "setup": ("api", "scripts"),
    "labels": ("{pool: gpus}", "{kubernetes.io/pool: gpus}", "{}"),
    "taints": ("[{key: pool, effect: NoSchedule}]", "[{key: pool, effect: NoExecute, value: gpus}]", "[]"),
    "admins": ("[arn:aws:iam::123456789012:role/Admin]", "[arn:aws-cn:iam::123456789012:role/Admin]", "[]"),
    "teams": ("[{name: a}]", "[{name: a, quota: {}}]", "[{name: a}, {name: a}]", "[]"),
    "addons": ("{coredns: {enabled: false}}", "{metrics-server: {enabled: false}}", "{cert-manager: {enabled: false}}", "{}"),
    "scheduling": ("{}", "{priority_classes: [{name: a, weight: 1}]}"),
    "autoscaling": ("karpenter",),
    "public_access_cidrs": ("[198.51.100.0/24]", "[10.0.0.0/8]", "[]"),
    "endpoint_access": ("private", "public_and_private"),
    "logs": ("[]", "[audit]", "[audit, audit]"),
    "control_plane_cidrs": ("[10.0.2.0/28, 10.0.3.0/28]", "[10.0.2.0/28, 10.0.2.0/24]"),
    "control_plane_zone_ids": ("[usw2-az1, usw2-az2]", "[use2-az1, use2-az2]"),
    "log_retention_days": ("30", "31"),
    "secrets_key_arn": ("arn:aws:kms:us-west-2:123456789012:key/01234567-89ab-cdef-0123-456789abcdef",),
    "provisioning": ("continuous",),
    "capacity": ("on_demand", "on_demand", "spot", "spot", "training_plan"),
    "min_instance_count": ("1", "2", "4"),
    "volume_key_arn": (
        "arn:aws:kms:us-west-2:123456789012:key/01234567-89ab-cdef-0123-456789abcdef",
        "arn:aws:kms:us-east-1:123456789012:key/mrk-0123456789abcdef",
    ),
    "training_plan_arn": ("arn:aws:sagemaker:us-west-2:123456789012:training-plan/p5-in-spring",),
    "execution_role": ("arn:aws:iam::123456789012:role/theirs",),
    "accounting": (
        "{database: none}",
        f"{{database: external, host: db.example.com, secret_arn: {SECRET}}}",
        f"{{database: managed, host: db.example.com, secret_arn: {SECRET}}}",
        f"{{database: managed, host: db.example.com, secret_arn: {SECRET}, port: 3307, schema_name: acct}}",
    ),
    "partitions": (
        "[{name: dev, max_time: 1-00:00:00, default: true}]",
        "[{name: dev, allow_accounts: [vision]}, {name: all, groups: [compute-nodes]}]",
        "[{name: dev, state: INACTIVE, priority_tier: 2}]",
    ),
    "settings": ("{KillWait: '60'}", "{SchedulerParameters: bf_continue, AccountingStorageEnforce: 'limits,qos'}"),
    "port": ("3306", "13306"),
    "wait": ("nodes", "cluster", "none"),
    "wait_hours": ("1", "3", "12"),
    "node_recovery": ("Automatic", "None"),
    "removal": ("retain", "destroy"),
    "cluster_name": ("ml", "ml-2", "A"),
    "trust_source_account": ("true", "false"),
    "recreate": ("true", "false"),
    "account": ('"123456789012"',),
    "alarm_topic_arn": ("arn:aws:sns:us-west-2:123456789012:alarms",),
    "monitoring": ("{enabled: false}", "{emails: [ops@example.com]}", "{drained_nodes: 3, free_disk_percent: 12.5}"),
    "tags": ("{team: speech}", '{team: speech, "cost:center": "4711"}'),
    "message_of_the_day": ("welcome", '"a: b"', "ë"),
}

ODD = (
    *(
        "",
        "null",
        "true",
        "no",
        "0",
        "-1",
        "1",
        "7",
        "101",
        "99999999999999999999",
        "1.5",
        "2.15",
        ".5",
        "1e3",
        "0x10",
        '"4"',
        "~",
    ),
    *(
        "-",
        "*",
        "&a b",
        "*a",
        "!!int 3",
        "!Ref x",
        "|",
        ">",
        "%",
        "@",
        "`",
        "'",
        '"',
        '"\\ud800"',
        '"\\x00"',
        "ë",
        "a b",
        "a: b",
        "#",
    ),
    *(
        "[]",
        "{}",
        "[[]]",
        "[null]",
        "{a: 1}",
        "[{name: x}]",
        "{name: x, role: login}",
        "ml.p5.48xlarge",
        "ml.x9.metal",
        "controller",
    ),
    *(
        "10.0.0.0/8",
        "10.0.0.1/16",
        "::/0",
        "0.0.0.0/0",
        "300.0.0.0/16",
        "usw2-az4",
        "us-west-2a",
        "mars-1",
        "Automatic",
        "automatic",
    ),
    *("sg-0123456789abcdef0", "subnet-0123456789abcdef0", "arn:aws:iam::123456789012:role/r", "s3://b/p", "../x", "/", "/.."),
)

LEAVES: tuple[Path, ...] = tuple(leaves())


def fitting(random: Random, field: str) -> str:
    """Return a plausible value for the field, or an odd one for an unknown field."""
    return random.choice(FITTING.get(field, ODD))


def place(random: Random) -> tuple[str, str]:
    """Return a region and the id of one of its zones."""
    region = random.choice([each for each in regions() if zones_of(each)])
    return region, random.choice(zones_of(region))


def override(random: Random, of_a_group: bool) -> str:
    """Return a member of the request or of a group, with its required members."""
    depth = 2 if of_a_group else 0
    paths = [leaf for leaf in LEAVES if (leaf[0] == "InstanceGroups") is of_a_group]
    member = random.choice(sorted({str(leaf[depth]) for leaf in paths}))
    leaf = random.choice([leaf for leaf in paths if leaf[depth] == member])
    request = holding(leaf)
    return json.dumps({member: (request["InstanceGroups"][0] if of_a_group else request)[member]})
