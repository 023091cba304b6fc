from local_aws.nodes.hub import NodeSpec
from tests.nodes.machines.some_nodes import LUSTRE, Nodes

IMDS = "http://169.254.169.254"
TOKEN = f"TOKEN=$(curl -sX PUT -H 'X-aws-ec2-metadata-token-ttl-seconds: 60' {IMDS}/latest/api/token)"
ASK = "curl -sw '%{http_code}' -H \"X-aws-ec2-metadata-token: $TOKEN\""


def test_nodes_find_each_other_by_name_and_by_address(nodes: Nodes, node: NodeSpec) -> None:
    other = nodes.boot(hostname="ip-10-2-0-9", address="10.2.0.9")

    assert nodes.sh(node, f"getent ahostsv4 {other.hostname} | head -1 | cut -d' ' -f1") == [other.address]
    assert nodes.sh(node, f"getent hosts {other.address}")[0].split()[1] == f"{other.hostname}.us-west-2.compute.internal"
    assert nodes.sh(other, f"ping -c1 -W5 -q {node.hostname} | grep -o ' 0% packet loss'") == [" 0% packet loss"]


def test_a_file_systems_name_leads_to_its_address(nodes: Nodes, node: NodeSpec) -> None:
    assert nodes.sh(node, f"getent ahostsv4 {LUSTRE} | head -1 | cut -d' ' -f1") == ["10.1.0.30"]


def test_both_addresses_of_the_resolver_answer(nodes: Nodes, node: NodeSpec) -> None:
    script = f"sed -i 's/10.1.0.2/169.254.169.253/' /etc/resolv.conf; getent hosts {LUSTRE}"

    assert nodes.sh(node, script)[0].split()[0] == "10.1.0.30"
    nodes.sh(node, "sed -i 's/169.254.169.253/10.1.0.2/' /etc/resolv.conf")


def test_the_outside_is_out_of_reach_and_says_so_soon(nodes: Nodes, node: NodeSpec) -> None:
    assert nodes.status(node, "timeout 5 getent hosts www.example.com") == ([], 2)
    assert "Destination Net Unreachable" in nodes.sh(node, "ping -c1 -w1 192.0.2.1 2>&1 || true")[1]
    for _ in range(2):  # a second time, as the kernel limits how often it says so
        assert nodes.status(node, "timeout 5 bash -c 'exec 3<>/dev/tcp/192.0.2.1/443'")[1] == 1


def test_scripts_find_a_nodes_own_address_by_the_way_out(nodes: Nodes, node: NodeSpec) -> None:
    script = (
        "import socket; s = socket.socket(type=socket.SOCK_DGRAM); s.connect(('10.254.254.254', 1)); print(s.getsockname()[0])"
    )

    assert nodes.sh(node, f'python3 -c "{script}"') == [node.address]


def test_metadata_needs_a_token(nodes: Nodes, node: NodeSpec) -> None:
    assert nodes.sh(node, f"{ASK} {IMDS}/latest/meta-data/instance-id") == ["401"]


def test_metadata_is_read_with_a_token(nodes: Nodes, node: NodeSpec) -> None:
    assert nodes.sh(node, f"{TOKEN}; {ASK} {IMDS}/latest/meta-data/instance-id") == ["i-1200"]
    assert nodes.sh(node, f"{TOKEN}; {ASK} {IMDS}/latest/meta-data/") == ["instance-id", "placement/200"]
    assert nodes.sh(node, f"{TOKEN}; {ASK} {IMDS}/latest/meta-data/spot") == ["404"]


def test_a_token_is_good_for_one_node_only(nodes: Nodes, node: NodeSpec) -> None:
    other = nodes.boot(metadata={"latest/meta-data/instance-id": "i-2"})
    token = nodes.sh(node, f"{TOKEN}; echo $TOKEN")[0]

    assert nodes.sh(other, f"TOKEN={token}; {ASK} {IMDS}/latest/meta-data/instance-id") == ["401"]


def test_a_node_whose_name_is_unknown_resolves_it_once_it_is_named(nodes: Nodes) -> None:
    node = nodes.boot(has_name=False)
    look = f"getent hosts {node.hostname} | cut -d' ' -f1"
    assert nodes.sh(node, look) == []
    nodes.hub.name(node.id)
    assert nodes.sh(node, look) == [node.address]
