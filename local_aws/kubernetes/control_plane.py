"""Start and stop a control plane: etcd, API server, controller manager and scheduler, on loopback."""

from dataclasses import dataclass
from pathlib import Path

from local_aws.kubernetes.client import Client
from local_aws.kubernetes.errors import KubernetesError

__all__ = ["ControlPlane", "KubernetesError", "start"]


@dataclass(frozen=True)
class ControlPlane:
    """A running control plane. Its processes end with the process that started it, however that ends."""

    endpoint: str
    certificate_authority: str
    folder: Path

    def admin_client(self) -> Client:
        """Return a client of the group system:masters, for the embedded AWS only."""
        raise NotImplementedError

    def stop(self) -> None:
        """End all processes and remove the folder; safe to repeat."""
        raise NotImplementedError


def start(name: str, folder: Path, *, token_webhook: str, authorization_webhook: str | None = None) -> ControlPlane:
    """Start a control plane with its files in ``folder``, and return it when it can be used.

    The API server asks the URL ``token_webhook`` who a token is, and ``authorization_webhook`` before RBAC what it may do.
    """
    raise NotImplementedError
