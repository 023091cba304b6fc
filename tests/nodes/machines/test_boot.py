import dataclasses

import pytest

from local_aws.nodes.hub import HostError, NodeFile, NodeSpec
from tests.nodes.machines.some_nodes import Nodes, comes


def test_a_node_boots_with_nothing_failed(nodes: Nodes, node: NodeSpec) -> None:
    assert nodes.sh(node, "systemctl is-system-running") == ["running"]


def test_a_node_has_its_host_name_and_a_machine_id_of_its_own(nodes: Nodes, node: NodeSpec) -> None:
    other = nodes.boot()

    assert nodes.sh(node, "hostname; hostname -f") == [node.hostname, f"{node.hostname}.us-west-2.compute.internal"]
    assert nodes.sh(node, "cat /etc/machine-id") != nodes.sh(other, "cat /etc/machine-id")


def test_a_file_laid_before_the_boot_has_its_owner_and_mode(nodes: Nodes, node: NodeSpec) -> None:
    assert nodes.sh(node, "stat -c '%U %G %a' /etc/secret; cat /etc/secret") == ["munge munge 640", "laid before boot"]


def test_a_file_that_would_not_live_through_the_boot_is_refused(nodes: Nodes) -> None:
    with pytest.raises(HostError, match=r"^/tmp/script does not survive a boot; put it there afterwards$"):
        nodes.boot(files={"/tmp/script": NodeFile(b"")})


def test_a_file_for_a_user_who_is_not_there_is_refused(nodes: Nodes) -> None:
    with pytest.raises(HostError, match="no user 'nobody-knows' to own /etc/x"):
        nodes.boot(files={"/etc/x": NodeFile(b"", owner="nobody-knows")})


def test_a_node_that_cannot_boot_reports_the_end_of_its_console_and_can_be_retried(nodes: Nodes) -> None:
    spec = nodes.spec(binds=("/there/is/no/such/folder",))
    with pytest.raises(HostError, match=r"(?s)ended while it booted; its console's last lines:.*/there/is/no/such/folder"):
        nodes.hub.boot(spec)

    nodes.hub.boot(dataclasses.replace(spec, binds=()))

    assert nodes.sh(spec, "hostname") == [spec.hostname]


def test_an_address_outside_the_vpc_is_refused(nodes: Nodes) -> None:
    with pytest.raises(HostError, match=r"address 192\.168\.0\.1 is in none of the VPC's blocks 10\.1\.0\.0/16, 10\.2\.0\.0/16"):
        nodes.boot(address="192.168.0.1")


def test_an_address_that_is_taken_is_refused_and_its_owner_stays(nodes: Nodes, node: NodeSpec) -> None:
    with pytest.raises(HostError, match=rf"node {node.id} at {node.address} already exists"):
        nodes.boot(address=node.address)

    assert nodes.sh(node, "hostname") == [node.hostname]


def test_the_states_of_nodes_are_reported_also_of_one_that_shut_itself_down(nodes: Nodes, node: NodeSpec) -> None:
    other = nodes.boot()

    nodes.sh(other, "systemd-run --quiet --on-active=300ms systemctl poweroff")

    assert comes(lambda: nodes.hub.states()[other.id] == "stopped")
    assert nodes.hub.states()[node.id] == "running"
    with pytest.raises(HostError, match=rf"node {other.id} is stopped, not running"):
        nodes.sh(other, "true")
