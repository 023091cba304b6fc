"""Who gets the keys of the node's role from the metadata service. That jobs run without them is in the tests beside this one."""

import pytest

from tests.nodes.jobs.submitted import Cluster

pytestmark = pytest.mark.local

SERVICE, HEADER = "http://169.254.169.254/latest", "X-aws-ec2-metadata-token"
# Ends with 7 if the connection is refused, with 28 if the packets are dropped.
KEYS = f"""\
set -e
token=$(curl -s --max-time 5 -X PUT -H '{HEADER}-ttl-seconds: 60' {SERVICE}/api/token)
ask() {{ curl -s --max-time 5 -H "{HEADER}: $token" {SERVICE}/meta-data/iam/security-credentials/$1; }}
ask "$(ask)" | grep --only-matching AccessKeyId
"""
# As Multipath TCP connects, whose first packet has no owner in older kernels.
MULTIPATH = "import socket; socket.socket(proto=262).connect(('169.254.169.254', 80))"
# A server at the other family's address, which the embedded AWS does not have.
SECOND_FAMILY = """\
ip address replace fd00:ec2::254/128 dev lo nodad
systemd-run --quiet --collect --unit=second-family python3 -m http.server --bind fd00:ec2::254 80
until curl -s --output /dev/null http://[fd00:ec2::254]/; do sleep 0.2; done
"""
# Root in a network of its own behind the node's address, as in a container of Docker.
CONTAINER = """\
ip netns add box
ip link add outer type veth peer name inner netns box
ip address add 172.17.0.1/24 dev outer && ip link set outer up
ip -n box address add 172.17.0.2/24 dev inner && ip -n box link set inner up
ip -n box route add default via 172.17.0.1
sysctl --quiet net.ipv4.ip_forward=1
"""
NAT = """\
nft add table ip docker
nft 'add chain ip docker nat { type nat hook postrouting priority srcnat; }'
nft add rule ip docker nat ip saddr 172.17.0.0/24 masquerade
"""


@pytest.mark.parametrize("node", ["controller-1", "login-1", "workers-1"])
def test_no_user_gets_the_keys_of_the_node_s_role(cluster: Cluster, node: str) -> None:
    for user in ("root", "ubuntu", "slurm"):
        assert cluster.running.run(node, "setpriv", f"--reuid={user}", "--clear-groups", "bash", "-c", KEYS) == "AccessKeyId"
    as_alice = ("runuser", "-u", "alice", "--")
    assert cluster.running.run(node, *as_alice, "bash", "-c", f"({KEYS}); echo $?") == "7"
    assert "ConnectionRefused" in cluster.running.run(node, *as_alice, "sh", "-c", f'python3 -c "{MULTIPATH}" 2>&1 || true')


def test_the_second_family_s_address_is_closed_to_users(cluster: Cluster) -> None:
    cluster.running.run("login-1", "sh", "-c", SECOND_FAMILY)
    assert cluster.as_alice("curl -s http://[fd00:ec2::254]/; echo $?") == "7"
    cluster.running.run("login-1", "sh", "-c", "systemctl stop second-family; ip address del fd00:ec2::254/128 dev lo")


def test_both_addresses_are_closed_to_users_on_both_paths(cluster: Cluster) -> None:
    def statuses() -> list[str]:
        asked = [f"curl -s --max-time 5 http://{address}/; echo $?" for address in ("169.254.169.254", "169.254.0.2:9081")]
        assert {cluster.running.run("login-1", "sh", "-c", each) for each in asked} == {"0"}
        return [cluster.as_alice(each) for each in asked]

    assert "dnat to 169.254.0.2:9081" in cluster.running.run("login-1", "nft", "list", "ruleset")
    assert statuses() == ["7", "7"]
    table = cluster.running.run("login-1", "nft", "list", "table", "ip", "hyperpod")
    cluster.running.run("login-1", "nft", "delete", "table", "ip", "hyperpod")
    assert statuses() == ["7", "7"]
    cluster.running.run("login-1", "nft", table)


def test_no_container_off_the_node_s_network_gets_them(cluster: Cluster) -> None:
    cluster.running.run("login-1", "sh", "-ec", CONTAINER + NAT)
    assert cluster.running.run("login-1", "ip", "netns", "exec", "box", "bash", "-c", f"({KEYS}); echo $?") == "7"
    for action in (
        "restart hyperpod-metadata",
        "start nftables",
        "restart hyperpod-metadata",
        "restart nftables",
        "reload nftables",
    ):
        cluster.running.run("login-1", "systemctl", *action.split())
    cluster.running.run("login-1", "sh", "-ec", NAT)
    tables = cluster.running.run("login-1", "nft", "list", "tables").splitlines()
    assert {"table ip docker", "table inet hyperpod_metadata"} < {*tables}, "those of others stay, also nftables.service's"
    cluster.running.run("login-1", "nft", "delete", "table", "inet", "hyperpod_metadata")
    assert cluster.running.run("login-1", "ip", "netns", "exec", "box", "bash", "-c", KEYS) == "AccessKeyId", "this is the way"
    cluster.running.run("login-1", "sh", "-c", "systemctl stop nftables; systemctl restart hyperpod-metadata; ip netns del box")
