"""A node's report, made by commands on this machine."""

import subprocess
from pathlib import Path

from cli.remote.sessions import Target
from cli.remote.shell import Output, framed, unframed
from tests.unit.cli.remote.printed import through_a_terminal
from tests.verify_aws.node_report import COMMANDS, NodeReport, report_of


class ThisMachine:
    """Runs a node's commands here, with the frame that a node needs."""

    def run(self, target: Target, script: str, timeout_s: float = 120.0) -> Output:
        return unframed(through_a_terminal(["sh", "-c", framed(script, "mark")]), "mark", str(target))


def test_a_report_has_every_command_and_the_files_that_exist() -> None:
    report = report_of(ThisMachine(), Target("abc123def456", "workers", "i-0123456789abcdef0"))
    assert report.commands.keys() == COMMANDS.keys()
    assert report.files["/etc/os-release"] == Path("/etc/os-release").read_text()
    assert report.commands["kernel"] == subprocess.run(["uname", "-r"], capture_output=True, text=True, check=True).stdout
    assert report.commands["sinfo"].endswith("[exit status 127]\n") or "PARTITION" in report.commands["sinfo"]


def test_each_address_of_the_metadata_service_must_refuse_users() -> None:
    refused = ["169.254.169.254 7", "169.254.0.2:9081 7", "[fd00:ec2::254] 7"]
    assert NodeReport({}, {"metadata": "\n".join(refused)}).open_metadata() == []
    opened = NodeReport({}, {"metadata": "169.254.169.254 0\n169.254.0.2:9081 28\n[fd00:ec2::254] 7\n"}).open_metadata()
    assert opened == ["169.254.169.254", "169.254.0.2:9081"]
