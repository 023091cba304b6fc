"""The errors of commands."""


class OpsError(Exception):
    """The command failed; the text is `<problem>; <fix>`."""


class UnreachableError(OpsError):
    """The scheduler of the cluster, Slurm or Kubernetes, does not answer or refuses."""


class RefusedError(UnreachableError):
    """Kubernetes answers, but refuses the caller: the credentials have no access, or lack a right."""
