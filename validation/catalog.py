"""Every rule by its id: those of YAML, of a field and of the request here, those between fields in config/rules."""

from dataclasses import dataclass

from config.errors import Level
from validation.rules import RULES


@dataclass(frozen=True)
class Entry:
    """What a rule asks for, why that matters, and how bad it is when it is broken."""

    says: str
    why: str
    level: Level = Level.ERROR


_UNREAD = "What nobody can read, nobody can check: all else in the file goes unseen until this is mended."
_TYPO = "A misspelled line that is passed over looks like one that works."
_REFUSED = "The service refuses the whole request, after network and storage are made; the deployment rolls back."

BASIC: dict[str, Entry] = {
    "file.unreadable": Entry("The file is there, ends in .yaml and can be read.", _UNREAD),
    "file.empty": Entry("The file describes a cluster.", "An empty file next to others looks like a cluster that is deployed."),
    "file.no-mapping": Entry("The file is a mapping: `key: value` lines.", _UNREAD),
    "file.name": Entry("The file's own name can be a cluster's.", "Stages, stacks and a bucket carry it, and AWS bounds each."),
    "file.shared-name": Entry(
        "No two files in one account and region fix the same `cluster_name`.",
        "The second deployment would meet the other's cluster.",
    ),
    "yaml.syntax": Entry("The file is YAML.", _UNREAD),
    "yaml.tab": Entry("Lines are indented with spaces.", _UNREAD),
    "yaml.encoding": Entry("The file is text in UTF-8.", _UNREAD),
    "yaml.character": Entry("The file has no character that YAML does not take.", _UNREAD),
    "yaml.tag": Entry("Values have no tags (`!Ref`, `!!int`).", "A tag makes something else of a value than it looks like."),
    "yaml.key": Entry("Keys are words.", "A key that is read as a number or a switch is not the field that it looks like."),
    "yaml.given-twice": Entry("Each field is written once.", "YAML readers keep one of the two in silence, not all the same."),
    "yaml.size": Entry("The file is of a size that a cluster's can be.", "Lines that repeat each other can fill all memory."),
    "missing-field": Entry("What has no default is given.", "Nothing that could be guessed would be right for most clusters."),
    "unknown-field": Entry("Each field is one that there is.", _TYPO),
    "type": Entry(
        "Each value is of its field's type.", "What is guessed from a value of another type is not always what was meant."
    ),
    "choice": Entry("Each value is one of its field's choices.", _TYPO),
    "bounds": Entry(
        "Each value is within its field's bounds.", "They are the service's own, or those that this project keeps to."
    ),
    "pattern": Entry(
        "Each value has its field's form.", "It is the service's own, found late otherwise, or one that this project keeps to."
    ),
    "form": Entry(
        "Each value can be what its field means.", "Address ranges and folders that are none are found late otherwise."
    ),
    "request.unknown-member": Entry("`overrides` name members that the API has.", _REFUSED),
    "request.missing-member": Entry("`overrides` give what the API requires beside them.", _REFUSED),
    "request.type": Entry("What `overrides` set is of the API's type.", _REFUSED),
    "request.union": Entry("Of what the API takes one at a time, `overrides` give one.", _REFUSED),
    "request.bounds": Entry("The request is within the API's bounds.", _REFUSED),
    "request.choice": Entry("What the API takes from a list is in that list.", _REFUSED),
    "request.pattern": Entry("What the API wants in a form has that form.", _REFUSED),
    "request.native": Entry(
        "With `implementation: native`, the request has only what AWS::SageMaker::Cluster has.",
        "CloudFormation refuses the stack, after network and storage are made.",
    ),
    "silence.unknown": Entry("`silence` names rules that there are.", _TYPO),
    "silence.no-warning": Entry("`silence` names warnings.", "With an error nothing is deployed, and a note asks for nothing."),
    "silence.twice": Entry("`silence` names each rule once.", "Of two reasons, the next reader does not know which still holds."),
    "silence.unused": Entry(
        "`silence` names warnings that the file gives.",
        "It would hide the same warning when it comes for another reason.",
        Level.INFO,
    ),
    "request.size": Entry(
        "The request fits into a state machine's input.",
        "It could not be handed over: the deployment would fail once network and storage are made.",
    ),
}


def entry(rule: str) -> Entry:
    """The rule of this id."""
    if rule in BASIC:
        return BASIC[rule]
    found = RULES[rule]
    return Entry(found.says, found.why, found.level)


def catalog() -> dict[str, Entry]:
    """All rules by their ids."""
    return {**BASIC, **{rule: entry(rule) for rule in RULES}}
