"""Superquantiles and bPOE: of any numbers, and the buffer level of pair errors."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from auclab._core.accurate import DoubleDouble, add
from auclab._core.base import AuclabError
from auclab._core.ranking import nearest_errors, rank_counts_between, tail_sums, tail_sums_exact
from auclab.metrics.pair_errors import Bracket, PairErrors, RankCounts, close_in, difference, smallest_root
from auclab.metrics.roc import finite_number, plain_sample


@dataclass(frozen=True)
class Level:
    """A level of the errors.

    `above`, `at_or_above`: rank counts of the errors above the level and, where it is exact, of those at or above it.
    `count`, `excess`: c and D above the level.
    """

    value: float
    above: RankCounts
    at_or_above: RankCounts
    count: DoubleDouble
    excess: DoubleDouble


class ExcessSweep:
    """D at a level, in O(m), with the rank counts of the levels on both sides of its root.

    `above`, `at_or_above`: rank counts of the smallest level so far with D ≥ 0, and of the largest one with D < 0.
    """

    def __init__(self, errors: PairErrors, threshold: float):
        self.errors, self.threshold = errors, threshold
        self.above: RankCounts = errors.zero_counts
        self.at_or_above: RankCounts = np.full(errors.neg.size, errors.pos.size)

    def __call__(self, level: float) -> tuple[float, float, float]:
        """D (0 where its sign is not certain) and the errors next to the level, as `smallest_root` needs them."""
        errors, counts = self.errors, self.errors.rank_counts(level)
        _, excess, error = tail_sums(errors.neg, errors.weight_neg, *errors.sums, counts, self.threshold)
        if abs(excess) <= error:
            excess = errors.between(errors.zero_counts, counts, self.threshold)[1][0]
        if excess >= 0.0:
            self.above = counts
        else:
            self.at_or_above = counts
        return excess, *nearest_errors(errors.pos, errors.neg, counts)

    def pairs_left(self) -> int:
        """Number of pairs between the two rank counts."""
        return int((self.at_or_above - self.above).sum())

    def level(self, value: float) -> Level:
        """A root with its rank counts and sums."""
        count, excess = self.errors.between(self.errors.zero_counts, self.above, self.threshold)
        return Level(value, self.above, self.at_or_above, count, excess)


class ZoomedSweep:
    """The same over the pairs between the rank counts of a sweep: D above them is summed once, in double-double."""

    def __init__(self, sweep: ExcessSweep):
        errors = sweep.errors
        self.sweep, self.rows = sweep, np.flatnonzero(sweep.at_or_above > sweep.above)
        self.pos, self.neg, self.sums = errors.pos, errors.neg[self.rows], errors.sums
        self.weight_neg = errors.weight_neg[self.rows] if errors.weight_neg.size else errors.weight_neg
        self.first = self.above = sweep.above[self.rows]
        self.at_or_above = sweep.at_or_above[self.rows]
        lists = errors.pos, errors.neg, errors.weight_neg, *errors.sums
        self.rest = tail_sums_exact(*lists, errors.zero_counts, sweep.above, sweep.threshold)

    def __call__(self, level: float) -> tuple[float, float, float]:
        """As `ExcessSweep`, in O(pairs left)."""
        counts = rank_counts_between(self.pos, self.neg, level, self.above, self.at_or_above)
        excess = self._tail(counts)[1][0]
        if excess >= 0.0:
            self.above = counts
        else:
            self.at_or_above = counts
        return excess, *nearest_errors(self.pos, self.neg, counts)

    def level(self, value: float) -> Level:
        """A root with its rank counts and sums."""
        above, at_or_above = self.sweep.above.copy(), self.sweep.above.copy()
        above[self.rows], at_or_above[self.rows] = self.above, self.at_or_above
        return Level(value, above, at_or_above, *self._tail(self.above))

    def _tail(self, counts: RankCounts) -> tuple[DoubleDouble, DoubleDouble]:
        """C and D above a level; D is 0 where its sign is not certain."""
        lists = self.pos, self.neg, self.weight_neg, *self.sums
        c_hi, c_lo, d_hi, d_lo, error = tail_sums_exact(*lists, self.first, counts, self.sweep.threshold)
        rest_c_hi, rest_c_lo, rest_d_hi, rest_d_lo, rest_error = self.rest
        excess = add(d_hi, d_lo, rest_d_hi, rest_d_lo)
        return add(c_hi, c_lo, rest_c_hi, rest_c_lo), excess if abs(excess[0]) > error + rest_error else (0.0, 0.0)


def buffer_level(errors: PairErrors, threshold: float, *, exact: bool = True) -> Level | None:
    """γ*: smallest level with ``D(γ) ≥ 0``, for ``E ξ < threshold < max ξ``.

    Unless `exact`, an error above γ* that gives bPOE to 17 digits all the same. Both ``C(h) + D(h)/(z −
    h)`` at the upper end h of the bracket and the same with ``z − low`` enclose N · bPOE, and ``D(just
    below z)/(max ξ − z)`` is at most the weight of ``ξ ≥ z``, hence at most N · bPOE.

    None in one rare case: all errors above the threshold round to it or to its neighbour, and the sign of
    their sum lies in digits that the rounded differences do not have.
    """
    sweep = ExcessSweep(errors, threshold)
    value, high, _ = sweep(math.nextafter(threshold, -math.inf))
    if value < 0.0:
        return None
    bracket = Bracket(errors.bottom, high, errors.mean_excess(threshold) * errors.pairs[0], value)
    if errors.is_large:
        guess, coarse = (buffer_level(small, threshold) for small in errors.thinned)
        if guess and coarse:
            close_in(sweep, bracket, guess.value, abs(guess.value - coarse.value))
    tolerance = 2.0**-56 * value / (errors.top - threshold)

    def is_close(bracket: Bracket) -> bool:
        narrow, wide = threshold - bracket.high, threshold - bracket.low
        # quotients: the product of two levels may exceed the largest double
        return not exact and bracket.value_high / narrow * ((bracket.high - bracket.low) / wide) <= tolerance

    def is_small(bracket: Bracket) -> bool:
        # A sweep over so few pairs costs nothing compared with one over the scores of a large sample.
        return is_close(bracket) or (errors.is_large and sweep.pairs_left() <= 2**15)

    value = smallest_root(sweep, bracket, is_small)
    if bracket.low == bracket.high or is_close(bracket):
        return sweep.level(value)
    zoomed = ZoomedSweep(sweep)
    return zoomed.level(smallest_root(zoomed, bracket, is_close))


@dataclass(frozen=True)
class BPOESolution:
    """Solution of ``bPOE_z(ξ) = min_{γ<z} E[ξ − γ]₊ / (z − γ)``.

    `share` is bPOE and `rest` is ``1 − bPOE``, computed apart so that neither is a rounded difference.
    `level` is γ* in working units, NaN where no minimiser exists; `above` and `atom` are the weights of the
    errors above γ* and of those at γ*, and `partial` is what the latter add to the tail, ``N · D(γ*)/(z − γ*)``.
    """

    share: float
    rest: float
    level: float = math.nan
    above: DoubleDouble = (math.nan, 0.0)
    atom: float = math.nan
    partial: float = math.nan


def solve_bpoe(errors: PairErrors, threshold: float, *, exact_level: bool = True) -> BPOESolution:
    """Solve the equation; the four cases are those of Norton & Uryasev 2018, Prop. 1.

    Raises `AuclabError` where scores are too far apart to be compared (`WorkingUnits.check_digits`).

    Without `exact_level` half of the sweeps are saved, the shares stay right, and `level` may exceed γ*.
    """
    errors.units.check_digits(threshold)
    z = errors.units.working(threshold)
    if z > errors.top:
        return BPOESolution(0.0, 1.0)
    if z == errors.top:
        count, _ = errors.tail(math.nextafter(z, -math.inf), z)
        return BPOESolution(count[0] / errors.pairs[0], difference(errors.pairs, count) / errors.pairs[0])
    if z < errors.bottom or errors.mean_excess(z) >= 0.0:
        return BPOESolution(1.0, 0.0)
    root = buffer_level(errors, z, exact=exact_level)
    just_below = math.nextafter(z, -math.inf)
    if root is None:
        at, (count, excess) = just_below, errors.tail(just_below, z)
    else:
        at, count, excess = root.value, root.count, root.excess
    gap, atom, close = z - at, math.nan, z - at < 0.25 * abs(at)
    if root is not None and (exact_level or close):
        at_or_above = root.at_or_above if exact_level else errors.rank_counts(math.nextafter(at, -math.inf))
        weight, shortfall = errors.between(root.above, at_or_above, z)
        atom = weight[0]
        if close:  # γ* is a rounded difference, which would show: take the mean of z − ξ over its pairs
            gap = -shortfall[0] / atom or gap
    partial = excess[0] / gap
    share = (count[0] + (count[1] + partial)) / errors.pairs[0]
    rest = (difference(errors.pairs, count) - partial) / errors.pairs[0]
    level = math.nan if root is None else at
    return BPOESolution(min(share, 1.0), max(rest, 0.0), level, count, atom, partial)


def bpoe(
    x: ArrayLike,
    threshold: float,
    *,
    kind: Literal["upper", "lower"] = "upper",
    sample_weight: ArrayLike | None = None,
) -> float:
    """Buffered probability of exceedance of a sample: the weight of the upper tail whose mean is `threshold`.

    ``bPOE_z(X) = min_{γ<z} E[X − γ]₊ / (z − γ) = min_{a≥0} E[a(X − z) + 1]₊`` (Norton & Uryasev 2018, Prop.
    1). It is 1 for ``z ≤ E X``, 0 for ``z > max X``, and never below ``P(X ≥ z)``.

    Parameters
    ----------
    x : array of shape (n_samples,)
        Finite values.
    threshold : float
        z, in the units of `x`.
    kind : {"upper", "lower"}
        They differ at ``z = max X`` only: the upper one is ``P(X = max X)`` there (and used for bAUC), the
        lower one is 0.
    sample_weight : array of shape (n_samples,), optional
        Weights ≥ 0; integer weights act as repeated values.

    Raises
    ------
    AuclabError
        An empty sample, NaN or infinite values, weights that are all 0, an unknown `kind`.

    See Also
    --------
    superquantile : Its inverse.
    buffered_exceedance : The value with its minimisers and P(X > z).
    bauc_score : One minus the bPOE of the ranking errors.

    Examples
    --------
    The tail {3, −1, and half of the second −1} has mean ``(3 − 1 − ½)/2.5 = 0.6``:

    >>> round(bpoe([-1, -1, -1, 3], 0.6), 12)
    0.625
    >>> bpoe([1, 2, 2], 2.0), bpoe([1, 2, 2], 2.0, kind="lower")
    (0.6666666666666666, 0.0)
    """
    if not isinstance(kind, str) or kind not in ("upper", "lower"):
        raise AuclabError(f"kind must be 'upper' or 'lower', got {kind!r}")
    errors = plain_sample(x, sample_weight).pair_errors
    z = finite_number("threshold", threshold)
    if kind == "lower" and errors.units.working(z) == errors.top:
        return 0.0
    return solve_bpoe(errors, z, exact_level=False).share


@dataclass(frozen=True)
class BufferedExceedance:
    """bPOE of a plain sample with the probability of exceedance and the minimisers γ.

    Attributes
    ----------
    value : float
        ``bPOE_z(X) = min_{γ<z} E[X − γ]₊/(z − γ)``.
    exceedance : float
        ``p_z = P(X > z)``, at most `value`.
    gamma_left, gamma_right : float
        Ends of the interval of minimisers, ``γ* = gamma_left``. NaN for ``z ≤ E X``, where γ → −∞. For ``z ≥ max X``
        the right end is z, which is not a minimiser itself.

    See Also
    --------
    buffered_exceedance : Computes it.

    Examples
    --------
    >>> from auclab.metrics import buffered_exceedance
    >>> buffered_exceedance([0, 0, 0, 4], 1.5).gamma_left
    0.0
    """

    value: float
    exceedance: float
    gamma_left: float = math.nan
    gamma_right: float = math.nan


def buffered_exceedance(
    x: ArrayLike, threshold: float, *, sample_weight: ArrayLike | None = None
) -> BufferedExceedance:
    """BPOE and probability of exceedance of a sample, with the minimisers γ of bPOE.

    The cases are those of Norton & Uryasev 2018, Prop. 1: for ``E X < z < max X`` the minimisers are the quantiles
    ``[q_α, q_α⁺]`` at ``α = 1 − bPOE``; at ``z = max X`` all from the second largest value up to z; above it, all from
    ``max X`` up to z.

    Parameters
    ----------
    x, threshold, sample_weight
        As in `bpoe`.

    Returns
    -------
    BufferedExceedance

    Raises
    ------
    AuclabError
        As in `bpoe`.

    See Also
    --------
    bpoe : The value alone.
    quantile : The minimisers as quantiles.
    buffered_auc : The same of the ranking errors.

    Examples
    --------
    The largest two of −3, −1, −1, 1 have the mean 0; one value in four exceeds 0:

    >>> found = buffered_exceedance([-3, -1, -1, 1], 0.0)
    >>> found.value, found.exceedance, found.gamma_left, found.gamma_right
    (0.5, 0.25, -1.0, -1.0)
    """
    sample = plain_sample(x, sample_weight)
    errors, z = sample.pair_errors, finite_number("threshold", threshold)
    solution = solve_bpoe(errors, z)
    exceedance = errors.count(errors.units.working(z)) / errors.pairs[0]
    top = sample.neg[-1]
    if not math.isnan(solution.level):
        right = solution.level if solution.partial > 0.0 else errors.next_above(solution.level)
        ends = errors.units.original(solution.level), errors.units.original(right)
    elif z > top:
        ends = float(top), z
    elif z == top > sample.neg[0]:
        ends = float(sample.neg[sample.neg < top][-1]), z
    else:
        ends = math.nan, math.nan
    return BufferedExceedance(solution.share, exceedance, *ends)


def quantile(x: ArrayLike, level: float, *, sample_weight: ArrayLike | None = None) -> tuple[float, float]:
    """Lower and upper quantile of a sample, ``q_α = min{x : F(x) ≥ α}`` and ``q_α⁺ = inf{x : F(x) > α}``.

    Norton & Uryasev 2018, Sect. 3.1. They are the ends of the interval of minimisers γ of the superquantile ``γ + E[X −
    γ]₊/(1 − α)`` and differ only where F takes the value α.

    Parameters
    ----------
    x : array of shape (n_samples,)
        Finite values.
    level : float
        α in [0, 1]; q₀ is the smallest value, and q₁⁺ the largest.
    sample_weight : array of shape (n_samples,), optional
        Weights ≥ 0; integer weights act as repeated values.

    Returns
    -------
    lower, upper : float

    Raises
    ------
    AuclabError
        An empty sample, NaN or infinite values, weights that are all 0, a level outside [0, 1].

    See Also
    --------
    superquantile : The mean above the quantile.
    buffered_exceedance : Quantiles as the minimisers of bPOE.

    Examples
    --------
    F(2) = ½ in the first sample; F jumps over ½ in the second:

    >>> quantile([1, 2, 3, 4], 0.5), quantile([1, 2, 3], 0.5)
    ((2.0, 3.0), (2.0, 2.0))
    """
    sample = plain_sample(x, sample_weight)
    values, weight = sample.neg, sample.weight_neg
    alpha = finite_number("level", level)
    if not 0.0 <= alpha <= 1.0:
        raise AuclabError(f"level must lie in [0, 1], got {alpha}")
    below = np.cumsum(weight) if weight.size else np.arange(1.0, values.size + 1.0)
    distribution = below / below[-1]  # F, at the last of equal values
    lower = int(np.searchsorted(distribution, alpha, side="left"))
    upper = min(int(np.searchsorted(distribution, alpha, side="right")), values.size - 1)
    return float(values[lower]), float(values[upper])


def superquantile(x: ArrayLike, level: float, *, sample_weight: ArrayLike | None = None) -> float:
    """Mean of the largest ``1 − level`` of a sample, also called conditional value at risk (CVaR).

    ``q̄_α = min_γ { γ + E[X − γ]₊ / (1 − α) }`` (Norton & Uryasev 2018, eq. 3); an observation that the
    quantile cuts is counted in part. ``α = 0`` gives the mean, ``α = 1`` the maximum.

    Parameters
    ----------
    x : array of shape (n_samples,)
        Finite values.
    level : float
        α in [0, 1].
    sample_weight : array of shape (n_samples,), optional
        Weights ≥ 0; integer weights act as repeated values.

    Raises
    ------
    AuclabError
        An empty sample, NaN or infinite values, weights that are all 0, a level outside [0, 1].

    See Also
    --------
    bpoe : Its inverse.
    ranking_superquantile : The same of the ranking errors of two classes.

    Examples
    --------
    The largest 1.5 of three values: ``(3 + ½ · 2)/1.5``.

    >>> round(superquantile([1, 2, 3], 0.5), 12)
    2.666666666667
    """
    return mean_of_tail(plain_sample(x, sample_weight).pair_errors, finite_number("level", level))


def mean_of_tail(errors: PairErrors, level: float) -> float:
    """Superquantile of pair errors at a level α in [0, 1], in the caller's units."""
    if not 0.0 <= level <= 1.0:
        raise AuclabError(f"level must lie in [0, 1], got {level}; it is the share that is left out of the mean")
    if level == 1.0:
        return errors.units.original(errors.top)
    if level == 0.0:
        return errors.units.original(errors.mean_excess(0.0))
    tail_weight = (1.0 - level) * errors.pairs[0]
    quantile = errors.quantile(tail_weight)
    # any minimiser γ serves, so a quantile that rounding moved across a flat piece gives the same value
    _, excess = errors.tail(quantile, quantile)
    return errors.units.original(min(quantile + excess[0] / tail_weight, errors.top))
