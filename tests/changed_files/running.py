"""Check that changed files cause no traceback, and that SageMaker accepts the requests of valid ones."""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from random import Random

from tests import cluster_files
from tests.changed_files.changes import changed
from tests.changed_files.invariants import check_invariants
from tests.changed_files.sagemaker import NOT_MODELLED, SageMaker
from tests.corpus.case import BASES
from validation.checked_file import CheckedFile

FILES = [
    *cluster_files.ALL,
    *sorted(path for path in BASES.glob("*.yaml") if path.stem != "large"),  # slow, and only repeats one group
]
# Without comments, as parsing YAML takes half of the time.
GOOD = [re.sub(r"(?m)^ *(#.*)?\n", "", path.read_text(encoding="utf-8")) for path in FILES]
# The folder to which paths of scripts in the examples are relative.
FOLDER = cluster_files.EXAMPLES

# The rules that only warn of what the embedded SageMaker rejects, by the error's text: AWS's documentation of `overrides` is not
# always consistent.
WARNED = {
    "instanceType' failed to satisfy constraint: Member must satisfy enum": ("known-instance-type",),
    "instanceTypes.1.member' failed to satisfy constraint: Member must satisfy enum": ("known-instance-type",),
    "AccountingDatabase needs NodeProvisioningMode Continuous": ("requires-continuous-provisioning",),
    "which is required for Continuous Node Provisioning Mode": ("continuous-provisioning",),
    "The EKS cluster arn": ("eks-only-option",),
    "requires Orchestrator.Eks": ("eks-only-option",),
    "with Orchestrator.Eks": ("eks-only-option",),
    "AutoScaling requires": ("subnet-capacity-autoscaling", "eks-only-option"),
    "must have PartitionNames": ("slurm-config-role",),
    "exactly one group must have NodeType Controller": ("slurm-config-role", "continuous-provisioning"),
}

# Too many invalid files would not test the accepted ones.
LEAST_PASSED = 0.25

Progress = Callable[["Richness"], None]


class ChangedFileError(Exception):
    """A changed file, by its number, that reveals a bug."""


@dataclass
class Richness:
    """Statistics of a run."""

    files: int = 0
    passed: int = 0
    with_warnings: int = 0
    rejected_as_warned: int = 0
    not_modelled: int = 0
    rules: Counter[str] = field(default_factory=Counter)

    def lines(self) -> Iterator[str]:
        """Yield the summary."""
        rarest = ", ".join(rule for rule, _ in self.rules.most_common()[-5:])
        yield f"{self.files} changed files, and no traceback"
        yield f"{self.passed} passed validation ({self.share:.0%}), {self.with_warnings} of them with warnings"
        accepted = self.passed - self.rejected_as_warned - self.not_modelled
        yield f"{accepted} requests accepted, {self.rejected_as_warned} rejected as a warning predicted"
        yield f"{self.not_modelled} not checked, as the embedded AWS has no restricted instance groups"
        yield f"{len(self.rules)} different rules reported problems, most rarely {rarest}"

    @property
    def share(self) -> float:
        """Return the share of valid files."""
        return self.passed / max(self.files, 1)


def changed_file(seed: int, number: int) -> str:
    """Return the changed file with this number."""
    random = Random(f"{seed} {number}")
    return changed(random, random.choice(GOOD))


def run(sagemaker: SageMaker, seed: int, files: int, progress: Progress = lambda _: None) -> Richness:
    """Check changed files; raise a ChangedFileError for the first that reveals a bug."""
    richness = Richness()
    for number in range(files):
        text = changed_file(seed, number)
        try:
            _look(text, sagemaker, richness)
        except Exception as error:
            raise ChangedFileError(f"file {number} of seed {seed}: {error!r}\n{text}") from error
        progress(richness)
    return richness


def _look(text: str, sagemaker: SageMaker, richness: Richness) -> None:
    checked = check_invariants(text.encode("utf-8", "surrogatepass"), FOLDER)
    richness.files += 1
    richness.rules.update({problem.rule for problem in checked.problems})
    if checked.config is None:
        return
    richness.passed += 1
    richness.with_warnings += bool(checked.warnings)
    rejection = sagemaker.rejection(checked.config)
    if rejection and NOT_MODELLED in rejection:
        richness.not_modelled += 1
    elif rejection:
        richness.rejected_as_warned += 1
        assert _warned(checked, rejection), f"no rule reported that SageMaker rejects it: {rejection}"


def _warned(checked: CheckedFile, rejection: str) -> bool:
    """Return whether a warning predicted the rejection."""
    rules_found = {problem.rule for problem in checked.problems}
    return any(words in rejection and rules_found & {*rules} for words, rules in WARNED.items())
