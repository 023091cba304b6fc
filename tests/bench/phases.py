"""Where a synthesis spends its time: synthesizes the reference cluster once, in this process, and prints seconds as JSON."""

import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

SYNTH = "synth()"
# What is measured, by the name that its caller takes it from.
PHASES = {
    "stacks.clusters_app.check_clusters": "read and check cluster files",
    "stacks.cluster_stage.NetworkStack": "constructs: Network",
    "stacks.cluster_stage.StorageStack": "constructs: Storage",
    "stacks.cluster_stage.ClusterStack": "constructs: Cluster",
    "constructs.hyperpod.cluster.cluster_provider.function_package": "asset: functions",
    "constructs.hyperpod.lifecycle.lifecycle_scripts.ScriptDeployment": (
        "asset: scripts, with CDK's deployment function and its AWS CLI layer"
    ),
}


class Stopwatch:
    """Seconds by phase; a phase within another is taken out of the outer one."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._open: list[str] = []

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Measure what happens inside."""
        self._open.append(name)
        started = time.perf_counter()
        try:
            yield
        finally:
            taken = time.perf_counter() - started
            self._open.pop()
            self.seconds[name] = self.seconds.get(name, 0.0) + taken
            if self._open:
                outer = self._open[-1]
                self.seconds[outer] = self.seconds.get(outer, 0.0) - taken

    def measured(self, name: str, function: Callable[..., object]) -> Callable[..., object]:
        """The function, measured as a phase."""

        def call(*args: object, **kwargs: object) -> object:
            with self.phase(name):
                return function(*args, **kwargs)

        return call


def main() -> None:
    """Measure, and print."""
    watch = Stopwatch()
    with watch.phase("an app: import aws_cdk, start Node, load aws-cdk-lib"):
        import aws_cdk  # noqa: PLC0415 - what is measured

        aws_cdk.App()
    with watch.phase("import the project"):
        from stacks.clusters_app import ClustersApp  # noqa: PLC0415
    for path, phase in PHASES.items():
        module, name = path.rsplit(".", 1)
        callers = sys.modules[module]
        setattr(callers, name, watch.measured(phase, getattr(callers, name)))
    with tempfile.TemporaryDirectory() as outdir:
        with watch.phase("the app itself"):
            app = ClustersApp(context={"clusters": "tests/data/clusters", "nag": "false"}, outdir=outdir)
        with watch.phase(SYNTH):
            app.synth()
    json.dump(watch.seconds, sys.stdout)


if __name__ == "__main__":
    main()
