"""Define the suppress section."""

from typing import Annotated

from pydantic import StringConstraints

from config.section import Change, Section, setting

Reason = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=500)]


class Suppression(Section):
    """A warning to suppress."""

    rule: str = setting("id of the rule, as printed at the end of the warning", Change.NOTHING)
    reason: Reason = setting("reason for the suppression, for other readers of the file", Change.NOTHING)
