"""The resource types of the embedded CloudFormation: each is made and removed through its service's own API."""

from collections.abc import Iterable

from local_aws.cloudformation.resources import custom
from local_aws.cloudformation.resources.provider import Provider
from local_aws.cloudformation.template import Json

_providers: dict[str, Provider] = {}


def register(providers: Iterable[Provider]) -> None:
    """Let these providers stand for their types."""
    _providers.update({provider.type: provider for provider in providers})


def provider_of(resource_type: str) -> Provider | None:
    """What makes resources of this type; None for a type that the embedded AWS does not have."""
    if custom.is_custom(resource_type):
        return custom.PROVIDER
    return _providers.get(resource_type)


def all_providers() -> list[Provider]:
    """Every provider, in the order of its type's name."""
    return [_providers[name] for name in sorted(_providers)]


_NAMED = {"AWS::IAM::Role": "RoleName", "AWS::IAM::ManagedPolicy": "ManagedPolicyName"}


def iam_capabilities(definitions: Iterable[Json]) -> set[str]:
    """The capabilities of which the caller must give one, because of IAM resources among ``definitions``."""
    of_iam = [definition for definition in definitions if definition["Type"].startswith("AWS::IAM::")]
    if not of_iam:
        return set()
    named = any(_NAMED.get(one["Type"], "") in (one.get("Properties") or {}) for one in of_iam)
    return {"CAPABILITY_NAMED_IAM"} if named else {"CAPABILITY_IAM", "CAPABILITY_NAMED_IAM"}
