"""Hold the prose and the examples of docs/reference/configuration.md; tests load the examples."""

from config.section import Change

CHANGES = {
    Change.NOTHING: "No effect on the cluster.",
    Change.IN_PLACE: "The resource is updated; nodes keep running.",
    Change.RUNNING_NODES: "Applies in place to running nodes, [wave by wave](../operate/running-nodes.md), and to new nodes. "
    "With `lifecycle.follow: new_nodes`, only to new nodes.",
    Change.NEW_NODES: "Applies to nodes that start after the change; running nodes stay as they are.",
    Change.REPLACES_NODES: "A group with another `name` gets new nodes, and the old group is deleted. With the same `name`, the "
    "deployment refuses the change before it changes the cluster, and prints the fix.",
    Change.REPLACES_NAMESPACE: "The team gets a new namespace; the old one is kept while it "
    "[holds objects of members](../operate/eks.md#teams).",
    Change.REPLACES_FILE_SYSTEM: "`/fsx` becomes another, empty file system. The old file system is kept with its data; "
    "with `removal: destroy` it is deleted. Running nodes stay on the old one, new nodes use the new one.",
    Change.REPLACES_CLUSTER: "The cluster is recreated. With a fixed `cluster_name` or on EKS the deployment fails instead.",
    Change.REPLACES_BOTH: "Both of these: a new cluster, and an empty file system if the deployment creates one.",
    Change.SECOND_CLUSTER: "A deployment creates other stacks with a second cluster, and the first one keeps running.",
    Change.IN_TWO_DEPLOYMENTS: "`./hpod preflight` refuses it, and a deployment fails: AWS refuses the new resource beside the "
    "old one. Remove the entry and deploy, then add it again and deploy. Files and objects stay.",
    Change.AT_CREATION: "`./hpod preflight` refuses a change, and a deployment fails; use a second file for another cluster.",
}

INTRO = """# Configuration

<!-- Generated from the models by `python -m tools.configuration_page > docs/reference/configuration.md`; do not edit. -->

Each file `clusters/NAME.yaml` describes one cluster. The file name is the cluster's name: `clusters/reference.yaml` creates the
stacks `reference-Network`, `reference-Storage`, `reference-Cluster` and `reference-Monitoring`. A name is 2-31 lower-case
letters, digits or hyphens, and starts with a letter. Removing a file deletes nothing; run `cdk destroy 'NAME/*'` first.

This is the shortest file: a controller and one compute node, a file system, and no linked bucket.

```yaml
{minimal}```

With an `eks` section, the orchestrator is Amazon EKS instead of Slurm. Groups have no role, and the cluster creates the stacks
`NAME-Kubernetes` and `NAME-Addons`, too. This is the shortest file:

```yaml
{minimal_eks}```

All problems in a file are reported at once, before the deployment, as `file:line:column: field: value: problem; fix [rule]`. The
end of this page explains each rule. `./hpod validate CLUSTER` reports the same problems in under a second;
[Validation](validation.md) lists what it does not check.

Editors with a YAML language server complete and check fields with the schema in the first line of the shipped files:
`# yaml-language-server: $schema=../schema/cluster.schema.json` (relative to the file).

Only `true` and `false` are booleans (`no` is text). Text that looks like a number requires quotes (`version: "2.15"`,
`account: "012345678901"`). Each field may be set only once.

## What a change does

The column *a change* of the tables below is the effect on a running cluster when you change the field and deploy. The column
*becomes* is the member of the API request that gets the value, of CreateCluster unless another operation is named.

| a change | what happens |
|---|---|
{changes}
"""

MINIMAL = """region: us-west-2
network:
  availability_zone_id: usw2-az2
storage:
  lustre: {}
instance_groups:
  - name: controller
    role: controller
    instance_type: ml.c5.xlarge
    instance_count: 1
  - name: workers
    role: compute
    partition: dev
    instance_type: ml.g5.8xlarge
    instance_count: 1
"""

MINIMAL_EKS = """region: us-west-2
network:
  availability_zone_id: usw2-az2
eks:
  version: "1.35"
instance_groups:
  - name: workers
    instance_type: ml.g5.8xlarge
    instance_count: 1
"""

# Examples for sections that are not in the shortest file; tests add each to it.
EXAMPLES = {
    "network.existing": """network:
  availability_zone_id: usw2-az2
  existing:
    vpc_id: vpc-0123456789abcdef0
    node_subnet_ids: [subnet-0123456789abcdef0]
    security_group_id: sg-0123456789abcdef0
""",
    "storage.existing": """storage:
  existing:
    file_system_id: fs-0123456789abcdef0
    mount_name: abcdefgh
""",
    "storage.data_repository_associations[]": """storage:
  lustre: {}
  data_repository_associations:
    - path: /data                # the whole data bucket
    - path: /models
      bucket: our-models
      prefix: released
      auto_export: []
""",
    "users[]": """user_groups:
  - {name: vision, gid: 20001}
users:
  - {name: alice, uid: 10001, groups: [vision], sudo: true}
  - {name: bob, uid: 10002}
""",
    "directory": """directory:
  type: ldap
  uris: [ldaps://ldap.example.com]
  search_base: dc=example,dc=com
  bind_dn: cn=sssd,ou=services,dc=example,dc=com
  secret_arn: arn:aws:secretsmanager:us-west-2:123456789012:secret:directory-AbCdEf
  allowed_groups: [ml]
  sudo_groups: [ml-admins]
""",
    "slurm": """slurm:
  settings:
    SchedulerParameters: bf_continue,bf_max_job_test=1000
    KillWait: "60"
""",
    "slurm.partitions[]": """slurm:
  partitions:
    - {name: dev, max_time: "12:00:00"}        # HyperPod's partition of all nodes
    - name: urgent
      groups: [workers]                        # which are also in their own partition
      priority_tier: 10
      max_time: "60"                           # minutes
""",
    "monitoring": """monitoring:
  emails: [ml-operations@example.com]
  slack: {workspace_id: T0123ABCD, channel_id: C0123ABCD}
  drained_nodes: 3
""",
    "node_role": """node_role:
  managed_policy_arns: [arn:aws:iam::aws:policy/AmazonEC2ContainerRegistryReadOnly]
  statements:
    - Sid: ReadDatasets
      Effect: Allow
      Action: [s3:GetObject, s3:ListBucket]
      Resource: [arn:aws:s3:::our-datasets, arn:aws:s3:::our-datasets/*]
slurm: {metadata_access: all}
""",
    "slurm.accounting": """slurm:
  accounting:
    database: external
    host: slurm.cluster-abcdefghijkl.us-west-2.rds.amazonaws.com
    secret_arn: arn:aws:secretsmanager:us-west-2:123456789012:secret:slurm-AbCdEf
""",
}

# The same for sections of EKS clusters; tests add each to the shortest file with EKS.
EKS_EXAMPLES = {
    "eks": """eks:
  version: "1.35"
  admins: [arn:aws:iam::123456789012:role/PlatformAdmin]
  public_access_cidrs: [198.51.100.0/24]
""",
    "eks.existing": """eks:
  existing: {name: platform}
network:
  availability_zone_id: usw2-az2
  existing:
    vpc_id: vpc-0123456789abcdef0
    node_subnet_ids: [subnet-0123456789abcdef0]
    security_group_id: sg-0123456789abcdef0
""",
    "eks.addons.NAME": """eks:
  version: "1.35"
  addons:
    metrics-server: {enabled: false}
    coredns:
      configuration: {replicaCount: 3}
""",
    "eks.teams[]": """eks:
  version: "1.35"
  teams:
    - name: vision
      role_arns: [arn:aws:iam::123456789012:role/VisionResearchers]
      quota:
        resources:
          - {instance_type: ml.g5.8xlarge, count: 1}
    - name: speech
      quota: {}                  # only compute that vision lends
  scheduling:
    priority_classes:
      - {name: training, weight: 90}
""",
    "instance_groups[].taints[]": """instance_groups:
  - name: workers
    instance_type: ml.g5.8xlarge
    instance_count: 1
  - name: reserved
    instance_type: ml.g5.8xlarge
    instance_count: 1
    labels: {pool: reserved}
    taints:
      - {key: pool, value: reserved, effect: NoSchedule}
""",
}

LEVELS = """## Errors, warnings and notes

An error prevents the synthesis. A warning is probably a mistake: `./hpod validate` prints it, and so do `cdk` commands with stack
names (`cdk diff 'NAME/*'`); `cdk synth --strict 'NAME/*'` fails on it. To suppress a warning, add its rule and a reason:

```yaml
{example}```

A suppression applies to the whole file. Suppressing an error or an unknown rule is an error. Suppressing a warning that the file
does not cause is a note, which only `validate` prints.
"""

LEVELS_EXAMPLE = """trust_source_account: true
suppress:
  - rule: untested-trust-policy
    reason: tested on 2026-01-31 with a cluster of one node
"""

OVERRIDES = """## `overrides`: all of CreateCluster

Set any other member of CreateCluster in the `overrides` of an instance group or of the cluster, with the API's names. They are
merged into the request at every depth and take precedence; lists are replaced, and `null` removes a member.

The request is checked against the API's definition in the pinned boto3: unknown members, wrong types, unknown choices and values
out of bounds are errors. A combination that only AWS's documentation excludes is a warning, as the service decides.

```yaml
{example}```
"""

OVERRIDES_EXAMPLE = """instance_groups:
  - name: controller
    role: controller
    instance_type: ml.c5.xlarge
    instance_count: 1
    overrides:
      AutoPatchConfig:
        PatchingStrategy: WhenIdle
"""
