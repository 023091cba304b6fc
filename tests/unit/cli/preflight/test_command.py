"""The command: the file's problems first, then the account's answers, and what ends it."""

import json
import re
from pathlib import Path
from threading import Event, get_ident
from typing import Any

import pytest
from botocore.exceptions import (
    ClientError,
    CredentialRetrievalError,
    EndpointConnectionError,
    MetadataRetrievalError,
    NoCredentialsError,
    ParamValidationError,
)
from botocore.parsers import ResponseParserError

import cli.preflight as preflight_package
from cli.errors import CommandError
from cli.preflight import command
from cli.preflight.account import Account
from cli.preflight.check import Check, CheckResult, error, ok, run_checks, skipped, warning
from cli.preflight.checks import CHECKS
from cli.preflight.command import preflight
from cli.render import envelope
from config.errors import ConfigError
from tests.unit.cli.preflight.fake_aws import DENIED, FILE, FakeAws, outcomes, parsed, refused


def check(*found: CheckResult) -> Check:
    return Check("a check", lambda _: iter(found))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "draft.yaml").write_text(FILE)
    return tmp_path


@pytest.fixture
def checks(monkeypatch: pytest.MonkeyPatch) -> list[Check]:
    """What the command asks in this test."""
    asked: list[Check] = []
    monkeypatch.setattr(command, "CHECKS", asked)
    return asked


def run(
    folder: Path, form: str = "text", aws: FakeAws | None = None, *, strict: bool = False, show_all: bool = True
) -> tuple[str, str]:
    """What is printed, and the error at the end."""
    printed: list[str] = []
    try:
        result = preflight(
            clusters=folder,
            cluster="draft",
            strict=strict,
            show_all=show_all,
            show=lambda block: printed.append(str(block)),
            session=aws or FakeAws({}),
        )
    except (CommandError, ConfigError) as failure:
        return "\n".join(printed), str(failure)
    text = [*printed, *map(str, result.text)]
    return envelope("preflight", result) if form == "json" else "\n".join(text), result.failure


def test_a_line_for_each_finding_its_remedy_and_link_below_and_a_summary(folder: Path, checks: list[Check]) -> None:
    checks += [check(ok("well"), warning("so so", "look", "https://there")), check(skipped("no need"))]
    said, failed = run(folder)
    assert said.splitlines() == [
        "ok       a check: well",
        "warning  a check: so so",
        "           look",
        "           https://there",
        "skipped  a check: no need",
        "0 errors, 1 warning, 1 ok, 1 skipped",
    ]
    assert failed == ""


def test_only_problems_and_a_count_of_the_rest_are_printed(folder: Path, checks: list[Check]) -> None:
    checks.append(check(ok("well"), warning("so so", "do this"), skipped("no need")))
    shown, _ = run(folder, show_all=False)
    assert shown.splitlines() == ["warning  a check: so so", "           do this", "0 errors, 1 warning, 1 ok, 1 skipped"]


@pytest.mark.parametrize(
    ("found", "strict", "failure"),
    [
        (warning("so so"), False, ""),
        (warning("so so"), True, "0 errors, 1 warning, 0 ok, 0 skipped: --strict treats warnings as errors"),
        (error("bad", "mend it"), False, "1 error, 0 warnings, 0 ok, 0 skipped: cluster draft cannot be deployed"),
    ],
)
def test_an_error_makes_the_command_fail_and_a_warning_where_that_is_asked_for(
    folder: Path, checks: list[Check], found: CheckResult, strict: bool, failure: str
) -> None:
    checks.append(check(found))
    assert run(folder, strict=strict)[1] == failure


def test_a_file_is_taken_by_its_path(folder: Path, checks: list[Check]) -> None:
    checks.append(check(ok("well")))
    path = str(folder / "draft.yaml")
    data = preflight(clusters=Path("nowhere"), cluster=path, session=FakeAws({})).data
    assert data is not None
    assert (data["cluster"], data["counts"]["ok"]) == ("draft", 1)


def test_without_credentials_there_is_a_document_too(folder: Path) -> None:
    said, failed = run(folder, "json", FakeAws({"sts.get_caller_identity": NoCredentialsError()}))
    [found] = json.loads(said)["data"]["checks"]
    assert (found["name"], found["result"]) == ("access", "error")
    assert f"{found['message']}; {found['fix']}" == failed
    assert "run `aws sso login`" in found["fix"]


def test_as_json_it_is_one_object_also_when_there_are_errors(folder: Path, checks: list[Check]) -> None:
    checks.append(check(error("bad", "mend it", "https://there"), ok("well")))
    said, failed = run(folder, "json")
    told = json.loads(said)["data"]
    assert told["counts"] == {"ok": 1, "change": 0, "warning": 0, "error": 1, "skipped": 0}
    assert told["checks"][0] == {
        "name": "a check",
        "result": "error",
        "message": "bad",
        "fix": "mend it",
        "link": "https://there",
    }
    assert told["checks"][1]["fix"] is None
    assert failed


def test_of_a_file_with_errors_nothing_is_asked(folder: Path, checks: list[Check]) -> None:
    checks.append(check(ok("well")))
    (folder / "draft.yaml").write_text(FILE.replace("instance_count: 4", "instance_count: four"))
    aws = FakeAws({})
    said, failed = run(folder, aws=aws)
    assert "draft.yaml:7:" in said
    assert failed == "1 error and 0 warnings in 1 file; correct the file first, AWS was not asked"
    assert aws.asked == []
    as_json, _ = run(folder, "json", aws)
    assert [each["level"] for each in json.loads(as_json)["problems"]] == ["error"]


def test_the_files_own_warnings_come_first(folder: Path, checks: list[Check]) -> None:
    checks.append(check(ok("well")))
    links = "data_repository_associations: [{path: /fsx/data}]}"
    (folder / "draft.yaml").write_text(FILE.replace('{version: "2.15"}}', f'{{version: "2.15"}}, {links}'))
    said, _ = run(folder)
    assert said.splitlines()[0].startswith("warning  file: ")
    assert "draft.yaml:4:" in said.splitlines()[0]
    assert "ok       a check: well" in said


@pytest.mark.parametrize(
    ("failure", "remedy"),
    [
        (EndpointConnectionError(endpoint_url="https://sts.us-west-2.amazonaws.com"), "check the network"),
        (refused("ExpiredToken", "The security token included in the request is expired"), "run `aws sso login`"),
        (NoCredentialsError(), "run `aws sso login` or `aws configure`"),
        (refused("InvalidClientTokenId"), "or opt in to us-west-2, if the account has not"),
    ],
)
def test_without_an_answer_to_who_asks_there_is_one_error_with_the_remedy(
    folder: Path, checks: list[Check], failure: Exception, remedy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    checks.append(check(ok("well")))
    said, failed = run(folder, aws=FakeAws({"sts.get_caller_identity": failure}))
    assert said == ""
    assert failed.startswith("cannot run `preflight`: ")
    assert remedy in failed


def test_a_token_that_expires_on_the_way_ends_the_preflight(folder: Path, checks: list[Check]) -> None:
    checks += [check(ok("well")), Check("late", lambda _: raising(refused("ExpiredTokenException")))]
    said, failed = run(folder)
    assert said == "ok       a check: well"
    assert "run `aws sso login`" in failed


INVALID = refused("AuthFailure", "AWS was not able to validate the provided access credentials")


@pytest.mark.parametrize("failure", [INVALID, NoCredentialsError(), CredentialRetrievalError(provider="x", error_msg="y")])
def test_credentials_that_ec2_does_not_take_or_that_are_gone_end_it_too(
    folder: Path, checks: list[Check], failure: Exception
) -> None:
    checks.append(Check("late", lambda _: raising(failure)))
    assert run(folder)[1].startswith("cannot run `preflight`: ")


PORTAL = ClientError({"ResponseMetadata": {"HTTPStatusCode": 404}}, "GetCallerIdentity")  # of a page


@pytest.mark.parametrize("failure", [ResponseParserError("no XML"), KeyError("GetCallerIdentityResult"), PORTAL])
def test_what_answers_and_is_not_aws_is_one_error(
    folder: Path, checks: list[Check], failure: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    checks.append(check(ok("well")))
    said, failed = run(folder, aws=FakeAws({"sts.get_caller_identity": failure}))
    assert said == ""
    assert failed.startswith(
        "cannot run `preflight`: the endpoint that answers is not AWS; AWS_ENDPOINT_URL is http://127.0.0.1:1"
    )


def raising(failure: Exception) -> Any:
    """A check that fails at once."""
    raise failure


def outcome_of(failure: Exception) -> list[CheckResult]:
    aws: Any = FakeAws({})
    return list(run_checks(Account(parsed(FILE), aws), [Check("one", lambda _: raising(failure)), check(ok("well"))]))


@pytest.mark.parametrize(
    ("failure", "message"),
    [
        *(
            (refused(code), "no permission to check this: TheOperation is denied")
            for code in ("AccessDenied", "AccessDeniedException", "UnauthorizedOperation", "AuthorizationError", "403")
        ),
        (refused("InternalError", "we are\nsorry"), "TheOperation failed with InternalError: we are sorry"),
        (refused("AuthFailure", "Not authorized for this"), "TheOperation failed with AuthFailure: Not authorized for this"),
        (EndpointConnectionError(endpoint_url="https://fsx.us-west-2.amazonaws.com"), "https://fsx.us-west-2.amazonaws.com"),
        (ParamValidationError(report="Invalid length for parameter Name"), "Invalid length for parameter Name"),
        (ResponseParserError("no XML"), "unreadable answer"),
        (MetadataRetrievalError(error_msg="late"), "the call failed"),
    ],
)
def test_a_question_that_fails_is_a_warning_and_the_others_go_on(failure: Exception, message: str) -> None:
    found = outcome_of(failure)
    assert outcomes(found) == ["warning", "ok"]
    assert message in found[0].message
    assert ("docs/reference/preflight.md" in found[0].fix) == message.startswith("no permission")


def test_results_before_a_refusal_are_reported() -> None:
    def half(_: Account) -> Any:
        yield ok("first")
        raise DENIED

    aws: Any = FakeAws({})
    assert outcomes(list(run_checks(Account(parsed(FILE), aws), [Check("half", half)]))) == ["ok", "warning"]


def test_the_checks_run_concurrently_and_are_reported_in_their_order() -> None:
    second_ran = Event()

    def first(_: Account) -> Any:
        assert second_ran.wait(10), "the second check waits for the first"
        yield ok("first")

    def second(_: Account) -> Any:
        second_ran.set()
        yield ok("second")

    aws: Any = FakeAws({})
    found = run_checks(Account(parsed(FILE), aws), [Check("1", first), Check("2", second)])
    assert [each.message for each in found] == ["first", "second"]


def test_what_several_checks_need_is_asked_once() -> None:
    askers: list[int] = []

    def ask(_: Account) -> str:
        askers.append(get_ident())
        return "answer"

    aws: Any = FakeAws({})
    found = run_checks(
        Account(parsed(FILE), aws), [Check(str(number), lambda account: iter([ok(account.once(ask))])) for number in range(8)]
    )
    assert {each.message for each in found} == {"answer"}
    assert len(askers) == 1


def test_without_any_region_the_remedy_says_where_to_set_it(folder: Path, checks: list[Check]) -> None:
    checks.append(check(ok("well")))
    aws = FakeAws({})
    aws.region_name = ""
    (folder / "draft.yaml").write_text(FILE.replace("region: us-west-2\n", ""))
    _, failed = run(folder, aws=aws)
    assert failed == "no region: set `region` in the cluster file, or pass --region"


def test_a_region_that_is_newer_than_the_table_is_asked(folder: Path, checks: list[Check]) -> None:
    checks.append(check(ok("well")))
    aws = FakeAws({})
    aws.region_name = "xy-west-1"
    (folder / "draft.yaml").write_text(FILE.replace("us-west-2", "xy-west-1").replace("usw2-az4", "xyw1-az1"))
    said, failed = run(folder, aws=aws)
    assert (said.splitlines()[-2], failed) == ("ok       a check: well", "")


def test_an_unknown_region_of_the_environment_is_reported_before_any_call(folder: Path, checks: list[Check]) -> None:
    checks.append(check(ok("well")))
    aws = FakeAws({})
    aws.region_name = "us-west-22"
    (folder / "draft.yaml").write_text(FILE.replace("region: us-west-2\n", ""))
    _, failed = run(folder, aws=aws)
    assert failed.startswith("us-west-22, from the environment, is not a region of SageMaker; did you mean")
    assert aws.asked == []


def test_every_check_is_documented_in_its_order() -> None:
    page = (Path(__file__).parents[4] / "docs" / "reference" / "preflight.md").read_text()
    rows = re.findall(r"^\| `([a-z ]+)` \|", page.partition("## Checks")[2].partition("\n## ")[0], re.MULTILINE)
    assert rows == [each.name for each in CHECKS]


def test_every_call_only_reads() -> None:
    sources = "\n".join(file.read_text() for file in Path(preflight_package.__file__).parent.glob("*.py"))
    calls = {*re.findall(r"client\(\"[\w-]+\"\)\.(\w+)", sources), *re.findall(r"\.all\(\s*\"[\w-]+\",\s*\"(\w+)\"", sources)}
    assert len(calls) > 20
    assert {call.partition("_")[0] for call in calls} == {"describe", "get", "head", "list", "simulate"}
