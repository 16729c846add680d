"""Guarantees for groups: against all pairs in one program, for each kind of pairs, and refused where impossible."""

import numpy as np
import pytest

import auclab
import reference_guaranteed as brute
from auclab.metrics import bauc_score
from auclab.solvers.guaranteed import with_groups
from auclab.types import AuclabError, Status


def draw(seed, n_groups=2):
    """Groups that different features rank."""
    rng = np.random.default_rng(seed)
    y, groups = rng.integers(0, 2, 48), rng.integers(0, n_groups, 48)
    X = rng.normal(size=(48, 4)) + 0.6 * y[:, None] * rng.normal(size=(n_groups, 4))[groups]
    return X, y, groups


def members(groups, name, pairs):
    everyone = np.ones(groups.size, bool)
    own = groups == name
    return (everyone if pairs == "negatives" else own), (everyone if pairs == "positives" else own)


@pytest.mark.parametrize("pairs", ["within", "positives", "negatives"])
@pytest.mark.parametrize("seed", range(4))
def test_levels_of_groups_are_kept_at_the_least_mean_hinge(pairs, seed):
    X, y, groups = draw(seed, 2 + seed % 2)
    weight = np.random.default_rng(seed).integers(1, 4, 48) if seed == 1 else None
    lower = [0.0, -np.inf, -np.inf, -np.inf] if seed == 2 else None
    constraints = auclab.Constraints(nonnegative=[0]) if seed == 2 else None
    of_groups = {name: brute.pairs_of(X, y, *members(groups, name, pairs), weight) for name in np.unique(groups)}
    everyone = brute.pairs_of(X, y, weight=weight)
    best = {name: brute.least(each, [], 4, lower=lower) for name, each in of_groups.items()}
    limits = {name: min(0.98, value + 0.25) for name, value in best.items()}
    expected = brute.least(everyone, [(of_groups[name], limits[name]) for name in of_groups], 4, lower=lower)
    asked = {name: 1 - limit for name, limit in limits.items()}
    call = {"pairs": pairs, "constraints": constraints, "sample_weight": weight, "tolerance": 1e-8}
    if not np.isfinite(expected):
        with pytest.raises(AuclabError, match=r"no scorer has, at one length for all.*proved"):
            with_groups(X, y, groups, at_least=asked, **call)
        return
    found = with_groups(X, y, groups, at_least=asked, **call)
    assert found.status is Status.OPTIMAL_WITHIN
    assert np.isfinite(found.certificate.norm_bound)
    assert found.objective == pytest.approx(expected, abs=1e-7)
    assert found.lower_bound <= expected + 1e-9
    for name, value in found.groups.items():
        assert value.mean_hinge == pytest.approx(brute.mean_hinge(of_groups[name], found.coef), abs=1e-12)
        assert value.mean_hinge <= limits[name]
        assert value.bauc >= value.at_least
        assert value.best_bauc == pytest.approx(1 - best[name], abs=1e-6)
        assert value.multiplier >= 0.0
    if pairs == "within":
        own = groups == 0
        of_own = bauc_score(y[own], X[own] @ found.coef, sample_weight=None if weight is None else weight[own])
        assert found.groups[0].bauc == pytest.approx(of_own, abs=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_a_difference_of_at_most_delta_holds_for_mean_hinges_and_buffered_aucs(seed):
    X, y, groups = draw(10 + seed, 2 + seed % 2)
    of_groups = {name: brute.pairs_of(X, y, groups == name, groups == name) for name in np.unique(groups)}
    best = {name: brute.least(each, [], 4) for name, each in of_groups.items()}
    delta = max(best.values()) - min(best.values()) + 0.2
    limits = [
        (of_groups[name], min(value for other, value in best.items() if other != name) + delta) for name in of_groups
    ]
    expected = brute.least(brute.pairs_of(X, y), limits, 4)
    if not np.isfinite(expected):
        with pytest.raises(AuclabError, match="at one length for all"):
            with_groups(X, y, groups, max_difference=delta, tolerance=1e-8)
        return
    found = with_groups(X, y, groups, max_difference=delta, tolerance=1e-8)
    assert found.objective == pytest.approx(expected, abs=1e-6)
    baucs = [value.bauc for value in found.groups.values()]
    assert found.difference <= delta
    assert max(baucs) - min(baucs) <= delta


def test_without_binding_limits_it_is_the_largest_buffered_auc():
    X, y, groups = draw(3)
    found = with_groups(X, y, groups, at_least=1e-6, tolerance=1e-8)
    assert found.objective == pytest.approx(auclab.solve("bauc", X, y, tolerance=1e-8).objective, abs=1e-7)


def test_what_cannot_be_had_is_refused_in_words():
    X, y, groups = draw(1)
    with pytest.raises(AuclabError, match=r"group 0 cannot have a bAUC of 0.999999.*\(proved\)"):
        with_groups(X, y, groups, at_least=0.999999)
    with pytest.raises(AuclabError, match="a difference of at most 1e-06 cannot be guaranteed"):
        with_groups(X, y, groups, max_difference=1e-6)
    with pytest.raises(AuclabError, match="give at_least"):
        with_groups(X, y, groups)
    with pytest.raises(AuclabError, match=r"names \['c'\], which are not groups"):
        with_groups(X, y, groups, at_least={"c": 0.2})
    with pytest.raises(AuclabError, match="groups has 3"):
        with_groups(X, y, [0, 1, 1], at_least=0.1)
    with pytest.raises(AuclabError, match="is unknown; choose one of within, positives, negatives"):
        with_groups(X, y, groups, at_least=0.1, pairs="all")
    with pytest.raises(AuclabError, match=r"group 0 has no positives with weight.*pairs='negatives'"):
        with_groups(X, y, y, at_least=0.1)
    with pytest.raises(AuclabError, match="needs at least two groups"):
        with_groups(X, y, np.zeros(48), max_difference=0.1)
    with pytest.raises(AuclabError, match="max_difference must be a positive number"):
        with_groups(X, y, groups, max_difference=0.0)


def test_levels_of_no_group_are_refused():
    with pytest.raises(AuclabError, match="give at_least"):
        with_groups([[0.0], [2.0], [1.0], [3.0]], [0, 0, 1, 1], ["a"] * 4, at_least={})
