"""What a solve may take: memory is estimated before it is asked for, and no solve is without an end.

The bytes a margin were measured as the growth of the process at its peak over 22,500 to 360,000 pairs, rounded up.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import psutil

from auclab.formulations.problem import Problem
from auclab.types import AuclabError, Status

#: Seconds for a solve by a modelling language, by HiGHS or by a tree over pairs, whose time cannot be foreseen, where
#: none are given. `math.inf` is no limit.
DEFAULT_TIME_LIMIT = 600.0
#: A solve may take this share of the memory that is available when it begins.
MEMORY_SHARE = 0.7
#: Bytes a margin, and bytes for every nonzero of its direction, of the models that form all margins.
BYTES_PER_MARGIN: Mapping[str, tuple[float, float]] = {
    "highs encoding=full": (5_000.0, 0.0),
    "highs encoding=dual": (700.0, 100.0),
    "highs exact_auc": (700.0, 100.0),
    "clarabel": (2_300.0, 0.0),
    "scs": (4_200.0, 0.0),
}


def seconds_allowed(time_limit: float | None) -> float:
    """The time limit, or the default one.

    Examples
    --------
    >>> seconds_allowed(None), seconds_allowed(5)
    (600.0, 5.0)
    """
    return DEFAULT_TIME_LIMIT if time_limit is None else float(time_limit)


def default_limit_note(time_limit: float | None, status: Status) -> tuple[str, ...]:
    """Says that the default time limit ended a solve, where it did."""
    if time_limit is not None or status is not Status.TIME_LIMIT:
        return ()
    return (f"ended at the default limit of {DEFAULT_TIME_LIMIT:g} s; time_limit=… sets another",)


def margin_bytes(problem: Problem, model: str) -> float:
    """Estimated bytes of a model that forms all margins of a problem.

    Parameters
    ----------
    problem : Problem
    model : str
        A key of `BYTES_PER_MARGIN`.
    """
    sample = problem.sample
    nonzeros = float(sample.n_features)
    if sample.is_sparse:
        stored = (sample.X_pos.nnz + sample.X_neg.nnz) / (sample.n_pos + sample.n_neg)
        nonzeros = min(nonzeros, stored * (2 if problem.over_pairs else 1))
    each, per_nonzero = BYTES_PER_MARGIN[model]
    return problem.n_margins * (each + per_nonzero * nonzeros)


def check_margins(problem: Problem, model: str, advice: str = "use solver=cutting_plane") -> None:
    """Raise `AuclabError` with the numbers if the margins of a problem would not fit into the memory.

    Parameters
    ----------
    problem : Problem
    model : str
        A key of `BYTES_PER_MARGIN`.
    advice : str
        What to do instead, for the message.
    """
    sample = problem.sample
    if problem.over_pairs:
        what = f"{sample.n_pos:,} × {sample.n_neg:,} = {problem.n_margins:,} pairs"
    else:
        what = f"{problem.n_margins:,} observations"
    check_memory(margin_bytes(problem, model), f"solver={model} forms all {what}", advice)


def check_memory(needed: float, what: str, advice: str) -> None:
    """Raise `AuclabError` if an estimate is above the share of the available memory that a solve may take.

    Parameters
    ----------
    needed : float
        Bytes.
    what, advice : str
        For the message.

    Raises
    ------
    AuclabError
        With the estimate, what is available, and the advice.

    Examples
    --------
    >>> check_memory(1e18, "the table has all pairs", "use fewer")
    Traceback (most recent call last):
    ...
    auclab.types.AuclabError: the table has all pairs, about 1e+09 GB, and ... GB of memory are available ...; use fewer
    """
    if needed < 1e8:
        return  # asking for the available memory takes longer than it is worth
    available = float(psutil.virtual_memory().available)
    if needed > MEMORY_SHARE * available:
        raise AuclabError(
            f"{what}, about {needed / 1e9:.3g} GB, and {available / 1e9:.3g} GB of memory are available (at most "
            f"{100 * MEMORY_SHARE:.0f}% of them are used); {advice}"
        )


def is_allowed(needed: float) -> bool:
    """Whether an estimate in bytes is within the memory that a solve may take."""
    return needed < 1e8 or needed <= MEMORY_SHARE * float(psutil.virtual_memory().available)


def finite_or_none(seconds: float) -> float | None:
    """Seconds for a library that takes None for no limit."""
    return seconds if math.isfinite(seconds) else None
