"""The clock of a solve, and the seconds spent on its parts."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter

#: What is left of a time limit that is over: it suffices for a first point.
_LEAST_SECONDS = 1e-3


class Clock:
    """The time of a solve: made where it begins, and passed to everything it does.

    `time_limit`: seconds from now; None where none was given, `math.inf` where there is to be none.

    Examples
    --------
    >>> clock = Clock(5.0)
    >>> clock.seconds < clock.left <= 5.0, clock.is_over
    (True, False)
    >>> Clock().left is None, Clock(-1.0).left, Clock(-1.0).is_over
    (True, 0.001, True)
    """

    def __init__(self, time_limit: float | None = None) -> None:
        self.begin = perf_counter()
        self.end = None if time_limit is None else self.begin + time_limit

    @property
    def seconds(self) -> float:
        """Since the beginning."""
        return perf_counter() - self.begin

    @property
    def left(self) -> float | None:
        """Seconds until the limit, at least a millisecond; None without one."""
        return None if self.end is None else max(self.end - perf_counter(), _LEAST_SECONDS)

    @property
    def is_over(self) -> bool:
        """Whether the limit is reached."""
        return self.end is not None and perf_counter() >= self.end

    def until(self, seconds: float | None) -> Clock:
        """The same clock, which ends `seconds` from now if that is earlier."""
        clock = Clock(seconds)
        if self.end is not None and (clock.end is None or self.end < clock.end):
            clock.end = self.end
        clock.begin = self.begin
        return clock

    def later(self, seconds: float) -> Clock:
        """The same clock with a limit that is `seconds` later."""
        clock = Clock()
        clock.begin, clock.end = self.begin, None if self.end is None else self.end + seconds
        return clock


@dataclass(frozen=True)
class Timings:
    """Seconds spent, each kind apart: building the model, loading it, compiling code, solving."""

    build: float = 0.0
    load: float = 0.0
    compile: float = 0.0
    solve: float = 0.0

    @property
    def total(self) -> float:
        """Sum of the four."""
        return self.build + self.load + self.compile + self.solve

    def __add__(self, other: Timings) -> Timings:
        """The seconds of both."""
        return Timings(
            self.build + other.build, self.load + other.load, self.compile + other.compile, self.solve + other.solve
        )
