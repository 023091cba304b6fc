"""The control planes of clusters: real Kubernetes programs, which tests replace."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from local_aws.kubernetes import control_plane, support
from local_aws.kubernetes.errors import KubernetesError


class ControlPlaneError(Exception):
    """A control plane does not start or answer; the text says why."""


class ControlPlane(Protocol):
    """A running control plane: see local_aws/kubernetes."""

    @property
    def endpoint(self) -> str:
        """Return the URL of the API server for people and functions."""

    @property
    def certificate_authority(self) -> str:
        """Return the PEM of its certificate authority."""

    def stop(self) -> None:
        """End its processes and delete its data; safe to repeat."""


Read = Callable[[Any, str], dict[str, Any]]


@dataclass(frozen=True)
class Request:
    """A request to an API server, as a user of groups; without a user, as the administrator."""

    method: str
    path: str
    body: object = None
    content_type: str = "application/json"
    user: str = ""
    groups: tuple[str, ...] = ()


Call = Callable[[Any, Request], tuple[int, Any]]


def _call(plane: Any, request: Request) -> tuple[int, Any]:
    client = replace(plane.admin_client(), user=request.user, groups=request.groups)
    try:
        answer = client.call(request.method, request.path, request.body, request.content_type)
    except OSError as error:
        raise ControlPlaneError(f"the API server does not answer: {error}") from error
    return answer.status, answer.content


@dataclass(frozen=True)
class Programs:
    """Where control planes come from.

    ``missing`` lists why none can run here, each reason with its fix; ``start`` blocks until one is ready, and its
    endpoint closes connections from addresses that ``admits`` excludes; ``read`` returns an
    object of a control plane by its path; ``call`` sends a request and returns the status and the content.
    """

    missing: Callable[[], list[str]]
    start: Callable[..., ControlPlane]
    read: Read
    call: Call = _call


def _start(name: str, folder: Path, *, admits: Callable[[str], bool], **webhooks: str) -> ControlPlane:
    try:
        return control_plane.start(name, folder, admits=admits, **webhooks)
    except KubernetesError as error:
        raise ControlPlaneError(str(error)) from error


def _read(plane: Any, path: str) -> dict[str, Any]:
    try:
        answer = plane.admin_client().call("GET", path)
    except OSError as error:
        raise ControlPlaneError(f"the API server does not answer: {error}") from error
    if answer.status != 200:
        raise ControlPlaneError(f"GET {path}: status {answer.status}")
    return dict(answer.content)


REAL = Programs(support.missing, _start, _read)
_programs = REAL


def programs() -> Programs:
    """Return the programs in use."""
    return _programs


def use(programs: Programs) -> None:
    """Use other programs, such as a test's."""
    global _programs  # noqa: PLW0603  one per process, as the account
    _programs = programs
