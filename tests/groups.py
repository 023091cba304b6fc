"""Which tests stay together on a worker of pytest-xdist, and which groups begin.

`--dist loadgroup` of pytest-xdist 3.8.0 ignores its groups with pytest 9.2, so this is a scheduler of our own.
"""

from pathlib import PurePosixPath

from xdist.scheduler import LoadScopeScheduling

# The files of these folders share what takes long to make: synthesized clusters, nodes that run, a control plane.
TOGETHER = {
    "tests/contract": "synth",
    "tests/kubernetes/api": "control plane",
    "tests/kubernetes/eks": "eks",
    "tests/privilege": "synth",
    "tests/snapshots": "synth",
    "tests/synth": "synth",
    "tests/nodes/faults": "faults",
    "tests/nodes/gpus": "gpus",
    "tests/nodes/jobs": "jobs",
}
ALONE = ("tests/snapshots/test_snapshot_command.py",)
APART = "tests/local/walk"  # its tests take minutes and share nothing
LONGEST = (
    "tests/local/walk/test_walk.py::test_a_cluster_is_deployed_changed_and_destroyed_by_the_real_command_line",
    "synth",
    "tests/nodes/walk/test_from_yaml_to_srun.py",
    "faults",
    "tests/nodes/verify/test_verify_aws.py",
    "jobs",
    "tests/nodes/agent/test_api_setup.py",
    "gpus",
    "tests/nodes/follow/test_follow.py",
    "tests/nodes/agent/test_unkind_agent.py",
    "tests/nodes/cluster/test_several_controllers.py",
    "tests/nodes/agent/test_other_agents.py",
    "tests/nodes/reach/test_reach.py",
)


def group_of(nodeid: str) -> str:
    """Return the group of a test: its folder's, its file, or the test itself."""
    file = nodeid.partition("::")[0]
    folder = str(PurePosixPath(file).parent)
    if folder == APART:
        return nodeid
    return file if file in ALONE else TOGETHER.get(folder, file)


class GroupScheduling(LoadScopeScheduling):  # type: ignore[misc]  # pytest-xdist has no types
    """Gives each group to one worker, in the order of collection."""

    def _split_scope(self, nodeid: str) -> str:
        return group_of(nodeid)
