"""CloudFormation, of the embedded AWS's own making: change sets, ordering, updates, replacement, rollback, custom resources.

It stands in for moto's, which skips types that it does not know and has no rollback, no replacement and no events.
"""

from local_aws import control
from local_aws.cloudformation import answers, clients, store
from local_aws.cloudformation.resources import all_providers
from local_aws.cloudformation.resources.catalog import register_all


def install(endpoint: str) -> None:
    """Answer CloudFormation's requests at ``endpoint``."""
    from local_aws.cloudformation import api  # noqa: PLC0415  imports moto's responses, which read the environment

    clients.configure(endpoint)
    register_all()
    api.install()
    control.route(answers.ROUTE, answers.receive, needs_token=False)  # its paths are secrets, as presigned URLs are
    control.route("answers", answers.list_all)
    control.route("no-effect", _no_effect)


def reset() -> None:
    """Stop what is under way and forget all stacks."""
    store.reset()
    answers.reset()


def _no_effect(_: control.Request) -> dict[str, dict[str, str]]:
    """The properties that are accepted and change nothing here, each with the reason."""
    return {provider.type: dict(provider.without_effect) for provider in all_providers() if provider.without_effect}
