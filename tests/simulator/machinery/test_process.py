"""The command line of the embedded AWS: one process in the background, and nothing of the user's or of the network's in it."""

import json
import os
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path

import pytest

from local_aws.credentials import OWNER
from local_aws.environment import PROJECT
from tests.simulator.machinery.account import until

LISTS = "import boto3; print(boto3.client('s3').list_buckets()['Buckets'])"
# With a profile that would be used, were it found: an endpoint and keys of its own.
PROFILE = """[default]
region = eu-west-1
endpoint_url = http://127.0.0.1:1
[profile production]
region = eu-west-1
credential_process = false
"""

Cli = Callable[..., "subprocess.CompletedProcess[str]"]


def cli_of(folder: Path) -> Cli:
    """Run `python -m local_aws` with a home of its own, as a user who has profiles and a proxy."""
    config = folder / "user" / ".aws"
    config.mkdir(parents=True)
    (config / "config").write_text(PROFILE)
    (config / "credentials").write_text("[production]\naws_access_key_id = AKIAREAL\naws_secret_access_key = real\n")
    proxy = "http://127.0.0.1:1"
    users = {"HOME": str(config.parent), "AWS_PROFILE": "production", "HTTPS_PROXY": proxy, "HTTP_PROXY": proxy}
    environment = {**os.environ, **users, "LOCAL_AWS_HOME": str(folder / "home")}

    def run(*arguments: str, prefix: tuple[str, ...] = ()) -> "subprocess.CompletedProcess[str]":
        command = [*prefix, sys.executable, "-m", "local_aws", *arguments]
        return subprocess.run(command, cwd=PROJECT, env=environment, capture_output=True, text=True, timeout=120, check=False)

    return run


@pytest.fixture
def cli(tmp_path: Path) -> Iterator[Cli]:
    """The command line, with nothing up yet."""
    run = cli_of(tmp_path)
    yield run
    run("down")


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cli]:
    """The command line of one that is up, for tests that leave it so."""
    run = cli_of(tmp_path_factory.mktemp("up"))
    started = run("up", "--speed", "300")
    assert started.returncode == 0, started.stderr
    assert "local_aws env" in started.stdout
    assert "use `up --nodes`" in started.stdout
    yield run
    run("down")


def endpoint_of(shown: str) -> str:
    return next(word for word in shown.split() if word.startswith("http://")).rstrip(",;")


def pid_of(shown: str) -> int:
    return int(shown.partition("pid ")[2].partition(",")[0])


def test_it_comes_up_and_goes_down(cli: Cli) -> None:
    assert cli("status").stdout == "no embedded AWS is running; start one with `python -m local_aws up`\n"
    endpoint = endpoint_of(cli("up").stdout)
    status = cli("status")
    assert (endpoint_of(status.stdout), status.returncode) == (endpoint, 0)
    assert cli("down").stdout == "the embedded AWS is stopped\n"
    assert cli("status").returncode == 1
    assert cli("down").stdout == "no embedded AWS is running\n"


def test_the_clocks_speed_can_be_asked_for(up: Cli) -> None:
    assert "clock 300 times as fast" in up("status").stdout


def test_a_second_one_is_refused_politely(up: Cli) -> None:
    second = up("up")
    assert second.returncode == 1
    assert f"is already running at {endpoint_of(up('status').stdout)}; stop it with `python -m local_aws down`" in second.stderr
    assert "Traceback" not in second.stderr


def test_a_taken_port_is_named(cli: Cli) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        refused = cli("serve", "--port", str(port))
    assert refused.stderr == f"cannot listen on port {port}: Address already in use; choose another one\n"
    assert refused.returncode == 1


def test_a_command_runs_with_the_embedded_aws_and_none_of_the_users_settings(up: Cli) -> None:
    ran = up("run", "--", "python", "-c", LISTS)
    assert (ran.stdout, ran.returncode) == ("[]\n", 0), ran.stderr
    assert up("run", "python", "-c", "print(1)").stdout == "1\n", "its own options need no -- before them"
    assert up("run", "--", "no-such-program").stderr == "'no-such-program' is not in PATH\n"


def test_a_shell_can_be_turned_to_it(up: Cli) -> None:
    shell = up("env").stdout + f'\npython -c "{LISTS}"'
    ran = subprocess.run(
        ["bash", "-c", shell], capture_output=True, text=True, check=False, env={**os.environ, "AWS_PROFILE": "production"}
    )
    assert ran.stdout == "[]\n", ran.stderr


ROLE = """
import boto3, json
trusted = {"Effect": "Allow", "Principal": {"AWS": "123456789012"}, "Action": "sts:AssumeRole"}
trust = json.dumps({"Version": "2012-10-17", "Statement": [trusted]})
boto3.client("iam").create_role(RoleName="Admin", AssumeRolePolicyDocument=trust)
"""
SHELL = """
eval "$(python -m local_aws env --role Admin)" && python -c "$CALLER"
eval "$(python -m local_aws env)" && python -c "$CALLER" && echo "${AWS_SESSION_TOKEN-no token}"
"""


def test_a_shell_can_assume_a_role_and_return_to_the_administrator(up: Cli) -> None:
    up("run", "--", "python", "-c", ROLE)
    home = Path(up("run", "--", "printenv", "AWS_CONFIG_FILE").stdout).parent
    caller = "import boto3; print(boto3.client('sts').get_caller_identity()['Arn'])"
    environment = {**os.environ, "LOCAL_AWS_HOME": str(home), "CALLER": caller, "AWS_PROFILE": "production"}
    ran = subprocess.run(["bash", "-c", SHELL], capture_output=True, text=True, check=False, env=environment)
    role = "arn:aws:sts::123456789012:assumed-role/Admin/local-aws"
    assert ran.stdout.splitlines() == [role, "arn:aws:sts::123456789012:user/moto", "no token"], ran.stderr
    assert up("run", "--role", "Admin", "--", "python", "-c", caller).stdout == f"{role}\n"


def test_an_unknown_role_is_reported_with_the_fix(up: Cli) -> None:
    shown = up("env", "--role", "Nobody")
    assert (shown.stdout, shown.returncode) == ("", 1)
    assert shown.stderr == "--role Nobody: Role Nobody not found; create it with `aws iam create-role`\n"


def test_reset_empties_it(up: Cli) -> None:
    up("run", "--", "python", "-c", "import boto3; boto3.client('sqs').create_queue(QueueName='q')")
    count = "import boto3; print(len(boto3.client('sqs').list_queues().get('QueueUrls', [])))"
    assert up("run", "--", "python", "-c", count).stdout == "1\n"
    assert up("reset").returncode == 0
    assert up("run", "--", "python", "-c", count).stdout == "0\n"


def test_without_one_the_commands_say_how_to_start_it(cli: Cli) -> None:
    for command in (("reset",), ("env",), ("run", "--", "true")):
        assert cli(*command).stderr == "no embedded AWS is running; start one with `python -m local_aws up`\n"


def test_a_state_file_of_a_process_that_is_gone_or_another_is_not_believed(cli: Cli, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "state.json").write_text(
        json.dumps({"pid": os.getpid(), "born": "1", "port": 1, "speed": 60.0, "owner": asdict(OWNER)})
    )
    assert cli("status").returncode == 1
    assert cli("down").stdout == "no embedded AWS is running\n"


FUNCTION = """
import boto3, io, json, zipfile
trusted = {"Effect": "Allow", "Principal": {"Service": "lambda.amazonaws.com"}, "Action": "sts:AssumeRole"}
trust = json.dumps({"Version": "2012-10-17", "Statement": [trusted]})
role = boto3.client("iam").create_role(RoleName="r", AssumeRolePolicyDocument=trust)["Role"]["Arn"]
archive = io.BytesIO()
with zipfile.ZipFile(archive, "w") as files:
    files.writestr("index.py", "import os\\ndef handler(event, context): return os.getpid()")
functions, code = boto3.client("lambda"), {"ZipFile": archive.getvalue()}
functions.create_function(FunctionName="f", Runtime="python3.13", Role=role, Handler="index.handler", Code=code)
print(functions.invoke(FunctionName="f")["Payload"].read().decode())
"""


@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGKILL])
def test_its_functions_end_with_it_however_it_ends(cli: Cli, ending: signal.Signals) -> None:
    cli("up")
    ran = cli("run", "--", "python", "-c", FUNCTION)
    pid = int(ran.stdout)
    assert Path(f"/proc/{pid}").exists(), ran.stderr
    os.kill(pid_of(cli("status").stdout), ending)
    until(lambda: not Path(f"/proc/{pid}").exists())
    until(lambda: cli("status").returncode == 1)


def test_it_listens_only_on_loopback(up: Cli) -> None:
    status = up("status").stdout
    port = endpoint_of(status).rsplit(":", 1)[1]
    listening = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    assert [fields[1] for fields in listening if fields[1].endswith(f":{int(port):04X}") and fields[3] == "0A"] == [
        f"0100007F:{int(port):04X}"
    ]
    with pytest.raises(urllib.error.HTTPError, match="403"):
        urllib.request.urlopen(f"http://127.0.0.1:{port}/_local_aws/health", timeout=10)


@pytest.mark.cdk
def test_it_works_where_there_is_no_network_but_loopback(cli: Cli) -> None:
    alone = ("unshare", "--net", "sh", "-c", 'ip link set lo up && exec "$@"', "sh")
    here = f'"{sys.executable}" -m local_aws'
    script = f'{here} up && {here} run -- python -c "{LISTS}" && {here} down'
    ran = cli("status", prefix=(*alone, "sh", "-c", script, "sh"))
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.endswith("[]\nthe embedded AWS is stopped\n")


def test_a_second_one_is_refused_in_the_foreground_too_and_the_first_is_not_forgotten(up: Cli) -> None:
    refused = up("serve")
    assert refused.returncode == 1
    assert "is already running" in refused.stderr
    assert up("status").returncode == 0


@pytest.mark.parametrize("options", [("--speed", "0"), ("--speed", "-3"), ("--port", "99999")])
def test_a_speed_or_a_port_that_cannot_be_is_refused_with_what_can(cli: Cli, options: tuple[str, str]) -> None:
    refused = cli("up", *options)
    assert refused.returncode == 2
    assert options[1] in refused.stderr


def test_running_what_is_no_program_is_one_line(up: Cli) -> None:
    refused = up("run", "--", "/tmp")
    assert (refused.returncode, len(refused.stderr.splitlines())) == (1, 1)
