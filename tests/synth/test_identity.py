"""References across stacks are weak; hashes in the templates make changes reach other stacks."""

import pytest

from tests.synth.synthesized import CLUSTER, NETWORK, STORAGE, Synthesized, synthesize
from tests.synth.test_lifecycle_scripts import order
from tests.synth.variants import CHANGES, write_variants

REPLACING_THE_NETWORK = ["other-zone", "other-range", "existing-network"]
REPLACING_THE_FILE_SYSTEM = [*REPLACING_THE_NETWORK, "other-lustre", "other-throughput", "persistent-1", "existing-storage"]
CHANGING_WHAT_NODES_GET = [*REPLACING_THE_FILE_SYSTEM, "no-storage", "other-partition"]
CHANGING_NOTHING_ON_NODES = ["more-nodes", "more-capacity", "three-hours", "tagged", "named", "source-account", "destroyed"]


def network_identity(synthesized: Synthesized, cluster: str) -> str:
    """Return the network identity in the custom resource."""
    identity: str = synthesized[cluster, CLUSTER].properties("Custom::HyperPodCluster")["NetworkIdentity"]
    return identity


def file_system_tag(synthesized: Synthesized, cluster: str) -> str:
    """Return the network identity in the file system's tags."""
    tags = {tag["Key"]: tag["Value"] for tag in synthesized[cluster, STORAGE].properties("AWS::FSx::FileSystem")["Tags"]}
    value: str = tags["hyperpod-cdk:network"]
    return value


def script_hash(synthesized: Synthesized, cluster: str) -> str:
    """Return the content hash in the scripts' prefix."""
    prefix: str = order(synthesized[cluster, CLUSTER])["Prefix"]
    folder, content, _ = prefix.split("/")
    assert folder == "lifecycle"
    return content


def test_no_template_exports_or_imports_a_value(shipped: Synthesized, variants: Synthesized) -> None:
    """A strong export cannot change while it is in use (https://github.com/aws/aws-cdk/issues/17741)."""
    for synthesized in (shipped, variants):
        for cluster in synthesized.clusters:
            for template in synthesized.stacks(cluster):
                assert "Fn::ImportValue" not in template.text
                assert not [name for name, output in template.json.get("Outputs", {}).items() if "Export" in output]


def test_values_of_other_stacks_are_read_at_deployment(shipped: Synthesized) -> None:
    request = shipped["reference", CLUSTER].properties("Custom::HyperPodCluster")["Request"]
    [subnet] = request["VpcConfig"]["Subnets"]
    reference = subnet["Fn::GetStackOutput"]
    assert reference["StackName"] == "reference-Network"
    assert reference["OutputName"] in shipped["reference", NETWORK].outputs


@pytest.mark.parametrize("change", REPLACING_THE_NETWORK)
def test_a_replaced_network_changes_the_cluster_the_file_system_and_the_scripts(variants: Synthesized, change: str) -> None:
    assert network_identity(variants, change) != network_identity(variants, "same")
    assert file_system_tag(variants, change) != file_system_tag(variants, "same")
    assert script_hash(variants, change) != script_hash(variants, "same")


@pytest.mark.parametrize("change", sorted(CHANGES.keys() - {*REPLACING_THE_NETWORK, "internet-access"}))
def test_other_changes_keep_the_identity_of_the_network(variants: Synthesized, change: str) -> None:
    before = "existing-network" if change in ("mounted-by-hyperpod", "training-plan") else "same"
    assert network_identity(variants, change) == network_identity(variants, before)


def test_adding_internet_access_does_not_replace_a_network(variants: Synthesized) -> None:
    assert network_identity(variants, "internet-access") == network_identity(variants, "existing-network")


@pytest.mark.parametrize("change", CHANGING_WHAT_NODES_GET)
def test_changes_on_nodes_change_the_scripts_prefix(variants: Synthesized, change: str) -> None:
    assert script_hash(variants, change) != script_hash(variants, "same")


@pytest.fixture(scope="module")
def without_names(tmp_path_factory: pytest.TempPathFactory) -> Synthesized:
    """Return clusters whose scripts do not contain the name of the cluster file, which the nodes' agent needs."""
    folder = tmp_path_factory.mktemp("clusters")
    write_variants(folder, ["same", *CHANGING_NOTHING_ON_NODES])
    for file in folder.glob("*.yaml"):
        file.write_text(file.read_text() + "lifecycle: {follow: new_nodes}\n")
    return synthesize(tmp_path_factory.mktemp("out"), folder)


@pytest.mark.parametrize("change", CHANGING_NOTHING_ON_NODES)
def test_other_changes_keep_the_scripts_prefix(without_names: Synthesized, change: str) -> None:
    assert script_hash(without_names, change) == script_hash(without_names, "same")
