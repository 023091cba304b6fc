"""The checks of all nodes that Slurm has, made by each node itself through srun."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

from hyperpod_node.errors import NodeError
from hyperpod_node.precheck.result import Result

if TYPE_CHECKING:
    from hyperpod_node.shell import Run

PROGRAM = "/usr/local/bin/hyperpod-precheck"
# A node in one of these states can start something small now. The rest is named, and not waited for.
READY = {"idle", "mixed", "completing"}
START_WITHIN_S, LIMIT_S = 30, 300


def ask(run: Run, required: list[str]) -> tuple[dict[str, dict[str, Result]], dict[str, str]]:
    """Return each node's results, and for those that gave none the reason."""
    states = node_states(run("sinfo", "--noheader", "--Node", "--format=%N %T"))
    ready = sorted(node for node, state in states.items() if state in READY)
    silent = {node: f"its state is {state}" for node, state in states.items() if node not in ready}
    if not ready:
        return {}, silent
    flags = "".join(f" --require '{name}'" for name in required)
    said = run(
        *("srun", "--nodelist", ",".join(ready), f"--nodes={len(ready)}", "--ntasks-per-node=1", "--mem=64M"),
        *(f"--immediate={START_WITHIN_S}", "--job-name=precheck", "--time=5"),
        # A FAIL must not end the others, and srun's status must mean srun.
        *("sh", "-c", f"{PROGRAM} --json{flags}; true"),
        timeout_s=LIMIT_S,
    )
    answers = parse(said)
    return answers, silent | {node: "it printed no result" for node in ready if node not in answers}


def node_states(listed: str) -> dict[str, str]:
    """Node and state from sinfo's lines, which repeat a node for each of its partitions; `*` (no answer) counts as a state."""
    return dict(line.split(maxsplit=1) for line in listed.splitlines() if line.strip())


def line_of(host: str, results: dict[str, Result]) -> str:
    """One node's results on one line, so that the lines of many nodes cannot be mixed up."""
    return json.dumps({"host": host, "results": {name: asdict(result) for name, result in results.items()}})


def parse(said: str) -> dict[str, dict[str, Result]]:
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
