"""Small programs over the space of a kernel, on samples that are hard: equal rows, kernels of low rank, one positive.

Nothing here is of the solver for kernels. A value is a sum over all pairs (or points) of ``[1 − m − z‖h‖]₊``, with
``h = K c`` and ``‖h‖² = cᵀKc`` from a kernel matrix made of its definition. An upper bound of the optimum is the value
of the linear program over the columns of ``V√Λ``, ``K = VΛVᵀ``, which spans the space at the observations.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from auclab import CSVM, ECSVM, AuclabError, BufferedAUC, GeneralizedBufferedAUC, PartialAUC, RankSVM, solve
from auclab.kernels import RBF, Laplacian, Polynomial, Precomputed

PROGRAMS = (
    BufferedAUC(),
    GeneralizedBufferedAUC(-0.1),
    GeneralizedBufferedAUC(-0.6),
    RankSVM(0.05),
    RankSVM(0.05, squared=True),
    CSVM(0.05),
    CSVM(0.05, squared=True),
    ECSVM(-0.2),
    PartialAUC(0.4),
    PartialAUC(0.4, 0.05, squared=True),
)
#: Of ``max(value, 1e-3)``: what rounding of kernel values may take.
SLACK = 1e-6
TOLERANCE = 1e-5


@dataclass(frozen=True)
class KernelCase:
    """A program, a sample and a kernel."""

    program: object
    X: np.ndarray
    y: np.ndarray
    kernel: object
    gram: np.ndarray


def kernel_case(seed: int) -> KernelCase:
    """A case by its number."""
    rng = np.random.default_rng(seed)
    n_pos, n_neg = int(rng.choice([1, 1, 2, 5])), int(rng.choice([1, 2, 3, 8]))
    m, n = n_pos + n_neg, int(rng.integers(1, 4))
    X = {
        "normal": lambda: rng.normal(size=(m, n)),
        "equal": lambda: np.ones((m, n)),
        "zero": lambda: np.zeros((m, n)),
        "few": lambda: rng.integers(0, 2, (m, n)).astype(float),
        "far": lambda: rng.normal(size=(m, n)) * 1e4,
        "near": lambda: 1.0 + 1e-6 * rng.normal(size=(m, n)),
    }[str(rng.choice(["normal", "equal", "zero", "few", "far", "near"]))]()
    y = rng.permutation(np.r_[np.ones(n_pos), np.zeros(n_neg)]).astype(int)
    program = PROGRAMS[int(rng.integers(len(PROGRAMS)))]
    width = float(rng.choice([1e-3, 0.5, 1.0, 30.0]))
    kind = str(rng.choice(["rbf", "laplacian", "polynomial", "precomputed"]))
    differences = X[:, None, :] - X[None, :, :]
    if kind == "rbf":
        return KernelCase(program, X, y, RBF(width), np.exp(-width * (differences**2).sum(axis=2)))
    if kind == "laplacian":
        return KernelCase(program, X, y, Laplacian(width), np.exp(-width * abs(differences).sum(axis=2)))
    if kind == "polynomial":
        X = X / max(1.0, float(abs(X).max()))
        return KernelCase(program, X, y, Polynomial(2, width, 1.0), (width * X @ X.T + 1.0) ** 2)
    low_rank = X / max(1.0, float(abs(X).max()))
    gram = low_rank @ low_rank.T
    return KernelCase(program, gram, y, Precomputed(), gram)


def value(case: KernelCase, scores: np.ndarray, intercept: float, length: float) -> float:
    """The objective of scores (without intercept) of a function of this length, over all pairs or points."""
    program, positive = case.program, case.y == 1
    shift = 1.0 - program.threshold * length
    regulariser = program.regulariser
    cost = regulariser.weight * (length**2 if regulariser.squared else length)
    if program.comparisons.name == "points":
        margins = np.where(positive, scores + intercept, -(scores + intercept))
        return float(np.maximum(shift - margins, 0.0).mean()) + cost
    hinges = np.maximum(shift - (scores[positive][:, None] - scores[~positive][None, :]), 0.0)
    if isinstance(program, PartialAUC):
        of_negative = np.sort(hinges.mean(axis=0))[::-1]
        budget = np.clip(program.max_fpr * of_negative.size - np.arange(of_negative.size), 0.0, 1.0)
        return float(of_negative @ budget) / (program.max_fpr * of_negative.size) + cost
    return float(hinges.mean()) + cost


def upper_bound(case: KernelCase) -> float:
    """The value of a point of the whole space, the best that a linear solver finds."""
    eigenvalues, vectors = np.linalg.eigh(0.5 * (case.gram + case.gram.T))
    kept = eigenvalues > 1e-12 * max(eigenvalues[-1], 1e-300)
    constant = value(case, np.zeros(case.y.size), best_constant(case), 0.0)
    if not kept.any():
        return constant
    features = vectors[:, kept] * np.sqrt(eigenvalues[kept])
    try:
        found = solve(case.program, features, case.y, solver="clarabel")
    except AuclabError:
        return constant
    return min(constant, value(case, features @ found.coef, found.intercept, float(np.linalg.norm(found.coef))))


def best_constant(case: KernelCase) -> float:
    """The intercept of the majority, which is the best without w over points."""
    return 1.0 if (case.y == 1).mean() >= 0.5 else -1.0


def defects(case: KernelCase) -> list[str]:
    """What is wrong with the answer to a case; nothing where it is right, or refused in words."""
    try:
        found = solve(case.program, case.X, case.y, kernel=case.kernel, tolerance=TOLERANCE, time_limit=20.0)
    except AuclabError:
        return []
    at, c = found.landmarks, found.dual_coef
    scores, length = case.gram[:, at] @ c, math.sqrt(max(0.0, float(c @ case.gram[np.ix_(at, at)] @ c)))
    exact, best = value(case, scores, found.intercept, length), upper_bound(case)
    unit = max(exact, 1e-3)
    slack = SLACK * unit + found.rounding
    wrong = []
    if abs(found.objective - exact) > slack:
        wrong.append(f"objective {found.objective!r}, and it is {exact!r}")
    if found.space == "whole" and found.lower_bound > best + SLACK * unit:
        wrong.append(f"lower bound {found.lower_bound!r} above a value of {best!r}")
    if str(found.status) == "optimal" and exact > best + 1.01 * TOLERANCE * unit + slack and found.space == "whole":
        wrong.append(f"optimal at {exact!r}, and {best!r} was reached")
    if str(found.status) == "optimal" and found.space == "span":
        wrong.append("optimal in the span alone")
    return wrong
