"""What the file names by ARNs and ids."""

from typing import Any

import pytest

from cli.preflight.prerequisites import service_roles
from cli.preflight.references import references
from tests.unit.cli.preflight.fake_aws import ACCOUNT, DENIED, FILE, IMPORTED, REGION, asked, only, outcomes, refused

KEY = f"arn:aws:kms:{REGION}:{ACCOUNT}:key/1"
SECRET = f"arn:aws:secretsmanager:{REGION}:{ACCOUNT}:secret:slurm-abcdef"
TOPIC = f"arn:aws:sns:{REGION}:{ACCOUNT}:alarms"
ROLE = f"arn:aws:iam::{ACCOUNT}:role/path/nodes"


def with_group(overrides: str) -> str:
    return FILE.replace("instance_count: 4}", f"instance_count: 4, overrides: {{{overrides}}}}}")


def with_topic(arn: str = TOPIC) -> str:
    return f"alarm_topic_arn: {arn}\n{FILE}"


VOLUME = FILE.replace("instance_count: 4}", f"instance_count: 4, volume_gib: 100, volume_key_arn: '{KEY}'}}")
ACCOUNTING = f"{FILE}slurm: {{accounting: {{database: external, host: db, secret_arn: '{SECRET}'}}}}\n"
DIRECTORY = (
    f"{FILE}directory: {{type: ldap, uris: [ldaps://ldap.example.com], search_base: dc=example, bind_dn: cn=sssd, "
    f"secret_arn: '{SECRET}'}}\n"
)
POLICY = f"arn:aws:iam::{ACCOUNT}:policy/data"
ATTACHED = f"{FILE}node_role: {{managed_policy_arns: ['{POLICY}']}}\nslurm: {{metadata_access: all}}\n"
BOUNDARY = f"{FILE}node_role: {{permissions_boundary_arn: '{POLICY}'}}\n"
USED_BY_ALL = "slurm: {metadata_access: all}\n"
IMAGE, OWN_ROLE = with_group("ImageId: ami-00000001"), with_group(f"ExecutionRole: '{ROLE}'") + USED_BY_ALL


def key(**changed: Any) -> dict[str, Any]:
    return {"kms.describe_key": {"KeyMetadata": {"KeyId": "1", "KeyState": "Enabled", **changed}}}


def role(*services: str) -> dict[str, Any]:
    statement = {"Effect": "Allow", "Principal": {"Service": list(services)}, "Action": "sts:AssumeRole"}
    return {"iam.get_role": {"Role": {"Arn": ROLE, "AssumeRolePolicyDocument": {"Statement": [statement]}}}}


GOOD: list[tuple[str, dict[str, Any]]] = [
    (VOLUME, key()),
    (ACCOUNTING, {"secretsmanager.describe_secret": {}}),
    (DIRECTORY, {"secretsmanager.describe_secret": {}}),
    (with_topic(), {"sns.get_topic_attributes": {}}),
    (IMAGE, {"ec2.describe_images": {"Images": [{"State": "available", "Architecture": "x86_64"}]}}),
    (OWN_ROLE, role("ec2.amazonaws.com", "sagemaker.amazonaws.com")),
    (ATTACHED, {"iam.get_policy": {"Policy": {}}}),
    (BOUNDARY, {"iam.get_policy": {"Policy": {}}}),
]
ABSENT = {
    "kms.describe_key": "NotFoundException",
    "secretsmanager.describe_secret": "ResourceNotFoundException",
    "sns.get_topic_attributes": "NotFound",
    "ec2.describe_images": "InvalidAMIID.NotFound",
    "iam.get_role": "NoSuchEntity",
    "iam.get_policy": "NoSuchEntity",
}
"""What AWS answers to each question about a thing that does not exist."""


@pytest.mark.parametrize(("file", "answers"), GOOD)
def test_what_is_there_and_usable_is_well(file: str, answers: dict[str, Any]) -> None:
    assert outcomes(asked(references, answers, file)) == ["ok"]


@pytest.mark.parametrize(("file", "answers"), GOOD)
def test_what_is_not_there_is_an_error(file: str, answers: dict[str, Any]) -> None:
    found = only(asked(references, {operation: refused(ABSENT[operation]) for operation in answers}, file))
    assert (found.outcome, found.fix) == ("error", "correct it in the file, or create it")


@pytest.mark.parametrize(("file", "answers"), [(file, dict.fromkeys(answers, DENIED)) for file, answers in GOOD])
def test_what_the_caller_may_not_look_at_is_a_warning_that_names_it(file: str, answers: dict[str, Any]) -> None:
    found = only(asked(references, answers, file))
    assert found.outcome == "warning"
    assert "no permission to check this" in found.message


@pytest.mark.parametrize(
    ("file", "answers", "said"),
    [
        (VOLUME, key(KeyState="Disabled"), f"key {KEY} is Disabled"),
        (VOLUME, key(KeySpec="RSA_2048"), f"key {KEY} is RSA_2048"),
        (ACCOUNTING, {"secretsmanager.describe_secret": {"DeletedDate": "today"}}, f"secret {SECRET} is scheduled for deletion"),
        (IMAGE, {"ec2.describe_images": {"Images": []}}, "image ami-00000001 does not exist, or is not shared with this account"),
        (IMAGE, {"ec2.describe_images": {"Images": [{"State": "pending"}]}}, "image ami-00000001 is pending"),
        (
            IMAGE,
            {"ec2.describe_images": {"Images": [{"State": "available", "Architecture": "arm64"}]}},
            "image ami-00000001 is for arm64, and ml.trn1.32xlarge is x86_64",
        ),
        (
            *(IMAGE, {"ec2.describe_images": refused("AuthFailure", "Not authorized for images: [ami-00000001]")}),
            "ami-00000001 is not shared with this account",
        ),
        (OWN_ROLE, role("ec2.amazonaws.com"), f"role {ROLE} does not trust sagemaker.amazonaws.com"),
    ],
)
def test_what_cannot_be_used_is_an_error(file: str, answers: dict[str, Any], said: str) -> None:
    found = only(asked(references, answers, file))
    assert (found.outcome, found.message) == ("error", said)


def test_each_is_asked_for_once_and_one_refusal_leaves_the_others() -> None:
    file = VOLUME.replace("instance_count: 1}", f"instance_count: 1, overrides: {{ExecutionRole: '{ROLE}'}}}}") + USED_BY_ALL
    assert outcomes(asked(references, {"kms.describe_key": DENIED, **role("sagemaker.amazonaws.com")}, file)) == ["warning", "ok"]


def test_services_roles_that_are_not_there_yet_are_made_with_the_first_use() -> None:
    found = asked(service_roles, {"iam.get_role": refused("NoSuchEntity")})
    assert outcomes(found) == ["ok", "ok"]
    assert all("requires iam:CreateServiceLinkedRole" in each.message for each in found)


def test_existing_service_roles_are_reported_that_of_fsx_only_with_a_new_file_system() -> None:
    assert [each.message for each in asked(service_roles, {"iam.get_role": {}}, IMPORTED)] == [
        "AWSServiceRoleForSageMakerHyperPod exists"
    ]
