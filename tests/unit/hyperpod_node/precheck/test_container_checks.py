"""Docker, enroot, pyxis and NVIDIA's container program: checked where they are, skipped where nobody wants them."""

import pytest

from hyperpod_node.errors import NodeError
from hyperpod_node.precheck import checks, containers

from .conftest import MOUNTS, NVME, Make, captured

ACTIVE = captured("systemctl-show-slurmd-active.txt")
INACTIVE = ACTIVE.replace("ActiveState=active", "ActiveState=inactive")
SAGEMAKER = "/dev/nvme1n1 /opt/sagemaker ext4 rw 0 0\n"


@pytest.mark.parametrize("name", ["docker", "docker data root", "enroot runtime path", "pyxis", "nvidia container cli"])
def test_a_node_without_containers_is_not_blamed_for_it(make_node: Make, name: str) -> None:
    result = checks.CHECKS[name](make_node())
    assert (result.state, "installed" in result.message) == ("SKIP", True)


FAILED = ACTIVE.replace("ActiveState=active", "ActiveState=failed").replace("Result=success", "Result=exit-code")
SHOW = "systemctl show -p LoadState,ActiveState,Result"


@pytest.mark.parametrize(
    ("units", "state", "message", "fix"),
    [
        ({"systemctl show": ACTIVE}, "PASS", "Docker version 27.3", ""),
        ({f"{SHOW} docker.socket": ACTIVE, f"{SHOW} docker": INACTIVE}, "PASS", "Docker version 27.3, started on first use", ""),
        (
            *({"systemctl show": FAILED}, "FAIL", "docker is installed, but its service is failed (exit-code)"),
            "journalctl -u docker",
        ),
    ],
    ids=["it runs", "it starts at first use", "it failed"],
)
def test_docker_passes_with_its_version_unless_its_service_failed(
    make_node: Make, units: dict[str, str], state: str, message: str, fix: str
) -> None:
    result = containers.docker(make_node("docker", answers={"docker --version": "Docker version 27.3\n", **units}))
    assert (result.state, result.message) == (state, message)
    assert fix in result.fix


@pytest.mark.parametrize(
    ("mounts", "settings", "state"),
    [
        (NVME, '{"data-root": "/opt/dlami/nvme/docker/data-root"}', "PASS"),
        (SAGEMAKER, '{"data-root": "/opt/sagemaker/docker/data-root"}', "PASS"),
        (NVME, '{"data-root": "/var/lib/docker"}', "FAIL"),
        (NVME, "{}", "FAIL"),
        ("", "{}", "PASS"),
        (NVME, "{", "FAIL"),
        (NVME, "[]", "FAIL"),
    ],
)
def test_dockers_data_belongs_on_the_local_disk_where_there_is_one(
    make_node: Make, mounts: str, settings: str, state: str
) -> None:
    result = containers.docker_data_root(make_node("docker", files={"etc/docker/daemon.json": settings}, mounts=MOUNTS + mounts))
    assert result.state == state


def test_docker_without_settings_keeps_its_data_on_the_root_disk(make_node: Make) -> None:
    result = containers.docker_data_root(make_node("docker", mounts=MOUNTS + NVME))
    assert result.message == "docker's data root /var/lib/docker is on /, not on /opt/dlami/nvme"
    assert '"data-root": "/opt/dlami/nvme/docker/data-root"' in result.fix


def test_a_data_root_that_leads_to_the_local_disk_by_a_link_is_on_it(make_node: Make) -> None:
    node = make_node("docker", files={"etc/docker/daemon.json": '{"data-root": "/containers/docker"}'}, mounts=MOUNTS + NVME)
    (node.system.root / "opt/dlami/nvme").mkdir(parents=True)
    (node.system.root / "containers").symlink_to("opt/dlami/nvme")
    assert containers.docker_data_root(node).state == "PASS"


@pytest.mark.parametrize(
    ("settings", "state", "found"),
    [
        ("ENROOT_RUNTIME_PATH /opt/dlami/nvme/enroot/user-$(id -u)\n", "PASS", "is on /opt/dlami/nvme"),
        ("# ENROOT_RUNTIME_PATH /opt/dlami/nvme/enroot\n", "FAIL", "does not set ENROOT_RUNTIME_PATH"),
        ("ENROOT_RUNTIME_PATH ${XDG_RUNTIME_DIR}/enroot\n", "FAIL", "depends on the user's environment"),
        ("ENROOT_RUNTIME_PATH /run/enroot\n", "FAIL", "in memory (tmpfs)"),
        ("", "FAIL", "in memory"),
    ],
)
def test_enroots_runtime_path_belongs_on_the_local_disk(make_node: Make, settings: str, state: str, found: str) -> None:
    result = containers.enroot_runtime_path(make_node("enroot", files={"etc/enroot/enroot.conf": settings}, mounts=MOUNTS + NVME))
    assert result.state == state
    assert found in result.message


def test_pyxis_passes_only_when_srun_could_load_it(make_node: Make) -> None:
    without = captured("srun-help.txt")
    assert containers.pyxis(make_node("enroot", answers={"srun --help": without})).state == "FAIL"
    assert (
        containers.pyxis(make_node("enroot", answers={"srun --help": without + "      --container-image=...\n"})).state == "PASS"
    )


def test_nvidias_program_concerns_only_nodes_with_gpus_that_run_containers(make_node: Make) -> None:
    said = "cli-version: 1.17.4\nlib-version: 1.17.4\n"
    assert containers.nvidia_container_cli(make_node("docker", facts={"gpus": 0})).state == "SKIP"
    assert containers.nvidia_container_cli(make_node("docker")).state == "FAIL"
    result = containers.nvidia_container_cli(make_node("docker", "nvidia-container-cli", answers={"nvidia-container-cli": said}))
    assert (result.state, result.message) == ("PASS", "cli-version: 1.17.4")


def test_a_broken_program_is_reported_with_its_output(make_node: Make) -> None:
    broken = NodeError("`nvidia-container-cli --version` ended with status 127: libnvidia-container.so.1: cannot open")
    with pytest.raises(NodeError, match=r"libnvidia-container\.so\.1"):
        containers.nvidia_container_cli(make_node("docker", "nvidia-container-cli", answers={"nvidia-container-cli": broken}))
