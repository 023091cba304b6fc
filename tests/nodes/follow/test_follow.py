"""Running nodes follow the pointer to a new bundle, wave by wave, and report what they did."""

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from cli.events.command import events
from cli.render import envelope
from cli.status.command import status, watch
from cluster_resource.cluster_api import ClusterApi
from cluster_resource.pointer import Bundle as Uploaded
from cluster_resource.rollout import CONTINUE
from local_aws.hyperpod import health_records
from local_aws.metrics import values
from local_aws.nodes.runner import SimulatedNodes
from local_aws.server import EmbeddedAws
from local_aws.testing import aws, nodes
from tests.nodes.cluster.operated import data_of
from tests.nodes.cluster.running import UP_S
from tests.nodes.follow.following import LOG_GROUP, NEW_KEY, PARAMETER, SSH, Following, bundle, following, sha256_of
from tests.nodes.follow.looks import between_looks, bundles_in_drift, named
from tests.nodes.follow.monitored import END_SLURMCTLD, FILL_ROOT, PACE, monitored, tamper
from tests.nodes.follow.rollout import Rollout
from tests.simulator.hyperpod.world import until

pytestmark = pytest.mark.local
__all__ = ["aws", "nodes"]

NODES = ("controller-1", "login-1", "workers-1", "workers-2")


@pytest.fixture(scope="module")
def cluster(aws: EmbeddedAws, nodes: SimulatedNodes) -> Iterator[Following]:
    with following(aws, nodes) as running:
        yield running


@pytest.fixture(scope="module")
def carol(cluster: Following) -> str:
    """Carol's public key, whose private key the login node has."""
    return cluster.run("login-1", "sh", "-c", NEW_KEY)


def test_a_new_user_reaches_running_nodes_wave_by_wave(cluster: Following, carol: str) -> None:
    first = until(cluster.records, lambda found: len({one["node"] for one in found}) == 4, UP_S)
    assert {one["sha256"] for one in first} == {sha256_of(bundle().files())}

    cluster.deploy(bundle(carol), percent=0)
    cluster.until_reported("applied", "controller-1", "login-1")
    assert {cluster.users_of(name).partition(":")[0] for name in NODES[:2]} == {"carol"}
    assert {cluster.users_of(name) for name in NODES[2:]} == {"none"}
    config = ("sh", "-c", "scontrol show config | grep ^MessageTimeout")
    assert cluster.run("controller-1", *config).split()[2] == "33"

    cluster.generation += 1
    cluster.point(prefix="lifecycle/2")
    reports = cluster.until_reported("applied", "workers-1", "workers-2")
    assert set(reports) == {"workers-1", "workers-2"}  # others have the bundle already
    machine = cluster.machine("workers-1")
    assert (reports["workers-1"]["instance"], reports["workers-1"]["address"]) == (machine["id"], machine["address"])
    for name in NODES:
        assert cluster.run("login-1", "sh", "-c", SSH.format(cluster.machine(name)["address"])).splitlines()[-1] == "carol"
        assert "carol is here" in cluster.run(name, "cat", "/etc/motd")


def test_the_state_of_nodes_is_reported(cluster: Following) -> None:
    def latest() -> dict[str, dict[str, Any]]:
        return {one["node"]: one for one in cluster.records("state")}

    states = until(latest, lambda found: {one["generation"] for one in found.values()} == {cluster.generation}, UP_S)
    assert set(states) == set(NODES)
    slurm = until(lambda: latest()["controller-1"]["slurm"], lambda found: found["nodes"] == 2, UP_S)
    assert (slurm["slurmctld"], slurm["slurmdbd"]) == (1, None)
    assert states["workers-1"]["services"] == {"munge": "active", "slurmd": "active", "hyperpod-metadata": "active"}
    assert 0 < states["workers-1"]["disks"][0]["free_percent"] < 100


def test_rules_of_the_metadata_service_that_are_gone_or_useless_are_loaded_again_or_reported(cluster: Following) -> None:
    table = ("inet", "hyperpod_metadata")

    def reported() -> str:
        return str([one for one in cluster.records("state") if one["node"] == "workers-1"][-1]["services"]["hyperpod-metadata"])

    def rules(_: object = None) -> str:
        return cluster.run("workers-1", "sh", "-c", "nft list table inet hyperpod_metadata 2>&1 || true")

    cluster.run("workers-1", "nft", "delete", "table", *table)
    until(rules, lambda found: "administrators" in found, UP_S)
    cluster.run("workers-1", "nft", "flush", "chain", *table, "output")
    until(rules, lambda found: "ct original" in found.partition("chain forward")[0], UP_S)
    file = "/opt/hyperpod-cdk/metadata.nft"
    cluster.run("workers-1", "sh", "-c", f"mv {file} /root/; echo 'flush table inet hyperpod_metadata' > {file}")
    cluster.run("workers-1", "nft", "flush", "chain", *table, "output")
    until(reported, lambda found: found == "open", UP_S)
    cluster.run("workers-1", "sh", "-c", f"mv /root/metadata.nft {file}")
    until(reported, lambda found: found == "active", UP_S)


def test_status_is_watched_and_events_are_followed(cluster: Following) -> None:
    host, node = cluster.machine("workers-1")["host"], cluster.machine("workers-2")["id"]
    drawn: list[str] = []
    lines: list[str] = []
    known: list[str] = []

    def drain() -> None:
        cluster.run("controller-1", "scontrol", "update", f"nodename={host}", "state=drain", "reason=looks odd")
        until(lambda: str(status(deployment)), lambda text: "1 drained" in text, UP_S)

    def detect() -> None:
        known.extend(lines)
        health_records.write(node, xid=79)

    with named(cluster) as deployment:
        until(lambda: str(status(deployment)), lambda text: "2 nodes: 2 idle" in text, UP_S)
        with pytest.raises(KeyboardInterrupt):
            watch(deployment, draw=lambda result: drawn.append(str(result)), sleep=between_looks(drain))
        follow = between_looks(detect, lambda: None)
        with pytest.raises(KeyboardInterrupt):
            events(deployment, follow=True, show=lambda line: lines.append(str(line)), sleep=follow)
        data_of("status", envelope("status", status(deployment)))
        data_of("events", envelope("events", events(deployment)))
    cluster.run("controller-1", "scontrol", "update", f"nodename={host}", "state=resume")
    assert ["looks odd" in each for each in drawn] == [False, True]
    assert "looks odd" in "\n".join(known)
    assert [f"  {node}: " in line for line in lines[len(known) :]] == [True, False], "the event, and what to do"


def test_a_tampered_bundle_and_a_malformed_pointer_are_refused(cluster: Following, carol: str) -> None:
    tamper(cluster, carol)
    reports = cluster.until_reported("refused", *NODES)
    assert {one["step"] for one in reports.values()} == {None}
    assert all(f", the bundle parameter {cluster.sha256}" in one["message"] for one in reports.values())
    assert cluster.run("controller-1", "sh", "-c", "ls /root/tampered || echo none").splitlines()[-1] == "none"

    for change in ({"signature": ""}, {"sha256": "0b" * 32}, foreign(cluster)):
        known = len(cluster.records())
        cluster.put(json.dumps(cluster.pointed() | change))
        until(partial(unsigned, cluster, known), lambda found: found == {*NODES}, UP_S)

    cluster.put("lifecycle/2")
    malformed = until(cluster.records, lambda found: any("not JSON" in one["message"] for one in found), UP_S)
    assert {(one["result"], one["sha256"]) for one in malformed if "not JSON" in one["message"]} == {("refused", "")}


def unsigned(cluster: Following, known: int) -> set[str]:
    """The nodes that refused a signature, without the records that are known."""
    text = "the bundle parameter is not signed with the key that this node keeps"
    return {one["node"] for one in cluster.records()[known:] if (one["result"], one["message"]) == ("refused", text)}


def foreign(cluster: Following) -> dict[str, Any]:
    """A signature of the pointer by another key, with that key."""
    spec = {"KeySpec": "RSA_3072", "KeyUsage": "SIGN_VERIFY"}
    key = cluster.world.client("kms").create_key(**spec)["KeyMetadata"]["KeyId"]
    return dict(json.loads(ClusterApi(None, cluster.world.client).signed(key, PARAMETER, cluster.pointed())))


def test_a_failing_live_step_is_reported_with_its_title_and_the_next_bundle_repairs_it(cluster: Following) -> None:
    cluster.deploy(bundle(script="#!/bin/sh\necho no license >&2\nexit 3\n"), roles=("controller",), percent=0)
    report = cluster.until_reported("failed", "controller-1")["controller-1"]
    assert report["step"] == "your live scripts"
    assert report["message"].endswith("ended with status 3: no license")
    states = until(lambda: cluster.records("state"), lambda found: any(one["sha256"] == "" for one in found), UP_S)
    assert {one["node"] for one in states if one["sha256"] == ""} == {"controller-1"}
    with named(cluster) as deployment:
        assert bundles_in_drift(deployment)[cluster.machine("controller-1")["id"]] == (cluster.sha256, None)

    cluster.deploy(bundle(script="#!/bin/sh\ntouch /root/live\n"))
    cluster.until_reported("applied", *NODES)
    with named(cluster) as deployment:
        until(lambda: bundles_in_drift(deployment), lambda found: not found, UP_S)
    assert all(cluster.run(name, "ls", "/root/live") for name in NODES)
    assert "carol" not in cluster.run("login-1", "sh", "-c", SSH.format(cluster.machine("workers-1")["address"])).split()


def test_jobs_get_the_node_role_with_all_and_lose_it_on_running_nodes_without(cluster: Following) -> None:
    aws = "env AWS_ENDPOINT_URL=http://127.0.0.1:4566 AWS_REGION=us-west-2 aws sts get-caller-identity --query Arn --output text"

    def job() -> str:
        return cluster.run(
            "login-1", "runuser", "-u", "alice", "--", "sh", "-c", f"srun --immediate=30 --chdir=/ {aws} 2>&1 || true"
        )

    for access, printed in (("all", ":assumed-role/nodes/"), ("administrators", "Unable to locate credentials")):
        cluster.deploy(bundle(access=access))
        cluster.until_reported("applied", *NODES)
        assert printed in job()


def test_a_deployment_stops_at_the_first_failure_and_its_rollback_or_the_next_one_repairs_the_nodes(cluster: Following) -> None:
    rollout = Rollout(cluster.world, cluster.name, PARAMETER, LOG_GROUP, cluster.key)
    old = rollout.upload(bundle(), "lifecycle/old/")
    new = rollout.upload(bundle(script="#!/bin/sh\n[ ! -e /root/full ] || { echo disk full >&2; exit 3; }\n"), "lifecycle/new/")
    assert rollout.update(old, new)["Data"] == {"Rollout": "applied on 4 of 4 nodes"}

    cluster.run("login-1", "touch", "/root/full")
    stopped = rollout.update(new, old)
    instance = cluster.machine("login-1")["id"]
    assert stopped["Status"] == "FAILED"
    assert f"stopped at login: login-1 ({instance}): step 'your live scripts': " in stopped["Reason"]
    assert "disk full" in stopped["Reason"]
    reached = {one["node"] for one in cluster.records() if one["sha256"] == Uploaded.of(new).sha256}
    assert reached == {"controller-1", "login-1"}

    assert rollout.update(old, new, undo=True)["Data"] == {"Rollout": "applied on 4 of 4 nodes"}

    undone = cluster.pointed()["generation"]
    warned = rollout.update({**new, "OnFailure": "warn"}, old)
    assert warned["Status"] == "SUCCESS"
    assert warned["Data"]["Rollout"].startswith(f"stopped at login: login-1 ({instance}): step 'your live scripts': ")
    assert warned["Data"]["Rollout"].endswith(CONTINUE)
    assert {one["node"] for one in cluster.records() if one["generation"] > undone} == {"controller-1", "login-1"}

    cluster.run("login-1", "rm", "/root/full")
    repaired = rollout.upload(bundle(script="#!/bin/sh\n"), "lifecycle/next/")
    assert rollout.update(repaired, new)["Data"] == {"Rollout": "applied on 4 of 4 nodes"}


def test_each_trouble_raises_its_alarm_and_is_shown_with_what_to_do(cluster: Following, carol: str, tmp_path: Path) -> None:
    deployment = monitored(cluster, tmp_path)
    short = cluster.pointed()["sha256"][:8]

    def raised() -> dict[str, str]:
        data = status(deployment).data or {}
        return {each["name"].removeprefix("ml-"): each["state"] for each in data["alarms"]}

    assert "workers-1" in until(lambda: str(status(deployment)), lambda text: "2 nodes: 2 idle" in text, UP_S)
    until(raised, lambda found: not found)
    tamper(cluster, carol)
    full, drained = cluster.machine("workers-1"), cluster.machine("workers-2")
    cluster.run("workers-1", "sh", "-c", FILL_ROOT)
    drain = ("scontrol", "update", f"nodename={drained['host']}", "state=drain", "reason=gres/gpu count too low")
    cluster.run("controller-1", *drain)
    health_records.write(drained["id"], xid=79)
    until(
        raised, lambda found: found == dict.fromkeys(("BundleFailed", "DiskSpaceLow", "NodeFault", "NodesDrained"), "ALARM"), UP_S
    )

    text = str(status(deployment))
    row = next(line.split() for line in text.splitlines() if line.startswith(f"{drained['id']} "))
    assert [row[column] for column in (1, 2, 4, 5)] == ["workers-2", "Running", "1", short], "the bundle before"
    assert "gres/gpu count too low" in text
    assert "% free on /" in text
    values.set_pace_of_reports(PACE)
    cluster.run("controller-1", "sh", "-c", END_SLURMCTLD)
    until(raised, lambda found: found.get("SlurmctldDown") == "ALARM", UP_S)
    assert "down: slurmctld" in str(status(deployment))

    data = events(deployment).data or {}
    acts = {(each["rule"], each["subject"]): each["fix"] for each in data["events"] if each["verdict"] == "act"}
    alarms = ("BundleFailed", "DiskSpaceLow", "NodeFault", "NodesDrained", "SlurmctldDown")
    causes = {
        ("gpu-hardware", drained["id"]),
        ("slurm-gpu", drained["host"]),
        ("slurm-daemon", "slurmctld"),
        ("disk-full", f"{full['host']} /"),
        *(("alarm", f"ml-{name}") for name in alarms),
    }
    assert causes <= acts.keys()
    assert all(acts[cause] for cause in causes)
    refused = {each["subject"] for each in data["events"] if f"refused bundle {cluster.sha256[:8]}" in each["message"]}
    assert refused == set(NODES)
    told = "\n".join(each["message"] for each in data["events"] if each["rule"] == "alarm")
    assert told.count("./hpod") >= len(alarms)
