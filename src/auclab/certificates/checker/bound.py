"""The lower bound that a dual point proves, in rational arithmetic."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from auclab.certificates.checker.constraints import ROUNDING, HeldConstraints
from auclab.certificates.checker.correction import StoredPairs, at_pairs, balanced_pairs, corrected, inner_point, mixed
from auclab.certificates.checker.data import Data, fractions
from auclab.certificates.checker.margins import DualScorer, as_ranked
from auclab.certificates.checker.multipliers import (
    Multipliers,
    PairMultipliers,
    admissible,
    at_scorer,
    at_scorers,
    transportable,
)
from auclab.certificates.checker.pieces import NORMS
from auclab.certificates.checker.program import Program

#: How far multipliers are moved into the interior of their bounds where they cannot be corrected as they are.
_STEPS = tuple(ROUNDING * 10.0**k for k in range(7))


@dataclass(frozen=True)
class Bound:
    """No w has an objective below `everywhere`, and none with ``‖w‖ ≤ radius`` one below `within`.

    Without a norm in the program, ‖w‖ is the Euclidean length with every coefficient times the spread of its feature.
    """

    everywhere: Fraction
    within: Fraction
    radius: float


def proved_bound(
    program: Program,
    data: Data,
    multipliers: NDArray[np.float64],
    share_neg: NDArray[np.float64] | None,
    scorer: tuple[NDArray[np.float64], float] | None = None,
    *,
    enough: Fraction,
    radius: float,
    spread: NDArray[np.float64],
    for_all: bool = True,
    held: HeldConstraints | None = None,
    scorers: Sequence[DualScorer] = (),
    pairs: StoredPairs | None = None,
) -> Bound | None:
    """The best bounds that the multipliers prove.

    `program`: with z ≤ 0, which has a dual. `share_neg` (n_neg,), or None: the r of partial AUC. `scorer`:
    ``(w, b)``, whose slopes are the dual point of a loss other than the hinge. `enough`: a bound
    of at least this ends the search. `radius`: the length up to which the bound is claimed; infinite if it is claimed
    for every w. `spread` (n_features,): scales of the features in ‖w‖ where the program has no norm. `for_all`: whether
    `enough` has to hold for every w, or for ``‖w‖ ≤ radius`` only. `held`: what w satisfies: the bounds are for every
    such w. `scorers`: over ranked pairs, the dual point that the run has stored; that of the scorer itself is tried
    too, and that of `pairs`, the multipliers of single pairs. Returns: None if the multipliers are not finite
    numbers.
    """
    starts: list[Multipliers | None] = []
    if program.is_ranked:
        own = [] if scorer is None else [DualScorer(Fraction(1), scorer[0], Fraction(0))]
        starts = [at_scorers(program, data, each) for each in (scorers, own)]
        if pairs is not None and (ranked := as_ranked(data)) is not None:
            starts.append(at_pairs(program, ranked, pairs))
    elif program.by_marginals:
        starts = [admissible(program, data, multipliers, share_neg)]
    elif scorer is not None:
        starts = [at_scorer(program, data, *scorer)]
    goal = (enough, radius, spread, for_all)
    bounds = [_bound_of(program, data, start, held, *goal) for start in starts if start is not None]
    if not bounds:
        return None
    everywhere, within = (max(getattr(bound, name) for bound in bounds) for name in ("everywhere", "within"))
    return Bound(everywhere, within, radius)


def _bound_of(
    program: Program,
    data: Data,
    start: Multipliers,
    held: HeldConstraints | None,
    enough: Fraction,
    radius: float,
    spread: NDArray[np.float64],
    for_all: bool,
) -> Bound:
    """The best bounds from one dual point."""
    if program.regulariser.reach != 0:
        value = _scaled(program, data, transportable(program, data, start), held)
        # A tiny λ is less than what rounding leaves of Σ q d: scaling would cost the whole bound.
        if value < enough and held is None and program.by_marginals:
            point = corrected(program, data, start)
            value = value if point is None else max(value, _scaled(program, data, transportable(program, data, point)))
        if value < enough and held is None and isinstance(start, PairMultipliers):
            # Scores in floating point may have other slopes near a narrow jump, in the last digits of the bound.
            for moved in balanced_pairs(program, data, start, held):
                value = max(value, _scaled(program, data, moved))
        return Bound(value, value, radius)
    everywhere = within = Fraction(0)  # hinges are not negative
    for candidate in _candidates(program, data, start, held):
        point = transportable(program, data, candidate)
        total, combined = point.total(program, data), data.combine(point.values, point.unit)
        for price, gradient in _residuals(combined, held):
            excess, worth = program.excess(total, gradient), total - point.conjugate - price
            if excess <= 0:
                everywhere = max(everywhere, worth)
            elif math.isfinite(radius) and candidate is start:
                violation = excess if program.uses_norm else _scaled_norm(gradient, spread)
                within = max(within, worth - Fraction(radius) * violation)
        if max(everywhere, Fraction(0) if for_all else within) >= enough:
            break
    return Bound(everywhere, max(within, everywhere), radius)


def _residuals(gradient: list[Fraction], held: HeldConstraints | None) -> list[tuple[Fraction, list[Fraction]]]:
    """What constraints take from the bound and leave of ``Σ q d``: with the stored ν, and with all that bounds take."""
    if held is None:
        return [(Fraction(0), gradient)]
    return [held.residual(gradient, all_bounds=choice) for choice in (False, True)]


def _candidates(
    program: Program, data: Data, start: Multipliers, held: HeldConstraints | None
) -> Iterator[Multipliers]:
    """The multipliers themselves, and such as satisfy the dual constraint exactly."""
    yield start
    if isinstance(start, PairMultipliers):
        yield from balanced_pairs(program, data, start, held)
        return
    if not (program.by_marginals and data.has_columns):
        return
    if held is None and program.threshold < 0 and (point := mixed(program, data, start)) is not None:
        yield point
    if (point := corrected(program, data, start, held)) is not None:
        yield point
    if held is not None:
        return  # the middle of their bounds is not near what the constraints take up
    for step in _STEPS:
        inner = inner_point(program, data, start, step)
        if inner is not None and (point := corrected(program, data, inner)) is not None:
            yield point


def _scaled(program: Program, data: Data, point: Multipliers, held: HeldConstraints | None = None) -> Fraction:
    """With a regulariser: ``τ(Σq − Σℓ*) − R*(τg)`` at the best τ in [0, 1], and 0 as hinges are not negative.

    With constraints Σq is less by their price, and g is what they leave of it; τ is that of all multipliers.
    """
    total = point.total(program, data)
    worth = total - point.conjugate
    residuals = _residuals(data.combine(point.values, point.unit), held)
    return max(
        program.regulariser.best(max(worth - price, Fraction(0)), gradient, -program.threshold * total)
        for price, gradient in residuals
    )


def _scaled_norm(gradient: list[Fraction], spread: NDArray[np.float64]) -> Fraction:
    """An upper bound of ``‖g / spread‖₂``."""
    return NORMS["l2"].of([g / s for g, s in zip(gradient, fractions(spread), strict=True)])[1]
