"""The zones of the EKS control plane, if the file does not choose them."""

import pytest

from config.zones import UNSUPPORTED_BY_EKS, control_plane_zones, regions, zones_of


@pytest.mark.parametrize(
    ("nodes", "expected"),
    [
        ("usw2-az4", ("usw2-az4", "usw2-az1")),
        ("use2-az1", ("use2-az1", "use2-az2")),
        ("use1-az3", ("use1-az1", "use1-az2")),
        ("use1-az2", ("use1-az2", "use1-az4")),
        ("usw2-lax1-az1", ("usw2-az1", "usw2-az2")),
    ],
)
def test_the_nodes_zone_comes_first_if_eks_supports_it(nodes: str, expected: tuple[str, str]) -> None:
    assert control_plane_zones(nodes) == expected


def test_zones_of_an_unknown_region_are_not_guessed() -> None:
    assert control_plane_zones("xxw9-az1") == ()


def test_each_known_zone_has_two_supported_zones_in_its_region() -> None:
    for region in regions():
        for zone in zones_of(region):
            found = control_plane_zones(zone)
            assert len(set(found) & set(zones_of(region)) - set(UNSUPPORTED_BY_EKS)) == 2, zone
