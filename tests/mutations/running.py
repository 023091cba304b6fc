"""One changed file after the other: none ends in a traceback, and what passes is a request that SageMaker takes."""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from random import Random

from tests import cluster_files
from tests.corpus.case import BASES
from tests.mutations.changes import changed
from tests.mutations.invariants import looked_at
from tests.mutations.sagemaker import NOT_MODELLED, SageMaker
from validation.checked_file import CheckedFile

FILES = [
    *cluster_files.ALL,
    *sorted(path for path in BASES.glob("*.yaml") if path.stem != "large"),  # takes long, and is many times one group
]
# Without comments: half of the time goes into reading YAML.
GOOD = [re.sub(r"(?m)^ *(#.*)?\n", "", path.read_text(encoding="utf-8")) for path in FILES]
# From where examples name their folder of scripts.
FOLDER = cluster_files.EXAMPLES

# What the embedded SageMaker refuses and we but warn of, as `overrides` are the API's own words and AWS's pages do not always
# agree: by the words of the refusal, the rule that has told of it.
WARNED = {
    "instanceType' failed to satisfy constraint: Member must satisfy enum": ("known-instance-type",),
    "instanceTypes.1.member' failed to satisfy constraint: Member must satisfy enum": ("known-instance-type",),
    "AccountingDatabase needs NodeProvisioningMode Continuous": ("requires-continuous-provisioning",),
    "which is required for Continuous Node Provisioning Mode": ("continuous-provisioning",),
    "must have PartitionNames": ("slurm-config-role",),
    "exactly one group must have NodeType Controller": ("slurm-config-role", "continuous-provisioning"),
}

# What shows nothing but mistakes says nothing of what is accepted.
LEAST_PASSED = 0.25

Progress = Callable[["Richness"], None]


class MutationError(Exception):
    """A changed file that shows a mistake of ours, by its number."""


@dataclass
class Richness:
    """How much was tried."""

    files: int = 0
    passed: int = 0
    with_warnings: int = 0
    refused_as_warned: int = 0
    not_modelled: int = 0
    rules: Counter[str] = field(default_factory=Counter)

    def lines(self) -> Iterator[str]:
        """The summary."""
        rarest = ", ".join(rule for rule, _ in self.rules.most_common()[-5:])
        yield f"{self.files} changed files, and no traceback"
        yield f"{self.passed} passed validation ({self.share:.0%}), {self.with_warnings} of them with warnings"
        accepted = self.passed - self.refused_as_warned - self.not_modelled
        yield f"{accepted} requests accepted, {self.refused_as_warned} refused as a warning had told"
        yield f"{self.not_modelled} not judged, as the embedded AWS has no restricted instance groups"
        yield f"{len(self.rules)} different rules told of something, most rarely {rarest}"

    @property
    def share(self) -> float:
        """The part of the files that passed."""
        return self.passed / max(self.files, 1)


def mutated(seed: int, number: int) -> str:
    """The changed file of this number."""
    random = Random(f"{seed} {number}")
    return changed(random, random.choice(GOOD))


def run(sagemaker: SageMaker, seed: int, files: int, progress: Progress = lambda _: None) -> Richness:
    """Look at so many changed files; a MutationError tells of the first that shows a mistake."""
    richness = Richness()
    for number in range(files):
        text = mutated(seed, number)
        try:
            _look(text, sagemaker, richness)
        except Exception as error:
            raise MutationError(f"file {number} of seed {seed}: {error!r}\n{text}") from error
        progress(richness)
    return richness


def _look(text: str, sagemaker: SageMaker, richness: Richness) -> None:
    checked = looked_at(text.encode("utf-8", "surrogatepass"), FOLDER)
    richness.files += 1
    richness.rules.update({problem.rule for problem in checked.problems})
    if checked.config is None:
        return
    richness.passed += 1
    richness.with_warnings += bool(checked.warnings)
    refusal = sagemaker.refusal(checked.config)
    if refusal and NOT_MODELLED in refusal:
        richness.not_modelled += 1
    elif refusal:
        richness.refused_as_warned += 1
        assert _warned(checked, refusal), f"nothing told that SageMaker refuses it: {refusal}"


def _warned(checked: CheckedFile, refusal: str) -> bool:
    """Tell whether a warning told what the refusal says."""
    told = {problem.rule for problem in checked.problems}
    return any(words in refusal and told & {*rules} for words, rules in WARNED.items())
