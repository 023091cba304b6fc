"""The environment of a process that uses the embedded AWS, and nothing else of AWS or of the user's settings."""

import os
import shlex
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from local_aws.credentials import Owner

PROJECT = Path(__file__).resolve().parent.parent
_PLUGIN = f"""\
#!/bin/sh
cd {shlex.quote(str(PROJECT))} && exec {shlex.quote(sys.executable)} -m local_aws.nodes.session_manager_plugin "$@"
"""
_PROXIES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy", "ftp_proxy", "node_extra_ca_certs")
_LOOPBACK = "127.0.0.1,localhost,::1"


def aws_environment(endpoint: str, region: str, home: Path, owner: Owner) -> dict[str, str]:
    """Return this process's environment, pointed at the embedded AWS at ``endpoint`` as its owner, for cdk and boto3.

    Its PATH begins with a stand-in for the Session Manager plugin, which is written below ``home``.
    """
    return {
        **shielded_environment(region, home, _plugin_folder(home)),
        "AWS_ENDPOINT_URL": endpoint,
        "AWS_ACCESS_KEY_ID": owner.access_key,
        "AWS_SECRET_ACCESS_KEY": owner.secret_key,
        "LOCAL_AWS_TOKEN": owner.control_token,
    }


def _plugin_folder(home: Path) -> str:
    """Return a folder for PATH with the stand-in; write it if it is missing or another checkout's."""
    program = home / "bin" / "session-manager-plugin"
    if not program.is_file() or program.read_text() != _PLUGIN:
        program.parent.mkdir(parents=True, exist_ok=True)
        program.write_text(_PLUGIN)
        program.chmod(0o755)
    return str(program.parent)


def shielded_environment(region: str, home: Path, *programs: str) -> dict[str, str]:
    """Return this process's environment without the user's AWS settings.

    HOME stays, because it holds caches; AWS's and the CDK's own files are read below ``home`` instead. PATH begins with the
    folders ``programs`` and the checkout's tools.
    """
    tools = [*programs, str(PROJECT / ".venv" / "bin"), str(PROJECT / "node_modules" / ".bin")]
    others = [folder for folder in os.environ.get("PATH", os.defpath).split(os.pathsep) if folder not in tools]
    return {
        **_shielded(os.environ, home),
        "PATH": os.pathsep.join([*tools, *others]),
        "AWS_REGION": region,
        "AWS_DEFAULT_REGION": region,
        "CDK_HOME": str(home / "cdk"),
        "CDK_DISABLE_CLI_TELEMETRY": "1",
        "CDK_DISABLE_VERSION_CHECK": "1",
        "NODE_NO_WARNINGS": "1",
        "JSII_SILENCE_WARNING_DEPRECATED_NODE_VERSION": "1",
        "JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION": "1",
        "JSII_SILENCE_WARNING_UNTESTED_NODE_VERSION": "1",
    }


def _shielded(environment: Mapping[str, str], home: Path) -> dict[str, str]:
    """Return ``environment`` without the user's AWS settings, credentials and proxies."""
    kept = {name: value for name, value in environment.items() if not _is_dropped(name)}
    return {
        **kept,
        # Files that do not exist, to hide the user's profiles and an instance's role.
        "AWS_CONFIG_FILE": str(home / "no-config"),
        "AWS_SHARED_CREDENTIALS_FILE": str(home / "no-credentials"),
        "AWS_EC2_METADATA_DISABLED": "true",
        "NO_PROXY": _LOOPBACK,
        "no_proxy": _LOOPBACK,
    }


def _is_dropped(name: str) -> bool:
    return name.startswith(("AWS_", "CDK_", "BOTO_")) or name.lower() in _PROXIES


def as_shell(environment: Mapping[str, str]) -> str:
    """Return the shell commands that set ``environment``: only its differences from this process's."""
    gone = [f"unset {name}" for name in sorted(os.environ) if name not in environment]
    new = [f"export {name}={_quoted(value)}" for name, value in sorted(environment.items()) if os.environ.get(name) != value]
    return "\n".join([*gone, *new])


def _quoted(value: str) -> str:
    return "'" + value.replace("'", "'\\''") + "'"


@contextmanager
def shield(home: Path) -> Iterator[None]:
    """Hide the user's settings from this process's own AWS clients while the embedded AWS runs in it."""
    before = dict(os.environ)
    _replace(_shielded(before, home))
    try:
        yield
    finally:
        _replace(before)


def _replace(environment: Mapping[str, str]) -> None:
    for name in set(os.environ) - set(environment):
        del os.environ[name]
    os.environ.update(environment)
