"""Losses, regularisers and norms in integers and rationals, by what they are named in a stored run.

`Hinge` says how an error ``1 − margin`` is charged; a new loss is a class here and a line in `LOSSES`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from auclab._core.base import AuclabError
from auclab.certificates.checker.constraints import TINY, Integers, root


class Hinge:
    """``ℓ(e) = max(0, e)``, with ``ℓ*(α) = 0`` for α in [0, 1], so that multipliers q prove ``Σ q``.

    What other losses have is what this class has.

    `degree`: values are in the unit of the errors to this power, slopes in it to a power less by one. `by_marginals`:
    whether multipliers of the margins enter the bound by their sums for each observation alone; else the dual point is
    that of the scorer, ``α = ℓ'(e)``.

    Examples
    --------
    >>> numbers = np.array([0, 2, 5], dtype=object)
    >>> Hinge().sums(np.array([3], dtype=object), numbers, np.array([1, 1, 1], dtype=object))   # 3 + 1 + 0
    array([4], dtype=object)
    """

    degree = 1
    by_marginals = True

    def values(self, errors: Integers) -> Integers:
        """ℓ of every error."""
        return np.asarray(np.maximum(errors, 0))

    def slopes(self, errors: Integers) -> Integers:
        """ℓ' of every error."""
        return np.asarray((errors > 0).astype(np.int64).astype(object))

    def conjugates(self, errors: Integers) -> Integers:
        """``ℓ*(ℓ'(e)) = e ℓ'(e) − ℓ(e)`` of every error."""
        return np.asarray(errors * self.slopes(errors) - self.values(errors))

    def sums(self, levels: Integers, scores: Integers, weight: Integers) -> Integers:
        """``Σ_i weight_i ℓ(level − score_i)`` for every level, from running sums over the sorted scores."""
        counts, sums, _ = running_sums(levels, scores, weight)
        return np.asarray(levels * counts - sums)

    def slope_sums(self, levels: Integers, scores: Integers, weight: Integers) -> Integers:
        """``Σ_i weight_i ℓ'(level − score_i)``."""
        return running_sums(levels, scores, weight)[0]

    def conjugate_sums(self, levels: Integers, scores: Integers, weight: Integers) -> Integers:
        """``Σ_i weight_i ℓ*(ℓ'(level − score_i))``."""
        return np.asarray(levels * 0)

    def within(self, multipliers: Integers, weights: Integers) -> Integers:
        """Multipliers ``q ≥ 0`` of single margins, at most their weights times the largest slope of ℓ."""
        return np.asarray(np.minimum(multipliers, weights))

    def dual_costs(self, multipliers: Integers, weights: Integers) -> Integers:
        """``weight ℓ*(q / weight)`` of single margins, weights > 0, rounded up."""
        return np.asarray(multipliers * 0)


class SquaredHinge(Hinge):
    """``ℓ(e) = max(0, e)²``, with slope ``2 max(0, e)`` and ``ℓ*(α) = α²/4``, which is ℓ(e) at the slope of e."""

    degree = 2
    by_marginals = False

    def values(self, errors: Integers) -> Integers:
        """ℓ of every error."""
        return np.asarray(super().values(errors) ** 2)

    def slopes(self, errors: Integers) -> Integers:
        """ℓ' of every error."""
        return np.asarray(2 * super().values(errors))

    def sums(self, levels: Integers, scores: Integers, weight: Integers) -> Integers:
        """``Σ_i weight_i ℓ(level − score_i)`` for every level."""
        counts, sums, squares = running_sums(levels, scores, weight)
        return np.asarray(levels * (levels * counts - 2 * sums) + squares)

    def slope_sums(self, levels: Integers, scores: Integers, weight: Integers) -> Integers:
        """``Σ_i weight_i ℓ'(level − score_i)``."""
        return np.asarray(2 * super().sums(levels, scores, weight))

    def conjugate_sums(self, levels: Integers, scores: Integers, weight: Integers) -> Integers:
        """``Σ_i weight_i ℓ*(ℓ'(level − score_i))``."""
        return self.sums(levels, scores, weight)

    def within(self, multipliers: Integers, weights: Integers) -> Integers:
        """Multipliers of single margins: the slope of ℓ has no bound."""
        return multipliers

    def dual_costs(self, multipliers: Integers, weights: Integers) -> Integers:
        """``q²/(4 weight)``, rounded up."""
        return np.asarray(-(-(multipliers**2) // (4 * weights)))


def running_sums(levels: Integers, scores: Integers, weight: Integers) -> list[Integers]:
    """Sums of weight, weight · score and weight · score² over the scores below every level.

    Examples
    --------
    >>> numbers = np.array([0, 2, 5], dtype=object)
    >>> [part.tolist() for part in running_sums(np.array([3], dtype=object), numbers, numbers + 1)]
    [[4], [6], [12]]
    """
    order = np.argsort(scores, kind="stable")
    scores, weight = scores[order], weight[order]
    below = np.searchsorted(scores, levels)
    zero = np.array([0], dtype=object)
    return [np.concatenate([zero, np.cumsum(terms)])[below] for terms in (weight, weight * scores, weight * scores**2)]


LOSSES = {"hinge": Hinge(), "squared_hinge": SquaredHinge()}


def piece_name(stored: Any, package: str) -> str:
    """The name of a stored piece: a word, or its class, of a package of ours as a word and without the module.

    Examples
    --------
    >>> piece_name({"class": "auclab.margins.pairs.AllPairs"}, "margins")
    'all_pairs'
    >>> piece_name({"class": "mine.Hinge"}, "losses")
    'mine.Hinge'
    """
    name = str(stored.get("class") or stored.get("_target_") if isinstance(stored, Mapping) else stored)
    home, _, last = name.rpartition(".")
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", last).lower() if f"{home}.".startswith(f"auclab.{package}.") else name


def no_twin(piece: str, name: str, known: Iterable[str]) -> AuclabError:
    """The error for something that the checker has no class of its own for."""
    return AuclabError(
        f"the checker does not support the {piece} {name}, so objective, bound and status are not checked; "
        f"it supports {', '.join(sorted(known))}"
    )


Vector = Sequence[Fraction]
#: Two rationals with a number between them.
Interval = tuple[Fraction, Fraction]


@dataclass(frozen=True)
class Norm:
    """A norm and its dual, each between two rationals that are equal unless it is a root.

    Examples
    --------
    >>> vector = [Fraction(3), Fraction(-4)]
    >>> NORMS["l2"].of(vector) == (5, 5), NORMS["l1"].of(vector) == (7, 7), NORMS["l1"].dual(vector) == (4, 4)
    (True, True, True)
    """

    of: Callable[[Vector], Interval]
    dual: Callable[[Vector], Interval]

    @property
    def is_euclidean(self) -> bool:
        """Whether it is its own dual, which only the Euclidean norm is."""
        return self.of is self.dual


def _sum(vector: Vector) -> Interval:
    total = sum(map(abs, vector), Fraction(0))
    return total, total


def _root(vector: Vector) -> Interval:
    return root(sum((entry * entry for entry in vector), Fraction(0)))


def _largest(vector: Vector) -> Interval:
    most = max(map(abs, vector), default=Fraction(0))
    return most, most


NORMS = {"l1": Norm(_sum, _largest), "l2": Norm(_root, _root), "linf": Norm(_largest, _sum)}


@dataclass(frozen=True)
class Penalty:
    """``R = λ‖w‖``, λ ≥ 0; what other regularisers have is what this class has.

    A buffer ``−z‖w‖``, z < 0, in every margin takes `slack` = −zS from ``‖g‖_*``, with ``g = Σ q d`` and ``S = Σ q``.
    """

    norm: Norm
    weight: Fraction

    @property
    def reach(self) -> Fraction | None:
        """The ``‖g‖_*`` beyond which R* is infinite, 0 up to there; None where it is finite everywhere."""
        return self.weight

    def value(self, coef: Vector) -> Interval:
        """R(w)."""
        low, high = self.norm.of(coef)
        return self.weight * low, self.weight * high

    def best(self, worth: Fraction, gradient: Vector, slack: Fraction) -> Fraction:
        """A lower bound of the largest ``τ·worth − R*(τg)``, 0 ≤ τ ≤ 1, with τ·slack taken from ``τ‖g‖_*``."""
        # e = ‖g‖_* + zS: multipliers times τ = min(1, λ/e) are feasible and prove τV (derivations 7.1).
        size = self.norm.dual(gradient)[1] - slack
        return worth * min(Fraction(1), self.weight / size) if size > 0 else worth


class SquaredPenalty(Penalty):
    """``λ‖w‖²``, λ > 0: ``R*(g) = ‖g‖_*²/(4λ)``."""

    @property
    def reach(self) -> Fraction | None:
        """Any length."""
        return None

    def value(self, coef: Vector) -> Interval:
        """R(w)."""
        low, high = self.norm.of(coef)
        return self.weight * low * low, self.weight * high * high

    def best(self, worth: Fraction, gradient: Vector, slack: Fraction) -> Fraction:
        """``τ·worth − τ²e²/(4λ)`` with ``e = ‖g‖_* − slack`` at its vertex, or at τ = 1."""
        # e² with e = max(0, ‖g‖_* + zS): τV − τ²e²/(4λ) is largest at τ = 2λV/e² (derivations 7.1).
        square = max(Fraction(0), self.norm.dual(gradient)[1] - slack) ** 2
        factor = min(Fraction(1), 2 * self.weight * worth / square) if square else Fraction(1)
        return max(Fraction(0), factor * worth - factor * factor * square / (4 * self.weight))


@dataclass(frozen=True)
class ElasticNet(Penalty):
    """``l1·‖w‖₁ + l2·‖w‖₂²``, both > 0: ``R*(g) = Σ (abs(g_j) − slack − l1)₊²/(4·l2)``. `weight` is l1."""

    l2: Fraction

    @property
    def reach(self) -> Fraction | None:
        """Any length."""
        return None

    def value(self, coef: Vector) -> Interval:
        """R(w)."""
        value = self.weight * self.norm.of(coef)[0] + self.l2 * sum((w * w for w in coef), Fraction(0))
        return value, value

    def best(self, worth: Fraction, gradient: Vector, slack: Fraction) -> Fraction:
        """The best of ``τ·worth − R*(τg)``, whose slope in τ falls: at 1, or what halving finds."""
        # With e_j = |g_j| − slack the slope of R*(τg) in τ is Σ e_j (τ e_j − l1)₊/(2·l2); the best τ is where it is V.
        moduli = [size for g in gradient if (size := abs(g) - slack) > 0]

        def rises(factor: Fraction) -> bool:
            entries = (size * max(Fraction(0), factor * size - self.weight) for size in moduli)
            return sum(entries, Fraction(0)) <= 2 * self.l2 * worth

        low, high = Fraction(0), Fraction(1)
        if rises(high):
            low = high
        while high - low > TINY:
            middle = (low + high) / 2
            low, high = (middle, high) if rises(middle) else (low, middle)
        squares = (max(Fraction(0), low * size - self.weight) ** 2 for size in moduli)
        return low * worth - sum(squares, Fraction(0)) / (4 * self.l2)


def _group_lasso(stored: Mapping[str, Any]) -> Penalty:
    """``λ Σ_G √abs(G) ‖w_G‖₂``, with the dual norm ``max_G ‖g_G‖₂/√abs(G)``: both from roots between rationals."""
    labels = list(stored.get("groups") or ())
    groups = [[k for k, label in enumerate(labels) if label == name] for name in dict.fromkeys(labels)]

    def squares(vector: Vector) -> list[tuple[int, Fraction]]:
        if len(vector) != len(labels):
            raise AuclabError(
                f"the group lasso in certificate.json has {len(labels)} labels, and the data have {len(vector)} "
                "columns: restore the file, or run again"
            )
        return [(len(group), sum((vector[k] ** 2 for k in group), Fraction(0))) for group in groups]

    def of(vector: Vector) -> Interval:
        # √|G| ‖w_G‖₂ = √(|G| Σ_G w_k²).
        ends = [root(size * square) for size, square in squares(vector)]
        return sum((low for low, _ in ends), Fraction(0)), sum((high for _, high in ends), Fraction(0))

    def dual(vector: Vector) -> Interval:
        return root(max((square / size for size, square in squares(vector)), default=Fraction(0)))

    return Penalty(Norm(of, dual), number(stored, "weight"))


def number(stored: Mapping[str, Any], name: str) -> Fraction:
    """A parameter that is finite and ≥ 0; 0 if it does not exist."""
    value = float(stored.get(name, 0.0))
    if not (math.isfinite(value) and value >= 0):
        raise AuclabError(
            f"the regulariser in certificate.json has {name}={value}; it must be finite and ≥ 0: restore the file, or "
            "run again"
        )
    return Fraction(value)


def _of_norm(stored: Mapping[str, Any]) -> Penalty:
    name = piece_name(stored.get("name", "l2"), "regularisers")
    if name not in NORMS:
        raise no_twin("norm", name, NORMS)
    weight = number(stored, "weight")
    return (SquaredPenalty if weight > 0 and stored.get("squared", False) else Penalty)(NORMS[name], weight)


def _elastic_net(l1: Fraction, l2: Fraction) -> Penalty:
    if l1 == 0 or l2 == 0:
        raise AuclabError(
            f"the elastic net in certificate.json has l1={float(l1):g}, l2={float(l2):g}; both must be > 0: restore "
            "the file, or run again"
        )
    return ElasticNet(NORMS["l1"], l1, l2)


#: From the stored parameters of a regulariser.
REGULARISERS: dict[str, Callable[[Mapping[str, Any]], Penalty]] = {
    "norm": _of_norm,
    "elastic_net": lambda stored: _elastic_net(number(stored, "l1"), number(stored, "l2")),
    "group_lasso": _group_lasso,
    "zero": lambda _: Penalty(NORMS["l2"], Fraction(0)),
}
