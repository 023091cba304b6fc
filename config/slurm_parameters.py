"""Look up the parameters of slurm.conf."""

import json
from functools import cache
from pathlib import Path

TABLE = Path(__file__).parent / "data" / "slurm_parameters.json"


@cache
def slurm_parameters() -> tuple[str, ...]:
    """Return the names of all parameters, as Slurm spells them; it ignores case."""
    return tuple(json.loads(TABLE.read_text(encoding="utf-8"))["parameters"])
