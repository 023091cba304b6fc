"""Patches of moto 5.2.5, each with the behaviour that it corrects and a test that notices when moto changes."""

import copy
import inspect
import json
from datetime import datetime
from typing import Any

from flask import has_request_context, request
from moto.cloudtrail.responses import CloudTrailResponse
from moto.iam.access_control import PermissionResult
from moto.iam.exceptions import MalformedPolicyDocument
from moto.iam.models import IAMBackend
from moto.logs.exceptions import LogsClientError
from moto.logs.models import LogGroup
from moto.logs.responses import LogsResponse
from moto.s3.models import FakeBucket
from moto.ssm import models as ssm_models
from moto.ssm.exceptions import ValidationException
from moto.ssm.models import SimpleSystemManagerBackend

from local_aws import iam
from local_aws.clock import clock
from local_aws.limits import LIMITS

_parse_policies = IAMBackend._init_aws_policies
_create_role = IAMBackend.create_role
_filter_log_events = LogsResponse.filter_log_events
_filtered = LogGroup.filter_log_events
_put_parameter = SimpleSystemManagerBackend.put_parameter
_parsed_policies: dict[tuple[str, str], list[Any]] = {}


def _bucket_permission(self: Any, action: str, resource: str) -> PermissionResult:
    """Return the bucket policy's decision on this request.

    Moto treats a Deny with a false condition as a Deny, so that a bucket with CDK's `enforce_ssl` refuses every request.
    """
    if self.policy is None:
        return PermissionResult.NEUTRAL
    key = iam.access_key(request.headers) if has_request_context() else ""
    if iam.session_of(key):
        return PermissionResult.PERMITTED  # all policies, including this one, were evaluated when the request came in
    denied = iam.bucket_denies(self.account_id, key, action, resource)
    return PermissionResult.DENIED if denied else PermissionResult.NEUTRAL


def _managed_policies(self: Any) -> list[Any]:
    """Return AWS's managed policies, parsed once: moto parses all 1,582 on each reset, which takes a third of a second."""
    key = (self.account_id, self.region_name)
    if key not in _parsed_policies:
        _parsed_policies[key] = _parse_policies(self)
    return [copy.copy(policy) for policy in _parsed_policies[key]]


def _no_events(_: Any) -> str:
    """Return no CloudTrail events: the CDK command line asks for them after a failure and retries for long on moto's 500."""
    return json.dumps({"Events": []})


def _events_of_streams(self: Any) -> str:
    """Return the events of the streams with the request's prefix, which moto ignores."""
    answer, prefix = json.loads(_filter_log_events(self)), self._get_param("logStreamNamePrefix", "")
    return json.dumps({**answer, "events": [each for each in answer["events"] if each["logStreamName"].startswith(prefix)]})


def _sorted_events(self: Any, *arguments: Any) -> Any:
    """Return the events of all streams in the order of time; moto does so only if `interleaved` is set, which AWS ignores."""
    *others, token, pattern, _ = arguments
    last = (f"{self.name}@{name}@{event.event_id}" for name, stream in self.streams.items() for event in stream.events)
    if token and token not in last:  # moto's tokens
        raise LogsClientError("InvalidParameterException", "The specified nextToken is invalid.")
    return _filtered(self, *others, token, pattern, True)


def _role_with_a_policy(self: Any, role_name: str, assume_role_policy_document: str, *others: Any, **named: Any) -> Any:
    """Create the role if its trust policy is JSON, which moto checks only in UpdateAssumeRolePolicy."""
    try:
        json.loads(assume_role_policy_document)
    except ValueError as error:
        raise MalformedPolicyDocument("This policy contains invalid Json") from error
    return _create_role(self, role_name, assume_role_policy_document, *others, **named)


def _small_parameter(*given: Any, **named: Any) -> Any:
    """Write the parameter if its tier has room for it; moto does not look at the size."""
    arguments = inspect.signature(_put_parameter).bind(*given, **named).arguments
    tier = arguments["tier"] or "Standard"
    standard = LIMITS["ssm:PutParameter", "value"]
    bound = standard if tier == "Standard" else 2 * standard
    if len(arguments["value"].encode()) > bound:
        raise ValidationException(f"{tier} tier parameters support a maximum parameter value of {bound} characters.")
    return _put_parameter(*given, **named)


def _aws_now() -> datetime:
    """Return the time of parameters: a pointer's generation is the state machine's time, and nodes compare both."""
    return clock.now().replace(tzinfo=None)


def install(endpoint: str) -> None:  # noqa: ARG001  part of every service's signature
    """Install the patches."""
    FakeBucket.get_permission = _bucket_permission
    IAMBackend._init_aws_policies = _managed_policies
    ssm_models.utcnow = _aws_now
    IAMBackend.create_role = _role_with_a_policy
    SimpleSystemManagerBackend.put_parameter = _small_parameter
    LogGroup.filter_log_events = _sorted_events
    LogsResponse.filter_log_events = _events_of_streams
    CloudTrailResponse.lookup_events = _no_events


def reset() -> None:
    """Do nothing: there is no state."""
