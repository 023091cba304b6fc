"""The certificate authorities of RDS."""

import json

import pytest
from cryptography import x509

from config.rds_authorities import TABLE, rds_authorities
from config.zones import regions

KNOWN: dict[str, str] = json.loads(TABLE.read_text())["authorities"]


@pytest.mark.parametrize("region", KNOWN)
def test_a_region_has_its_three_authorities_for_decades(region: str) -> None:
    """Certificate authorities: https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/UsingWithRDS.SSL.html."""
    assert region in regions()
    found = x509.load_pem_x509_certificates(KNOWN[region].encode())
    names = {each.subject.rfc4514_string().partition("CN=")[2].partition(",")[0] for each in found}
    assert names == {f"Amazon RDS {region} Root CA {key} G1" for key in ("RSA2048", "RSA4096", "ECC384")}
    for each in found:
        each.verify_directly_issued_by(each)
        assert each.not_valid_after_utc.year > 2060


@pytest.mark.parametrize(
    ("host", "region"),
    [
        ("jobs.abc123.us-west-2.rds.amazonaws.com", "us-west-2"),
        ("jobs.cluster-abc123.eu-west-1.rds.amazonaws.com", "eu-west-1"),
        ("jobs.proxy-abc123.us-west-2.rds.amazonaws.com", None),  # a certificate of ACM
        ("jobs.abc123.il-central-1.rds.amazonaws.com", None),  # unknown
        ("jobs.abc123.us-west-2.rds.amazonaws.com.example.org", None),
        ("10.1.0.9", None),
        (None, None),
    ],
)
def test_only_a_database_of_rds_gets_the_authorities_of_its_region(host: str | None, region: str | None) -> None:
    assert rds_authorities(host) == (KNOWN[region] if region else None)
