import pytest

from local_aws.nodes.machines.imds import Metadata

NODE = "10.1.4.1"


@pytest.fixture
def metadata() -> Metadata:
    metadata = Metadata()
    role = "latest/meta-data/iam/security-credentials"
    metadata.put(NODE, {"latest/meta-data/instance-id": "i-1", f"/{role}/node-role": "{}", "latest/dynamic/x/document": "d"})
    return metadata


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("/latest/meta-data/instance-id", "i-1"),
        ("/latest/meta-data/", "iam/\ninstance-id"),
        ("/latest/meta-data/iam/security-credentials/", "node-role"),
        ("/", "latest/"),
        ("/latest/meta-data/instance", None),
        ("/latest/user-data", None),
    ],
)
def test_a_path_has_its_text_or_the_names_below_it(metadata: Metadata, path: str, text: str | None) -> None:
    assert metadata.read(NODE, path) == text


@pytest.mark.parametrize("ttl", ["", "0", "21601", "-1", "soon"])
def test_a_token_needs_a_time_of_up_to_six_hours(metadata: Metadata, ttl: str) -> None:
    assert metadata.token(NODE, ttl) is None


def test_a_token_serves_only_its_own_node(metadata: Metadata) -> None:
    metadata.put("10.1.4.2", {})
    token = metadata.token(NODE, "60")

    assert token
    assert metadata.is_valid(NODE, token)
    assert not metadata.is_valid("10.1.4.2", token)
    assert not metadata.is_valid(NODE, "")


def test_a_node_that_went_has_neither_metadata_nor_tokens(metadata: Metadata) -> None:
    token = metadata.token(NODE, "60")
    metadata.drop(NODE)

    assert token
    assert not metadata.is_valid(NODE, token)
    assert metadata.read(NODE, "/latest/meta-data/instance-id") is None
    assert metadata.token(NODE, "60") is None
