"""Time that passes only when somebody sleeps."""

from __future__ import annotations

from dataclasses import dataclass, field

from hyperpod_node.retry import Clock


@dataclass
class ManualTime:
    now_s: float = 0.0
    chance: float = 1.0
    pauses: list[float] = field(default_factory=list)

    @property
    def clock(self) -> Clock:
        return Clock(now=lambda: self.now_s, sleep=self._sleep, random=lambda: self.chance)

    def _sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.now_s += seconds
