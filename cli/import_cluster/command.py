"""`./hpod import`: write a cluster file from a CreateCluster request or from a running cluster."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from cli.cluster_files import write_new
from cli.errors import CommandError
from cli.import_cluster import Choices, Imported, Keep, Original, imported, read_original
from cli.import_cluster.choices import check_place, refuse_options
from cli.result import Result, Verbatim, failed
from config.errors import ConfigError

MOST_FILES = 3


def import_cluster(
    *, files: list[Path], cluster: str | None, write: Path | None, clusters: Path, force: bool, **chosen: Any
) -> Result:
    """Return or write the file; fail with the problems that need an edit."""
    if write and not write.parent.is_dir():
        raise CommandError(f"--write: no folder {write.parent}", "create it, or choose another")
    check_place(chosen["region"], chosen["zone"])
    _refuse_number(len(files), cluster)
    original, choices = _original(files, cluster, write, chosen)
    folder, name = (write.parent, write.stem) if write else (clusters, "imported")
    made = imported(original, choices, name=name, folder=folder)
    refuse_options(made.problems, {**chosen, "write": write})
    data, text = {"file": str(write) if write else None, "yaml": made.text}, _put(made, write, force=force)
    if not made.problems:
        return Result(data, (text,))
    failure = failed(ConfigError({str(write or "the file above"): list(made.problems)}))
    return replace(failure, data=data, text=(text,))


def _refuse_number(files: int, cluster: str | None) -> None:
    """Refuse too few files, and too many."""
    if cluster and files > 1:
        raise CommandError(
            f"{files} files given with --from-cluster, which takes only provisioning_parameters.json", "give only that file"
        )
    fix = "give create_cluster.json [provisioning_parameters.json [vpc-config.json]], or --from-cluster NAME"
    if not files and not cluster:
        raise CommandError("nothing to import", fix)
    if files > MOST_FILES:
        raise CommandError(f"{files} files given, at most {MOST_FILES} allowed", fix)


def _original(files: list[Path], cluster: str | None, write: Path | None, chosen: dict[str, Any]) -> tuple[Original, Choices]:
    if cluster is None:
        return read_original(*files), _choices(chosen)
    from cli.import_cluster.live import read_live  # noqa: PLC0415  imports boto3, which files do not need

    return read_live(cluster, files[0] if files else None, _choices(chosen, Keep.EVERYTHING), file=write)


def _choices(chosen: dict[str, Any], default: Keep = Keep.NOTHING) -> Choices:
    keep = Keep(chosen["keep"]) if chosen["keep"] else Keep.NETWORK if chosen["vpc"] else default
    if keep is Keep.EVERYTHING and chosen["scripts"]:
        raise CommandError("--scripts replaces the scripts, but --keep everything keeps them", "remove one of the two")
    if keep is Keep.NOTHING and chosen["vpc"]:
        raise CommandError("--vpc names a network, but --keep nothing creates one", "remove one of the two")
    return Choices(
        keep=keep,
        region=chosen["region"],
        zone=chosen["zone"],
        vpc_id=chosen["vpc"],
        scripts=chosen["scripts"],
        drop_unknown_groups=chosen["drop_unknown_groups"],
        profile=chosen["profile"],
    )


def _put(made: Imported, file: Path | None, *, force: bool) -> str:
    if file is None:
        return Verbatim(made.text.rstrip("\n"))
    write_new(file, made.text, force=force)
    return f"wrote {file}; read its comments, edit it, then run `./hpod validate {file}`"
