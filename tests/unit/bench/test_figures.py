import re

import pytest

from tests.bench.nodes.figures import ALL_IDLE, CPU, PROGRAMS, REQUESTS, medians, table
from tests.bench.nodes.growth import growth
from tests.unit.bench.runs import run, worker


def test_figures_are_medians_of_the_workers_and_then_of_the_rounds() -> None:
    rounds = [run(4, worker(0.1), worker(0.2), worker(0.9)), run(4, worker(0.4)), run(4, worker(0.3))]
    assert medians(rounds)["ours", 4][CPU] == pytest.approx(0.3)


def test_bundles_and_sizes_are_kept_apart_in_the_order_in_which_they_come() -> None:
    runs = [run(4), run(4, bundle="theirs"), run(16), run(4, all_idle_s=30)]
    found = medians(runs)
    assert list(found) == [("ours", 4), ("theirs", 4), ("ours", 16)]
    assert found["ours", 4][ALL_IDLE] == 25


def test_requests_are_all_that_a_worker_asks_the_network_for() -> None:
    assert medians([run(4, worker(dns=1, imds=2, to_controllers=3, to_others=4, objects=5))])["ours", 4][REQUESTS] == 10


def test_the_table_holds_each_size_against_the_smallest_and_each_bundle_against_the_first() -> None:
    runs = [
        run(4, worker(0.2)),
        run(16, worker(0.3)),
        run(16, worker(0.6), bundle="theirs"),
        run(4, worker(0.4), bundle="theirs"),
    ]
    (row,) = (line for line in table(medians(runs)).splitlines() if line.startswith(CPU))
    assert re.split(r"\s{2,}", row) == [CPU, "0.20", "0.30 (x1.50)", "0.60 (x1.50) [x2.00]", "0.40 [x2.00]"]


def test_what_was_not_measured_is_said_so() -> None:
    (row,) = (line for line in table(medians([run(4, worker(programs=None))])).splitlines() if line.startswith(PROGRAMS))
    assert row.endswith("not measured")


@pytest.mark.parametrize(("cpu_s", "tolerance", "held"), [(0.39, 1, True), (0.4, 1, False), (0.4, 1.5, True)])
def test_more_than_1_3_times_the_processor_time_is_growth(cpu_s: float, tolerance: float, held: bool) -> None:
    found = medians([run(4, worker(0.3)), run(64, worker(cpu_s))])
    assert growth(found, tolerance) is held


def test_programs_and_requests_must_not_grow(capsys: pytest.CaptureFixture[str]) -> None:
    found = medians([run(4), run(64, worker(programs=62))])
    assert not growth(found, 1)
    assert f"{PROGRAMS}, 64 against 4 workers: 62.00 / 31.00 = 2.00 (at most 1.1): GROWS" in capsys.readouterr().out


def test_only_the_first_bundle_is_held_to_the_limits() -> None:
    found = medians([run(4), run(64), run(4, bundle="theirs"), run(64, worker(9.0), bundle="theirs")])
    assert growth(found, 1)


def test_a_single_size_has_no_growth() -> None:
    assert growth(medians([run(64, worker(9.0))]), 1)
