"""Define why a step waits or fails."""

from enum import Enum


class PropertyError(ValueError):
    """A property is wrong; the message says which one."""


class PendingError(Exception):
    """The rest must wait for the next step; the message has the reason."""


class FinalError(Exception):
    """The request fails; the message has the problem and the fix."""


class CallError(Exception):
    """A failed call. Its kind decides how long it is retried."""

    kind: Enum
