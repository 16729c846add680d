"""Bounds at the edge of their parameters: a `Bound` that is no better than it can be, or a refusal in words.

That each bound's claim holds is simulated in `tests/bounds/test_validity.py` and `benchmarks/bound_validity.py`; with
``AUCLAB_FUZZ`` set, the simulation here draws that many samples for every bound.
"""

from __future__ import annotations

import importlib.util
import inspect
import math
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from auclab import bounds
from auclab._core.base import AuclabError
from auclab.bounds.guarantee import Bound

from .nasty_scores import SMALLEST, nasty, nasty_settings

VALIDITY = Path(__file__).parents[2] / "benchmarks" / "bound_validity.py"

NOT_FINITE = (math.nan, math.inf, -math.inf)
NUMBERS = st.sampled_from(
    (0.0, -0.0, 1.0, 0.5, 0.05, 2.0, 1e-9, 1e9, 10**400, SMALLEST, 1e-300, 1e300, 1.7e308, -1.0, *NOT_FINITE)
)
SIZES = st.sampled_from([1, 2, 7, 1000, 10**9, 10**18, 10**400, 0, -3, 2.0, 1.5, math.nan, math.inf])
CHANCES = st.sampled_from([0.05, 0.5, 1e-9, 1e-300, SMALLEST, 1.0 - 2.0**-53, 0.0, 1.0, -0.1, math.nan])

#: Where an argument comes from, by its name; all others are numbers.
SOURCES: dict[str, st.SearchStrategy[Any]] = {
    "n_pos": st.one_of(st.just(50), SIZES),
    "n_neg": st.one_of(st.just(50), SIZES),
    "n_features": st.one_of(st.none(), SIZES),
    "rho": st.one_of(st.just(0.05), CHANCES),
    "delta": st.one_of(st.just(0.05), CHANCES),
    "norm": st.sampled_from(["l1", "l2", "linf", "l3"]),
    "sharp": st.booleans(),
    "spread_is_observed": st.booleans(),
    "a0": st.one_of(st.none(), NUMBERS),
}


def arguments(function: Callable[..., Any], draw: Callable[[Any], Any], **given_: Any) -> dict[str, Any]:
    """Values for all parameters of a bound that are not given."""
    chosen = dict(given_)
    for name, parameter in inspect.signature(function).parameters.items():
        if name in chosen or (parameter.default is not parameter.empty and draw(st.booleans())):
            continue
        chosen[name] = (
            draw(st.sampled_from(METHODS[function])) if name == "method" else draw(SOURCES.get(name, NUMBERS))
        )
    return chosen


METHODS: dict[Callable[..., Any], list[str]] = {
    bounds.fixed_scorer_auc_bound: ["mcdiarmid", "hoeffding", "other"],
    bounds.fixed_scorer_bauc_bound: ["mcdiarmid", "hoeffding", "kl", "other"],
    bounds.peeled_fixed_scorer_bauc_bound: ["mcdiarmid", "hoeffding", "kl", "other"],
    bounds.roc_value_bound: ["band", "weight", "other"],
}
PLAIN = [
    bounds.fixed_scorer_auc_bound,
    bounds.fixed_scorer_bauc_bound,
    bounds.margin_bound,
    bounds.published_stability_bound,
    bounds.pairwise_stability_bound,
]


def sound(found: Bound, highest: float) -> None:
    """No NaN without a word, and nothing above what the sample shows."""
    assert found.assumptions
    if math.isnan(found.lower):
        assert found.half_width >= 0.0
    else:
        assert found.lower <= highest + 1e-12
        assert found.vacuous == (found.lower <= 0.0)
    assert found.slack >= 0.0


@pytest.mark.parametrize("function", PLAIN, ids=lambda f: f.__name__)
@nasty_settings
@given(data=st.data())
def test_any_numbers(function, data):
    """Every parameter at the edge of its range and beyond it, all at once."""
    chosen = arguments(function, data.draw)
    try:
        found = function(**chosen)
    except AuclabError:
        return
    assert 0.0 < chosen["rho"] < 1.0
    assert chosen["n_pos"] >= 1
    value = chosen.get("auc", 1.0 - chosen.get("empirical_loss", 0.0))
    sound(found, value)


SCORED = [bounds.peeled_fixed_scorer_bauc_bound, bounds.roc_value_bound]


@pytest.mark.parametrize("function", SCORED, ids=lambda f: f.__name__)
@nasty_settings
@given(data=st.data())
def test_any_scores(function, data):
    problem = data.draw(nasty(weights=False))
    y, s = problem.arguments
    chosen = arguments(function, data.draw, y_true=y, y_score=s)
    try:
        found = function(**chosen)
    except AuclabError:
        return
    sound(found, 1.0)


LINEAR = [bounds.peeled_margin_bound, bounds.peeled_stability_bound]


@pytest.mark.parametrize("function", LINEAR, ids=lambda f: f.__name__)
@nasty_settings
@given(data=st.data())
def test_any_coefficients(function, data):
    entries = st.sampled_from([0.0, 1.0, 0.5, -1.0, 1e-9, 1e9, 1e-300, SMALLEST])
    X = np.array(data.draw(st.lists(entries, min_size=4, max_size=4))).reshape(4, 1)
    chosen = arguments(function, data.draw, X=X, y=[0, 1, 0, 1], coef=[data.draw(NUMBERS)])
    try:
        found = function(**chosen)
    except AuclabError:
        return
    sound(found, 1.0)


@nasty_settings
@given(st.data())
def test_a_smaller_chance_of_failure_costs_more(data):
    """Slack grows as ρ falls, at any size."""
    n_pos, n_neg = (data.draw(st.sampled_from([1, 2, 50, 10**6])) for _ in range(2))
    low, high = sorted(data.draw(st.floats(1e-299, 0.999)) for _ in range(2))
    for method in ("mcdiarmid", "hoeffding"):
        sure, unsure = (
            bounds.fixed_scorer_auc_bound(0.7, n_pos=n_pos, n_neg=n_neg, rho=rho, method=method) for rho in (low, high)
        )
        assert sure.slack >= unsure.slack
    sure, unsure = (
        bounds.margin_bound(0.1, norm_bound=1.0, diameter=2.0, n_pos=n_pos, n_neg=n_neg, rho=rho) for rho in (low, high)
    )
    assert sure.lower <= unsure.lower


@pytest.mark.skipif("AUCLAB_FUZZ" not in os.environ, reason="tests/bounds/test_validity.py has it, small")
def test_no_proved_bound_fails_too_often():
    """The simulation of the benchmark with as many samples as asked for; four deviations above ρ are allowed."""
    spec = importlib.util.spec_from_file_location("bound_validity", VALIDITY)
    module = importlib.util.module_from_spec(spec)
    sys.modules["bound_validity"] = module
    sys.path.insert(0, str(VALIDITY.parent))
    try:
        spec.loader.exec_module(module)
        samples = max(12, int(os.environ["AUCLAB_FUZZ"]) // 10)
        rows = module.simulate(samples, 600, [(0, 0.5, 0.3), (1, 0.05, 3.0), (2, 0.5, 3.0), (3, 0.2, 0.03)])
    finally:
        sys.path.remove(str(VALIDITY.parent))
        del sys.modules["bound_validity"]
    for row in rows:
        if module.BOUNDS[row.name][1]:
            assert row.violated <= row.rho + 4.0 * math.sqrt(row.rho / samples), row
