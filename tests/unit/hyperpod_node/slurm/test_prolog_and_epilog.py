"""The scripts around jobs, as far as no job is needed: what they do for a user is tried on simulated nodes."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from hyperpod_node.slurm.managed_block import EPILOG, PROLOG
from hyperpod_node.steps.slurm_client import SCRIPTS


@pytest.mark.parametrize("script", [PROLOG, EPILOG])
@pytest.mark.parametrize("environment", [{}, {"SLURM_JOB_UID": "0", "SLURM_JOB_USER": "root", "SLURM_JOB_ID": "1"}])
def test_no_job_without_a_user_makes_a_script_fail_because_a_failure_drains_the_node(
    script: str, environment: dict[str, str]
) -> None:
    assert subprocess.run(["bash", SCRIPTS / Path(script).name], env=environment, check=False, timeout=10).returncode == 0
