"""Random small programs with constraints on the coefficients, and what is known of their optima without the package.

The optimum of a linear program is that in rational arithmetic. For the others every point that satisfies the
constraints has a value that no lower bound may exceed: those of CVXPY and of other solvers, and points at random.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from auclab.formulations import CSVM, ECSVM, BufferedAUC, GeneralizedBufferedAUC, PartialAUC, RankSVM
from auclab.formulations.constraints import ColumnConstraints
from auclab.solvers.registry import is_linear

from .exact import ExactSample, fractions, lower_bound, terms_of

KINDS = ("signs", "bounds", "rows", "sum", "excluded", "signs and rows", "without 0", "none")
#: Rounding that a point may violate a constraint by, relative to the size of its terms.
ROUNDING = 1e-9


@dataclass(frozen=True)
class ConstrainedCase:
    """A program, a sample and constraints."""

    program: object
    X: np.ndarray
    y: np.ndarray
    constraints: ColumnConstraints
    sample_weight: np.ndarray | None
    kind: str

    def is_satisfied(self, coef) -> bool:
        """Whether a point satisfies the constraints up to rounding, computed here."""
        c = self.constraints
        left, size = c.matrix @ coef, abs(c.matrix) @ (abs(coef) + 1e-3 / (self.X.std(axis=0) + 1e-9)) + abs(c.limit)
        excess = np.where(c.equal, abs(left - c.limit), left - c.limit)
        return bool((coef >= c.lower).all() and (coef <= c.upper).all() and (excess <= ROUNDING * size).all())


def constrained_case(seed: int) -> ConstrainedCase:
    """A case by its number."""
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(1, 6)), int(rng.integers(6, 30))
    X = rng.normal(size=(m, n)) if rng.random() < 0.5 else rng.integers(-2, 3, size=(m, n)).astype(float)
    if rng.random() < 0.3:
        X = X * 10.0 ** rng.integers(-3, 4, size=n)
    scores = X @ (rng.normal(size=n) / (X.std(axis=0) + 1e-9))
    noise = rng.normal(size=m) * (scores.std() + 1e-9) * rng.choice([0.0, 0.5, 2.0])
    y = (scores + noise > np.median(scores)).astype(int)
    y[:2] = 0, 1
    weight = None
    if rng.random() < 0.2:
        weight = rng.integers(0, 4, size=m).astype(float)
        weight[:2] = 1.0
    kind = str(rng.choice(KINDS))
    return ConstrainedCase(_program(rng), X, y, _constraints(rng, kind, X.std(axis=0) + 1e-9), weight, kind)


def _program(rng):
    norm, penalty = str(rng.choice(["l1", "l2", "linf"])), float(10.0 ** rng.uniform(-4, 0.5))
    choices = (
        lambda: RankSVM(penalty, norm),
        lambda: RankSVM(penalty, norm, True),
        BufferedAUC,
        lambda: GeneralizedBufferedAUC(-penalty, norm),
        lambda: CSVM(penalty, norm),
        lambda: CSVM(penalty, norm, True),
        lambda: ECSVM(-penalty, norm),
        lambda: PartialAUC(float(rng.uniform(0.1, 1.0)), float(rng.choice([0.0, penalty])), norm),
    )
    return choices[rng.integers(len(choices))]()


def _constraints(rng, kind, spread):
    n = spread.size
    lower, upper = np.full(n, -np.inf), np.full(n, np.inf)
    rows, limit, equal = [], [], []
    if "signs" in kind:
        sign = rng.integers(-1, 2, size=n)
        lower[sign > 0], upper[sign < 0] = 0.0, 0.0
    if kind == "bounds":
        lower, upper = -rng.uniform(0, 1, n) / spread, rng.uniform(0, 1, n) / spread
        lower[rng.random(n) < 0.3] = -np.inf
    if "rows" in kind:
        for _ in range(rng.integers(1, 3)):
            rows.append(rng.integers(-2, 3, size=n) / spread if rng.random() < 0.7 else rng.normal(size=n))
            limit.append(float(rng.choice([0.0, 0.0, 1.0, 0.3])))
            equal.append(bool(rng.random() < 0.25))
    if kind == "sum":
        rows, limit, equal = [np.ones(n)], [float(rng.choice([1.0, -1.0, 0.1]))], [True]
        if limit[0] > 0 and rng.random() < 0.5:
            lower[:] = 0.0
    if kind == "excluded":
        which = rng.random(n) < 0.4
        lower[which] = upper[which] = 0.0
    if kind == "without 0":
        lower[0] = 0.5 / spread[0]
    matrix = np.array(rows, dtype=float).reshape(-1, n)
    return ColumnConstraints.of(n, lower=lower, upper=upper, matrix=matrix, limit=limit, equal=equal)


def is_exactly_solved(case: ConstrainedCase) -> bool:
    """Whether `exact_optimum` is that of the program."""
    program = case.program
    return program.kind == "hinge" and is_linear(program)


def exact_optimum(case: ConstrainedCase) -> Fraction:
    """The optimum of a linear program in rational arithmetic."""
    c = case.constraints
    rows = [(fractions(row), Fraction(float(limit))) for row, limit in zip(c.matrix, c.limit, strict=True)]
    rows += [([-a for a in row], -limit) for (row, limit), equal in zip(rows, c.equal, strict=True) if equal]
    for k in range(c.n_features):
        unit = [Fraction(int(k == j)) for j in range(c.n_features)]
        if np.isfinite(c.upper[k]):
            rows.append((unit, Fraction(float(c.upper[k]))))
        if np.isfinite(c.lower[k]):
            rows.append(([-a for a in unit], -Fraction(float(c.lower[k]))))
    sample = ExactSample.of(case.X, case.y, case.sample_weight)
    return lower_bound(terms_of(case.program, sample), constraints=rows).value
