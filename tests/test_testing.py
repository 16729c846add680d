"""Conformance checks: pieces of ours and from outside pass, and a piece with one fault is refused for that fault."""

import numpy as np
import pytest

from auclab import AuclabError
from auclab.bounds import Bound, fixed_scorer_auc_bound
from auclab.losses import LOSSES, Hinge, SquaredHinge
from auclab.metrics import auc_score
from auclab.regularisers import L1, L2, NORMS, ElasticNet, GroupLasso, Linf, Norm, Zero
from auclab.testing import check_bound, check_loss, check_regulariser
from extension.huber_hinge import HuberHinge
from extension.structured_norms import FusedLasso, Mahalanobis
from extension.weighted_l1 import WeightedL1


@pytest.mark.parametrize("loss", [*LOSSES.values(), HuberHinge(0.3), HuberHinge(2.0)], ids=repr)
def test_losses_pass(loss):
    for seed in range(3):
        check_loss(loss, seed=seed)


@pytest.mark.slow
@pytest.mark.covering(seed=1)
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    "piece",
    [
        *NORMS.values(),
        *(Norm(name, 0.1, squared=True) for name in NORMS),
        WeightedL1((1.0, 2.0, 0.5)),
        FusedLasso(3, 0.5),
        Mahalanobis([[1.0, 0.2, 0.0], [0.0, 1.0, 0.3], [0.0, 0.0, 0.7]]),
        ElasticNet(0.1, 0.5),
        GroupLasso(("a", "a", "b"), 0.1),
        Zero(),
    ],
    ids=repr,
)
def test_norms_and_regularisers_pass(piece, seed):
    check_regulariser(piece, seed=seed)


def hoeffding(y_true, y_score, *, rho):
    """McDiarmid's, two-sided, as a run has it."""
    positive = int(np.sum(y_true))
    auc = auc_score(y_true, y_score)
    return fixed_scorer_auc_bound(auc, n_pos=positive, n_neg=len(y_true) - positive, rho=rho, method="hoeffding")


def optimistic(y_true, y_score, *, rho):
    return Bound(auc_score(y_true, y_score), 0.0, False, ())


def a_fifth_of_it(y_true, y_score, *, rho):
    whole = hoeffding(y_true, y_score, rho=rho)
    return Bound(whole.lower, whole.slack, False, (), whole.half_width / 5.0)


def test_a_bound_passes_and_one_that_is_above_the_auc_is_refused():
    check_bound(hoeffding)
    for wrong in (optimistic, a_fifth_of_it):
        with pytest.raises(AuclabError, match=f"{wrong.__name__} is above the AUC, .* rho = 0.05 allows 20"):
            check_bound(wrong, rho=0.05)


def a_number(y_true, y_score, *, rho):
    return 0.1


def nan_below(y_true, y_score, *, rho):
    return Bound(np.nan, 0.0, False, ())


def called_vacuous(y_true, y_score, *, rho):
    return Bound(0.1, 0.1, True, ())


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (a_number, "a_number returned 0.1; return auclab.bounds.Bound with lower or half_width"),
        (nan_below, r"nan_below returned Bound\(lower=nan"),
        (called_vacuous, "called_vacuous says vacuous=True of AUC ≥ 0.1000, which excludes something"),
    ],
)
def test_what_is_no_bound_is_refused(wrong, said):
    with pytest.raises(AuclabError, match=said):
        check_bound(wrong)


def test_a_bound_is_tried_at_several_levels():
    def wrong_below(y_true, y_score, *, rho):
        return Bound(0.0 if rho >= 0.05 else 1.0, 0.0, rho >= 0.05, ())

    check_bound(wrong_below, rho=0.05)
    with pytest.raises(AuclabError, match=r"rho = 0\.01 allows 4"):
        check_bound(wrong_below)


class Falling(Hinge):
    def pieces(self):
        return [0.0, 1.0], [[0.0, 1.0, 0.0], [2.0, -1.0, 0.0]]


class OtherValue(SquaredHinge):
    def value(self, a):
        return 1.001 * super().value(a)


class OtherSlope(SquaredHinge):
    def slope(self, a):
        return 1.1 * super().slope(a)


class SmallConjugate(SquaredHinge):
    def conjugate(self, alpha):
        return 0.9 * super().conjugate(alpha)


@pytest.mark.parametrize(
    ("loss", "fault"),
    [
        (Falling(), "is not convex and non-decreasing"),
        (OtherValue(), r"value\(a\) is that of its pieces does not hold at .*, by"),
        (OtherSlope(), r"ℓ\(b\) ≥ ℓ\(a\) \+ ℓ'\(a\)\(b − a\) does not hold"),
        (SmallConjugate(), r"ℓ\*\(ℓ'\(a\)\) = a ℓ'\(a\) − ℓ\(a\) does not hold"),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, str) else "",
)
def test_a_faulty_loss_is_refused_for_its_fault(loss, fault):
    with pytest.raises(AuclabError, match=fault):
        check_loss(loss)


class SmallDual(L2):
    def dual(self, g):
        return 0.99 * super().dual(g)


class NotHomogeneous(L1):
    def __call__(self, w):
        return super().__call__(w) ** 1.1


class NoTriangle(L2):
    def __call__(self, w):
        return float(np.sqrt(abs(w)).sum() ** 2)


class LongSubgradient(Linf):
    def subgradient(self, w):
        return np.sign(w)


class CalledAbsolute(Mahalanobis):
    is_absolute = True


class OtherEpigraph(L1):
    def epigraph(self, unit):
        return super().epigraph(0.9 * unit)


class OtherSize(Norm):
    def of_size(self, t):
        return 2.0 * super().of_size(t)

    def value(self, w):
        return super().of_size(self.norm(w))


class ProvesTooMuch(Norm):
    def dual_value(self, gradient, slack, total, up=1.0):
        value, scale = super().dual_value(gradient, slack, total, up)
        return 1.5 * value, scale


@pytest.mark.parametrize(
    ("piece", "fault"),
    [
        (SmallDual(), r"g·w ≤ ‖g‖_\* ‖w‖ does not hold"),
        (NotHomogeneous(), "‖−2w‖ = 2‖w‖ does not hold"),
        (NoTriangle(), r"‖v \+ w‖ ≤ ‖v‖ \+ ‖w‖ does not hold"),
        (LongSubgradient(), "s·w = ‖w‖ does not hold"),
        (CalledAbsolute([[1.0, 0.9, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]), r"\(is_absolute\) does not hold"),
        (OtherEpigraph(), "OtherEpigraph.*: the "),
        (OtherSize("l1", 0.1), r"R\(w\) = φ\(‖w‖\) \+ ρ Σ w_k² does not hold"),
        (ProvesTooMuch("l1", 0.1), "what dual_value proves does not hold"),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, str) else "",
)
def test_a_faulty_norm_or_regulariser_is_refused_for_its_fault(piece, fault):
    with pytest.raises(AuclabError, match=fault):
        check_regulariser(piece)
