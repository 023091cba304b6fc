from cluster_request.addresses import addresses_of_node
from config.instance_types import listed_types
from config.model import Orchestrator
from local_aws.hyperpod.network import interfaces_of


def test_a_node_takes_the_addresses_here_that_the_rules_count() -> None:
    for name in listed_types():
        assert interfaces_of(name) == (addresses_of_node(name, Orchestrator.SLURM) or 1), name
