"""A team's repository: a copy of examples/team-repository, whose Makefile fetches this project from a local Git repository."""

import json
import os
import re
import shutil
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path

from local_aws import iam
from local_aws.testing import ACCOUNT, Client
from tests.cluster_files import PROJECT

EXAMPLE = PROJECT / "examples" / "team-repository"
README = (EXAMPLE / "README.md").read_text()
TOOLS = (".venv", "node_modules")
SERVICE = "sagemaker.amazonaws.com"
ESCAPES = re.compile(r"\x1b\[[0-9;]*m")


class Team:
    """The repository, and commands run in it."""

    def __init__(self, folder: Path, origin: Path, environment: Mapping[str, str]) -> None:
        self.folder = folder
        # The Makefile must find the tools without help.
        path = [each for each in environment["PATH"].split(os.pathsep) if not Path(each).is_relative_to(PROJECT)]
        self._environment = {**environment, "PATH": os.pathsep.join(path)}
        self._environment.pop("JSII_NODE", None)
        shutil.copytree(EXAMPLE, folder)
        self.replace("Makefile", "https://github.com/YOUR-ORGANIZATION/hyperpod-cdk.git", origin.as_uri())
        install(folder / ".hyperpod-cdk")

    def replace(self, file: str, old: str, new: str) -> None:
        """Replace ``old``, which must be there, in ``file``."""
        path = self.folder / file
        text = path.read_text()
        assert old in text, f"{file} has no {old!r}"
        path.write_text(text.replace(old, new))

    def make(self, *arguments: str, fails: bool = False, session: iam.Session | None = None) -> str:
        """Run `make` with the credentials of the session, and return all it printed."""
        return self.run("make", *arguments, fails=fails, session=session)

    def run(self, *command: str, fails: bool = False, session: iam.Session | None = None) -> str:
        """Run the command with the credentials of the session, and return all it printed."""
        names = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN")
        keys = dict(zip(names, (session.access_key, session.secret_key, session.token), strict=True)) if session else {}
        done = subprocess.run(
            command,
            cwd=self.folder,
            env={**self._environment, **keys},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=300,
            check=False,
        )
        output = ESCAPES.sub("", done.stdout)
        assert bool(done.returncode) == fails, f"{command} ended with status {done.returncode}:\n{output}"
        return output


def install(checkout: Path) -> None:
    """Link this project's tools to where `make setup` installs them: that takes minutes, and `.ci/run` tests it."""
    later = time.time() + 3600  # `make` must find them newer than the files that Git is about to write
    for name in TOOLS:
        folder = checkout / name
        folder.mkdir(parents=True)
        for tool in (PROJECT / name).iterdir():
            if tool.name != "ready":
                (folder / tool.name).symlink_to(tool)
        (folder / "ready").touch()
        os.utime(folder / "ready", (later, later))


def git(folder: Path, *arguments: str) -> str:
    """Run Git in the folder, and return its output."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    command = ["git", "-C", str(folder), "-c", "user.name=test", "-c", "user.email=test@example.com", *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout


def project_repository(folder: Path) -> Path:
    """Write a Git repository with this project's files as v0.1.0, and another description of the stack in v0.2.0."""
    folder.mkdir()
    for name in git(PROJECT, "ls-files", "-z", "--", ":!clusters").split("\0"):
        if name and (PROJECT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(PROJECT / name, folder / name)
    git(folder, "init", "--quiet")
    _release(folder, "v0.1.0")
    stack = folder / "stacks" / "cluster_stack.py"
    text = stack.read_text()
    assert 'f"HyperPod cluster {config.name}"' in text
    stack.write_text(text.replace('f"HyperPod cluster {config.name}"', 'f"HyperPod cluster {config.name}, v0.2.0"'))
    _release(folder, "v0.2.0")
    return folder


def _release(folder: Path, tag: str) -> None:
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", tag)
    git(folder, "tag", tag)


def session_of(name: str, client: Client) -> iam.Session:
    """Create the role with the permissions that the README grants it, and assume it.

    A service assumes it: the embedded AWS has no identity providers.
    """
    [resource] = re.findall(rf"\| `{name}` \|.*\| `(cdk-[\w*-]+)`", README)
    _, policy = re.findall(r"```json\n(.*?)```", README, re.DOTALL)
    trust = {"Effect": "Allow", "Principal": {"Service": SERVICE}, "Action": "sts:AssumeRole"}
    document = json.dumps({"Version": "2012-10-17", "Statement": [trust]})
    arn = client("iam").create_role(RoleName=name, AssumeRolePolicyDocument=document)["Role"]["Arn"]
    granted = policy.replace("111122223333", ACCOUNT).replace("role/cdk-*", f"role/{resource}")
    client("iam").put_role_policy(RoleName=name, PolicyName="AssumeCdkRoles", PolicyDocument=granted)
    return iam.assume(ACCOUNT, arn, SERVICE, "GitHubActions")
