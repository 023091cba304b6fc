"""The checks of all nodes that Slurm has, made by each node itself through srun."""

from __future__ import annotations

import json
import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from typing import TYPE_CHECKING

from hyperpod_node.errors import NodeError
from hyperpod_node.precheck import no_answer
from hyperpod_node.precheck.result import Result

if TYPE_CHECKING:
    from hyperpod_node.shell import Run

PROGRAM = "/usr/local/bin/hyperpod-precheck"
# A node in one of these states can start something small now. The rest is named, and not waited for.
READY = {"idle", "mixed", "completing"}
START_WITHIN_S, LIMIT_S = 30, 300
AT_ONCE = 16  # what slurmctld bears beside its work
# "Task launch for StepId=7.0 failed on node n2: Communication connection failure"; srun takes ten seconds to say so.
NO_LAUNCH = re.compile(r"failed on node (\S+): ([^|]*[^|\s])")
ROUNDS = 3


Answers = dict[str, dict[str, Result]]


def ask(run: Run, required: list[str]) -> tuple[Answers, dict[str, Result]]:
    """Return each node's results, and for those that gave none the reason with its remedy."""
    states = node_states(run("sinfo", "--noheader", "--Node", "--format=%N %T"))
    ready = sorted(node for node, state in states.items() if state in READY)
    silent = {node: no_answer.of_state(state) for node, state in states.items() if node not in ready}
    if not ready:
        return {}, silent
    answers, without = _together(run, ready, required)
    return answers, silent | without


def _together(run: Run, nodes: list[str], required: list[str]) -> tuple[Answers, dict[str, Result]]:
    """Ask all at once. One node that cannot start anything ends srun for all, so those that srun names are left out next time."""
    silent: dict[str, Result] = {}
    for _ in range(ROUNDS):
        try:
            answers = _srun(run, nodes, required) if nodes else {}
            return answers, silent | {node: no_answer.of_nothing() for node in nodes if node not in answers}
        except NodeError as error:
            named = {node: why for node, why in NO_LAUNCH.findall(str(error)) if node in nodes}
            if not named:
                break
            silent |= {node: no_answer.of_error(f"nothing could be started: {why}") for node, why in named.items()}
            nodes = [node for node in nodes if node not in named]
    answers, without = _one_by_one(run, nodes, required)
    return answers, silent | without


def _one_by_one(run: Run, nodes: list[str], required: list[str]) -> tuple[Answers, dict[str, Result]]:
    """Ask each node by itself, so that the reason is told of the node that has it."""
    answers: Answers = {}
    silent: dict[str, Result] = {}

    def ask_one(node: str) -> None:
        try:
            answers.update(_srun(run, [node], required))
            if node not in answers:
                silent[node] = no_answer.of_nothing()
        except NodeError as error:
            silent[node] = no_answer.of_error(str(error).rpartition(" ended with ")[2])

    with ThreadPoolExecutor(max_workers=AT_ONCE) as pool:
        list(pool.map(ask_one, nodes))
    return answers, silent


def _srun(run: Run, nodes: list[str], required: list[str]) -> Answers:
    flags = "".join(f" --require '{name}'" for name in required)
    said = run(
        *("srun", "--nodelist", ",".join(nodes), f"--nodes={len(nodes)}", "--ntasks-per-node=1", "--mem=64M"),
        # Not in the folder that this was started in, which may be on the very mount that is missing.
        *(f"--immediate={START_WITHIN_S}", "--job-name=precheck", "--time=5", "--chdir=/"),
        # A FAIL must not end the others, and srun's status must mean srun.
        *("sh", "-c", f"{PROGRAM} --json{flags}; true"),
        timeout_s=LIMIT_S,
    )
    return parse(said)


def node_states(listed: str) -> dict[str, str]:
    """Node and state from sinfo's lines, which repeat a node for each of its partitions; `*` (no answer) counts as a state."""
    return dict(line.split(maxsplit=1) for line in listed.splitlines() if line.strip())


def line_of(host: str, results: dict[str, Result]) -> str:
    """One node's results on one line, so that the lines of many nodes cannot be mixed up."""
    return json.dumps({"host": host, "results": {name: asdict(result) for name, result in results.items()}})


def parse(said: str) -> Answers:
    """The answers among all that was printed: a profile or a prolog may print as well."""
    answers = {}
    for line in said.splitlines():
        if line.startswith('{"host": '):
            try:
                answer = json.loads(line)
            except ValueError as error:
                raise NodeError(f"a node's answer is cut: {error}") from None
            answers[answer["host"]] = {name: Result(**result) for name, result in answer["results"].items()}
    return answers
