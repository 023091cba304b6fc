"""The cluster files that tests read. The files in clusters/ belong to the user: no test reads them (tests/users_files.py)."""

from pathlib import Path

import yaml

PROJECT = Path(__file__).parents[1]
USERS = PROJECT / "clusters"
CLUSTERS = PROJECT / "tests" / "data" / "clusters"
"""Stands in for clusters/ in tests: one of the examples."""
EXAMPLES = PROJECT / "examples" / "clusters"
TEAM = PROJECT / "examples" / "team-repository" / "clusters"
FOLDERS = (EXAMPLES,)
REFERENCE = CLUSTERS / "reference.yaml"
ALL = [file for folder in FOLDERS for file in sorted(folder.glob("*.yaml"))]
EKS = [file for file in ALL if "eks" in yaml.safe_load(file.read_text())]
SLURM = [file for file in ALL if file not in EKS]
