"""Writes docs/configuration.md from the models: `python -m config.documentation > docs/configuration.md`."""

from collections.abc import Iterator, Mapping
from typing import Any

from config.catalog import BASIC, Entry, entry
from config.model import ClusterConfig
from config.rules import RULES
from config.section import Change

Schema = dict[str, Any]

CHANGES = {
    Change.NOTHING: "The cluster does not notice.",
    Change.IN_PLACE: "The resource is updated; nodes keep running.",
    Change.NEW_NODES: "Nodes that start from now on have it; running nodes keep what they have.",
    Change.REPLACES_NODES: "Nodes are replaced. Where the service cannot do that, the deployment stops and says what to do.",
    Change.REPLACES_CLUSTER: "The cluster is made anew. With a fixed `cluster_name` the deployment is refused instead.",
}

INTRO = """# Configuration

<!-- Made from the models by `python -m config.documentation > docs/configuration.md`; edit those. -->

Each file `clusters/NAME.yaml` describes one cluster, and its own name is the cluster's: `clusters/reference.yaml` becomes the
stacks `reference-Network`, `reference-Storage` and `reference-Cluster`. A name has 2 to 31 lower-case letters, digits and
hyphens, and begins with a letter. Removing a file deletes nothing; run `cdk destroy 'NAME/*'` first.

This is the shortest file: a controller and one node, their file system, and no bucket linked to it.

```yaml
{minimal}```

All that is wrong with a file is said at once, before anything is deployed, as
`file:line:column: field: value: what is wrong; remedy`. Each problem has a rule, by which the end of this page says why it
matters. `python -m ops validate CLUSTER` says the same in under a second, with the rules;
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

With an error, nothing is synthesized. A warning is what is probably not meant: `python -m ops validate` shows it, and the `cdk`
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


def render() -> str:
    """The whole page."""
    schema = ClusterConfig.model_json_schema()
    changes = "\n".join(f"| *{change.value}* | {what} |" for change, what in CHANGES.items())
    parts = [INTRO.format(minimal=MINIMAL, changes=changes)]
    parts += [_section(path, section, schema["$defs"]) for path, section in _sections("", schema, schema["$defs"])]
    parts += [OVERRIDES.format(example=OVERRIDES_EXAMPLE), LEVELS.format(example=LEVELS_EXAMPLE)]
    parts += [_rules("Rules between fields", {rule: entry(rule) for rule in RULES}), _rules("Rules of a field by itself", BASIC)]
    return "\n".join(parts)


def _rules(title: str, entries: Mapping[str, Entry]) -> str:
    """The rules with what each asks for, and why."""
    rows = "\n".join(f"| `{rule}` | {each.level} | {each.says} | {each.why} |" for rule, each in entries.items())
    return f"## {title}\n\n| rule | level | what holds | why |\n|---|---|---|---|\n{rows}\n"


def _sections(path: str, section: Schema, definitions: Schema) -> Iterator[tuple[str, Schema]]:
    """Each section of the file with its path, from the outside to the inside."""
    yield path, section
    for name, field in section["properties"].items():
        inner = _inner(field)
        reference = inner.get("$ref") or inner.get("items", {}).get("$ref", "")
        definition = definitions.get(reference.rpartition("/")[2], {})
        if "properties" in definition:
            yield from _sections(f"{path}.{name}".lstrip(".") + ("[]" if "items" in inner else ""), definition, definitions)


def _section(path: str, section: Schema, definitions: Schema) -> str:
    """One section: what it is, an example, and the table of its fields."""
    title = f"`{path}`" if path else "The file"
    example = f"\n```yaml\n{EXAMPLES[path]}```\n" if path in EXAMPLES else ""
    rows = "\n".join(
        _row(name, field, definitions, required=name in section.get("required", ()))
        for name, field in section["properties"].items()
        if (path, name) != ("", "name")
    )
    head = "| field | type | default | bounds | a change | becomes | what it is |\n|---|---|---|---|---|---|---|"
    return f"## {title}\n\n{section['description']}\n{example}\n{head}\n{rows}\n"


def _row(name: str, field: Schema, definitions: Schema, *, required: bool) -> str:
    default = "**required**" if required else _default(field.get("default"))
    cells = (
        f"`{name}`",
        _type(_inner(field), definitions),
        default,
        _bounds(_inner(field)),
        f"*{field['change']}*",
        _member(field["api"]),
        field["description"],
    )
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _member(api: str) -> str:
    """The member of the API's request that the field becomes; most are CreateCluster's."""
    operation, _, member = api.partition(" ")
    operation = operation.partition(":")[2]
    return f"`{member}`" + (f" of {operation}" if operation != "CreateCluster" else "") if member else ""


def _inner(field: Schema) -> Schema:
    """The field's schema without its being optional."""
    choices = [choice for choice in field.get("anyOf", []) if choice.get("type") != "null"]
    inner: Schema = choices[0] if choices else field
    return inner


def _default(value: object) -> str:
    if value is None:
        return "none"
    if isinstance(value, dict) and value:
        return "as below"
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    if isinstance(value, list | tuple):
        return f"`[{', '.join(map(str, value))}]`"
    return f"`{value}`" if value != "" else "empty"


def _type(schema: Schema, definitions: Schema) -> str:
    if "$ref" in schema:
        definition = definitions[schema["$ref"].rpartition("/")[2]]
        return "section" if "properties" in definition else ", ".join(f"`{value}`" for value in definition["enum"])
    if schema.get("format") == "ipv4network":
        return "address range"
    if schema.get("format") == "path":
        return "folder"
    if schema["type"] == "array":
        inner = _type(schema["items"], definitions)
        return "list of sections" if inner == "section" else f"list of {inner}"
    return {"string": "text", "integer": "whole number", "boolean": "`true` or `false`", "object": "mapping"}[schema["type"]]


def _bounds(schema: Schema) -> str:
    parts = [
        _range(schema.get("minimum"), schema.get("maximum"), ""),
        _range(schema.get("minLength"), schema.get("maxLength"), " characters"),
        _range(schema.get("minItems"), schema.get("maxItems"), " entries"),
        _range(None, schema.get("maxProperties"), " entries"),
        f"`{schema['pattern']}`" if "pattern" in schema else "",
        _bounds(schema["items"]) if "items" in schema else "",
    ]
    return ", ".join(part for part in parts if part)


def _range(least: int | None, most: int | None, unit: str) -> str:
    if least is None:
        return f"at most {most}{unit}" if most is not None else ""
    return f"{least} to {most}{unit}" if most is not None else f"at least {least}{unit}"


if __name__ == "__main__":
    print(render(), end="")  # noqa: T201  its output is the file
