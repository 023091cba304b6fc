"""Synthesize cluster files for tests, and read the templates."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import aws_cdk as cdk
from aws_cdk.assertions import Template

from cli.snapshot.command import templates
from config.model import ClusterConfig
from stacks.cluster_stage import ClusterStage
from stacks.clusters_app import FEATURE_FLAGS, PROJECT, TEMPLATES, ClustersApp
from tests import cluster_files

NETWORK, STORAGE, CLUSTER, MONITORING = STACKS = ("Network", "Storage", "Cluster", "Monitoring")

Resource = dict[str, Any]


def resolved(value: Any, known: Callable[[dict[str, Any]], Any]) -> Any:
    """Return a template's value with what ``known`` makes of each reference, which gets one as it stands in the template."""
    match value:
        case {"Ref": str()} | {"Fn::GetAtt": [_, _]} | {"Fn::GetStackOutput": _} | {"Fn::Sub": str()} if len(value) == 1:
            return known(value)
        case {"Fn::Join": [str(separator), list(parts)]}:
            return separator.join(resolved(each, known) for each in parts)
        case dict():
            return {key: resolved(each, known) for key, each in value.items()}
        case list():
            return [resolved(each, known) for each in value]
    return value


class StackTemplate:
    """The template of a stack, as JSON and for the assertions library."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.json: dict[str, Any] = json.loads(text)

    @cached_property
    def assertions(self) -> Template:
        """The template for `Match`."""
        return Template.from_json(self.json, skip_cyclical_dependencies_check=True)

    @property
    def resources(self) -> dict[str, Resource]:
        """The resources by their logical ids."""
        found: dict[str, Resource] = self.json["Resources"]
        return found

    @property
    def outputs(self) -> dict[str, Any]:
        """The outputs' values by their ids."""
        return {name: output["Value"] for name, output in self.json.get("Outputs", {}).items()}

    def of_type(self, *types: str) -> dict[str, Resource]:
        """Return the resources of these types by logical ID."""
        return {logical_id: resource for logical_id, resource in self.resources.items() if resource["Type"] in types}

    def one(self, type_name: str, *, named: str = "") -> tuple[str, Resource]:
        """Return the only resource of the type whose logical ID contains ``named``."""
        found = [item for item in self.of_type(type_name).items() if named in item[0]]
        assert len(found) == 1, f"expected one {type_name} named {named!r}, got {[logical_id for logical_id, _ in found]}"
        return found[0]

    def properties(self, type_name: str, *, named: str = "") -> dict[str, Any]:
        """Return the properties of ``one``."""
        found: dict[str, Any] = self.one(type_name, named=named)[1]["Properties"]
        return found

    def statements(self) -> Iterator[tuple[str, Resource]]:
        """Yield the statements of all roles, inline and attached, with the logical ID of their role."""
        for name, role in self.of_type("AWS::IAM::Role").items():
            for policy in role["Properties"].get("Policies", []):
                yield from ((name, each) for each in policy["PolicyDocument"]["Statement"])
        for policy in self.of_type("AWS::IAM::Policy").values():
            for role in policy["Properties"]["Roles"]:
                yield from ((role["Ref"], each) for each in policy["Properties"]["PolicyDocument"]["Statement"])

    def waits_for(self, logical_id: str) -> set[str]:
        """Return the transitive dependencies of the resource, which are created before it and deleted after it."""
        reached: set[str] = set()
        waiting = [logical_id]
        while waiting:
            for name in self._named_by(self.resources[waiting.pop()]) - reached:
                reached.add(name)
                waiting.append(name)
        return reached

    def _named_by(self, value: Any) -> set[str]:
        match value:
            case {"Ref": str(name), **rest} if not rest:
                return {name} & self.resources.keys()
            case {"Fn::GetAtt": [str(name), *_], **rest} if not rest:
                return {name}
            case {"DependsOn": after, **rest}:
                return ({after} if isinstance(after, str) else {*after}) | self._named_by(rest)
            case dict():
                return set().union(*map(self._named_by, value.values()))
            case list():
                return set().union(*map(self._named_by, value))
        return set()


@dataclass(frozen=True)
class Synthesized:
    """Cloud assemblies, read stack by stack."""

    templates: Mapping[tuple[str, str], StackTemplate]

    def __getitem__(self, cluster_and_stack: tuple[str, str]) -> StackTemplate:
        return self.templates[cluster_and_stack]

    def stacks(self, cluster: str) -> list[StackTemplate]:
        """Return the templates of a cluster's stacks."""
        return [template for (name, _), template in self.templates.items() if name == cluster]

    @property
    def clusters(self) -> list[str]:
        """The names of the cluster files."""
        return sorted({cluster for cluster, _ in self.templates})


def synthesize(outdir: Path, *folders: str | Path) -> Synthesized:
    """Synthesize the cluster files in the folders, without cdk-nag."""
    found: dict[tuple[str, str], StackTemplate] = {}
    for number, folder in enumerate(folders):
        app = ClustersApp(context={"nag": "false", "clusters": str(PROJECT / folder)}, outdir=str(outdir / str(number)))
        app.synth()
        found |= read_assembly(outdir / str(number))
    return Synthesized(found)


def synthesize_shipped(outdir: Path) -> Synthesized:
    """Synthesize the reference and the examples."""
    return synthesize(outdir, *cluster_files.FOLDERS)


def synthesize_contents(outdir: Path, contents: Mapping[str, Mapping[str, Any]]) -> Synthesized:
    """Synthesize clusters with these contents by name, without the rules between the fields of a file."""
    context = json.loads(FEATURE_FLAGS.read_text())
    app = cdk.App(context=context, post_cli_context=TEMPLATES, analytics_reporting=False, outdir=str(outdir))
    for name, content in contents.items():
        config = ClusterConfig.model_validate({**content, "name": name})
        ClusterStage(app, config=config, environment=cdk.Environment(region=content["region"]))
    app.synth()
    return Synthesized(read_assembly(outdir))


def read_assembly(folder: Path) -> dict[tuple[str, str], StackTemplate]:
    """Return the templates of a cloud assembly by cluster and stack."""
    return {(cluster, stack): StackTemplate(text) for cluster, stack, text in templates(folder)}
