"""Check tags."""

from collections.abc import Iterator

from config.errors import Problem
from config.model import ClusterConfig
from config.tags import RESERVED
from validation.rules.registry import rule


@rule("reserved-tag-prefix", "tags")
def reserved_tag_prefix(config: ClusterConfig) -> Iterator[Problem]:
    """Tag keys must not start with `aws:` or `hyperpod-cdk:`.

    AWS reserves `aws:`. Tags with `hyperpod-cdk:` record which stack owns a cluster and may delete it.
    """
    for key, value in config.tags.items():
        for reserved in RESERVED:
            if key.lower().startswith(reserved):
                yield Problem(("tags", key), value, f"the prefix {reserved} is reserved", "use another key")


@rule("duplicate-tag-keys", "tags")
def duplicate_tag_keys(config: ClusterConfig) -> Iterator[Problem]:
    """Tag keys must differ in more than case.

    IAM compares tag keys case-insensitively and rejects the cluster's roles: the deployment rolls back.
    """
    # https://docs.aws.amazon.com/IAM/latest/UserGuide/id_tags.html#case-sensitivity
    first: dict[str, str] = {}
    for key, value in config.tags.items():
        if first.setdefault(key.lower(), key) != key:
            yield Problem(
                ("tags", key),
                value,
                f"differs from the tag {first[key.lower()]} only in case, which IAM ignores",
                "keep only one",
            )
