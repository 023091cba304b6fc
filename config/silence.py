"""The silence section of a cluster file: warnings that somebody looked at."""

from typing import Annotated

from pydantic import StringConstraints

from config.section import Change, Section, setting

Reason = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=500)]


class Silence(Section):
    """One warning that is not to be told any more, and why."""

    rule: str = setting("id of the warning's rule, as the warning ends with it", Change.NOTHING)
    reason: Reason = setting("why it does not matter here, for whoever reads the file next", Change.NOTHING)
