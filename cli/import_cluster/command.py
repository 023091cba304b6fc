"""`./hpod import`: the cluster file of a cluster that was described elsewhere, by files or by a cluster that runs."""

from collections.abc import Iterator
from pathlib import Path

from cli.errors import OpsError
from cli.import_cluster import Choices, Imported, Keep, Original, imported, read_original
from cli.import_cluster.options import check_place, refuse_options
from cli.write_file import write_new
from config.errors import ConfigError

MOST_FILES = 3


def import_cluster(
    *, files: list[Path], cluster: str | None, output: Path | None, clusters: Path, force: bool, **chosen: object
) -> Iterator[str]:
    """Print or write the file; a ConfigError tells what of it needs the user's hand."""
    if output and not output.parent.is_dir():
        raise OpsError(f"--output: there is no folder {output.parent}; correct it, or make the folder first")
    check_place(_text(chosen["region"]), _text(chosen["zone"]))
    _refuse_number(len(files), cluster)
    original, choices = _original(files, cluster, output, chosen)
    folder, name = (output.parent, output.stem) if output else (clusters, "imported")
    made = imported(original, choices, name=name, folder=folder)
    refuse_options(made.problems, {**chosen, "output": output})
    yield from _put(made, output, force=force)
    if made.problems:
        raise ConfigError({str(output or "the file above"): list(made.problems)})


def _refuse_number(files: int, cluster: str | None) -> None:
    """Refuse too few files, and too many."""
    if cluster and files > 1:
        raise OpsError(
            f"{files} files are given with --cluster, which takes its provisioning_parameters.json alone; give that one"
        )
    remedy = "give create_cluster.json [provisioning_parameters.json [vpc-config.json]], or --cluster NAME"
    if not files and not cluster:
        raise OpsError(f"there is nothing to import; {remedy}")
    if files > MOST_FILES:
        raise OpsError(f"{files} files are given, and at most {MOST_FILES} make a cluster; {remedy}")


def _original(files: list[Path], cluster: str | None, output: Path | None, chosen: dict[str, object]) -> tuple[Original, Choices]:
    if cluster is None:
        return read_original(*files), _choices(chosen)
    from cli.import_cluster.live import read_live  # noqa: PLC0415  imports boto3, which files do not need

    return read_live(cluster, files[0] if files else None, _choices(chosen, Keep.EVERYTHING), output=output)


def _choices(chosen: dict[str, object], default: Keep = Keep.NOTHING) -> Choices:
    keep = Keep(str(chosen["keep"])) if chosen["keep"] else Keep.NETWORK if chosen["vpc"] else default
    if keep is Keep.EVERYTHING and chosen["scripts"]:
        raise OpsError("--scripts gives the scripts anew, and --keep everything leaves them where they are; give one of both")
    if keep is Keep.NOTHING and chosen["vpc"]:
        raise OpsError("--vpc names a network that --keep nothing does not keep; give one of both")
    return Choices(
        keep=keep,
        region=_text(chosen["region"]),
        zone=_text(chosen["zone"]),
        vpc_id=_text(chosen["vpc"]),
        scripts=_text(chosen["scripts"]),
        drop_unknown_groups=bool(chosen["drop_unknown_groups"]),
    )


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def _put(made: Imported, output: Path | None, *, force: bool) -> Iterator[str]:
    if output is None:
        yield made.text.rstrip("\n")
        return
    write_new(output, made.text, force=force)
    yield f"wrote {output}; read its comments, edit it, then run `./hpod validate {output}`"
