"""One run of the agent: follow the pointer, then report."""

from __future__ import annotations

import fnmatch
import hashlib
import json
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hyperpod_node.errors import NodeError, problem_of
from hyperpod_node.follow import bundle
from hyperpod_node.follow.aws import Aws, Parameter
from hyperpod_node.follow.http import UnavailableError
from hyperpod_node.follow.memory import Memory
from hyperpod_node.follow.pointer import Pointer, PointerError
from hyperpod_node.follow.reports import APPLIED, FAILED, REFUSED, Outcome, Reports
from hyperpod_node.follow.state import state
from hyperpod_node.provisioning_parameters import CONTROLLER

if TYPE_CHECKING:
    from pathlib import Path

    from hyperpod_node.context import Context
    from hyperpod_node.system import System

LIVE_TIMEOUT_S = 360  # all live steps: the deployment waits 600 s for a wave, also for the check and a last report
CHECK_TIMEOUT_S = 120
FIRST_RETRY_S, LONGEST_RETRY_S = 300.0, 3600.0
LONGEST_OUTAGE_S = 280.0  # less than the deployment waits for a wave
STATE_EVERY_RUNS = {CONTROLLER: 1}
OTHER_STATE_EVERY_RUNS = 5
BUSY_STATE_EVERY_S = 60.0  # of a controller that applies a bundle
MOST_UNSENT = 20  # reports that are kept if they cannot be sent
MOST_AHEAD_S = 24 * 3600 + 60  # a bit more than a deployment accepts, which adds 1 for each wave
EVERY_NODE = 100
SETTLED_S = 2 * 3600  # a custom resource has an hour for an update, and another for its rollback
TICK_S = 15.0  # the timer's interval varies by this
POLLS_PER_S = 1000 / 60  # of all nodes of a cluster: less than half of SSM's default quota
_FAILURE = re.compile(r"step '(.+?)': (.*)", re.DOTALL)


@dataclass
class Agent:
    """The agent of this node."""

    context: Context
    system: System
    aws: Aws
    memory: Memory
    time: Callable[[], float] = time.time
    reports: Reports = field(init=False)

    def __post_init__(self) -> None:
        self.reports = Reports(self.context, self.system, self.memory.unsent)

    def run(self) -> None:
        """Follow the pointer and send the reports, the result first; save the memory whatever happens."""
        try:
            self._poll()
            self.reports.send(self.aws)
            self._report_state()
            self.reports.send(self.aws)
        finally:
            self.memory.unsent = self.reports.lines[-MOST_UNSENT:]
            self.memory.save(self.system)

    def _poll(self) -> None:
        """Read the pointer, less often in a cluster with more than 1,000 nodes."""
        follow, nodes = self.context.settings.follow, len(self.context.cluster.instances)
        if follow is None or self.time() - self.memory.polled_s < nodes / POLLS_PER_S - TICK_S:
            return
        self.memory.polled_s = self.time()
        try:
            parameter = self.aws.parameter(follow.parameter)
        except NodeError as error:
            if getattr(error, "code", "") != "ParameterNotFound":  # before the first deployment has written it
                print(f"warning: {error}")
            return
        outcome = self._follow(parameter)
        if outcome:
            print(f"rollout {outcome.generation}: {outcome.result} {outcome.step or ''} {outcome.message}".rstrip())
            self.reports.add_outcome(outcome)
            self._remember(outcome, parameter.value)

    def _follow(self, parameter: Parameter) -> Outcome | None:
        """Apply the bundle of the pointer; return None if there is nothing to do."""
        text = parameter.value
        try:
            pointer = Pointer.parse(text)
        except PointerError as error:
            return None if self._waits(text) else Outcome(REFUSED, "", 0, message=str(error))
        if problem := self._unsigned(pointer) or self._problem(pointer, parameter.modified_s):
            return None if self._waits(text) else Outcome(REFUSED, pointer.sha256, pointer.generation, message=problem)
        if pointer.sha256 == self.memory.sha256:
            self.memory.generation, self.memory.bucket, self.memory.outage_s = pointer.generation, pointer.bucket, 0
            self._keep_key(pointer)
            return None
        if not pointer.reaches(self.context.role, self.context.node.instance_id) or self._waits(text):
            return None
        return self._apply(pointer)

    def _problem(self, pointer: Pointer, modified_s: float | None) -> str:
        """Return why this node refuses a well-formed pointer; empty if it does not.

        A generation is the time of the write, so a later one would make this node refuse all following pointers.
        """
        if modified_s is not None and pointer.generation > modified_s + MOST_AHEAD_S:
            return f"the bundle parameter has rollout number {pointer.generation}, more than a day after its last change"
        last, bucket = self.memory.generation, self.memory.bucket
        own = self.context.settings.follow.bucket if self.context.settings.follow else "*"
        if not fnmatch.fnmatchcase(pointer.bucket, own):
            return f"the bundle parameter has bucket {pointer.bucket}; this node uses {own}"
        if pointer.bucket != (bucket or pointer.bucket):
            return f"the bundle parameter has bucket {pointer.bucket}; this node uses {bucket}"
        if pointer.generation < last:
            return f"the bundle parameter has rollout number {pointer.generation}; this node has applied {last}"
        if pointer.generation == last and pointer.sha256 != self.memory.sha256:
            return f"the bundle parameter has rollout number {last}, which this node has applied, with another SHA-256"
        return ""

    def _unsigned(self, pointer: Pointer) -> str:
        """Return that the owner of the kept key did not sign the pointer; empty if it did, or if this node has no key yet."""
        key = self.memory.public_key
        is_refused = key and not pointer.is_signed(self._parameter, key)
        return "the bundle parameter is not signed with the key that this node keeps" if is_refused else ""

    def _keep_key(self, pointer: Pointer) -> None:
        """Keep the key of a pointer that has reached all nodes, once no rollback can delete the key any more."""
        key = pointer.public_key
        is_settled = pointer.compute_percent == EVERY_NODE and self.time() - pointer.generation > SETTLED_S
        if key and not self.memory.public_key and is_settled:
            if pointer.is_signed(self._parameter, key):
                self.memory.public_key = key
            else:
                print("warning: the bundle parameter is not signed with its own key, so this node keeps no key")

    @property
    def _parameter(self) -> str:
        return self.context.settings.follow.parameter if self.context.settings.follow else ""

    def _waits(self, text: str) -> bool:
        """Return whether the last attempt with this pointer did not succeed, and the pause since then has not passed."""
        memory = self.memory
        pause = min(LONGEST_RETRY_S, FIRST_RETRY_S * 2.0 ** min(memory.attempts - 1, 10))
        return memory.refused == _hash(text) and self.time() - memory.attempted_s < pause

    def _apply(self, pointer: Pointer) -> Outcome | None:
        """Apply the bundle; return None if AWS is unavailable for a short time, which is no result."""
        try:
            folder = bundle.download(pointer, self.aws, self.system)
        except (NodeError, OSError) as error:
            if isinstance(error, UnavailableError) and self._is_short_outage():
                print(f"warning: {error}; the agent tries again in a minute")
                return None
            return Outcome(REFUSED, pointer.sha256, pointer.generation, message=str(error))
        self.memory.outage_s = 0
        try:
            with self._reporting():
                self._check_new(folder)
                self._run_live_steps(folder)
            bundle.use(pointer.sha256, self.system)
        except (NodeError, OSError) as error:
            text = str(error).rpartition("lifecycle script failed: ")[2]
            failure = _FAILURE.fullmatch(text)
            step, message = (failure[1], failure[2]) if failure else (None, text)
            return Outcome(FAILED, pointer.sha256, pointer.generation, step, message)
        self.memory.bucket = pointer.bucket
        return Outcome(APPLIED, pointer.sha256, pointer.generation)

    def _is_short_outage(self) -> bool:
        self.memory.outage_s = self.memory.outage_s or self.time()
        return self.time() - self.memory.outage_s < LONGEST_OUTAGE_S

    def check(self) -> None:
        """Raise if this agent cannot run on this node."""
        state(self.context, self.system)

    def _check_new(self, folder: Path) -> None:
        """Raise if the new bundle's agent cannot run: it could not follow the way back."""
        environment = {"SAGEMAKER_RESOURCE_CONFIG_PATH": str(self.context.cluster.path), "PYTHONPATH": str(folder)}
        check = ("python3", "-B", "-m", "hyperpod_node.follow", "--check")
        try:
            self.system.run(*check, environment=environment, timeout_s=CHECK_TIMEOUT_S)
        except NodeError as error:
            raise NodeError(f"the new agent cannot run: {error}") from None

    @contextmanager
    def _reporting(self) -> Iterator[None]:
        """Report a controller's state each minute during the block: without data for four minutes, an alarm notifies."""
        if self.context.role != CONTROLLER:
            yield
            return
        ended = threading.Event()
        thread = threading.Thread(target=self._report_until, args=(ended,))
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()

    def _report_until(self, ended: threading.Event) -> None:
        while True:
            try:
                self._report_state()
                self.reports.send(self.aws)
            except Exception as error:  # noqa: BLE001  the next report may succeed
                print(f"warning: {problem_of(error, OSError)}; the report is sent later")
            if ended.wait(BUSY_STATE_EVERY_S):
                return

    def _run_live_steps(self, folder: Path) -> None:
        """Run the new bundle's code in a separate process."""
        environment = {"SAGEMAKER_RESOURCE_CONFIG_PATH": str(self.context.cluster.path)}
        script = ("python3", "-B", "-u", str(folder / "lifecycle_script.py"), "--live")
        self.system.run(*script, environment=environment, timeout_s=LIVE_TIMEOUT_S, show=True)

    def _remember(self, outcome: Outcome, text: str) -> None:
        memory = self.memory
        if outcome.result == APPLIED:
            memory.sha256, memory.generation = outcome.sha256, outcome.generation
            memory.refused, memory.attempts = "", 0
            return
        if outcome.result == FAILED:
            memory.sha256 = ""  # parts of the bundle may be in effect: the bundle before must be applied again, too
        is_same = memory.refused == _hash(text)
        memory.refused, memory.attempts = _hash(text), memory.attempts + 1 if is_same else 1
        memory.attempted_s = self.time()

    def _report_state(self) -> None:
        """Report the state at a change, on controllers at each run and on others at every fifth."""
        memory = self.memory
        memory.runs_since_report += 1
        now = {"sha256": memory.sha256, "generation": memory.generation} | state(self.context, self.system)
        stable = _hash(json.dumps({key: value for key, value in now.items() if key != "disks"}))
        every = STATE_EVERY_RUNS.get(self.context.role, OTHER_STATE_EVERY_RUNS)
        if stable != memory.reported or memory.runs_since_report >= every:
            self.reports.add("state", now)
            memory.reported, memory.runs_since_report = stable, 0


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
