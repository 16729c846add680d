"""The planner round-trips with every bound to within one observation of the rarer class."""

import functools
import math

import pytest

from auclab.bounds import (
    balance_event,
    fixed_scorer_auc_bound,
    fixed_scorer_bauc_bound,
    margin_bound,
    pairwise_stability_bound,
    published_stability_bound,
    required_samples,
    uniform_weighted_auc_bound,
    weighted_auc_bound,
)
from auclab.bounds.peeling import level_share
from auclab.bounds.step_weight import planned_slack
from auclab.types import AuclabError

RADII = {"radius_pos": 0.75, "radius_neg": 0.75}
STABLE = {"diameter": 1.5, "penalty": 0.25}
WEIGHT = {"weight_sup": 1.0, "weight_lipschitz": 5.0, "weight_integral": 0.2, "delta": 0.05}

#: Name, what it is given, and its slack by the bound itself.
CASES = {
    "published_stability": (
        {"a": 0.5, "penalty": 0.25, "rho": 0.01, **RADII},
        lambda **n: published_stability_bound(0.3, 0.5, penalty=0.25, rho=0.01, **RADII, **n).slack,
    ),
    "pairwise_stability": (
        {"a": 0.5, "rho": 0.01, **STABLE},
        lambda **n: pairwise_stability_bound(0.3, 0.5, rho=0.01, **STABLE, **n).slack,
    ),
    "peeled_stability": (
        {"a": 0.5, "rho": 0.01, **STABLE},
        lambda **n: pairwise_stability_bound(0.3, 0.5, rho=level_share(0.01, -1), **STABLE, **n).slack,
    ),
    "margin": (
        {"norm_bound": 2.0, "diameter": 1.5, "rho": 0.05, "norm": "l1", "n_features": 30},
        lambda **n: margin_bound(0.3, norm_bound=2.0, diameter=1.5, rho=0.05, norm="l1", n_features=30, **n).slack,
    ),
    "peeled_margin": (
        # ΛD = 3 → 2² = 4 = ΛD on the grid
        {"norm_bound": 2.0, "diameter": 1.5, "rho": 0.05},
        lambda **n: margin_bound(0.3, norm_bound=4 / 1.5, diameter=1.5, rho=level_share(0.05, 2), **n).slack,
    ),
    "fixed_scorer_auc": ({"rho": 0.05}, lambda **n: fixed_scorer_auc_bound(0.9, rho=0.05, **n).half_width),
    "fixed_scorer_bauc": (
        {"a": 0.7, "score_spread": 2.0, "rho": 0.05},
        lambda **n: fixed_scorer_bauc_bound(0.3, 0.7, score_spread=2.0, rho=0.05, **n).slack,
    ),
    "peeled_fixed_scorer_bauc": (
        {"a": 2.0, "score_spread": 2.0, "rho": 0.05},
        lambda **n: fixed_scorer_bauc_bound(0.3, 2.0, score_spread=2.0, rho=level_share(0.05, 2), **n).slack,
    ),
    "weighted_auc": (
        {"method": "mcdiarmid", **WEIGHT},
        lambda **n: weighted_auc_bound("mcdiarmid", **WEIGHT, **n).half_width,
    ),
    "uniform_weighted_auc": (
        {
            "weight_sup": 1.0,
            "weight_lipschitz": 2.0,
            "ell_lipschitz": 1.0,
            "norm_bound": 0.5,
            "radius": 1.0,
            "delta": 0.05,
        },
        lambda **n: (
            uniform_weighted_auc_bound(
                weight_sup=1.0,
                weight_lipschitz=2.0,
                ell_lipschitz=1.0,
                gaussian_complexity=0.5 * math.sqrt(sum(n.values())),
                delta=0.05,
                **n,
            ).half_width
        ),
    ),
    "step_weight": (
        {"max_fpr": 0.2, "delta": 0.05},
        lambda **n: planned_slack(max_fpr=0.2, delta=0.05, **n),
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
    arguments, slack = CASES[name]
    plan = required_samples(name, epsilon, class_ratio=ratio, **arguments)
    assert plan.slack <= epsilon
    assert slack(n_pos=plan.n_pos, n_neg=plan.n_neg) == pytest.approx(plan.slack, rel=1e-12)
    assert slack(**one_fewer(plan, ratio)) > epsilon
    common, rare = (plan.n_neg, plan.n_pos) if ratio >= 1 else (plan.n_pos, plan.n_neg)
    assert common == math.ceil(rare * max(ratio, 1 / ratio))
    assert plan.total == plan.n_pos + plan.n_neg


@pytest.mark.parametrize("method", ["dkw", "max_rank", "published", "corrected"])
def test_round_trip_of_the_other_weighted_bounds(method):
    plan = required_samples("weighted_auc", 0.5, class_ratio=3.0, method=method, **WEIGHT)
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
    arguments, _ = CASES["pairwise_stability"]
    slack = pairwise_stability_bound(0.35, 0.5, rho=0.01, n_pos=2000, n_neg=80_000, **STABLE).slack
    plan = required_samples("pairwise_stability", slack, class_ratio=40.0, **arguments)
    assert (plan.n_pos, plan.n_neg) == (2000, 80_000)
    # the published one needs far more
    published, _ = CASES["published_stability"]
    assert required_samples("published_stability", slack, class_ratio=40.0, **published).n_pos > 30_000


def test_a_function_will_do():
    bound = functools.partial(pairwise_stability_bound, 0.0, 0.5, rho=0.01, **STABLE)
    arguments, _ = CASES["pairwise_stability"]
    assert required_samples(bound, 0.3) == required_samples("pairwise_stability", 0.3, **arguments)


def test_one_of_each_may_do():
    assert required_samples("fixed_scorer_auc", 5.0, rho=0.5).total == 2


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("weighted_auc", {"method": "max_rank", **WEIGHT, "weight_lipschitz": math.inf}),
        ("uniform_weighted_auc", CASES["uniform_weighted_auc"][0] | {"ell_lipschitz": math.inf}),
        ("fixed_scorer_auc", {"rho": 1e-300}),
    ],
)
def test_no_number_suffices(name, arguments):
    with pytest.raises(AuclabError, match="no number of observations suffices"):
        required_samples(name, 1e-9, **arguments)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: required_samples("luck", 0.1), "choose one of published_stability"),
        (lambda: required_samples("fixed_scorer_auc", 0.0, rho=0.05), "epsilon"),
        (lambda: required_samples("fixed_scorer_auc", 0.1, class_ratio=0.0, rho=0.05), "class_ratio"),
        (lambda: required_samples("fixed_scorer_auc", 0.1), "do not fit"),
        (lambda: required_samples("fixed_scorer_auc", 0.1, rho=2.0), "rho"),
        (lambda: required_samples("peeled_stability", 0.1, a=0.7, rho=0.05, **STABLE), "not on the grid"),
    ],
)
def test_refuses(call, words):
    with pytest.raises(AuclabError, match=words):
        call()
