"""Moto's behaviour as corrected, and that what is corrected is still as it was when moto was pinned."""

from typing import Any

import moto
import pytest
from botocore.exceptions import ClientError
from moto.awslambda.models import LambdaBackend, LambdaFunction
from moto.cloudtrail.responses import CloudTrailResponse
from moto.core.authorization import ActionAuthenticatorMixin
from moto.events.models import EventPatternParser, Rule
from moto.iam.models import IAMBackend
from moto.logs.models import LogGroup
from moto.logs.responses import LogsResponse
from moto.s3.models import FakeBucket
from moto.ssm.models import SimpleSystemManagerBackend
from moto.sts.responses import TokenResponse

from tests.simulator.machinery.account import Account


def test_moto_is_the_version_that_these_corrections_were_made_for() -> None:
    assert moto.__version__ == "5.2.5", "look through local_aws for what that version does otherwise, then change this line"


def test_cloudtrail_has_no_events_instead_of_an_error(account: Account) -> None:
    assert account.cloudtrail.lookup_events()["Events"] == []


def test_awss_managed_policies_are_there_and_one_accounts_do_not_leak_into_the_next(account: Account) -> None:
    policy = "arn:aws:iam::aws:policy/ReadOnlyAccess"
    account.role("r")
    account.iam.attach_role_policy(RoleName="r", PolicyArn=policy)
    assert account.iam.get_policy(PolicyArn=policy)["Policy"]["AttachmentCount"] == 1


def test_an_emptied_account_has_unattached_managed_policies(account: Account) -> None:
    policy = "arn:aws:iam::aws:policy/ReadOnlyAccess"
    assert account.iam.get_policy(PolicyArn=policy)["Policy"]["AttachmentCount"] == 0


def test_an_action_that_moto_lacks_is_refused_once_instead_of_retried(account: Account) -> None:
    with pytest.raises(ClientError, match="not part of the embedded AWS"):
        account.cloudtrail.list_queries(EventDataStore="store")


@pytest.mark.usefixtures("account")
@pytest.mark.parametrize(
    ("owner", "name"),
    [
        (ActionAuthenticatorMixin, "_authenticate_and_authorize_action"),
        (TokenResponse, "assume_role"),
        (FakeBucket, "get_permission"),
        (IAMBackend, "_init_aws_policies"),
        (IAMBackend, "create_role"),
        (SimpleSystemManagerBackend, "put_parameter"),
        (CloudTrailResponse, "lookup_events"),
        (LogGroup, "filter_log_events"),
        (LogsResponse, "filter_log_events"),
        (LambdaFunction, "invoke"),
        (LambdaFunction, "get_configuration"),
        (LambdaBackend, "create_function"),
        (Rule, "send_to_targets"),
        (EventPatternParser, "_validate_event_pattern"),
    ],
)
def test_every_seam_is_ours_while_the_embedded_aws_lives(owner: Any, name: str) -> None:
    assert getattr(owner, name).__module__.startswith("local_aws.")
