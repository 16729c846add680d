"""Bounds of dual points that are described by scorers, against the same sums in rational arithmetic, pair by pair."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest

from auclab.formulations import Composed
from auclab.formulations.problem import Problem
from auclab.losses import Hinge, Loss
from auclab.regularisers import Norm, VectorNorm, Zero
from auclab.samples.as_sample import as_sample
from auclab.solvers.certificate import certify_scorers, verified_certificate


@dataclass(frozen=True)
class Table(Loss):
    """A loss of given pieces."""

    rows: tuple[tuple[float, float, float, float], ...]

    symbol = "ℓ({})"

    def pieces(self):
        return [row[0] for row in self.rows], [row[1:] for row in self.rows]


LOSSES = {
    "squared hinge": Table(((0.0, 0.0, 0.0, 1.0),)),
    "huber": Table(((0.0, 0.0, 0.0, 2.0), (0.25, -0.125, 1.0, 0.0))),
    "two slopes": Table(((-1.0, 0.5, 0.5, 0.0), (0.5, -0.5, 2.5, 0.0))),
    "kink and curve": Table(((-0.5, 0.25, 0.5, 0.0), (1.0, 0.75, -0.5, 0.5))),
}


def rational_dual(program, X, y, scorers):
    """Exact ``(S, Σ q ℓ*(α), g)`` of the mean of the α at some scorers, ℓ* of it at most the mean of theirs."""
    pieces = [tuple(map(Fraction, row)) for row in program.loss.rows]
    pos, neg = np.flatnonzero(y == 1), np.flatnonzero(y == 0)
    rows = [[Fraction(float(x)) for x in row] for row in X]
    total, cost, gradient = Fraction(0), Fraction(0), [Fraction(0)] * X.shape[1]
    if program.comparisons.name == "pairs":
        margins = [(i, j, Fraction(1, len(pos) * len(neg))) for i in pos for j in neg]
    else:
        margins = [(i, None, Fraction(1, len(y))) for i in range(len(y))]
    for weight, w, b, _ in scorers:
        scores = [Fraction(float(s)) for s in X @ w]
        for i, j, q in margins:
            sign = 1 if y[i] == 1 else -1
            a = 1 - (scores[i] - scores[j] if j is not None else sign * (scores[i] + Fraction(b)))
            below = [piece for piece in pieces if piece[0] < a]
            if not below:
                continue
            _, c0, c1, c2 = below[-1]
            alpha = c1 + 2 * c2 * a
            total += Fraction(weight) * q * alpha
            cost += Fraction(weight) * q * (a * alpha - (c0 + c1 * a + c2 * a * a))
            d = rows[i] if j is None else [p - n for p, n in zip(rows[i], rows[j], strict=True)]
            step = Fraction(weight) * q * alpha * (sign if j is None else 1)
            gradient = [g + step * x for g, x in zip(gradient, d, strict=True)]
    return total, cost, gradient


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("seed", range(6))
def test_no_bound_of_pairs_is_above_the_rational_one(loss, seed):
    """For λ‖w‖₁ the dual value is ``τ(S − Σ q ℓ*)`` with the largest τ ≤ 1 that has ``τ max|g| ≤ λ``."""
    generator = np.random.default_rng(seed)
    X = np.round(generator.normal(size=(16, 3)), 1) * 10.0 ** generator.integers(-3, 4)  # ties, at breakpoints too
    y = (np.arange(16) % 4 == 0).astype(int)
    penalty = float(10.0 ** generator.uniform(-3, 0)) * float(abs(X).max())
    program = Composed("pairs", LOSSES[loss], Norm("l1", penalty))
    unit = float(abs(X).max())
    scorers = [(weight, generator.normal(size=3) / unit, 0.0, 0.0) for weight in (0.5, 0.25, 0.25)]
    problem = Problem(program, as_sample(X, y))
    certificate, *_ = certify_scorers(problem, scorers[0][1], 1.0, scorers)
    total, cost, gradient = rational_dual(program, X, y, scorers)
    largest = max(map(abs, gradient))
    exact = (total - cost) * (min(Fraction(1), Fraction(penalty) / largest) if largest else 1)
    # α at a tie with a kink is one of many: only without such ties are both the same point.
    if loss in ("squared hinge", "huber"):
        assert certificate.lower_bound <= max(exact, 0)
        assert certificate.lower_bound == pytest.approx(float(max(exact, 0)), rel=1e-10, abs=1e-12)
    else:
        assert certificate.lower_bound <= max(float(exact), 0.0) + 1e-12 * float(total)


@pytest.mark.covering
@pytest.mark.slow
@pytest.mark.parametrize("comparisons", ["pairs", "points"])
@pytest.mark.parametrize("loss", LOSSES)
def test_random_scorers_prove_no_more_than_any_point_costs(comparisons, loss):
    """Weak duality for every regulariser, losses below 0 on their conjugates included."""
    generator = np.random.default_rng(0)
    for _ in range(60):
        X = np.round(generator.normal(size=(12, 2)), 1)
        y = (np.arange(12) % 3 == 0).astype(int)
        norm, squared = ("l1", "l2", "linf")[generator.integers(3)], bool(generator.integers(2))
        regulariser = Zero() if generator.random() < 0.2 else Norm(norm, float(generator.uniform(0.01, 1.0)), squared)
        threshold = -0.2 if generator.random() < 0.3 else 0.0
        problem = Problem(Composed(comparisons, LOSSES[loss], regulariser, threshold), as_sample(X, y))
        weights = generator.dirichlet(np.ones(3)) * generator.uniform(0.5, 1.0)
        scorers = [(float(weight), generator.normal(size=2), float(generator.normal()), 0.0) for weight in weights]
        found, *_ = certify_scorers(problem, scorers[0][1], 1.0, scorers)
        for scale in (0.0, 0.1, 1.0, 3.0):
            for w in generator.normal(size=(20, 2)) * scale:
                if abs(w * problem.sample.spread).sum() > found.norm_bound:
                    continue
                value = min(problem.objective(w, b) for b in (-1.0, -0.3, 0.0, 0.3, 1.0))
                assert found.lower_bound <= value + 1e-12


@dataclass(frozen=True)
class Weighted(VectorNorm):
    """``Σ c_k abs(w_k)``, a norm of one's own."""

    weights: tuple[float, ...]

    name = "weighted"

    def __call__(self, w):
        return float(np.asarray(self.weights) @ abs(w))

    def dual(self, g):
        return float((abs(g) / np.asarray(self.weights)).max())

    def subgradient(self, w):
        return np.asarray(self.weights) * np.sign(w)

    def epigraph(self, unit):
        raise NotImplementedError


@pytest.mark.parametrize("seed", range(20))
def test_the_bound_with_a_norm_of_ones_own_is_below_the_rational_one(seed):
    """``τS − τ²‖g‖_*²/(4λ)`` at its best τ in [0, 1] for λ‖w‖², with ``‖g‖_* = max abs(g_k)/c_k``."""
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(12, 3)) * 10.0 ** generator.integers(-3, 4, 3)
    y = (np.arange(12) % 3 == 0).astype(int)
    weights = tuple((10.0 ** generator.uniform(-2, 2, 3)).tolist())
    program = Composed("pairs", Hinge(), Norm(Weighted(weights), float(generator.uniform(0.01, 2.0)), True))
    problem = Problem(program, as_sample(X, y))
    q = [[Fraction(int(k), 1024) for k in row] for row in generator.integers(0, 32, (4, 8))]  # ≤ 1/32 each
    rows = [sum(row) for row in q], [sum(column) for column in zip(*q, strict=True)]
    multipliers = tuple(np.array([float(entry) for entry in part]) for part in rows)
    found = verified_certificate(problem, np.full(3, 1e3), multipliers, 1.0, 1e-6)[0]
    signed = [*zip(X[y == 1], rows[0], strict=True), *zip(X[y == 0], [-entry for entry in rows[1]], strict=True)]
    gradient = [sum(Fraction(float(x[k])) * entry for x, entry in signed) for k in range(3)]
    size = max(abs(g) / Fraction(c) for g, c in zip(gradient, weights, strict=True))
    total, penalty = sum(rows[0]), Fraction(program.regulariser.weight)
    scale = min(Fraction(1), 2 * penalty * total / size**2)
    exact = scale * total - scale**2 * size**2 / (4 * penalty)
    assert found.lower_bound <= exact
    assert found.lower_bound == pytest.approx(float(exact), rel=1e-9)
