"""Hold the Lustre client: its updates bring another kernel, and /fsx may not mount with it after the next reboot.

https://github.com/awslabs/awsome-distributed-ai (5.sagemaker-hyperpod, base-config/hotfix/hold-lustre-client.sh)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hyperpod_node.errors import NodeError
from hyperpod_node.retry import RetryPolicy, retry

if TYPE_CHECKING:
    from hyperpod_node.context import Context
    from hyperpod_node.system import System

PACKAGE = "lustre-client-modules-aws"
TIMEOUT_S = 120  # another program may install packages, and hold dpkg's lock


def apply(_: Context, system: System) -> bool:
    """Hold the package if the image has it; a failure does not fail the node."""
    try:
        if "ok installed" not in system.run("dpkg-query", "--show", "--showformat=${Status}", PACKAGE):
            return False
    except NodeError:  # the image has no such package
        return False
    policy = RetryPolicy(TIMEOUT_S, first_pause_s=2, longest_pause_s=10, clock=system.clock)
    try:
        retry("dpkg's lock", lambda: system.run("dpkg", "--set-selections", stdin=f"{PACKAGE} hold\n"), policy)
    except NodeError as error:
        print(f"warning: {PACKAGE} is not held, and an update may bring a kernel that cannot mount /fsx: {error}")
    return True
