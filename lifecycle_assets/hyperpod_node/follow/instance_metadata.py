"""The instance metadata service, version 2: the region and the credentials of the node's role."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property

from hyperpod_node.errors import NodeError
from hyperpod_node.follow.http import Request, Send, send_directly
from hyperpod_node.follow.signature import Credentials

URL = "http://169.254.169.254"
TOKEN_TTL_S = 300  # longer than a run of the agent needs it
_ROLES = "latest/meta-data/iam/security-credentials/"


@dataclass
class InstanceMetadata:
    """The metadata of this node, each value read once."""

    send: Send = send_directly

    @cached_property
    def region(self) -> str:
        """Return the node's region."""
        return self._get("latest/meta-data/placement/region")

    @cached_property
    def credentials(self) -> Credentials:
        """Return the credentials of the node's role."""
        role = self._get(_ROLES).split("\n")[0]
        try:
            found = json.loads(self._get(_ROLES + role))
            return Credentials(found["AccessKeyId"], found["SecretAccessKey"], found["Token"])
        except (ValueError, RecursionError, KeyError, TypeError):
            raise NodeError(f"the metadata service has no credentials of role {role!r}") from None

    @cached_property
    def _token(self) -> str:
        headers = {"X-aws-ec2-metadata-token-ttl-seconds": str(TOKEN_TTL_S)}
        return self.send(Request("PUT", f"{URL}/latest/api/token", headers)).decode()

    def _get(self, path: str) -> str:
        return self.send(Request("GET", f"{URL}/{path}", {"X-aws-ec2-metadata-token": self._token})).decode()
