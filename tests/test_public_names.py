"""Public names and their parameters: other code calls them, so a change of one is a change for users.

Add freely; change or remove a line only together with one in CHANGELOG.md.
"""

import dataclasses
import importlib
import inspect
import subprocess
import sys
from importlib.util import find_spec

import pytest

import auclab
from auclab.bounds import margin_bound
from auclab.metrics import buffered_auc

METRICS = """
auc_score(y_true, y_score, *, ties)
auc_threshold(y_true, y_score)
bauc_score(y_true, y_score, *, threshold)
bpoe(x, threshold, *, kind)
broc_curve(y_true, y_score, *, threshold)
buffered_auc(y_true, y_score, *, threshold)
buffered_exceedance(x, threshold)
censored_pairs(time, event, groups, *, group_weights, tied_times)
buffered_concordance(time, event, scores, *, threshold, tied_times)
concordance_index(time, event, scores, *, tied_times, tolerance)
cost_curve(y_true, y_score)
cost_range(class_ratio, cost_ratio)
crossing_shares(y_true, scores_a, scores_b)
expected_cost(fpr, tpr, cost_share)
ferri_auc(y_true, y_score)
gauc_score(y_true, y_score, modifier)
get_scorer(name, *, response_method)
grouped_auc(y, scores, groups, *, weights)
grouped_bauc(y, scores, groups, *, threshold, weights)
least_cost(y_true, y_score, cost_share)
lesser_area(fpr, tpr, cost_share)
margin_curve(y_true, y_score, margins)
ordered_pairs(y, groups, *, group_weights)
partial_auc(y_true, y_score, *, min_fpr, max_fpr, standardized)
polynomial_auc(y_true, y_score, *, degree, series, scale)
polynomial_auc_gradient(y_true, X, coef, *, beta, degree, scale)
polynomial_soft_auc(y_true, y_score, *, beta, degree, scale)
power_supports(scores, degree, *, features)
probabilistic_auc(y_true, y_score, *, width)
quantile(x, level)
ranking_superquantile(y_true, y_score, level)
roc_dominates(fpr, tpr, other_fpr, other_tpr)
roc_hull(fpr, tpr)
score_blocks(y_true, y_score, *, sample_weight, pos_label)
score_edges(pos, neg, n_bins)
scored_auc(y_true, y_score, *, ties)
scored_table(table, y_true, coef, *, sample_weight, pos_label)
soft_auc(y_true, y_score, *, beta)
summarise(blocks, *, n_bins, edges)
superquantile(x, level)
voros_from_points(fpr, tpr, *, cost_range, measure)
voros_score(y_true, y_score, *, cost_range, measure)
weighted_auc(y_true, y_score, *, weight, convention, ties, breakpoints)
weighted_gauc(y_true, y_score, modifier, *, weight, convention, breakpoints)
"""
BOUNDS = """
margin_bound(empirical_loss, *, norm_bound, diameter, n_pos, n_neg, rho)
step_weight_interval(y_true, y_score, *, min_fpr, max_fpr, delta, method, ties)
pairwise_stability_bound(empirical_loss, a, *, diameter, penalty, n_pos, n_neg, rho, strong_convexity, sharp)
peeled_margin_bound(X, y, coef, *, diameter, rho)
peeled_stability_bound(X, y, coef, *, diameter, penalty, rho, a0, strong_convexity)
published_stability_bound(empirical_loss, a, *, radius_pos, radius_neg, penalty, n_pos, n_neg, rho, strong_convexity)
uniform_weighted_auc_bound(*, weight_sup, weight_lipschitz, ell_lipschitz, n_pos, n_neg, gaussian_complexity, delta)
weighted_auc_bound(method, *, weight_sup, weight_lipschitz, weight_integral, n_pos, n_neg, delta)
"""
FORMULATIONS = """
BufferedAUC()
CSVM(penalty, norm, squared)
ECSVM(threshold, norm)
ExactAUC(norm_bound)
GeneralizedBufferedAUC(threshold, norm)
PartialAUC(max_fpr, penalty, norm, squared)
RankSVM(penalty, norm, squared)
ranksvm_to_threshold(solution)
threshold_to_ranksvm(solution)
"""
NAMED = """
as_formulation(formulation)
formulation_named(name)
"""
TOP = """
compare_scorers(y_true, scores_a, scores_b, metric)
estimate(y_true, y_score, metric)
solve(formulation, X, y, *, solver, tolerance, time_limit, pos_label)
"""
ESTIMATORS = """
AUCClassifier(formulation, solver, *, penalty, class_weight, decision_threshold, calibration, cv)
AUCRanker(formulation, solver, *, group_weights, penalty)
PolynomialAUCClassifier(degree, *, decision_threshold)
SurvivalRanker(formulation, solver, *, penalty)
decision_threshold(y_true, y_score, rule, *, sample_weight, pos_label)
fit_calibration(y_true, y_score, method, *, sample_weight, pos_label)
held_out_scores(fit, folds)
"""
CALLS = [
    (module, line)
    for module, lines in {
        "auclab": TOP + FORMULATIONS,
        "auclab.bounds": BOUNDS,
        "auclab.estimators": ESTIMATORS,
        "auclab.formulations": FORMULATIONS + NAMED,
        "auclab.metrics": METRICS,
    }.items()
    for line in lines.split("\n")
    if line
]


@pytest.mark.parametrize(
    ("module", "line"), CALLS, ids=[f"{module}.{line.partition('(')[0]}" for module, line in CALLS]
)
def test_calls(module: str, line: str):
    name, _, rest = line.rstrip(")").partition("(")
    found = getattr(importlib.import_module(module), name)
    expected = [part for part in rest.split(", ") if part]
    keyword_only = expected[expected.index("*") + 1 :] if "*" in expected else []
    parameters = inspect.signature(found).parameters
    positional = expected[: expected.index("*")] if "*" in expected else expected
    assert list(parameters)[: len(positional)] == positional
    assert set(keyword_only) <= set(parameters)


@pytest.mark.parametrize("name", auclab.__all__)
def test_names_of_the_package(name: str):
    assert getattr(auclab, name).__module__.split(".")[0] == "auclab"


def test_fields_of_results():
    solution = auclab.solve(auclab.BufferedAUC(), [[0.0], [2.0], [1.0], [3.0]], [0, 0, 1, 1])
    for name in ("coef", "intercept", "objective", "lower_bound", "gap", "status", "solver", "timings", "iterations"):
        assert hasattr(solution, name), name
    for name in ("history", "multipliers", "certificate", "decision_function"):
        assert hasattr(solution, name), name
    for name in ("build", "load", "compile", "solve"):
        assert getattr(solution.timings, name) >= 0, name
    bound = margin_bound(0.2, norm_bound=1.0, diameter=1.0, n_pos=100, n_neg=100, rho=0.05)
    for name in ("lower", "half_width", "slack", "vacuous", "assumptions"):
        assert hasattr(bound, name), name
    curve = buffered_auc([0, 0, 1, 1], [0.0, 2.0, 1.0, 3.0])
    for name in ("value", "gamma_left", "gamma_right", "theta", "area_closed", "area_open"):
        assert hasattr(curve, name), name
    for result in (solution, bound, curve):
        assert dataclasses.is_dataclass(result)
        assert result.__dataclass_params__.frozen


def test_scorers():
    from auclab.metrics import scorers

    assert all(hasattr(scorers, name) for name in ("bauc_scorer", "get_scorer", "soft_auc_scorer", "voros_scorer"))


@pytest.mark.slow
def test_packages_are_imported_on_first_use():
    program = "import auclab; print(auclab.metrics.auc_score([0, 1], [1.0, 2.0]), auclab.models.build.__name__)"
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert answer.stdout.split() == ["1.0", "build"]


@pytest.mark.parametrize(
    "name",
    [
        *("auclab.AuclabError", "auclab.metrics.get_scorer", "auclab.regularisers.VectorNorm"),
        *("auclab.regularisers.Epigraph", "auclab.losses.Loss", "auclab.models.build", "auclab.datasets.load"),
        *("auclab.samples.blocks.open_parquet", "auclab.samples.blocks.DaskEngine", "auclab.samples.blocks.passes_to"),
        *("auclab.testing.check_loss", "auclab.margins.Bicliques"),
    ],
)
def test_what_other_code_imports_stays_where_it_is(name):
    module, _, attribute = name.rpartition(".")
    assert hasattr(importlib.import_module(module), attribute)


def test_dask_tables_stay_where_they_are():
    assert find_spec("auclab.datasets.blocks") is not None  # with Dask, test_dask_input.py imports it
