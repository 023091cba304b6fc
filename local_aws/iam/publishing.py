"""Decide whether a service may publish to an SNS topic: by the topic's policy, and by that of its key."""

from collections.abc import Mapping
from typing import Any

from moto.kms.models import kms_backends
from moto.sns.models import sns_backends

from local_aws.iam.decisions import service_may

_DEFAULT_POLICY = "__default_policy_ID"
_OF_OWN_ACCOUNT = ("cloudwatch.amazonaws.com",)
"""The services that the default policy of a topic allows, because they send AWS:SourceOwner."""
_WITHOUT_SOURCE = "events.amazonaws.com"
_KEY_ACTIONS = ("kms:Decrypt", "kms:GenerateDataKey")


def service_may_publish(account: str, service: str, topic_arn: str, context: Mapping[str, str]) -> bool:
    """Return whether the service may publish; EventBridge needs a policy, and the AWS managed key allows no service."""
    topic = sns_backends[account][topic_arn.split(":")[3]].topics[topic_arn]
    by_default = topic._policy_json.get("Id") == _DEFAULT_POLICY and service in _OF_OWN_ACCOUNT
    if not (by_default or service_may(account, service, "sns:Publish", topic_arn, context)):
        return False
    if not topic.kms_master_key_id:
        return True
    key = _key(account, topic_arn.split(":")[3], topic.kms_master_key_id)
    # SNS's developer guide: a key's policy supports no conditions on the source of events from EventBridge.
    sent = {} if service == _WITHOUT_SOURCE else context
    return key is not None and all(service_may(account, service, action, key.arn, sent) for action in _KEY_ACTIONS)


def _key(account: str, region: str, name: str) -> Any | None:
    backend = kms_backends[account][region]
    try:
        return backend.keys.get(backend.any_id_to_key_id(name))
    except KeyError:
        return None
