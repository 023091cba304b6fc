"""A user's checkout in a temporary folder, and the real `cdk` command line in it."""

import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from tests import cluster_files
from tests.cluster_files import PROJECT

SOURCES = (
    "app.py",
    "cdk.json",
    "config",
    "constructs",
    "stacks",
    "cli",
    "cluster_request",
    "validation",
    "examples",
    "lambda_assets",
    "lifecycle_assets",
)
ESCAPES = re.compile(r"\x1b\[[0-9;]*m")


class CommandFailedError(Exception):
    """A command ended otherwise than the test expects; the text is what it printed."""


class Workspace:
    """A copy of the project that a test may edit, and commands run in it."""

    def __init__(self, folder: Path, environment: Mapping[str, str]) -> None:
        self.folder = folder
        self._environment = dict(environment)
        folder.mkdir(parents=True, exist_ok=True)
        ignored = shutil.ignore_patterns("__pycache__")
        for name in SOURCES:
            source = PROJECT / name
            if source.is_dir():
                shutil.copytree(source, folder / name, ignore=ignored)
            else:
                shutil.copy(source, folder / name)
        shutil.copytree(cluster_files.CLUSTERS, folder / "clusters")
        self.replace("cdk.json", ".venv/bin/python", sys.executable)

    def replace(self, file: str, old: str, new: str) -> None:
        """Replace ``old``, which must be there, in ``file``."""
        path = self.folder / file
        text = path.read_text()
        if old not in text:
            raise ValueError(f"{file} does not hold {old!r}")
        path.write_text(text.replace(old, new))

    def cdk(self, *arguments: str, fails: bool = False) -> str:
        """Run `cdk` and return all it printed, without colours."""
        return self.run("cdk", *arguments, fails=fails)

    def deploy(self, cluster: str = "reference", *, fails: bool = False) -> str:
        """Run `cdk deploy` for one cluster."""
        return self.cdk("deploy", f"{cluster}/*", "--require-approval", "never", "--progress", "events", fails=fails)

    def destroy(self, cluster: str = "reference") -> str:
        """Run `cdk destroy` for one cluster."""
        return self.cdk("destroy", f"{cluster}/*", "--force")

    def hpod(self, *arguments: str, fails: bool = False) -> str:
        """Run `./hpod` and return all it printed."""
        return self.run(sys.executable, "-m", "cli", *arguments, fails=fails)

    def run(self, *command: str, fails: bool = False, folder: Path | None = None) -> str:
        """Run ``command``, in the checkout unless told otherwise, and return all it printed, without colours."""
        done = subprocess.run(
            command,
            cwd=folder or self.folder,
            env=self._environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=600,
            check=False,
        )
        output = ESCAPES.sub("", done.stdout)
        if bool(done.returncode) != fails:
            raise CommandFailedError(f"`{' '.join(command)}` ended with status {done.returncode}:\n{output}")
        return output
