"""Time spans of options."""

from datetime import timedelta

import pytest
import typer

from cli.target import time_span, timeout_s


@pytest.mark.parametrize(("text", "seconds"), [("90s", 90), ("30m", 1800), ("4h", 14400), ("7d", 604800)])
def test_a_number_with_a_unit_is_a_time_span(text: str, seconds: int) -> None:
    assert time_span("--since", text) == timedelta(seconds=seconds)
    assert timeout_s(text) == seconds


@pytest.mark.parametrize("text", ["", "h", "30", "0h", "-1h", "1w", "1 h", "9999999d"])
def test_other_text_is_refused_with_examples(text: str) -> None:
    with pytest.raises(typer.BadParameter, match=r"^--since .*: not a time span; pass a number with a unit, e\.g\. 90s"):
        time_span("--since", text)
