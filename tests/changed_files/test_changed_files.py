"""No changed cluster file causes a traceback, and SageMaker accepts the requests of valid ones (10,000: `make changed-files`)."""

from local_aws.testing import Client
from tests.changed_files.running import changed_file, run
from tests.changed_files.sagemaker import SageMaker


def test_changed_files_are_requests_that_sagemaker_takes_or_have_problems(client: Client) -> None:
    richness = run(SageMaker.of(client), seed=2, files=150)
    assert richness.share >= 0.2
    assert len(richness.rules) >= 25


def test_the_same_number_is_the_same_file() -> None:
    assert changed_file(1, 7) == changed_file(1, 7) != changed_file(1, 8)
