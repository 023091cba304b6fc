"""No changed cluster file causes a traceback, and SageMaker accepts the requests of valid ones (10,000: `make mutations`)."""

from local_aws.testing import Client
from tests.mutations.running import mutated, run
from tests.mutations.sagemaker import SageMaker


def test_changed_files_are_requests_that_sagemaker_takes_or_have_problems(client: Client) -> None:
    richness = run(SageMaker.of(client), seed=2, files=150)
    assert richness.share >= 0.2
    assert len(richness.rules) >= 25


def test_the_same_number_is_the_same_file() -> None:
    assert mutated(1, 7) == mutated(1, 7) != mutated(1, 8)
