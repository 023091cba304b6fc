"""Call the SageMaker API for clusters. Every failure is an ApiError."""

import json
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Any

import botocore

from cluster_resource.aws_api import ApiError, Kind, api_errors
from cluster_resource.decision import Call
from cluster_resource.event import Json, Owner, owner_of
from cluster_resource.observed import Cluster, Node, cluster_of, core, event_failure, event_message, node_of
from cluster_resource.pointer import Bundle

PAGE = 100
MAX_FAILURES = 3
ALGORITHM = "RSASSA_PKCS1_V1_5_SHA_256"
SIGNED = {"signature": "Signature", "public_key": "PublicKey"}


class ClusterApi:
    """The operations on clusters, on a boto3 client; ``client_of`` returns those of other services."""

    def __init__(self, client: Any, client_of: Any = None) -> None:
        self._client = client
        self._client_of = client_of

    @property
    def request_shape(self) -> Any:
        """Return CreateCluster's input in the service model (an untyped botocore Shape)."""
        return self._client.meta.service_model.operation_model("CreateCluster").input_shape

    def cluster(self, name: str, *, is_deletion: bool) -> Cluster | None:
        """Return the cluster with its tags, and with its nodes if a decision needs them."""
        try:
            description = self._call("DescribeCluster", ClusterName=name)
            tags = self._tags(description["ClusterArn"])
            nodes = self._nodes(name, description["ClusterStatus"], is_deletion=is_deletion)
        except ApiError as error:
            if error.kind is Kind.ABSENT:
                return None
            raise
        return cluster_of(description, tags, nodes)

    def nodes(self, name: str) -> list[Node]:
        """Return all nodes of the cluster; none if it does not exist."""
        try:
            return [node_of(node) for node in self._pages("ListClusterNodes", "ClusterNodeSummaries", ClusterName=name)]
        except ApiError as error:
            if error.kind is Kind.ABSENT:
                return []
            raise

    def is_rolling_back(self, stack_id: str) -> bool:
        """Return whether CloudFormation rolls back a change of the stack, which an event does not show."""
        if self._client_of is None:
            return False
        with api_errors("DescribeStacks"):
            (stack,) = self._client_of("cloudformation").describe_stacks(StackName=stack_id)["Stacks"]
        return "ROLLBACK" in stack["StackStatus"]

    def scripts_refusal(self, properties: Mapping[str, Any]) -> str:
        """Return why no node may start with the scripts of ``properties``, or nothing."""
        bundle = Bundle.of(properties)
        if self._client_of is None or not bundle.sha256:
            return ""
        from cluster_resource.scripts import refusal  # noqa: PLC0415  most steps start no nodes

        return refusal(bundle, self._client_of("s3"))

    def signed(self, key: str, parameter: str, pointer: Json) -> str:
        """Return the pointer with a signature of all of it and of the parameter's name."""
        kms = self._client_of("kms")
        message = f"{parameter}\n{json.dumps(pointer, sort_keys=True)}".encode()
        with api_errors("Sign"):
            found = kms.get_public_key(KeyId=key) | kms.sign(KeyId=key, Message=message, SigningAlgorithm=ALGORITHM)
        more = {name: b64encode(found[member]).decode() for name, member in SIGNED.items()}
        return json.dumps(pointer | more, separators=(",", ":"))

    def deleting_clusters(self, owner: Owner) -> list[str]:
        """Return the names of the owner's clusters in Deleting."""
        return [
            summary["ClusterName"]
            for summary in self._pages("ListClusters", "ClusterSummaries")
            if summary["ClusterStatus"] == "Deleting" and self._owner(summary["ClusterArn"]) == owner
        ]

    def failures(self, name: str, after: datetime, has_time: Callable[[], bool], known: str = "") -> Iterator[str]:
        """Yield the failures in the cluster's newest events ``after`` a time that are not ``known``, while ``has_time``.

        HyperPod keeps events only for clusters with continuous provisioning.
        """
        if not has_time():
            return
        ids = [event["EventId"] for event in self._events(name, after) if event.get("EventLevel") == "Error"][:MAX_FAILURES]
        for each in ids:
            if not has_time():
                return
            event = self._call("DescribeClusterEvent", ClusterName=name, EventId=each)["EventDetails"]
            message = core(event_message(event) or event_failure(event))
            if message not in known:  # failures come in pairs
                yield event_failure(event)
            known += f"\n{message}"

    def failed_instances(self, name: str, after: datetime) -> Iterator[tuple[str, str, datetime]]:
        """Yield group, instance and time of the newest events ``after`` a time about nodes with a problem."""
        for event in self._events(name, after, ResourceType="Instance"):
            if event.get("EventLevel") in ("Error", "Warn") and event.get("InstanceId"):
                yield event.get("InstanceGroupName") or "", event["InstanceId"], event["EventTime"]

    def _events(self, name: str, after: datetime, **more: str) -> list[Json]:
        """Return the newest page of events ``after`` a time."""
        page = self._call("ListClusterEvents", ClusterName=name, EventTimeAfter=after, MaxResults=PAGE, **more)
        return list(page["Events"])

    def execute(self, call: Call) -> Json:
        """Make a call that changes something."""
        return self._call(call.operation, **call.arguments)

    def _owner(self, arn: str) -> Owner | None:
        try:
            return owner_of(self._tags(arn))
        except ApiError as error:
            if error.kind is Kind.ABSENT:
                return None
            raise

    def _tags(self, arn: str) -> dict[str, str]:
        return {tag["Key"]: tag["Value"] for tag in self._pages("ListTags", "Tags", ResourceArn=arn)}

    def _nodes(self, name: str, status: str, *, is_deletion: bool) -> list[Json] | None:
        """Return all nodes of an idle cluster; for a busy or Deleting cluster only the first page, for its messages."""
        if is_deletion and status != "Deleting":
            return None
        if status in ("InService", "Failed"):
            return list(self._pages("ListClusterNodes", "ClusterNodeSummaries", ClusterName=name))
        try:
            return list(self._call("ListClusterNodes", ClusterName=name, MaxResults=PAGE)["ClusterNodeSummaries"])
        except ApiError:
            if status == "Deleting":
                raise
            return None  # only the progress line uses them

    def _pages(self, operation: str, items: str, **arguments: str) -> Iterator[Json]:
        page: Mapping[str, Any] = {}
        while True:
            more = {"NextToken": page["NextToken"]} if page.get("NextToken") else {}
            page = self._call(operation, MaxResults=PAGE, **arguments, **more)
            yield from page.get(items, [])
            if not page.get("NextToken"):
                return

    def _call(self, operation: str, **arguments: Any) -> Json:
        with api_errors(operation):
            reply: Json = getattr(self._client, botocore.xform_name(operation))(**arguments)
            return reply
