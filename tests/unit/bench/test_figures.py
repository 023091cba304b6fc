import re

import pytest

from tests.bench.nodes.figures import ALL_IDLE, CPU, IMDS, PROGRAMS, REQUESTS, figures, growth, medians, table
from tests.bench.nodes.measuring_hub import Bringup, Measured
from tests.bench.nodes.packets import Asked

CONTROLLER, WORKER, OTHER = "10.1.0.4", "10.1.0.5", "10.1.0.6"
SMALL = {CPU: 0.3, PROGRAMS: 30, REQUESTS: 10}


def node(id: str, address: str) -> Measured:
    measured = Measured(id, f"ip-{address}", address, boot_from=100.0, boot_to=102.0)
    measured.script_from, measured.script_to, measured.script_cpu_s = 103.0, 109.0, 0.3
    return measured


def test_a_worker_is_measured_while_its_script_runs() -> None:
    asked = [
        Asked(104.0, WORKER, "10.1.0.2", 17, 53),
        Asked(105.0, WORKER, IMDS, 6, 80),
        Asked(105.5, WORKER, CONTROLLER, 6, 6817),  # the controller does not listen yet
        Asked(106.0, WORKER, CONTROLLER, 6, 6817),
        Asked(107.0, WORKER, CONTROLLER, 6, 6817),
        Asked(108.0, WORKER, OTHER, 6, 6818),
        Asked(102.5, WORKER, CONTROLLER, 6, 6817),  # before the script
        Asked(109.5, WORKER, CONTROLLER, 6, 6817),  # after it
        Asked(105.0, CONTROLLER, WORKER, 6, 6818),  # another node's
    ]
    nodes = {"c": node("c", CONTROLLER), "w": node("w", WORKER)}
    bringup = Bringup(nodes, {f"ip-{WORKER}": 109.5}, listens=106.0, asked=asked)
    assert figures(90.0, bringup, {"c": "controller", "w": "workers"}) == {
        ALL_IDLE: 19.5,
        "boot, its turn included, s": 2.0,
        "on_create, s": 6.0,
        "on_create's start to slurmd registered, s": 6.5,
        CPU: 0.3,
        "CPU of the whole worker meanwhile, s": 0.0,
        PROGRAMS: None,
        "programs started on the worker meanwhile": None,
        REQUESTS: 5,
        "  DNS questions": 1,
        "  connections to the metadata service": 1,
        "  connections to the controller": 2,
        "  connections to other nodes": 1,
        "tries to connect before a controller listens": 1,
        "objects that HyperPod fetches from S3": 0,
    }


def test_the_table_holds_each_size_against_the_smallest() -> None:
    by_size = {4: medians([{CPU: 0.1, PROGRAMS: None}, {CPU: 0.2, PROGRAMS: None}, {CPU: 0.9, PROGRAMS: None}]), 16: SMALL}
    assert [re.split(r"\s{2,}", line) for line in table(by_size).splitlines()] == [
        ["median", "4 workers", "16 workers"],
        [CPU, "0.20", "0.30 (x1.50)"],
        [PROGRAMS, "not measured", "30"],
    ]


@pytest.mark.parametrize(
    ("larger", "tolerance", "held"),
    [
        pytest.param({CPU: 0.39}, 1, True, id="1.3 times the CPU is none"),
        pytest.param({CPU: 0.4}, 1, False, id="more CPU"),
        pytest.param({CPU: 0.4}, 1.5, True, id="within the tolerance"),
        pytest.param({PROGRAMS: 62}, 1, False, id="more programs"),
        pytest.param({REQUESTS: 16}, 1, False, id="more requests"),
        pytest.param({PROGRAMS: None}, 1, True, id="not measured"),
    ],
)
def test_what_a_worker_pays_must_not_grow(larger: dict[str, float | None], tolerance: float, held: bool) -> None:
    assert growth({4: SMALL, 64: SMALL | larger}, tolerance) is held
