"""Types that create nothing: the CDK's metadata, and a handle that fills a stack."""

import uuid
from collections.abc import Mapping
from typing import ClassVar

from local_aws.cloudformation.resources.provider import Context, Provider
from local_aws.cloudformation.template import Json


class Metadata(Provider):
    """AWS::CDK::Metadata, which creates nothing on AWS either."""

    type = "AWS::CDK::Metadata"
    without_effect: ClassVar[Mapping[str, str]] = {"Analytics": "the constructs of a template: only read by AWS's statistics"}

    def create(self, context: Context, properties: Json) -> str:
        """Return an id."""
        return str(uuid.uuid4())

    def update(self, context: Context, physical_id: str, properties: Json, before: Json) -> None:
        """Do nothing."""

    def delete(self, context: Context, physical_id: str, properties: Json) -> None:
        """Do nothing."""


class WaitConditionHandle(Metadata):
    """AWS::CloudFormation::WaitConditionHandle as a stack's only resource; it cannot be signalled, so its Ref is no URL."""

    type = "AWS::CloudFormation::WaitConditionHandle"
    without_effect: ClassVar[Mapping[str, str]] = {}


PROVIDERS = (Metadata(), WaitConditionHandle())
