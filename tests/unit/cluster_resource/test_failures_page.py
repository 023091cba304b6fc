"""The page on failures quotes the Reasons in the code."""

import re
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[3]
PAGE = (PROJECT / "docs" / "troubleshoot" / "failures.md").read_text()
SOURCES = "\n".join(file.read_text() for file in (PROJECT / "lambda_assets").glob("*/*.py"))
ROWS = re.findall(r"^\| (`.+`) \|", PAGE, re.MULTILINE)
QUOTES = [quote for row in ROWS for quote in re.findall(r"`([^`]+)`", row)]
# The second row is CloudFormation's: https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/validate-stack-deployments.html
OF_THE_SERVICE = ("Lifecycle scripts did not run successfully", "Early validation failed")


def test_the_page_has_rows() -> None:
    assert len(QUOTES) > 10


@pytest.mark.parametrize("quote", QUOTES)
def test_every_quote_on_the_page_is_in_the_code(quote: str) -> None:
    words = re.split(r"\b[A-Z]{3,}\b|\bN\b|Creating|Deleting|57", quote)  # what an answer fills in
    assert quote in OF_THE_SERVICE or all(part.strip("' ") in SOURCES for part in words), quote
