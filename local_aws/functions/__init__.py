"""Lambda: run functions from their deployed packages, in separate processes, with their roles' credentials.

Unlike AWS: the interpreter, Node.js, processor and operating system are this machine's, whatever the runtime and architecture
say; memory is not limited; a process is not frozen between invocations; programs started from /opt/... and imports find layers,
but opening files there does not; the only concurrency limit is a reservation of 0; of the SDK, Node.js functions have client-s3.
"""

import atexit

from local_aws import control
from local_aws.functions import api, invocation, packages


def install(endpoint: str) -> None:
    """Run functions, and list invocations at /_local_aws/invocations."""
    api.install(endpoint)
    control.route("invocations", _show)
    atexit.register(packages.remove_all)
    atexit.register(invocation.pool.end_all)


def _show(request: control.Request) -> list[dict[str, object]]:
    if request.method == "DELETE":
        invocation.forget()
    return invocation.recorded()


def reset() -> None:
    """End all processes and delete the record of invocations."""
    api.events.stop()
    invocation.pool.end_all()
    invocation.forget()
