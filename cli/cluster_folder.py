"""The folder of the cluster files."""

import shlex
from pathlib import Path

CLUSTERS = Path("clusters")
CHECKOUT = Path(__file__).parents[1]


def cluster_folder(given: Path) -> Path:
    """Return the folder that was given, or the checkout's own where the default does not exist."""
    return CHECKOUT / CLUSTERS if given == CLUSTERS and not given.is_dir() else given


def is_path(name: str) -> bool:
    """Return whether the argument is a path, and not the name of a cluster."""
    return name.endswith((".yaml", ".yml")) or "/" in name


def cdk_command(verb: str, cluster: str, folder: Path) -> str:
    """Return the `cdk` command for the cluster's stacks."""
    context = "" if folder in (CLUSTERS, CHECKOUT / CLUSTERS) else f"-c {shlex.quote(f'clusters={folder}')} "
    return f"cdk {verb} {context}'{cluster}/*'"


def hpod_command(verb: str, cluster: str, folder: Path, *words: str) -> str:
    """Return the `./hpod` command for the cluster, with the folder of its file unless it is the default."""
    return " ".join(["./hpod", verb, cluster, *words, *_folder_option(folder)])


def cluster_argument(cluster: str, folder: Path) -> str:
    """Return the words that name the cluster in any `./hpod` command."""
    return " ".join([cluster, *_folder_option(folder)])


def _folder_option(folder: Path) -> list[str]:
    return [] if folder in (CLUSTERS, CHECKOUT / CLUSTERS) else ["--clusters", shlex.quote(str(folder))]


def names_in(folder: Path) -> list[str]:
    """Return the names of the cluster files in a folder."""
    return sorted(path.stem for path in cluster_folder(folder).glob("*.yaml") if not path.name.startswith("."))


def cluster_names() -> list[str]:
    """Return the names of the cluster files, for shell completion."""
    return names_in(CLUSTERS)
