"""The error of everything that needs Kubernetes' programs."""


class KubernetesError(Exception):
    """A control plane cannot be built or does not work; the message says what to do."""
