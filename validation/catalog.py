"""List all rules by id: those for YAML, single fields and the request here, those between fields in validation/rules."""

from dataclasses import dataclass

from config.errors import Level
from validation.rules import CHART_RULES, RULES


@dataclass(frozen=True)
class Entry:
    """A rule, why it matters, and its level."""

    says: str
    why: str
    level: Level = Level.ERROR


_UNREAD = "The rest of the file cannot be checked until this is fixed."
_TYPO = "Unknown values are errors, so that typos are not silently ignored."
_REJECTED = "HyperPod rejects the request after network and storage are created, and the deployment rolls back."

BASIC: dict[str, Entry] = {
    "file.unreadable": Entry("The file must exist, end in .yaml, be readable and have at most 1 MiB.", _UNREAD),
    "file.empty": Entry("The file must not be empty.", "An empty file could be mistaken for a deployed cluster."),
    "file.not-a-mapping": Entry("The file must be a mapping of `key: value` lines.", _UNREAD),
    "file.name": Entry(
        "The file's name must be a valid cluster name.", "It becomes part of stack and bucket names, which AWS restricts."
    ),
    "file.shared-name": Entry(
        "Files for one account and region must not have the same `cluster_name`.",
        "Both deployments would manage the same cluster.",
    ),
    "yaml.syntax": Entry("The file must be valid YAML.", _UNREAD),
    "yaml.tab": Entry("Lines must be indented with spaces.", _UNREAD),
    "yaml.encoding": Entry("The file must be encoded in UTF-8.", _UNREAD),
    "yaml.character": Entry("The file must not contain control characters, unusual spaces or tokens of the CDK.", _UNREAD),
    "yaml.tag": Entry("Values must not have tags (`!Ref`, `!!int`).", "A tag changes the type or meaning of a value."),
    "yaml.key": Entry("Keys must be text.", "A key that YAML reads as a number or boolean matches no field."),
    "yaml.duplicate-key": Entry(
        "Keys must be unique.", "YAML parsers silently keep only one of the values, the first or the last."
    ),
    "yaml.size": Entry("The file must have a reasonable size and depth.", "Recursive references can exhaust the memory."),
    "missing-field": Entry("Required fields must be set.", "There is no sensible default."),
    "unknown-field": Entry("Fields must be known.", "Unknown fields are errors, so that typos are not silently ignored."),
    "type": Entry("Values must have the field's type.", "Values are not converted, as a conversion can change their meaning."),
    "choice": Entry("Values must be one of the field's choices.", _TYPO),
    "bounds": Entry("Values must be within the field's bounds.", "The AWS API or this project sets the limits."),
    "pattern": Entry("Values must match the field's format.", "The AWS API or this project requires the format."),
    "format": Entry(
        "Values must be valid for the field.", "An invalid address range or folder would fail only during the deployment."
    ),
    "request.unknown-member": Entry("`overrides` must contain only members that the API knows.", _REJECTED),
    "request.missing-member": Entry("`overrides` must contain all members that the API requires.", _REJECTED),
    "request.type": Entry("Values in `overrides` must have the API's type.", _REJECTED),
    "request.union": Entry("A union in `overrides` must contain exactly one member.", _REJECTED),
    "request.bounds": Entry("The request must be within the API's limits.", _REJECTED),
    "request.choice": Entry("Values must be in the API's list of choices.", _REJECTED),
    "request.pattern": Entry("Values must match the API's pattern.", _REJECTED),
    "suppress.unknown": Entry("`suppress` must contain only known rules.", _TYPO),
    "suppress.not-a-warning": Entry("`suppress` must contain only warnings.", "Errors and notes cannot be suppressed."),
    "suppress.duplicate": Entry(
        "`suppress` must contain each rule only once.", "Two reasons for one rule can contradict each other."
    ),
    "suppress.unused": Entry(
        "`suppress` should contain only warnings that the file causes.",
        "It would hide a future warning with another cause.",
        Level.INFO,
    ),
    "request.size": Entry(
        "The request must fit into the input of a state machine.",
        "Otherwise the deployment fails after network and storage are created.",
    ),
}


def entry(rule: str) -> Entry:
    """Return the rule with this id."""
    if rule in BASIC:
        return BASIC[rule]
    found = {**RULES, **CHART_RULES}[rule]
    return Entry(found.says, found.why, found.level)


def catalog() -> dict[str, Entry]:
    """Return all rules by id."""
    return {**BASIC, **{rule: entry(rule) for rule in (*RULES, *CHART_RULES)}}
