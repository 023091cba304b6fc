"""Creation, change and deletion of one resource, with its events."""

import copy
import logging
from collections.abc import Callable
from typing import TypeVar

from botocore.exceptions import BotoCoreError, ClientError

from local_aws.cloudformation import resources
from local_aws.cloudformation.checks import check_resolved
from local_aws.cloudformation.errors import CancelledError, ResourceError, TemplateError, service_reason
from local_aws.cloudformation.resources.custom import is_custom
from local_aws.cloudformation.resources.provider import Context, Provider
from local_aws.cloudformation.schemas import changes, replacing, schema
from local_aws.cloudformation.stack import Stack, StackResource
from local_aws.cloudformation.template import Json

NEW_ONE = "Requested update requires the creation of a new physical resource; hence creating one."
NEW_ID = "Requested update required the provider to create a new physical resource."
KEPT = ("Retain", "RetainExceptOnCreate")
Result = TypeVar("Result")
logger = logging.getLogger(__name__)


def create(stack: Stack, resource: StackResource, properties: Callable[[], Json]) -> None:
    """Create ``resource``; call ``properties`` after the first event, because it may fail."""
    stack.report_resource(resource, "CREATE_IN_PROGRESS")

    def work() -> None:
        resource.properties = properties()
        _make(stack, resource, "CREATE_IN_PROGRESS")

    _guard(stack, resource, "CREATE_FAILED", "Resource creation cancelled", work)
    stack.report_resource(resource, "CREATE_COMPLETE")


def desired(stack: Stack, resource: StackResource, properties: Callable[[], Json]) -> Json:
    """Return the result of ``properties``; a failure is a failed update of ``resource``."""
    return _guard(stack, resource, "UPDATE_FAILED", "Resource update cancelled", properties)


def update(stack: Stack, resource: StackResource, definition: Json, properties: Json) -> None:
    """Update ``resource`` to new properties, in place or by replacement."""
    before, new_one = copy.copy(resource), replaces(stack, resource, properties)
    stack.report_resource(resource, "UPDATE_IN_PROGRESS", NEW_ONE if new_one else "")

    def work() -> None:
        _provider(resource).check_update(properties, before.properties)
        resource.definition, resource.properties = definition, properties
        if new_one:
            _refuse_same_name(stack, resource, before)
            _make(stack, resource, "UPDATE_IN_PROGRESS")
        else:
            _change(stack, resource, before)

    _guard(stack, resource, "UPDATE_FAILED", "Resource update cancelled", work)
    new_id = resource.physical_id != before.physical_id and not new_one
    stack.report_resource(resource, "UPDATE_COMPLETE", NEW_ID if new_id else "")


def replaces(stack: Stack, resource: StackResource, properties: Json) -> bool:
    """Return whether new properties replace ``resource``; custom resources decide this themselves."""
    changed = {path for path, _, _ in changes(resource.properties, properties)}
    return bool(replacing(resource.type, stack.region, changed)) and not is_custom(resource.type)


def delete(stack: Stack, resource: StackResource, policy: str = "Delete") -> None:
    """Delete ``resource``, or retain it if ``policy`` says so."""
    if policy in KEPT:
        stack.report_resource(resource, "DELETE_SKIPPED")
        return
    stack.report_resource(resource, "DELETE_IN_PROGRESS")

    def work() -> None:
        if resource.physical_id or (is_custom(resource.type) and resource.requested):
            provider, context = _provider(resource), _context(stack, resource)
            provider.delete(context, resource.physical_id, resource.properties)

    _guard(stack, resource, "DELETE_FAILED", "Resource deletion cancelled", work)
    stack.report_resource(resource, "DELETE_COMPLETE")


def _make(stack: Stack, resource: StackResource, status: str) -> None:
    provider, context = _provider(resource), _context(stack, resource)
    check_resolved(resource.type, resource.logical_id, resource.properties, stack.region)
    resource.requested = True
    resource.physical_id = provider.create(context, resource.properties)
    stack.report_resource(resource, status, "Resource creation Initiated")
    _finish(provider, context, resource)


def _change(stack: Stack, resource: StackResource, before: StackResource) -> None:
    provider, context = _provider(resource), _context(stack, resource)
    check_resolved(resource.type, resource.logical_id, resource.properties, stack.region)
    new_id = provider.update(context, resource.physical_id, resource.properties, before.properties)
    resource.physical_id = new_id or resource.physical_id
    _finish(provider, context, resource)


def _finish(provider: Provider, context: Context, resource: StackResource) -> None:
    provider.settle(context, resource.physical_id, resource.properties)
    resource.attributes = provider.attributes(context, resource.physical_id, resource.properties)


def _guard(stack: Stack, resource: StackResource, failed: str, cancelled: str, work: Callable[[], Result]) -> Result:
    """Do ``work``; report an error in the resource's event and raise it again, so that the operation ends."""
    try:
        return work()
    except BaseException as error:
        stack.report_resource(resource, failed, _reason(error, resource, cancelled))
        raise


def _reason(error: BaseException, resource: StackResource, cancelled: str) -> str:
    match error:
        case CancelledError():
            return cancelled
        case ResourceError() | TemplateError():
            return str(error)
        case ClientError():
            return service_reason(error, resource.type)
        case BotoCoreError():
            return f"{error} (the embedded AWS refused the call)"
    logger.exception("internal error of the embedded AWS: %s (%s)", resource.logical_id, resource.type, exc_info=error)
    return f"internal error of the embedded AWS: {error!r}"


def _refuse_same_name(stack: Stack, resource: StackResource, before: StackResource) -> None:
    described = schema(resource.type, stack.region)
    names = described.paths("primaryIdentifier") if described else set()
    for name, *_ in names if len(names) == 1 else ():
        given = resource.properties.get(name)
        if given is not None and given == before.properties.get(name):
            raise ResourceError(
                "CloudFormation cannot update a stack when a custom-named resource requires replacing. "
                f"Rename {given} and update the stack again."
            )


def _provider(resource: StackResource) -> Provider:
    provider = resources.provider_of(resource.type)
    if provider is None:
        raise ResourceError(f"not part of the embedded AWS: {resource.type}")
    return provider


def _context(stack: Stack, resource: StackResource) -> Context:
    def identify(physical_id: str) -> None:
        resource.physical_id = physical_id

    return Context(
        account=stack.account,
        region=stack.region,
        stack_id=stack.id,
        stack_name=stack.name,
        logical_id=resource.logical_id,
        type=resource.type,
        halt=stack.operation.halt,
        identify=identify,
        data=resource.attributes,
    )
