"""Whether this machine can run a control plane, and what is missing."""

import shutil
import sys

from local_aws.kubernetes.programs import store

SETUP = "`make kubernetes-setup`"
# Program -> its Debian package. The build needs all of them, a control plane only the first.
_PROGRAMS = {
    "setpriv": "util-linux",
    "apt-get": "apt",
    "dpkg-deb": "dpkg",
    "gpgv": "gpgv",
    "tar": "tar",
    "xz": "xz-utils",
}


def missing() -> list[str]:
    """Return why no control plane can run here, each reason with its fix; an empty list if it can."""
    reasons = _missing_of_machine(["setpriv"])
    if not reasons and store.find(store.CONTROL_PLANE) is None:
        reasons.append(f"Kubernetes' programs are not built; build them with {SETUP} (once, 4 to 15 minutes)")
    return reasons


def missing_for_build() -> list[str]:
    """Return why this machine cannot build the programs, each reason with its fix."""
    return _missing_of_machine(list(_PROGRAMS))


def _missing_of_machine(programs: list[str]) -> list[str]:
    if sys.platform != "linux":
        return [f"a control plane needs Linux, this is {sys.platform}; use a virtual machine with Debian 12 or 13"]
    absent = [name for name in programs if not shutil.which(name)]
    return [f"no program {name}; install package {_PROGRAMS[name]}" for name in absent]
