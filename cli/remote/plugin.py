"""The Session Manager plugin: its version, and how to install it on this system."""

import platform
import re
import shutil
import subprocess
from collections.abc import Callable, Mapping

PLUGIN = "session-manager-plugin"
GUIDE = "https://docs.aws.amazon.com/systems-manager/latest/userguide/session-manager-working-with-install-plugin.html"
DOWNLOADS = "https://s3.amazonaws.com/session-manager-downloads/plugin/latest"
# From here on the plugin reads the session's token from the environment, where other users of this machine do not see it.
OLDEST = (1, 2, 498, 0)
_LINUX = {"x86_64": "64bit", "amd64": "64bit", "aarch64": "arm64", "arm64": "arm64"}
_MAC = {"x86_64": "mac", "arm64": "mac_arm64"}


def missing_plugin() -> str:
    """Return why the plugin cannot be used, with the fix; empty if it can."""
    if shutil.which(PLUGIN) is None:
        return f"{PLUGIN}: not in PATH; {install_hint()}"
    version = subprocess.run([PLUGIN, "--version"], capture_output=True, text=True, check=False).stdout.strip()
    if tuple(int(part) for part in re.findall(r"\d+", version)) < OLDEST:
        oldest = ".".join(map(str, OLDEST))
        return f"{PLUGIN}: version {version or 'unknown'} is older than {oldest}; {install_hint()}"
    return ""


def install_hint() -> str:
    """Return the instruction to install the plugin on this system."""
    command = install_command(platform.system(), platform.machine(), _os_release(), has_brew=shutil.which("brew") is not None)
    return f"install it: {command or GUIDE}"


def install_command(system: str, machine: str, release: Mapping[str, str], *, has_brew: bool) -> str:
    """Return the shell command that installs the plugin; empty if AWS publishes no package for the system."""
    if system == "Darwin":
        return _on_mac(machine, has_brew=has_brew)
    architecture = _LINUX.get(machine.lower())
    if system != "Linux" or architecture is None:
        return ""
    families = {release.get("ID", ""), *release.get("ID_LIKE", "").split()}
    for names, command in _PACKAGES:
        if families & names:
            return command(architecture)
    return ""


def _on_mac(machine: str, *, has_brew: bool) -> str:
    if has_brew:
        return f"brew install --cask {PLUGIN}"
    if machine not in _MAC:
        return ""
    installed = f"/usr/local/sessionmanagerplugin/bin/{PLUGIN}"
    return (
        f"curl -o {PLUGIN}.pkg {DOWNLOADS}/{_MAC[machine]}/{PLUGIN}.pkg && sudo installer -pkg {PLUGIN}.pkg -target / && "
        f"sudo ln -s {installed} /usr/local/bin/{PLUGIN}"
    )


def _deb(architecture: str) -> str:
    return f"curl -o {PLUGIN}.deb {DOWNLOADS}/ubuntu_{architecture}/{PLUGIN}.deb && sudo dpkg -i {PLUGIN}.deb"


def _rpm(architecture: str) -> str:
    return f"sudo yum install -y {DOWNLOADS}/linux_{architecture}/{PLUGIN}.rpm"


_PACKAGES: tuple[tuple[frozenset[str], Callable[[str], str]], ...] = (
    (frozenset({"debian", "ubuntu"}), _deb),
    (frozenset({"amzn", "rhel", "centos", "fedora"}), _rpm),
)


def _os_release() -> Mapping[str, str]:
    try:
        return platform.freedesktop_os_release()
    except OSError:  # macOS, Windows
        return {}
