"""The error of everything that needs Kubernetes' programs."""

from local_aws.builds.errors import HostError


class KubernetesError(HostError):
    """A control plane cannot be built or does not work; the message says what to do."""
