"""Operations and path values of requests, found with the service model."""

import pytest

from local_aws import rest_routes


def _find(service: str, method: str, url: str) -> tuple[str, dict[str, str]] | None:
    return rest_routes.find(service, {"REQUEST_METHOD": method, "RAW_URI": url})


def test_a_value_in_the_path_may_contain_an_encoded_slash() -> None:
    url = "/clusters/ml/access-entries/arn%3Aaws%3Aiam%3A%3A1%3Arole%2Fpeople%2Fviewer"
    values = {"name": "ml", "principalArn": "arn:aws:iam::1:role/people/viewer"}
    assert _find("eks", "GET", url) == ("DescribeAccessEntry", values)


@pytest.mark.parametrize(
    ("service", "method", "url", "operation"),
    [
        ("eks", "GET", "/clusters?maxResults=5", "ListClusters"),
        ("eks", "POST", "/clusters", "CreateCluster"),
        ("s3", "PUT", "/bucket/folder/key", "PutObject"),
        ("s3", "PUT", "/bucket/key?tagging", "PutObjectTagging"),
        ("s3", "GET", "/bucket?list-type=2&prefix=a", "ListObjectsV2"),
    ],
)
def test_the_most_specific_route_is_found(service: str, method: str, url: str, operation: str) -> None:
    found = _find(service, method, url)
    assert found is not None
    assert found[0] == operation


def test_an_unknown_route_is_none() -> None:
    assert _find("eks", "PATCH", "/clusters") is None
