"""Constraints by name, on the columns of a sample."""

import numpy as np
import pytest

from auclab import AuclabError, Constraints


def test_a_nominal_feature_means_all_its_columns():
    columns = Constraints(nonpositive=["colour"], excluded=["age"], max_features=1).on_columns(
        ["age", "colour_blue", "colour_red"], features=["age", "colour", "colour"]
    )
    assert columns.upper.tolist() == [0.0, 0.0, 0.0]
    assert columns.lower.tolist() == [0.0, -np.inf, -np.inf]
    assert columns.groups[1] == columns.groups[2] != columns.groups[0]
    assert columns.n_used(np.array([0.0, -1.0, -2.0])) == 1
    assert columns.violation(np.array([1.0, -1.0, 0.0])) == np.inf


def test_scaled_columns_have_the_same_constraint():
    rules = Constraints(rows=[{"coefficients": {"a": 1.0, "b": -2.0}, "at_least": 3.0}], lower={"a": 0.5})
    scale, coef = np.array([4.0, 0.5]), np.array([1.0, 2.0])
    plain, scaled = rules.on_columns(["a", "b"]), rules.on_columns(["a", "b"], scale=scale)
    assert plain.violation(coef) == scaled.violation(coef * scale) == 6.0


def test_rows_and_bounds_as_one_system():
    rules = Constraints(sum_to=1.0, nonnegative=["a"], lower={"b": 2.0}, upper={"b": 2.0, "c": 5.0})
    matrix, limit, equal = rules.on_columns(["a", "b", "c"]).all_rows()
    assert matrix.tolist() == [[1, 1, 1], [0, 1, 0], [0, 0, 1], [-1, 0, 0]]
    assert limit.tolist() == [1, 2, 5, 0]
    assert equal.tolist() == [True, True, False, False]


@pytest.mark.parametrize(
    ("rules", "words"),
    [
        (Constraints(nonnegative=["agee"]), "did you mean age"),
        (Constraints(nonnegative=[7]), "columns are 0 to 1"),
        (Constraints(rows=[{"coefficients": {"age": 1}}]), "at_most"),
        (Constraints(nonnegative=["age"], upper={"age": -1.0}), "constraints leave no coefficient for"),
        (Constraints(max_features=0), "whole number ≥ 1"),
    ],
)
def test_mistakes_are_named(rules, words):
    with pytest.raises(AuclabError, match=words):
        rules.on_columns(["age", "debt"])


@pytest.mark.parametrize(
    ("rules", "words"),
    [
        (Constraints(excluded=["age"], lower={"age": 1.0}), "constraints leave no coefficient for"),
        (Constraints(excluded=["age"], lower={"age": np.nan}), "not numbers"),
        (Constraints(lower={"age": np.inf}), "excludes every coefficient"),
        (Constraints(nonnegative="age"), "give a list"),
        (Constraints(max_features=2.5), "whole number"),
        (Constraints(max_features=True), "whole number"),
    ],
)
def test_values_that_mean_nothing_are_refused(rules, words):
    with pytest.raises(AuclabError, match=words):
        rules.on_columns(["age", "debt"])
