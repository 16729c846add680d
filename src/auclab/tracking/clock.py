"""When a run began, on the monotonic clock."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Self


@dataclass(frozen=True)
class Start:
    """Start of a run; elapsed time is measured by a monotonic clock.

    The system clock may be adjusted during a run, by the network or when a virtual machine resumes. By that clock a run
    could end before it began, or last for years.

    Attributes
    ----------
    wall
        Seconds since the epoch, by the system clock.
    monotonic
        Seconds of `time.monotonic` at the same moment.

    See Also
    --------
    auclab.tracking.open_run : Opens a run with it.

    Examples
    --------
    >>> start = Start(wall=1000.0, monotonic=time.monotonic())
    >>> start.milliseconds
    1000000
    """

    wall: float
    monotonic: float

    @classmethod
    def now(cls) -> Self:
        """The present moment."""
        return cls(time.time(), time.monotonic())

    @property
    def milliseconds(self) -> int:
        """The start, in milliseconds since the epoch."""
        return int(1000 * self.wall)

    @property
    def present(self) -> int:
        """The present: the start and the time since then, in milliseconds since the epoch.

        Examples
        --------
        >>> start = Start(1000.0, time.monotonic() - 2.0)  # two seconds ago; the system's clock is years ahead
        >>> 1_002_000 <= start.present < 1_003_000
        True
        """
        return int(1000 * (self.wall + time.monotonic() - self.monotonic))
