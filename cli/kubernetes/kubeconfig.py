"""A kubeconfig with the context of a cluster; all other entries are kept."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from cli.errors import CommandError
from cli.result import Json

API_VERSION = "client.authentication.k8s.io/v1beta1"
HINT = "install the AWS CLI, version 2"
LISTS = ("clusters", "users", "contexts")


@dataclass(frozen=True)
class Entry:
    """The context of an EKS cluster, and how its user gets tokens."""

    context: str
    arn: str
    endpoint: str
    certificate_authority: str
    """As EKS returns it, in Base64."""
    region: str
    name: str
    profile: str = ""
    role_arn: str = ""
    namespace: str = ""

    @property
    def user(self) -> str:
        """Return the name of the user's entry: one per EKS cluster, role and profile."""
        return "#".join(filter(None, (self.arn, self.role_arn, self.profile)))

    def entries(self) -> dict[str, Json]:
        """Return the entry of each list."""
        cluster = {"server": self.endpoint, "certificate-authority-data": self.certificate_authority}
        role = ["--role-arn", self.role_arn] if self.role_arn else []
        words = ["--region", self.region, "eks", "get-token", "--cluster-name", self.name, "--output", "json", *role]
        environment = [{"name": "AWS_PROFILE", "value": self.profile}] if self.profile else None
        command = {"apiVersion": API_VERSION, "command": "aws", "args": words, "env": environment, "installHint": HINT}
        context = {"cluster": self.arn, "user": self.user, **({"namespace": self.namespace} if self.namespace else {})}
        return {
            "clusters": {"name": self.arn, "cluster": cluster},
            "users": {"name": self.user, "user": {"exec": command}},
            "contexts": {"name": self.context, "context": context},
        }


def merged(config: Json, entry: Entry, *, force: bool = False) -> Json:
    """Return the kubeconfig with the entry; raise a CommandError if its context belongs to another cluster, unless ``force``."""
    found: Json = next((each for each in config.get("contexts") or () if each["name"] == entry.context), {})
    other = (found.get("context") or {}).get("cluster")
    if found and other != entry.arn and not force:
        raise CommandError(
            f"context {entry.context!r} belongs to cluster {other!r}", "pass --context NAME, or --force to replace it"
        )
    lists = {key: _with(config.get(key) or [], each) for key, each in entry.entries().items()}
    head = {"apiVersion": "v1", "kind": "Config"}
    return {**head, **config, **lists, "current-context": config.get("current-context") or entry.context}


def read_kubeconfig(path: Path) -> Json:
    """Return the content of a kubeconfig; empty if the file does not exist or is empty."""
    try:
        text = path.read_text()
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise CommandError(f"cannot read {path}: {error}", "correct it, or pass --write FILE") from error
    try:
        found = yaml.load(text, _Loader)  # noqa: S506  derived from SafeLoader
    except yaml.YAMLError as error:
        problem = " ".join(str(error).split())
        raise CommandError(f"{path} is not YAML: {problem}", "correct it, or pass --write FILE") from error
    if found is None:
        return {}
    if not isinstance(found, dict) or not all(_is_list(found.get(key)) for key in LISTS):
        raise CommandError(f"{path} is not a kubeconfig", "correct it, or pass --write FILE")
    return found


def written(config: Mapping[str, Any]) -> str:
    """Return the kubeconfig as YAML."""
    text: str = yaml.safe_dump(dict(config), sort_keys=False, default_flow_style=False, allow_unicode=True)
    return text


class _Loader(yaml.SafeLoader):
    """Reads times as text, so that other users' entries are written as they were."""


_Loader.yaml_implicit_resolvers = {
    first: [each for each in found if each[0] != "tag:yaml.org,2002:timestamp"]
    for first, found in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def _is_list(value: object) -> bool:
    return value is None or (isinstance(value, list) and all(isinstance(each, dict) and "name" in each for each in value))


def _with(entries: list[Json], entry: Json) -> list[Json]:
    """Return the list with the entry, which replaces an entry of the same name."""
    if any(each["name"] == entry["name"] for each in entries):
        return [entry if each["name"] == entry["name"] else each for each in entries]
    return [*entries, entry]
