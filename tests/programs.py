"""The programs and the small problems on which formulations and solvers are held against each other."""

from __future__ import annotations

import numpy as np

from auclab import CSVM, ECSVM, BufferedAUC, GeneralizedBufferedAUC, PartialAUC, RankSVM
from auclab._core.base import NORMS
from auclab.formulations import Composed
from auclab.losses import Hinge
from auclab.regularisers import Norm
from auclab.solvers.registry import is_linear

CONVEX = [
    BufferedAUC(),
    *(RankSVM(0.02, norm) for norm in NORMS),
    *(RankSVM(0.02, norm, squared=True) for norm in NORMS),
    *(GeneralizedBufferedAUC(-0.1, norm) for norm in NORMS),
    *(CSVM(0.02, norm) for norm in NORMS),
    *(CSVM(0.02, norm, squared=True) for norm in NORMS),
    *(ECSVM(-0.1, norm) for norm in NORMS),
    ECSVM(0.0),
    CSVM(0.0),
    RankSVM(0.0),
    Composed("pairs", Hinge(), Norm("l1", 0.02), -0.1),
    Composed("pairs", Hinge(), Norm("l2", 0.02, squared=True), -0.1),
    Composed("pairs", Hinge(), Norm("linf", 0.02, squared=True), -0.1),
    Composed("points", Hinge(), Norm("l2", 0.02), -0.1),
    Composed("points", Hinge(), Norm("linf", 0.02), -0.1),
    Composed("points", Hinge(), Norm("l1", 0.02, squared=True), -0.1),
]
#: Superquantiles over the negatives, which fewer solvers take.
CVAR = [
    PartialAUC(0.3),
    PartialAUC(0.05),
    *(PartialAUC(0.4, 0.02, norm) for norm in NORMS),
    *(PartialAUC(0.4, 0.02, norm, squared=True) for norm in NORMS),
]
LINEAR = [program for program in CONVEX if is_linear(program)]


def label(program):
    """A readable test id."""
    parts = [program.name, program.regulariser.name, "squared" if program.regulariser.squared else ""]
    share = [f"α{program.max_fpr:g}"] if program.kind == "cvar" else []
    return "-".join([*filter(None, parts), f"z{program.threshold:g}", f"λ{program.regulariser.weight:g}", *share])


def overlapping(seed=0, n_pos=14, n_neg=18, n_features=3):
    """Two Gaussian classes that overlap."""
    rng = np.random.default_rng(seed)
    X = np.vstack([rng.normal(0.5, 1, (n_pos, n_features)), rng.normal(0, 1, (n_neg, n_features))])
    return X, np.r_[np.ones(n_pos), np.zeros(n_neg)]


def tied(seed=0):
    """Small integer features: many equal rows and margins."""
    rng = np.random.default_rng(seed)
    X = np.vstack([rng.integers(0, 3, (12, 3)), rng.integers(-1, 2, (15, 3))]).astype(float)
    return X, np.r_[np.ones(12), np.zeros(15)]


def separable(seed=0):
    """Every positive above every negative in the first feature."""
    rng = np.random.default_rng(seed)
    X = rng.normal(0, 1, (20, 3))
    y = np.r_[np.ones(9), np.zeros(11)]
    X[:, 0] = np.where(y == 1, 1.0, -1.0) + rng.uniform(-0.5, 0.5, 20)
    return X, y


def imbalanced(seed=0):
    """One positive against many."""
    X, _ = overlapping(seed, 1, 30)
    return X, np.r_[np.ones(1), np.zeros(30)]


def equal_means():
    """Classes with the same mean: no linear scorer has a positive bAUC (derivations 7.3)."""
    return np.array([[-1.0, 0.0], [1.0, 0.0], [0.0, -1.0], [0.0, 1.0]]), np.array([1, 1, 0, 0])


PROBLEMS = {
    "overlapping": overlapping(),
    "tied": tied(),
    "separable": separable(),
    "imbalanced": imbalanced(),
    "equal_means": equal_means(),
}


def stored(program):
    """The program's parts as a run keeps them."""
    regulariser = program.regulariser
    parts = {"penalty": regulariser.weight, "norm": regulariser.name, "squared": regulariser.squared}
    share = {"max_fpr": program.max_fpr} if program.name == "partial_auc" else {}
    return parts | share | {"name": program.name, "threshold": program.threshold}
