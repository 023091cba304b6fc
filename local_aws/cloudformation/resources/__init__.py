"""The resource types of the embedded CloudFormation: each uses the API of its own service."""

from collections.abc import Iterable

from local_aws.cloudformation.resources import custom
from local_aws.cloudformation.resources.provider import Provider
from local_aws.cloudformation.template import Json

_providers: dict[str, Provider] = {}


def register(providers: Iterable[Provider]) -> None:
    """Register these providers for their types."""
    _providers.update({provider.type: provider for provider in providers})


def provider_of(resource_type: str) -> Provider | None:
    """Return the provider of this type; None for an unsupported type."""
    if custom.is_custom(resource_type):
        return custom.PROVIDER
    return _providers.get(resource_type)


def all_providers() -> list[Provider]:
    """Return every provider, sorted by type."""
    return [_providers[name] for name in sorted(_providers)]


_NAMED = {"AWS::IAM::Role": "RoleName", "AWS::IAM::ManagedPolicy": "ManagedPolicyName"}


def iam_capabilities(definitions: Iterable[Json]) -> set[str]:
    """Return the capabilities of which the caller must grant one because of IAM resources in ``definitions``."""
    of_iam = [definition for definition in definitions if definition["Type"].startswith("AWS::IAM::")]
    if not of_iam:
        return set()
    named = any(_NAMED.get(one["Type"], "") in (one.get("Properties") or {}) for one in of_iam)
    return {"CAPABILITY_NAMED_IAM"} if named else {"CAPABILITY_IAM", "CAPABILITY_NAMED_IAM"}
