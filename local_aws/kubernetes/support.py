"""Whether this machine can run a control plane."""

from local_aws.kubernetes import machine
from local_aws.kubernetes.programs import store

SETUP = "`make kubernetes-setup`"


def missing() -> list[str]:
    """Return why no control plane can run here, each reason with its fix; an empty list if it can."""
    reasons = machine.missing_for_running()
    if not reasons and store.find(store.CONTROL_PLANE) is None:
        reasons.append(f"Kubernetes' programs are not built; build them with {SETUP} (once, 3 to 15 minutes)")
    return reasons
