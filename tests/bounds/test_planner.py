"""The planner round-trips with bounds to within one observation of the rarer class."""

import functools
import math

import pytest

from auclab._core.base import AuclabError
from auclab.bounds import (
    balance_event,
    fixed_scorer_auc_bound,
    fixed_scorer_bauc_bound,
    margin_bound,
    pairwise_stability_bound,
    published_stability_bound,
    required_samples,
    weighted_auc_bound,
)

RADII = {"radius_pos": 0.75, "radius_neg": 0.75}
STABLE = {"diameter": 1.5, "penalty": 0.25}
WEIGHT = {"weight_sup": 1.0, "weight_lipschitz": 5.0, "weight_integral": 0.2, "delta": 0.05}

#: Bound, what it is given, and its slack by the bound itself.
CASES = {
    "fixed_scorer_auc": (
        "fixed_scorer_auc",
        {"rho": 0.05},
        lambda **n: fixed_scorer_auc_bound(0.9, rho=0.05, **n).half_width,
    ),
    "fixed_scorer_bauc": (
        "fixed_scorer_bauc",
        {"a": 0.7, "score_spread": 2.0, "rho": 0.05},
        lambda **n: fixed_scorer_bauc_bound(0.3, 0.7, score_spread=2.0, rho=0.05, **n).slack,
    ),
    "pairwise_stability": (
        functools.partial(pairwise_stability_bound, 0.0),
        {"a": 0.5, "rho": 0.01, **STABLE},
        lambda **n: pairwise_stability_bound(0.3, 0.5, rho=0.01, **STABLE, **n).slack,
    ),
    "margin": (
        functools.partial(margin_bound, 0.0),
        {"norm_bound": 2.0, "diameter": 1.5, "rho": 0.05, "norm": "l1", "n_features": 30},
        lambda **n: margin_bound(0.3, norm_bound=2.0, diameter=1.5, rho=0.05, norm="l1", n_features=30, **n).slack,
    ),
    "weighted_auc": (
        weighted_auc_bound,
        {"method": "mcdiarmid", **WEIGHT},
        lambda **n: weighted_auc_bound("mcdiarmid", **WEIGHT, **n).half_width,
    ),
}


def one_fewer(plan, ratio):
    """One observation of the rarer class fewer, the other class in the same ratio."""
    if ratio >= 1:
        return {"n_pos": plan.n_pos - 1, "n_neg": math.ceil((plan.n_pos - 1) * ratio)}
    return {"n_pos": math.ceil((plan.n_neg - 1) / ratio), "n_neg": plan.n_neg - 1}


@pytest.mark.parametrize("ratio", [1.0, 40.0, 1 / 7, 1.3])
@pytest.mark.parametrize("epsilon", [0.15, 0.03])
@pytest.mark.parametrize("name", CASES)
def test_round_trip(name, epsilon, ratio):
    bound, arguments, slack = CASES[name]
    plan = required_samples(bound, epsilon, class_ratio=ratio, **arguments)
    assert plan.slack <= epsilon
    assert slack(n_pos=plan.n_pos, n_neg=plan.n_neg) == pytest.approx(plan.slack, rel=1e-12)
    assert slack(**one_fewer(plan, ratio)) > epsilon
    common, rare = (plan.n_neg, plan.n_pos) if ratio >= 1 else (plan.n_pos, plan.n_neg)
    assert common == math.ceil(rare * max(ratio, 1 / ratio))
    assert plan.total == plan.n_pos + plan.n_neg


@pytest.mark.parametrize("method", ["dkw", "max_rank", "published", "corrected"])
def test_round_trip_of_the_other_weighted_bounds(method):
    plan = required_samples(weighted_auc_bound, 0.5, class_ratio=3.0, method=method, **WEIGHT)
    width = {
        shift: weighted_auc_bound(method, **WEIGHT, **sizes).half_width
        for shift, sizes in ((0, {"n_pos": plan.n_pos, "n_neg": plan.n_neg}), (1, one_fewer(plan, 3.0)))
    }
    assert width[0] <= 0.5 < width[1]
    if method in ("published", "corrected"):
        assert balance_event(n_pos=plan.n_pos, n_neg=plan.n_neg, delta=0.05)


def test_the_example_of_the_paper():
    """Loss 0.35, a ½, R 1.5, λ ¼, ρ 0.01, 40 negatives to a positive: to promise bAUC ≥ 0.268 with ε = 0.382 it
    takes about the 2,000 positives that gave this slack."""
    bound, arguments, _ = CASES["pairwise_stability"]
    slack = pairwise_stability_bound(0.35, 0.5, rho=0.01, n_pos=2000, n_neg=80_000, **STABLE).slack
    plan = required_samples(bound, slack, class_ratio=40.0, **arguments)
    assert (plan.n_pos, plan.n_neg) == (2000, 80_000)
    # the published one needs far more
    published = functools.partial(published_stability_bound, 0.0, 0.5, penalty=0.25, rho=0.01, **RADII)
    assert required_samples(published, slack, class_ratio=40.0).n_pos > 30_000


def test_one_of_each_may_do():
    assert required_samples("fixed_scorer_auc", 5.0, rho=0.5).total == 2


def test_no_number_suffices():
    with pytest.raises(AuclabError, match="no number of observations suffices"):
        required_samples("fixed_scorer_auc", 1e-9, rho=1e-300)
    with pytest.raises(AuclabError, match="no number of observations suffices"):
        required_samples(weighted_auc_bound, 1e-9, method="max_rank", **WEIGHT | {"weight_lipschitz": math.inf})


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: required_samples("luck", 0.1), "choose one of fixed_scorer_auc"),
        (lambda: required_samples("fixed_scorer_auc", 0.0, rho=0.05), "epsilon"),
        (lambda: required_samples("fixed_scorer_auc", 0.1, class_ratio=0.0, rho=0.05), "class_ratio"),
        (lambda: required_samples("fixed_scorer_auc", 0.1), "do not fit"),
        (lambda: required_samples("fixed_scorer_auc", 0.1, rho=2.0), "rho"),
    ],
)
def test_refuses(call, words):
    with pytest.raises(AuclabError, match=words):
        call()
