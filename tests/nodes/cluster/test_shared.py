"""What nodes share: a file system, on which two controllers keep Slurm's state."""

import pytest

from local_aws.nodes.runner import SimulatedNodes
from tests.nodes.cluster.conftest import ON_CREATE
from tests.nodes.cluster.running import UP_S, Running
from tests.simulator.hyperpod.world import World, until

pytestmark = pytest.mark.local
# systemd mounts, because only the script sees what it mounts itself. Every controller waits for the first one: two that start
# on an empty folder together both begin a state.
MOUNT = """
mkdir -p /fsx
systemd-run --quiet --wait mount -t lustre -o noatime,flock {dns}@tcp:/{name} /fsx
if [ -e /opt/slurm/etc/slurm.conf ]; then
    until_slurm_conf_is_ours
    mkdir -p /fsx/slurm && chown slurm: /fsx/slurm
    sed -i 's|^StateSaveLocation=.*|StateSaveLocation=/fsx/slurm|' /opt/slurm/etc/slurm.conf
    until [ "$(first_of controller)" = "$(hostname -I | tr -d ' ')" ] || [ -e /fsx/slurm/clustername ]; do sleep 0.2; done
fi
"""


@pytest.fixture(scope="module")
def shared(world: World, nodes: SimulatedNodes) -> Running:
    """A cluster of two controllers and a worker, all with a file system at /fsx."""
    asked = {"DeploymentType": "PERSISTENT_2", "PerUnitStorageThroughput": 125}
    place = {"SubnetIds": [world.ids["subnet"]], "SecurityGroupIds": [world.ids["security_group"]]}
    fsx = world.client("fsx")
    made = fsx.create_file_system(FileSystemType="LUSTRE", StorageCapacity=1200, LustreConfiguration=asked, **place)["FileSystem"]
    mount = MOUNT.format(dns=made["DNSName"], name=made["LustreConfiguration"]["MountName"])
    world.put_script("on_create.sh", ON_CREATE.replace(". ./roles.sh\n", f". ./roles.sh\n{mount}"))
    running = Running(world, nodes, {"controller": 2, "workers": 1})
    running.create()
    return running


def test_nodes_mount_the_file_system_by_its_names_and_see_each_others_files(shared: Running) -> None:
    assert shared.world.cluster()["ClusterStatus"] == "InService"
    shared.run("workers-1", "sh", "-c", "echo from the worker >/fsx/note")
    assert shared.run("controller-2", "cat", "/fsx/note") == "from the worker"


def test_a_grown_cluster_is_known_to_both_controllers(shared: Running) -> None:
    shared.resize("workers", 2)
    until(lambda: shared.run("controller-2", "scontrol", "ping").count("is UP"), lambda count: count == 2, UP_S)
    shared.idle(2)
    files = [shared.run(f"controller-{number}", "cat", "/opt/slurm/etc/slurm.conf") for number in (1, 2)]
    assert files[0] == files[1]
    assert files[0].count("SlurmctldHost=ip-10-1-0-") == 2
    assert "StateSaveLocation=/fsx/slurm" in files[0].splitlines()
