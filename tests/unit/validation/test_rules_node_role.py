"""Rules about additions to the node role."""

from typing import Any

import pytest

from config.errors import dotted

READ = {"Effect": "Allow", "Action": ["s3:GetObject"], "Resource": ["arn:aws:s3:::datasets/*"]}
THEIRS = "arn:aws:iam::123456789012:role/theirs"
AWS_POLICY = "arn:aws:iam::aws:policy/ReadOnlyAccess"


def broken(draft: Any) -> list[str]:
    """Return each problem's rule and path."""
    return [f"{problem.rule}: {dotted(problem.path)}" for problem in draft.problems()]


def test_policies_of_aws_and_of_the_account_are_accepted(draft: Any) -> None:
    draft.set("account", "123456789012").set("node_role", "statements", [READ, READ]).set("slurm", "metadata_access", "all")
    draft.set("node_role", "managed_policy_arns", [AWS_POLICY, "arn:aws:iam::123456789012:policy/team/data"])
    assert draft.set("node_role", "permissions_boundary_arn", "arn:aws:iam::123456789012:policy/limit").problems() == []


def test_a_policy_is_attached_once(draft: Any) -> None:
    draft.set("node_role", "managed_policy_arns", [AWS_POLICY, AWS_POLICY]).set("slurm", "metadata_access", "all")
    assert broken(draft) == ["duplicate-node-role-policies: node_role.managed_policy_arns[1]"]


@pytest.mark.parametrize(
    ("statement", "path"),
    [
        ({"Action": ["s3:GetObject", "*"]}, "node_role.statements[0].Action[1]"),
        ({"Action": ["*:*"]}, None),  # not the form of an action
        ({"Action": ["s3:*"]}, None),
        ({"Action": ["*"], "Effect": "Deny"}, None),
    ],
)
def test_only_all_actions_of_all_services_are_reported(draft: Any, statement: dict[str, Any], path: str | None) -> None:
    draft.set("node_role", "statements", [{**READ, **statement}])
    assert [each for each in broken(draft) if each.startswith("unrestricted")] == (
        [f"unrestricted-node-role: {path}"] if path else []
    )


def test_a_section_without_content_is_not_unused(draft: Any) -> None:
    for group in draft.content["instance_groups"]:
        group["execution_role"] = THEIRS
    assert draft.set("slurm", "metadata_access", "all").problems() == []


def test_a_role_with_additions_may_read_scripts_elsewhere(draft: Any) -> None:
    scripts = {"LifeCycleConfig": {"SourceS3Uri": "s3://sagemaker-theirs/src"}}
    draft.set("instance_groups", 2, "overrides", scripts)
    assert broken(draft) == ["missing-execution-role: instance_groups[2].overrides.LifeCycleConfig.SourceS3Uri"]
    assert draft.set("node_role", "statements", [READ]).set("slurm", "metadata_access", "all").problems() == []


REQUIRED = ["metadata-access: slurm.metadata_access"]


@pytest.mark.parametrize(
    ("field", "value", "broken_rules"),
    [
        ("managed_policy_arns", [AWS_POLICY], REQUIRED),
        ("statements", [READ], REQUIRED),
        ("statements", [{**READ, "Effect": "Deny"}], []),
        ("permissions_boundary_arn", AWS_POLICY, []),
    ],
)
def test_who_can_use_permissions_of_nodes_must_be_written(draft: Any, field: str, value: object, broken_rules: list[str]) -> None:
    assert broken(draft.set("node_role", field, value)) == broken_rules
    assert draft.set("slurm", "metadata_access", "administrators").problems() == []


@pytest.mark.parametrize(
    ("group", "broken_rules"),
    [
        ({"execution_role": THEIRS}, REQUIRED),
        ({"overrides": {"ExecutionRole": THEIRS}}, REQUIRED),
        ({"execution_role": THEIRS, "overrides": {"LifeCycleConfig": {"SourceS3Uri": "s3://sagemaker-theirs/src"}}}, []),
    ],
)
def test_who_can_use_a_groups_own_role_must_be_written_unless_other_scripts_decide(
    draft: Any, group: dict[str, Any], broken_rules: list[str]
) -> None:
    for name, value in group.items():
        draft.set("instance_groups", 2, name, value)
    assert broken(draft) == broken_rules
    assert draft.set("slurm", "metadata_access", "administrators").problems() == []


def test_who_can_use_the_data_bucket_must_be_written_unless_custom_scripts_decide(draft: Any) -> None:
    draft.set("storage", "data_bucket", {"existing": "ours", "node_access": "read"})
    draft.set("storage", "data_repository_associations", [])
    assert REQUIRED[0] in broken(draft)
    (draft.folder / "scripts").mkdir()
    assert REQUIRED[0] not in broken(draft.set("lifecycle", "source", "scripts"))


@pytest.mark.parametrize(
    ("statement", "line"),
    [
        ({"Action": "s3:GetObject"}, "node_role.statements[0].Action: "),
        (
            {"Action": ["GetObject"]},
            'node_role.statements[0].Action[0]: "GetObject": must be an IAM action; use e.g. s3',
        ),
        ({"Resource": ["datasets"]}, 'node_role.statements[0].Resource[0]: "datasets": must be an ARN or *; use e.g. arn:aws:s3'),
        ({"Effect": "allow"}, "node_role.statements[0].Effect: "),
        ({"Principal": "*"}, "node_role.statements[0].Principal: "),
        ({"Sid": "read-data"}, 'node_role.statements[0].Sid: "read-data": must be letters and digits; did you mean readdata?'),
    ],
)
def test_a_statement_has_the_form_of_iam(draft: Any, statement: dict[str, Any], line: str) -> None:
    [found] = draft.set("node_role", "statements", [{**READ, **statement}]).lines()
    assert found.startswith(line)
