"""The control planes of clusters: real Kubernetes programs, which tests replace."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol


class ControlPlaneError(Exception):
    """A control plane does not start or answer; the text says why."""


class ControlPlane(Protocol):
    """A running control plane: see local_aws/kubernetes."""

    @property
    def endpoint(self) -> str:
        """Return the URL of the API server."""

    @property
    def certificate_authority(self) -> str:
        """Return the PEM of its certificate authority."""

    def stop(self) -> None:
        """End its processes and delete its data; safe to repeat."""


Read = Callable[[Any, str], dict[str, Any]]


@dataclass(frozen=True)
class Programs:
    """Where control planes come from.

    ``missing`` lists why none can run here, each reason with its fix; ``start`` blocks until one is ready; ``read`` returns an
    object of a control plane by its path.
    """

    missing: Callable[[], list[str]]
    start: Callable[..., ControlPlane]
    read: Read


def _missing() -> list[str]:
    from local_aws.kubernetes import support  # noqa: PLC0415  only clusters of EKS need it

    return support.missing()


def _start(name: str, folder: Path, **webhooks: str) -> ControlPlane:
    from local_aws.kubernetes import control_plane  # noqa: PLC0415  only clusters of EKS need it

    try:
        return control_plane.start(name, folder, **webhooks)
    except control_plane.KubernetesError as error:
        raise ControlPlaneError(str(error)) from error


def _read(plane: Any, path: str) -> dict[str, Any]:
    try:
        answer = plane.admin_client().call("GET", path)
    except OSError as error:
        raise ControlPlaneError(f"the API server does not answer: {error}") from error
    if answer.status != 200:
        raise ControlPlaneError(f"GET {path}: status {answer.status}")
    return dict(answer.content)


REAL = Programs(_missing, _start, _read)
_programs = REAL


def programs() -> Programs:
    """Return the programs in use."""
    return _programs


def use(programs: Programs) -> None:
    """Use other programs, such as a test's."""
    global _programs  # noqa: PLW0603  one per process, as the account
    _programs = programs
