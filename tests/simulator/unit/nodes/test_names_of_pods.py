"""The names of services and pods in the VPC's resolver."""

from typing import Any

from local_aws.nodes.agent.pods_link import names


def item(name: str, **more: Any) -> dict[str, Any]:
    return {"metadata": {"name": name, "namespace": "team-a"}, **more}


def test_a_service_has_its_address() -> None:
    found = names([item("web", spec={"clusterIP": "172.20.1.1"})], [item("web", subsets=[{"addresses": [{"ip": "100.64.0.5"}]}])])
    assert found == {"web.team-a.svc.cluster.local": "172.20.1.1"}


def test_a_headless_service_has_a_name_for_each_pod_with_a_host_name() -> None:
    pods = [{"ip": "100.64.0.5", "hostname": "train-0"}, {"ip": "100.64.0.70"}]
    found = names([item("train", spec={"clusterIP": "None"})], [item("train", subsets=[{"addresses": pods}])])
    assert found == {"train.team-a.svc.cluster.local": "100.64.0.5", "train-0.train.team-a.svc.cluster.local": "100.64.0.5"}


def test_pods_that_are_not_ready_have_no_names() -> None:
    services = [item("train", spec={"clusterIP": "None"}), item("outside", spec={})]
    endpoints = [
        item("train", subsets=[{"notReadyAddresses": [{"ip": "100.64.0.5"}]}]),
        item("train2"),
        item("train", subsets=None),
    ]
    assert names(services, endpoints) == {}
