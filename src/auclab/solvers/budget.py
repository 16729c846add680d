"""Memory and time of a solve, estimated in advance, and the default time limit.

The bytes a margin were measured as the growth of the process at its peak over 22,500 to 360,000 pairs, rounded up. The
seconds a nonzero entry were measured as processor seconds on 2,000 to 100,000 points with 10 to 300 features and on
2,500 to 160,000 pairs: what a library does without looking at its clock.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import psutil

from auclab._core.base import AuclabError, Status
from auclab.formulations.problem import Problem
from auclab.models.timings import Clock

#: Steps of a method that converges quickly, or attempts at what nearly always succeeds at the first.
FEW_STEPS = 5
#: Seconds for a solve by a modelling language, by HiGHS or by a tree over pairs, whose time cannot be foreseen, where
#: none are given. `math.inf` means no limit.
DEFAULT_TIME_LIMIT = 600.0
#: A solve may take this share of the memory that is available when it begins.
MEMORY_SHARE = 0.7
#: Bytes of what is computed at a time, and of what is kept so that it need not be computed again.
BLOCK_BYTES, KEPT_BYTES = 100_000_000, 400_000_000
#: The size of a small program: margins up to which a tree ends and a proof within a radius can be extended; entries up
#: to which HiGHS, and Clarabel, which take the rows as a whole, are fastest.
SMALL_MARGINS, SMALL_ENTRIES, CLARABEL_ENTRIES = 10_000, 50_000, 30_000
#: Columns of which a matrix is formed and factored in each of many steps, and up to which newton has one at all;
#: beyond them cutting planes are faster.
DENSE_FEATURES, NEWTON_FEATURES = 500, 2_000
#: Seconds for what may prove more, or finish exactly, once there is an answer.
SECONDS_FOR_MORE = 10.0
#: Seconds that are not noticed beyond a limit, or before an answer.
MOMENT = 0.2
#: Seconds of building or compiling that get a note.
NOTEWORTHY = 2.0
#: Bytes per margin of the models that form all margins.
BYTES_PER_MARGIN: Mapping[str, float] = {
    "highs encoding=full": 5_000.0,
    "highs encoding=dual": 700.0,
    "clarabel": 2_300.0,
    "scs": 4_200.0,
}
#: Bytes per stored entry of the rows, of the models with scores as variables; and per nonzero of a direction.
BYTES_PER_ENTRY: Mapping[str, float] = {"clarabel": 220.0, "scs": 400.0}
BYTES_PER_NONZERO: Mapping[str, float] = {"highs encoding=dual": 100.0}
#: A solver gets at most this share less than the time limit, for the verification of what it returns.
VERIFICATION_SHARE = 0.25
#: Seconds of that verification per entry of the rows (measured: 1.3 s for 15 million), and for any rows.
_VERIFICATION_PER_ENTRY, _VERIFICATION_AT_LEAST = 9e-8, 5e-3


@dataclass(frozen=True)
class Indivisible:
    """Seconds that a conic library spends without checking its time limit.

    `compiling`: CVXPY's translation of the model. `setup`: ordering and first factorisation. `iteration`: one
    iteration, after which the limit is checked.
    """

    compiling: float
    setup: float
    iteration: float

    @property
    def total(self) -> float:
        """Seconds until there is a usable point, after a few iterations."""
        return self.compiling + self.setup + FEW_STEPS * self.iteration

    def slower(self, factor: float) -> Indivisible:
        """The same on a machine that takes `factor` times as long."""
        return Indivisible(factor * self.compiling, factor * self.setup, factor * self.iteration)


#: Seconds a nonzero of the model: compiling, setup, iteration (of SCS: those between two looks at its clock).
_SECONDS_PER_NONZERO: Mapping[tuple[str, str], Indivisible] = {
    ("clarabel", "points"): Indivisible(5e-7, 2.5e-7, 4e-7),
    ("clarabel", "pairs"): Indivisible(3e-7, 2.5e-6, 1.5e-6),
    ("scs", "points"): Indivisible(3e-7, 1.8e-6, 2.5e-7),
    ("scs", "pairs"): Indivisible(3e-7, 1.6e-6, 5e-7),
}
#: Nonzeros of a margin's row besides its features, and observations of a margin: a row over points has its score,
#: intercept, loss and norm, and one of the features; a pair two scores, its loss and its norm.
_OF_MARGIN: Mapping[str, tuple[int, int]] = {"points": (5, 1), "pairs": (4, 2)}
#: Seconds a squared number of rows: SCS orders those of points in a time that grows with their square.
_SECONDS_PER_SQUARE: Mapping[tuple[str, str], float] = {("scs", "points"): 1.3e-9}


def indivisible(problem: Problem, model: str) -> Indivisible:
    """Estimated seconds that Clarabel or SCS, through CVXPY, computes without checking its time limit.

    Examples
    --------
    >>> import numpy as np
    >>> from auclab.formulations import CSVM
    >>> from auclab.samples.as_sample import as_sample
    >>> sample = as_sample(np.ones((1_000, 100)), np.arange(1_000) % 2)
    >>> round(indivisible(Problem(CSVM(0.1), sample), "clarabel").total, 2)   # 105,000 nonzeros
    0.29
    """
    margins = problem.program.comparisons.name
    rates = _SECONDS_PER_NONZERO[model, margins]
    nonzeros = problem.sample.n_entries + _OF_MARGIN[margins][0] * problem.n_margins
    squares = _SECONDS_PER_SQUARE.get((model, margins), 0.0) * problem.n_margins**2
    return Indivisible(nonzeros * rates.compiling, nonzeros * rates.setup + squares, nonzeros * rates.iteration)


def check_seconds(needed: float, time_limit: float | None, what: str, advice: str) -> None:
    """Raise `AuclabError` if a library is estimated to have no usable point within a tenth or a second of the limit.

    `needed`: seconds. `time_limit`: that of the solve; 600 if left out. `what`, `advice`: for the message.

    Examples
    --------
    >>> check_seconds(40.0, 5.0, "solver=clarabel on 48,842 points", "use solver=newton, or a longer time_limit")
    Traceback (most recent call last):
    ...
    auclab.AuclabError: solver=clarabel on 48,842 points takes about 40 s until ... and 5 s ... are left; use ...
    """
    allowed = seconds_allowed(time_limit)
    if needed > max(1.1 * allowed, allowed + 1.0):
        raise AuclabError(
            f"{what} takes about {needed:.3g} s until it has a usable point, and {allowed:.3g} s of the time limit are "
            f"left; {advice}"
        )


def without_verification(problem: Problem, time_limit: float | None) -> float | None:
    """The seconds of a limit that a solver may use, so that there is time to verify its result.

    Examples
    --------
    >>> import numpy as np
    >>> from auclab.formulations import BufferedAUC
    >>> from auclab.samples.as_sample import as_sample
    >>> problem = Problem(BufferedAUC(), as_sample(np.ones((1_000, 100)), np.arange(1_000) % 2))
    >>> round(without_verification(problem, 5.0), 3)
    4.986
    >>> without_verification(problem, None) is None
    True
    """
    if time_limit is None or math.isinf(time_limit):
        return time_limit
    reserved = _VERIFICATION_AT_LEAST + _VERIFICATION_PER_ENTRY * problem.sample.n_entries
    return time_limit - min(VERIFICATION_SHARE * time_limit, reserved)


def seconds_allowed(time_limit: float | None) -> float:
    """The time limit, or the default one.

    Examples
    --------
    >>> seconds_allowed(None), seconds_allowed(5)
    (600.0, 5.0)
    """
    return DEFAULT_TIME_LIMIT if time_limit is None else float(time_limit)


def default_limit_note(clock: Clock, status: Status) -> tuple[str, ...]:
    """A note if the default time limit ended a solve, as the caller's clock has none; else empty."""
    if clock.end is not None or status is not Status.TIME_LIMIT:
        return ()
    return (f"ended at the default limit of {DEFAULT_TIME_LIMIT:g} s; time_limit=… sets another",)


def margin_bytes(problem: Problem, model: str) -> float:
    """Estimated bytes of a model that forms all margins of a problem.

    `model`: a key of `BYTES_PER_MARGIN`.
    """
    sample = problem.sample
    stored = sample.n_entries / (sample.n_pos + sample.n_neg)
    nonzeros = min(float(sample.n_features), stored * _OF_MARGIN[problem.program.comparisons.name][1])
    each = BYTES_PER_MARGIN[model] + BYTES_PER_NONZERO.get(model, 0.0) * nonzeros
    return problem.n_margins * each + BYTES_PER_ENTRY.get(model, 0.0) * sample.n_entries


def check_margins(problem: Problem, model: str, advice: str = "use solver=cutting_plane") -> None:
    """Raise `AuclabError` with the numbers if the margins of a problem would not fit into the memory.

    `model`: a key of `BYTES_PER_MARGIN`. `advice`: what to do instead, for the message.
    """
    what = f"solver={model} forms all {problem.n_margins:,} {problem.program.comparisons.name}"
    check_memory(margin_bytes(problem, model), what, advice)


def check_memory(needed: float, what: str, advice: str) -> None:
    """Raise `AuclabError` if an estimate is above the share of the available memory that a solve may take.

    `needed`: bytes. `what`, `advice`: for the message.

    Examples
    --------
    >>> check_memory(1e18, "the table has all pairs", "use fewer")
    Traceback (most recent call last):
    ...
    auclab.AuclabError: the table has all pairs, about 1e+09 GB, and ... GB of memory are available ...; use fewer
    """
    if needed < BLOCK_BYTES:
        return  # reading the available memory takes longer than it is worth
    available = float(psutil.virtual_memory().available)
    if needed > MEMORY_SHARE * available:
        raise AuclabError(
            f"{what}, about {needed / 1e9:.3g} GB, and {available / 1e9:.3g} GB of memory are available (at most "
            f"{100 * MEMORY_SHARE:.0f}% of them are used); {advice}"
        )


def is_allowed(needed: float) -> bool:
    """Whether an estimate in bytes is within the memory that a solve may take."""
    return needed < BLOCK_BYTES or needed <= MEMORY_SHARE * float(psutil.virtual_memory().available)


def finite_or_none(seconds: float) -> float | None:
    """Seconds for a library that takes None for no limit."""
    return seconds if math.isfinite(seconds) else None
