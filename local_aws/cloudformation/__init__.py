"""CloudFormation: change sets, ordering, updates, replacement, rollback, custom resources.

It replaces moto's, which skips unknown types and has no rollback, no replacement and no events.
"""

from local_aws import control
from local_aws.cloudformation import clients, responses, store
from local_aws.cloudformation.resources import all_providers
from local_aws.cloudformation.resources.catalog import register_all


def install(endpoint: str) -> None:
    """Answer CloudFormation's requests at ``endpoint``."""
    from local_aws.cloudformation import api  # noqa: PLC0415  imports moto's responses, which read the environment

    clients.configure(endpoint)
    register_all()
    api.install()
    control.route(responses.ROUTE, responses.receive, needs_token=False)  # paths are secrets, as presigned URLs are
    control.route("answers", responses.list_all)
    control.route("no-effect", _no_effect)


def reset() -> None:
    """Stop running operations and delete all stacks."""
    store.reset()
    responses.reset()


def _no_effect(_: control.Request) -> dict[str, dict[str, str]]:
    """Return the accepted properties that have no effect here, each with the reason."""
    return {provider.type: dict(provider.without_effect) for provider in all_providers() if provider.without_effect}
