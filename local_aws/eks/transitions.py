"""Delayed changes: what EKS does in the background, and what a client waits for."""

import logging
import shutil
import tempfile
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path

from local_aws import faults, process
from local_aws.clock import clock
from local_aws.durations import duration
from local_aws.eks import logs, network
from local_aws.eks.control_planes import ControlPlane, ControlPlaneError, programs
from local_aws.eks.model import Addon, Cluster, exists, lock, remove
from local_aws.schedule import schedule

_log = logging.getLogger(__name__)
Webhooks = dict[str, str]


def create(cluster: Cluster, webhooks: Webhooks) -> None:
    """Start the cluster's control plane; the cluster is ACTIVE when that is ready and AWS's time has passed."""
    fault = faults.take("eks:CreateCluster", "fail")

    def run() -> None:
        begin = clock.seconds()
        plane, problem = (None, fault.message) if fault else _started(cluster, webhooks)
        with lock:
            is_left = exists(cluster)
            if is_left:
                cluster.plane = plane  # from here on, a reset stops it
        if not is_left:
            if plane:
                plane.stop()
            return
        clock.sleep(duration("eks.create") - (clock.seconds() - begin))
        with lock:
            if exists(cluster):
                _settle(cluster, problem)

    _in_thread(cluster, run)


def _started(cluster: Cluster, webhooks: Webhooks) -> tuple[ControlPlane | None, str]:
    """Return the control plane, or the reason why it does not start."""
    folder = Path(tempfile.mkdtemp(prefix="eks-", dir=process.home()))
    try:
        with clock.work():
            return programs().start(cluster.name, folder, admits=partial(network.admits, cluster), **webhooks), ""
    except ControlPlaneError as error:
        shutil.rmtree(folder, ignore_errors=True)
        return None, str(error)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def _settle(cluster: Cluster, problem: str) -> None:
    if cluster.plane is None:
        _fail(cluster, problem)
        return
    cluster.status = "ACTIVE"
    logs.ensure_group(cluster)


def _fail(cluster: Cluster, problem: str) -> None:
    cluster.status = "FAILED"
    cluster.issues = [{"code": "InternalFailure", "message": problem, "resourceIds": [cluster.name]}]


def delete(cluster: Cluster) -> None:
    """End the control plane, and remove the cluster with its interfaces and security group."""
    cluster.status = "DELETING"

    def run() -> None:
        begin = clock.seconds()
        if cluster.plane:
            with clock.work():
                cluster.plane.stop()
        clock.sleep(duration("eks.delete") - (clock.seconds() - begin))
        with lock:
            if exists(cluster):
                network.detach(cluster)
                remove(cluster)

    _in_thread(cluster, run)


def _in_thread(cluster: Cluster, run: Callable[[], None]) -> None:
    def guarded() -> None:
        try:
            run()
        except Exception as error:  # noqa: BLE001  otherwise the cluster would stay as it is for ever
            _log.exception("EKS cluster %s: a change in the background failed", cluster.name)
            with lock:
                _fail(cluster, f"{type(error).__name__}: {error}")

    threading.Thread(target=guarded, name=f"local_aws.eks.{cluster.name}", daemon=True).start()


def later(name: str, cluster: Cluster, action: Callable[[], None]) -> None:
    """Schedule ``action``, unless the cluster is gone by then."""

    def act() -> None:
        with lock:
            if exists(cluster):
                action()

    schedule.after(duration(name), act)


def later_for(name: str, cluster: Cluster, addon: Addon, action: Callable[[], None]) -> None:
    """Schedule ``action``, unless the add-on is gone or in another state by then."""
    state = addon.status

    def act() -> None:
        if cluster.addons.get(addon.name) is addon and addon.status == state:
            action()

    later(name, cluster, act)


def publish_entries(cluster: Cluster) -> None:
    """Let the API server know the present access entries after some seconds."""
    snapshot = dict(cluster.entries)

    def publish() -> None:
        cluster.effective = snapshot

    later("eks.access", cluster, publish)
