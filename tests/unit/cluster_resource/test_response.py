"""A response fits CloudFormation's size limit, and sending it is retried."""

import json

import pytest

from cluster_resource import response
from cluster_resource.event import Event
from tests.unit.cluster_resource.world import World, properties


@pytest.fixture
def event(world: World) -> Event:
    return Event.parse(world.event("Create", properties()))


@pytest.mark.fault(32)
@pytest.mark.parametrize("letter", ["x", "ü", "語", "🚀", '"', "\n", "\x01", "\ud800"])
def test_a_response_is_cut_between_characters_and_stays_json(event: Event, letter: str) -> None:
    content = response.body(event, response.failure("name", "begin " + letter * 5000))
    assert 4000 < len(content) <= 4096
    reason = json.loads(content.decode("utf-8"))["Reason"]
    assert reason.startswith("begin ")
    assert reason.endswith("... (cut)")


@pytest.mark.fault(32)
def test_a_short_reason_is_not_cut(event: Event) -> None:
    assert json.loads(response.body(event, response.failure("name", "kühn 🚀")))["Reason"] == "kühn 🚀"


def test_a_failure_without_a_reason_gets_one(event: Event) -> None:
    assert json.loads(response.body(event, response.failure("name", "")))["Reason"]


class Bucket:
    """Answers PUTs with what it was given; an exception is raised."""

    def __init__(self, *replies: int | OSError) -> None:
        self.replies = list(replies)
        self.pauses: list[float] = []

    def put(self, _url: str, _content: bytes) -> int:
        reply = self.replies.pop(0)
        if isinstance(reply, OSError):
            raise reply
        return reply


@pytest.mark.fault(30)
def test_sending_is_retried_during_an_outage_of_the_bucket(event: Event) -> None:
    bucket = Bucket(500, TimeoutError("slow"), 503, 200)
    response.send(event, response.failure("name", "why"), bucket.put, bucket.pauses.append)
    assert bucket.replies == []
    assert bucket.pauses == [1, 2, 4]


@pytest.mark.fault(30)
def test_a_response_that_is_not_delivered_raises_an_error_without_the_url(event: Event) -> None:
    bucket = Bucket(500, 500, 500, 500)
    with pytest.raises(response.ResponseError, match="HTTP 500") as caught:
        response.send(event, response.failure("name", "why"), bucket.put, bucket.pauses.append)
    assert "https://" not in str(caught.value)


@pytest.mark.fault(30)
def test_an_expired_url_is_logged_for_an_alarm_and_not_retried(event: Event, capsys: pytest.CaptureFixture[str]) -> None:
    bucket = Bucket(403)
    response.send(event, response.failure("name", "why"), bucket.put, bucket.pauses.append)
    assert bucket.pauses == []
    [line] = capsys.readouterr().out.splitlines()
    assert json.loads(line)["alarm"] == "response refused"
    assert "https://" not in line


@pytest.mark.fault(41)
@pytest.mark.parametrize(("kind", "alarm"), [("Delete", "deletion failed"), ("Update", None), ("Create", None)])
def test_a_failed_deletion_is_logged_for_an_alarm(
    event: Event, capsys: pytest.CaptureFixture[str], kind: str, alarm: str | None
) -> None:
    """At the end of an update CloudFormation takes no notice of it."""
    bucket = Bucket(200, 200)
    for verdict in (response.failure("name", "why"), response.success("name", "", None)):
        response.send(event._replace(request_type=kind), verdict, bucket.put, bucket.pauses.append)
    failed, succeeded = map(json.loads, capsys.readouterr().out.splitlines())
    assert failed.get("alarm") == alarm
    assert "alarm" not in succeeded


@pytest.mark.fault(41)
@pytest.mark.parametrize(
    ("resource_type", "reason"),
    [("Custom::HyperPodCluster", "superseded: this request came after a newer one"), ("Custom::HyperPodWait", "why")],
)
def test_a_deletion_that_leaves_no_cluster_raises_no_alarm(
    event: Event, capsys: pytest.CaptureFixture[str], resource_type: str, reason: str
) -> None:
    given_up = event._replace(request_type="Delete", resource_type=resource_type)
    response.send(given_up, response.failure("name", reason), Bucket(200).put, lambda _: None)
    assert "alarm" not in json.loads(capsys.readouterr().out)
