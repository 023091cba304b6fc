"""The command `kubectl`: use a control plane of the embedded EKS as its administrator."""

import argparse
import os
from collections.abc import Callable

from local_aws import process
from local_aws.kubernetes.programs import store


def add(command: Callable[[str, Callable[[argparse.Namespace], int], str], argparse.ArgumentParser]) -> None:
    """Add the command to the command line."""
    using = command("kubectl", _kubectl, "run kubectl on an EKS cluster as its administrator")
    using.add_argument("--cluster", metavar="NAME", help="name of the EKS cluster (default: the only one)")
    using.add_argument("words", nargs=argparse.REMAINDER, metavar="ARGUMENT", help="arguments of kubectl, optionally after --")


def _kubectl(options: argparse.Namespace) -> int:
    kubeconfigs: dict[str, str] = process.ask("kubernetes")
    file, programs = choose(kubeconfigs, options.cluster), store.find(store.CONTROL_PLANE)
    if programs is None:
        raise process.ProcessError("kubectl is not built; build it with `make kubernetes-setup`")
    words = options.words[1:] if options.words[:1] == ["--"] else options.words
    os.execve(programs / "kubectl", ["kubectl", *words], {**os.environ, "KUBECONFIG": file})  # noqa: S606  signals reach it


def choose(kubeconfigs: dict[str, str], name: str | None) -> str:
    """Return the kubeconfig of the cluster called ``name``; without a name, of the only one."""
    names = ", ".join(sorted(kubeconfigs))
    if not kubeconfigs:
        raise process.ProcessError("no EKS cluster is running; deploy one first")
    if name is None and len(kubeconfigs) > 1:
        raise process.ProcessError(f"several EKS clusters are running; pass --cluster with one of {names}")
    if name is not None and name not in kubeconfigs:
        raise process.ProcessError(f"unknown EKS cluster {name!r}; available: {names}")
    return kubeconfigs[name or names]
