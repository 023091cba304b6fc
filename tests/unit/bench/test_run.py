from tests.bench.nodes.measuring_hub import Bringup, Measured
from tests.bench.nodes.packets import Asked
from tests.bench.nodes.run import IMDS, summed_up

CONTROLLER, WORKER, OTHER = "10.1.0.4", "10.1.0.5", "10.1.0.6"


def measured(id: str, address: str, **more: object) -> Measured:
    times = {"boot_from": 100.0, "boot_to": 102.0, "script_from": 103.0, "script_to": 109.0}
    return Measured(id=id, host=f"ip-{address}", address=address, **{**times, **more})  # type: ignore[arg-type]  # by name


def bringup(*asked: Asked) -> Bringup:
    nodes = {"c": measured("c", CONTROLLER), "w": measured("w", WORKER, script_cpu_s=0.3, objects=80)}
    return Bringup(nodes, {f"ip-{WORKER}": 109.5}, asked=list(asked))


def test_times_count_from_their_start() -> None:
    run = summed_up("ours", 1, 90.0, bringup(), {"c": "controller", "w": "workers"})
    (node,) = run.of("workers")
    assert (run.all_idle_s, node.boot_s, node.on_create_s, node.idle_s, node.cpu_s) == (19.5, 2.0, 6.0, 6.5, 0.3)


def test_a_controller_never_becomes_idle() -> None:
    (node,) = summed_up("ours", 1, 90.0, bringup(), {"c": "controller", "w": "workers"}).of("controller")
    assert node.idle_s is None


def test_requests_are_counted_by_kind_while_the_script_runs() -> None:
    asked = [
        Asked(104.0, WORKER, "10.1.0.2", 17, 53),
        Asked(105.0, WORKER, IMDS, 6, 80),
        Asked(105.5, WORKER, CONTROLLER, 6, 6817),
        Asked(106.0, WORKER, CONTROLLER, 6, 6817),
        Asked(107.0, WORKER, CONTROLLER, 6, 6817),
        Asked(108.0, WORKER, OTHER, 6, 6818),
        Asked(102.5, WORKER, CONTROLLER, 6, 6817),  # before the script
        Asked(109.5, WORKER, CONTROLLER, 6, 6817),  # after it
        Asked(105.0, CONTROLLER, WORKER, 6, 6818),  # another node's
    ]
    found = bringup(*asked)
    found.listens = 106.0
    (node,) = summed_up("ours", 1, 90.0, found, {"c": "controller", "w": "workers"}).of("workers")
    assert (node.dns, node.imds, node.tries, node.to_controllers, node.to_others) == (1, 1, 1, 2, 1)


def test_programs_that_no_kernel_counted_are_not_zero() -> None:
    found = bringup()
    found.not_accounted = "Function not implemented"
    run = summed_up("ours", 1, 90.0, found, {"c": "controller", "w": "workers"})
    (node,) = run.of("workers")
    assert (node.programs, node.node_programs, run.not_accounted) == (None, None, "Function not implemented")
