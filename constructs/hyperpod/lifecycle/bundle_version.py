"""Identify an uploaded bundle of scripts."""

from collections.abc import Mapping
from dataclasses import dataclass

import aws_cdk as cdk


@dataclass(frozen=True)
class BundleVersion:
    """The place and the content of a bundle; ``fingerprint`` excludes the parameters file, whose values CloudFormation knows."""

    bucket_name: str
    prefix: str
    fingerprint: str
    parameters: Mapping[str, object]

    def properties(self, stack: cdk.Stack) -> dict[str, object]:
        """Return the properties of Custom::HyperPodRollout from which it derives the bundle's SHA-256."""
        return {
            "Bucket": self.bucket_name,
            "Prefix": self.prefix,
            "Fingerprint": self.fingerprint,
            # CloudFormation sends a custom resource every scalar as a string, and no null.
            "Parameters": stack.to_json_string(dict(self.parameters)),
        }
