"""The prose of docs/reference/configuration.md, and the examples in it, which tests load."""

from config.section import Change

CHANGES = {
    Change.NOTHING: "The cluster does not notice.",
    Change.IN_PLACE: "The resource is updated; nodes keep running.",
    Change.NEW_NODES: "Nodes that start from now on have it; running nodes keep what they have.",
    Change.REPLACES_NODES: "Nodes are replaced. Where the service cannot do that, the deployment stops and says what to do.",
    Change.REPLACES_CLUSTER: "The cluster is made anew. With a fixed `cluster_name` the deployment is refused instead.",
}

INTRO = """# Configuration

<!-- Made from the models by `python -m tools.configuration_page > docs/reference/configuration.md`; edit those. -->

Each file `clusters/NAME.yaml` describes one cluster, and its own name is the cluster's: `clusters/reference.yaml` becomes the
stacks `reference-Network`, `reference-Storage` and `reference-Cluster`. A name has 2 to 31 lower-case letters, digits and
hyphens, and begins with a letter. Removing a file deletes nothing; run `cdk destroy 'NAME/*'` first.

This is the shortest file: a controller and one node, their file system, and no bucket linked to it.

```yaml
{minimal}```

All that is wrong with a file is said at once, before anything is deployed, as
`file:line:column: field: value: what is wrong; remedy`. Each problem has a rule, by which the end of this page says why it
matters. `./hpod validate CLUSTER` says the same in under a second, with the rules;
[Where mistakes are found](validation.md) says what it leaves to others.

Editors with a YAML language server complete fields and mark mistakes while you type, by the schema that the first line of the
shipped files names: `# yaml-language-server: $schema=../schema/cluster.schema.json`, from the file's own folder.

Words are read as they look: only `true` and `false` are switches (a bare `no` is text), and text that looks like a number
needs quotes (`version: "2.15"`, `account: "012345678901"`). Each field is written once.

## What a change does

The column *a change* of the tables below says what happens to a running cluster when you change the field and deploy. The column
*becomes* names the member of the API's request that holds the value, of CreateCluster unless another operation is named.

| a change | what happens |
|---|---|
{changes}
"""

MINIMAL = """region: us-west-2
network:
  availability_zone_id: usw2-az4
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

# An example for the sections that the shortest file does not show; tests add each to it.
EXAMPLES = {
    "network.existing": """network:
  availability_zone_id: usw2-az4
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
    - path: /data                # the data bucket, all of it
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
    "slurm.accounting": """slurm:
  accounting:
    database: external
    host: slurm.cluster-abcdefghijkl.us-west-2.rds.amazonaws.com
    secret_arn: arn:aws:secretsmanager:us-west-2:123456789012:secret:slurm-AbCdEf
""",
}

LEVELS = """## Errors, warnings and notes

With an error, nothing is synthesized. A warning is what is probably not meant: `./hpod validate` shows it, and the `cdk`
commands that name stacks (`cdk diff 'NAME/*'`) show it beside the stack it is about; `cdk synth --strict 'NAME/*'` takes it for
an error. Where it is meant, the file says so, with the rule that the warning names and the reason:

```yaml
{example}```

A rule is silenced for the whole file. To silence an error, or a rule that there is not, is an error; a silenced warning that the
file does not give is a note, which `validate` shows and nothing else does.
"""

LEVELS_EXAMPLE = """trust_source_account: true
silence:
  - rule: tried-trust-policy
    reason: tried on 2026-01-31 with a cluster of one node
"""

OVERRIDES = """## `overrides`: all of CreateCluster

The fields above cover what most clusters need. Whatever else the API can do goes into `overrides`, in the API's own words, of
an instance group or of the cluster. It is merged into the request at every depth and wins; lists replace ours; `null` leaves a
member of ours out. The request is checked against the API's definition in the pinned boto3, so a misspelled member, a wrong
type, a value that the API does not know, or one out of its bounds is an error that names its place in the file. What only AWS's
pages rule out (two members that exclude each other, say) is a warning: the service decides.

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
