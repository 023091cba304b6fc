"""Check that the scripts of a request exist."""

from collections.abc import Iterator

from cluster_request.effective_request import EffectiveRequest, GroupMember
from config.errors import Problem
from config.lifecycle import ON_CREATE
from config.local_folder import content_of
from config.suggestions import nearest
from validation.rules.api.slurm_setup import uses_uploaded_scripts
from validation.rules.registry import request_rule


@request_rule("missing-on-create", "lifecycle", "instance_groups[]")
def missing_on_create(request: EffectiveRequest) -> Iterator[Problem]:
    """`lifecycle.on_create` must be a file in `lifecycle.source`, if any group starts it.

    HyperPod starts this file on each node; if it is missing, every node fails after it starts.
    """
    lifecycle = request.config.lifecycle
    path = ("lifecycle", "on_create")
    if lifecycle.source is None:
        if "on_create" in lifecycle.model_fields_set:
            yield Problem(path, lifecycle.on_create, "requires `source`", "add `source`, or remove this line")
        return
    files = [name for name in content_of(lifecycle.source).files if "/" not in name]
    is_started = any(_starts_on_create(group) for group in request.groups)
    if is_started and lifecycle.on_create not in files:
        message = f"not found in {lifecycle.source.name}"
        yield Problem(path, lifecycle.on_create, message, nearest(lifecycle.on_create, files) if files else "add it")


def _starts_on_create(group: GroupMember) -> bool:
    """Return whether the group runs `lifecycle.on_create`; `overrides` can replace it, or leave it out."""
    return uses_uploaded_scripts(group) and not group.member("LifeCycleConfig", "OnCreate").is_overridden


@request_rule("missing-lifecycle-script", "lifecycle", "instance_groups[]")
def missing_lifecycle_script(request: EffectiveRequest) -> Iterator[Problem]:
    """A group's `overrides.LifeCycleConfig` without `SourceS3Uri` must name a script that the deployment uploads.

    HyperPod looks for it among the uploaded scripts; if it is missing, every node fails after it starts.
    """
    source = request.config.lifecycle.source
    files = [ON_CREATE] if source is None else sorted(name for name in content_of(source).files if "/" not in name)
    where = "the default scripts" if source is None else source.name
    for group in filter(uses_uploaded_scripts, request.groups):
        for script in (group.member("LifeCycleConfig", name) for name in ("OnCreate", "OnInitComplete")):
            if script.is_overridden and script.text and script.text not in files:
                fix = "set `lifecycle.source` to the folder that contains it" if source is None else "add it"
                yield script.problem(f"not found in {where}", f"{fix}, or set `SourceS3Uri` and `execution_role`")
