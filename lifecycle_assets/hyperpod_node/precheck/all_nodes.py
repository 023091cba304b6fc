"""Check all Slurm nodes: each node runs its own checks through srun."""

from __future__ import annotations

import json
import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from typing import TYPE_CHECKING

from hyperpod_node.errors import NodeError
from hyperpod_node.precheck.check_result import CheckResult, failed

if TYPE_CHECKING:
    from hyperpod_node.shell import Run

PROGRAM = "/usr/local/bin/hyperpod-precheck"
# Nodes in these states can start a small job now. The others are listed without waiting for them.
READY = {"idle", "mixed", "completing"}
START_TIMEOUT_S, TIMEOUT_S = 30, 300
AT_ONCE = 16  # more would load slurmctld
# "Task launch for StepId=7.0 failed on node n2: Communication connection failure"; srun takes ten seconds to report it.
NO_LAUNCH = re.compile(r"failed on node (\S+): ([^|]*[^|\s])")
ROUNDS = 3
BUSY = {"allocated", "planned", "reserved"}
DRAINED = {"drained", "draining", "fail", "failing", "maint"}
# What sinfo adds to a state: no answer, powering up or down, in maintenance and the like.
MARKS = "*~#!%$@^-"
NO_RESULT = failed(
    "it printed no result", "on the node, run hyperpod-precheck; if it is not installed, see the log of the lifecycle scripts"
)

Answers = dict[str, dict[str, CheckResult]]


def ask(run: Run, required: list[str]) -> tuple[Answers, dict[str, CheckResult]]:
    """Return the results of each node, and for nodes without results the reason and the fix."""
    states = node_states(run("sinfo", "--noheader", "--Node", "--format=%N %T"))
    ready = sorted(node for node, state in states.items() if state in READY)
    silent = {node: unasked(state) for node, state in states.items() if node not in ready}
    if not ready:
        return {}, silent
    answers, without = _together(run, ready, required)
    return answers, silent | without


def _together(run: Run, nodes: list[str], required: list[str]) -> tuple[Answers, dict[str, CheckResult]]:
    """Ask all nodes at once; one that cannot start the step ends srun for all, so retry without the nodes that srun names."""
    silent: dict[str, CheckResult] = {}
    for _ in range(ROUNDS):
        try:
            answers = _srun(run, nodes, required) if nodes else {}
            return answers, silent | {node: NO_RESULT for node in nodes if node not in answers}
        except NodeError as error:
            named = {node: why for node, why in NO_LAUNCH.findall(str(error)) if node in nodes}
            if not named:
                break
            silent |= {node: not_started(f"srun cannot start a step: {why}") for node, why in named.items()}
            nodes = [node for node in nodes if node not in named]
    answers, without = _one_by_one(run, nodes, required)
    return answers, silent | without


def _one_by_one(run: Run, nodes: list[str], required: list[str]) -> tuple[Answers, dict[str, CheckResult]]:
    """Ask each node separately, to report the error of each."""
    answers: Answers = {}
    silent: dict[str, CheckResult] = {}

    def ask_one(node: str) -> None:
        try:
            answers.update(_srun(run, [node], required))
            if node not in answers:
                silent[node] = NO_RESULT
        except NodeError as error:
            silent[node] = not_started(str(error).rpartition(" ended with ")[2])

    with ThreadPoolExecutor(max_workers=AT_ONCE) as pool:
        list(pool.map(ask_one, nodes))
    return answers, silent


def _srun(run: Run, nodes: list[str], required: list[str]) -> Answers:
    flags = "".join(f" --require '{name}'" for name in required)
    output = run(
        *("srun", "--nodelist", ",".join(nodes), f"--nodes={len(nodes)}", "--ntasks-per-node=1", "--mem=64M"),
        # Not in the current folder, which may be on a mount that is missing.
        *(f"--immediate={START_TIMEOUT_S}", "--job-name=precheck", "--time=5", "--chdir=/"),
        # A failed check must not end the other tasks; srun's exit status must report srun's own errors only.
        *("sh", "-c", f"{PROGRAM} --json{flags}; true"),
        timeout_s=TIMEOUT_S,
    )
    return parse(output)


def node_states(listed: str) -> dict[str, str]:
    """Return the state of each node from sinfo, which repeats nodes for each partition; a state may end in `*` (no response)."""
    return dict(line.split(maxsplit=1) for line in listed.splitlines() if line.strip())


def unasked(state: str) -> CheckResult:
    """Return the result for a node that was not asked, by its state in Slurm."""
    message, word = f"its state is {state}", state.rstrip(MARKS)
    if state in BUSY:
        return failed(message, "none needed: jobs use the whole node; check again when they have ended")
    if word in DRAINED:
        return failed(
            message, "see who drained it and why: sinfo --list-reasons; then: sudo scontrol update NodeName=... State=RESUME"
        )
    return failed(
        message,
        "on the node, see the reason: sudo journalctl -u slurmd -n 50; then: sudo systemctl restart slurmd. If the node is "
        "unreachable: aws sagemaker batch-replace-cluster-nodes",
    )


def not_started(error: str) -> CheckResult:
    """Return the result for a node on which srun could not start a step."""
    return failed(
        error, "on the node, find the failed check: sudo hyperpod-precheck; if slurmd has stopped: sudo systemctl restart slurmd"
    )


def line_of(host: str, results: dict[str, CheckResult]) -> str:
    """Return one node's results as one line, so that the output of several nodes stays readable."""
    return json.dumps({"host": host, "results": {name: asdict(result) for name, result in results.items()}})


def parse(output: str) -> Answers:
    """Return the answers in ``output``, where a shell profile or a prolog may have printed other lines."""
    answers = {}
    for line in output.splitlines():
        if line.startswith('{"host": '):
            try:
                answer = json.loads(line)
                answers[answer["host"]] = {name: CheckResult(**result) for name, result in answer["results"].items()}
            except (ValueError, RecursionError) as error:
                raise NodeError(f"a node's answer is incomplete: {error}") from None
            except TypeError as error:
                raise NodeError(f"{answer['host']} has another version of hyperpod-precheck: {error}") from None
    return answers
