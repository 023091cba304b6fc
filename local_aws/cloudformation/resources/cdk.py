"""Resources that make nothing: the CDK's metadata, and a handle that fills a stack."""

import uuid
from collections.abc import Mapping
from typing import ClassVar

from local_aws.cloudformation.resources.provider import Context, Provider
from local_aws.cloudformation.template import Json


class Metadata(Provider):
    """AWS::CDK::Metadata, which makes nothing on AWS either."""

    type = "AWS::CDK::Metadata"
    without_effect: ClassVar[Mapping[str, str]] = {
        "Analytics": "which constructs a template was made of: read by AWS's statistics alone"
    }

    def create(self, context: Context, properties: Json) -> str:
        """An id."""
        return str(uuid.uuid4())

    def update(self, context: Context, physical_id: str, properties: Json, before: Json) -> None:
        """Nothing to do."""

    def delete(self, context: Context, physical_id: str, properties: Json) -> None:
        """Nothing to do."""


class WaitConditionHandle(Provider):
    """AWS::CloudFormation::WaitConditionHandle as a stack's only resource; nothing here can signal it, so its Ref is no URL."""

    type = "AWS::CloudFormation::WaitConditionHandle"

    def create(self, context: Context, properties: Json) -> str:
        """An id."""
        return str(uuid.uuid4())

    def update(self, context: Context, physical_id: str, properties: Json, before: Json) -> None:
        """Nothing to do."""

    def delete(self, context: Context, physical_id: str, properties: Json) -> None:
        """Nothing to do."""


PROVIDERS = (Metadata(), WaitConditionHandle())
