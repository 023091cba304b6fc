"""Build the programs. A failed or killed build leaves nothing that looks finished."""

import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from local_aws.builds import cache, logged, sources
from local_aws.builds.errors import HostError
from local_aws.kubernetes import machine
from local_aws.kubernetes.errors import KubernetesError
from local_aws.kubernetes.programs import store
from local_aws.kubernetes.programs.store import ProgramSet

_PACKAGES_PER_REPORT = 200
_GIB = 1 << 30
_NEEDED_GIB = 3

Report = Callable[[str], None]


def build(programs: ProgramSet, report: Report) -> Path:
    """Return the folder of the programs; build them if the recipe or Debian's packages are new, and ``report`` the progress."""
    reasons = machine.missing_for_building()
    if reasons:
        raise KubernetesError("; ".join(reasons))
    place = store.place()
    place.mkdir(parents=True, exist_ok=True)
    with cache.lock(lambda: report("waiting for another process that is building the programs"), place / "lock"):
        cache.remove_parts(place)
        with tempfile.TemporaryDirectory(cache.PART, f"{programs.name}-", place, ignore_cleanup_errors=True) as part:
            return _build(programs, Path(part), report)


def _build(programs: ProgramSet, part: Path, report: Report) -> Path:
    report("looking for new packages in this machine's Debian sources")
    try:
        inputs = _inputs(programs, part)
    except KubernetesError as error:
        found = store.find(programs)
        if found is None:
            raise
        report(f"keeping the programs in {found}: {error}")
        return found
    built = store.build_of(programs, inputs)
    if not built.is_dir():
        _compile(programs, part, report)
        (part / "made" / "inputs").write_text(inputs)
        (part / "made").rename(built)
    store.note_use(built)
    for folder in cache.unused(store.place()):
        report(f"removing {folder}, not used for {cache.KEPT_DAYS} days")
        cache.discard(folder)
    return built


def _inputs(programs: ProgramSet, part: Path) -> str:
    """Return apt's checksums of everything that a build uses."""
    try:
        found = sources.candidates(sources.own_targets(), sources.codename(), store.SUITE)
        signed = [source for source in found if sources.is_signed(source)]
    except HostError as error:
        raise KubernetesError(str(error)) from error
    if not any(source.release == store.SUITE for source in signed):
        raise KubernetesError(
            f"Kubernetes is built from Debian {store.SUITE}'s packages, but no reachable apt source here offers them; "
            "on another distribution, add a Debian source to /etc/apt/sources.list.d and pin it to priority -1"
        )
    lines = [line for source in signed for line in (source.line, source.line.replace("deb ", "deb-src ", 1))]
    done = subprocess.run(
        [store.RECIPE / "inputs.sh", part, "\n".join(lines), *programs.packages],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    if done.returncode:
        raise KubernetesError(f"apt found no packages to build from; its last lines:\n{logged.tail(done.stderr)}")
    return done.stdout


def _compile(programs: ProgramSet, part: Path, report: Report) -> None:
    free = shutil.disk_usage(part).free
    if free < _NEEDED_GIB * _GIB:
        raise KubernetesError(f"{store.place()}: {free / _GIB:.1f} GiB free, a build needs {_NEEDED_GIB}; free some space")
    report(f"building {', '.join(programs.programs)} in {store.place()}")
    progress = _Progress(report)
    command = ["setpriv", "--pdeathsig", "KILL", str(store.RECIPE / "build.sh"), str(part), *programs.programs]
    try:
        logged.run(command, store.place() / "build.log", ("PYTHON", "GO", "CGO"), progress.read)
    except logged.BuilderError as error:
        raise KubernetesError(f"build.sh {error}") from error
    progress.say("done")


class _Progress:
    """The progress of a build by its output: its own lines, and each package that `go build -v` names."""

    def __init__(self, report: Report) -> None:
        self._report, self._start, self._packages = report, time.monotonic(), 0

    def read(self, line: str) -> None:
        """Take in a line of the output."""
        if line.startswith("I: "):
            self.say(line[3:].strip())
        elif " " not in line:
            self._packages += 1
            if self._packages % _PACKAGES_PER_REPORT == 0:
                self.say(f"{self._packages} packages compiled")

    def say(self, text: str) -> None:
        """Report a text with the time since the start."""
        self._report(f"  {time.monotonic() - self._start:4.0f} s  {text}")
