"""Parts of the tree: what is fixed, the minimum of a plane there, and the convex oracle that makes planes.

A region is ``lower ≤ w ≤ upper`` together with *limits*: of the groups of columns of a limit at most `most` are used.
Groups of a part of the tree are used, excluded or undecided.

The columns are ``x = w · unit``, and the intercept is one more column over points. A norm enters by its tangents,
``‖w‖ ≥ u·w`` with ``‖u‖_* ≤ 1``: those of −z‖w‖ are in the cuts of the loss, those of λ‖w‖ are cuts of their own. The
square of the l2 norm has a sharper cut: a group that is not used costs nothing,

    λ w_k² ≥ 2λ a_k w_k − λ a_k² z_g,     z_g = 1 where the group of column k is used, else 0.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from auclab._core.base import Array, AuclabError
from auclab._core.tolerances import FEW_ROUNDINGS
from auclab.formulations.constraints import ColumnConstraints
from auclab.formulations.problem import Problem
from auclab.solvers.reformulations import power_of_two
from auclab.solvers.subspace import supporting_cut

#: What is known about a group.
EXCLUDED, UNDECIDED, USED = -1, 0, 1


@dataclass(frozen=True, eq=False)
class Limit:
    """A limit on the number of groups of columns with a coefficient other than 0.

    `group`: the group of every column, from 0 on. `most`: how many are used at most. `n_groups`: number of groups; some
    may have no column. `always`: groups that count as used whatever their coefficients are.
    """

    group: NDArray[np.intp]
    most: int
    n_groups: int
    always: tuple[int, ...] = ()

    def n_used(self, coef: Array) -> int:
        """Number of groups that count as used."""
        return len({*self.group[coef != 0].tolist(), *self.always})

    def at_first(self) -> NDArray[np.int8]:
        """The states of the groups at the root of the tree."""
        state = np.full(self.n_groups, UNDECIDED, np.int8)
        state[list(self.always)] = USED
        return state


def numbered_groups(constraints: ColumnConstraints, most: int) -> tuple[NDArray[np.intp], tuple[int, ...]]:
    """The group of every column, numbered from 0 on, and the numbers of those that are forced, ascending."""
    names, of_columns = np.unique(constraints.groups, return_inverse=True)
    forced = tuple(int(number) for number in np.flatnonzero(np.isin(names, constraints.forced)))
    if len(forced) > most:
        raise AuclabError(f"{len(forced)} features are forced, but max_features is {most}")
    return np.ravel(of_columns), forced


@dataclass(frozen=True, eq=False)
class Region:
    """A part of the tree.

    `lower`, `upper` (n_features,): an undecided group has 0 between them, an excluded one is 0. `states` (n_groups,):
    1: used, −1: excluded, 0: undecided.
    """

    lower: Array
    upper: Array
    states: tuple[NDArray[np.int8], ...] = ()

    def with_state(self, limits: tuple[Limit, ...], level: int, group: int, state: int) -> Region:
        """The region where a group of a limit is used or excluded; a full limit excludes its undecided groups."""
        states = tuple(each.copy() if at == level else each for at, each in enumerate(self.states))
        states[level][group] = state
        return replace(self, states=states).closed(limits)

    def closed(self, limits: tuple[Limit, ...]) -> Region:
        """The region with the consequences of its states: excluded columns are 0, and full limits exclude groups."""
        lower, upper = self.lower.copy(), self.upper.copy()
        states = tuple(each.copy() for each in self.states)
        for limit, state in zip(limits, states, strict=True):
            state[np.unique(limit.group[(lower > 0) | (upper < 0)])] = USED
            if (state == USED).sum() >= limit.most:
                state[state == UNDECIDED] = EXCLUDED
            off = state[limit.group] == EXCLUDED
            lower[off] = upper[off] = 0.0
        return Region(lower, upper, states)

    def is_empty(self, limits: tuple[Limit, ...]) -> bool:
        """Whether nothing is left: a bound above the other one, or more used groups than a limit allows."""
        too_many = ((state == USED).sum() > limit.most for limit, state in zip(limits, self.states, strict=True))
        return bool((self.lower > self.upper).any()) or any(too_many)


@dataclass(frozen=True, eq=False)
class Plane:
    """A function below the objective: ``constant − slope·w − Σ_g charge_g [group g of the first limit is used]``.

    `charge` is None where it is 0.
    """

    constant: float
    slope: Array
    charge: Array | None = None


def least(plane: Plane, region: Region, limits: tuple[Limit, ...]) -> float:
    """The minimum of a plane over a region; with two limits a lower bound of it, the larger of those with one.

    Every column goes to its better bound, and of the undecided groups the best are used: no program is solved, and
    what is proved does not depend on the accuracy of one.
    """
    gains = column_gains(plane, region)
    if not limits:
        return plane.constant - float(gains.sum())
    totals = [
        sum(_fixed_and_best(plane, gains, limit, state, first=at == 0))
        for at, (limit, state) in enumerate(zip(limits, region.states, strict=True))
    ]
    return plane.constant - min(totals)


def column_gains(plane: Plane, region: Region) -> Array:
    """The largest decrease of the plane by each column, shape (n_features,); negative if its bounds exclude 0."""
    with np.errstate(invalid="ignore"):
        gains = np.maximum(plane.slope * region.lower, plane.slope * region.upper)
    return np.asarray(np.where(plane.slope == 0, 0.0, gains))


def group_gains(plane: Plane, gains: Array, limit: Limit, *, first: bool) -> Array:
    """The largest decrease of the plane by each group if it is used."""
    summed = np.bincount(limit.group, weights=gains, minlength=limit.n_groups)
    return np.asarray(summed + plane.charge if first and plane.charge is not None else summed, dtype=float)


def _fixed_and_best(
    plane: Plane, gains: Array, limit: Limit, state: NDArray[np.int8], *, first: bool
) -> tuple[float, float]:
    of_groups = group_gains(plane, gains, limit, first=first)
    used = state == USED
    free = np.maximum(of_groups[state == UNDECIDED], 0.0)
    room = limit.most - int(used.sum())
    best = free.sum() if room >= free.size else np.partition(free, free.size - room)[free.size - room :].sum()
    return float(of_groups[used].sum()), float(best if room > 0 else 0.0)


def tightened(plane: Plane, region: Region, limits: tuple[Limit, ...], below: float, *, whole: bool) -> Region | None:
    """The part of a region where the plane is below a value, a little enlarged; None where it is nowhere.

    Groups without which, or with which, the plane stays above are decided, and columns of used groups lose the end of
    their range that costs too much.

    `whole`: whether coefficients are integers.
    """
    gains = column_gains(plane, region)
    states, changed = [], False
    for at, (limit, state) in enumerate(zip(limits, region.states, strict=True)):
        of_groups = group_gains(plane, gains, limit, first=at == 0)
        fixed = float(of_groups[state == USED].sum())
        undecided = np.flatnonzero(state == UNDECIDED)
        room = limit.most - int((state == USED).sum())
        ranked = np.sort(np.maximum(of_groups[undecided], 0.0))[::-1]
        top = np.r_[0.0, np.cumsum(ranked)]
        best = fixed + top[min(room, ranked.size)]
        if plane.constant - best >= below:
            return None
        state = state.copy()
        if room > 0 and undecided.size:
            own = np.maximum(of_groups[undecided], 0.0)
            last = ranked[min(room, ranked.size) - 1]
            following = ranked[room] if room < ranked.size else 0.0
            # With a group that is not among the best, it takes the place of the last of them; without one of the
            # best, the next follows.
            among = own >= last
            used_value = np.where(among, best, best - last + of_groups[undecided])
            without = np.where(among, best - own + following, best)
            state[undecided[plane.constant - used_value >= below]] = EXCLUDED
            needed = undecided[(plane.constant - without >= below)]
            state[needed] = USED
            changed |= bool((state != region.states[at]).any())
        states.append(state)
    part = Region(region.lower, region.upper, tuple(states)).closed(limits) if changed else region
    if part.is_empty(limits):
        return None
    slack = below - least(plane, part, limits)
    if slack < 0:
        return None
    certain = np.ones(part.lower.size, bool)
    for limit, state in zip(limits, part.states, strict=True):
        certain &= state[limit.group] == USED
    certain &= abs(plane.slope) > 1e-12
    if not certain.any():
        return part
    reach = np.full(part.lower.size, np.inf)
    reach[certain] = slack / abs(plane.slope[certain])
    lower = np.where(certain & (plane.slope > 0), np.maximum(part.lower, part.upper - reach), part.lower)
    upper = np.where(certain & (plane.slope < 0), np.minimum(part.upper, part.lower + reach), part.upper)
    if whole:
        lower, upper = np.ceil(lower - 1e-6), np.floor(upper + 1e-6)
    part = Region(lower, upper, part.states).closed(limits)
    return None if part.is_empty(limits) else part


class ConvexOracle:
    """Values and cuts of a problem at x.

    `problem`: convex, in memory, a mean of hinges over all pairs or points. `limit`: of the groups of the columns of x,
    the intercept's included.
    """

    def __init__(self, problem: Problem, limit: Limit) -> None:
        sample = problem.sample
        self.problem, self.limit = problem, limit
        self.has_intercept = not problem.over_pairs
        self.unit = power_of_two(sample.spread)
        self.n = sample.n_features

    @property
    def n_columns(self) -> int:
        """Number of columns, including the intercept."""
        return self.n + self.has_intercept

    def coef(self, x: Array) -> Array:
        """W of x."""
        return x[: self.n] / self.unit

    def intercept(self, x: Array) -> float:
        """B of x; 0 over pairs."""
        return float(x[-1]) if self.has_intercept else 0.0

    def cut(self, x: Array) -> tuple[float, float, Array]:
        """The value of the program at x, and the constant and slope of the cut of its loss there."""
        program, coef = self.problem.program, self.coef(x)
        size = program.regulariser.norm(coef)
        loss, slope, cut = supporting_cut(self.problem, np.r_[coef, self.intercept(x), size], keep_multipliers=False)
        of_x = (slope[: self.n] + slope[-1] * self._tangent(coef)) / self.unit
        value = loss + program.regulariser.value(coef)
        return value, cut.constant, np.r_[of_x, slope[self.n]] if self.has_intercept else of_x

    def penalty(self, x: Array, used: Array | None) -> tuple[Array, Array]:
        """Slope and charge of a cut of the penalty at x, ``−slope·x − Σ charge_g z_g``."""
        coef, charge = self.coef(x), np.zeros(self.limit.n_groups)
        ridge, rest = self.problem.program.regulariser.split()
        size = rest.norm(coef) if rest.weight else 0.0
        # φ(‖w‖) ≥ φ'(‖a‖) u·w + φ(‖a‖) − φ'(‖a‖)‖a‖, the constant charged to the intercept's or the first group that is
        # always used:
        slope = -rest.slope(size) * self._tangent(coef) / self.unit if rest.weight else np.zeros(self.n)
        charge[self.limit.n_groups - 1] += rest.slope(size) * size - rest.of_size(size)
        if ridge:
            if used is not None:  # the best cut of a sum of squares at (w, z) is that of w/z
                coef = coef / np.clip(used[self.limit.group[: self.n]], 1e-3, 1.0)
            np.add.at(charge, self.limit.group[: self.n], ridge * coef**2)
            slope = slope - 2.0 * ridge * coef / self.unit
        return np.r_[slope, 0.0] if self.has_intercept else slope, charge * (1.0 + FEW_ROUNDINGS)

    def rounding(self, lower: Array, upper: Array) -> float:
        """Bound on the error of a cut from sums in floating point, over all x within their bounds."""
        sample = self.problem.sample
        largest = np.maximum(abs(lower), abs(upper))
        size = 1.0 + float(largest[: self.n] / self.unit @ sample.peaks) + (largest[-1] if self.has_intercept else 0.0)
        return 2.0**-52 * (sample.n_pos + sample.n_neg + self.n + 16) * float(size)

    def _tangent(self, coef: Array) -> Array:
        """U with ``‖u‖_* ≤ 1`` and ``u·w = ‖w‖``."""
        return self.problem.program.regulariser.norm.subgradient(coef) * (1.0 - FEW_ROUNDINGS)
