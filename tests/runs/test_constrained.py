"""Constraints by column and in units of the data, behind every preprocessing, on inner folds, and in the record."""

import json
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import yaml

import auclab
from auclab._core.base import AuclabError
from auclab.datasets import preprocess
from auclab.datasets.records import Dataset
from auclab.formulations.constraints import ColumnConstraints
from auclab.runs.checking.command import check_folder, exit_code
from auclab.runs.config.checks import check_settings
from auclab.runs.config.settings import resolve_constraints
from auclab.runs.config.typed_words import hydra_in_words
from auclab.runs.experiment import solve_splits
from auclab.runs.record.artifacts import write_artifacts
from auclab.runs.split.constrained import constraints_of, solved_constraints
from composed import composed, run_here


@pytest.fixture
def dataset():
    rng = np.random.default_rng(0)
    n = 90
    y = (rng.random(n) < 0.4).astype(int)
    X = pd.DataFrame(
        {
            "debt": 5000 + 2000 * rng.normal(size=n) - 900 * y,
            "age": np.where(rng.random(n) < 0.1, np.nan, 40 + 9 * rng.normal(size=n) + 4 * y),
            "town": rng.choice(["Rome", "Oslo", "Bonn"], n),
            "since": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, n), unit="D"),
            "always": 7.0,
        }
    )
    return Dataset(name="toy", X=X, y=y)


RULES = {
    "nonnegative": ["debt"],
    "upper": {"age": 0.01},
    "lower": {"age": -0.01, "town_Oslo": 0.25},
    "rows": [{"coefficients": {"debt": 1000.0, "age": 1.0}, "at_most": 0.5}],
    "nonpositive": ["always"],
}
ENCODING = {"dates": ["year", "age"], "missing_indicators": True}


@pytest.mark.parametrize("name", ["standard", "minmax", "none", "unit_ball"])
def test_constraints_hold_in_the_units_of_the_data(dataset, name):
    """A row whose debt is 1 larger has a score that is larger by a coefficient that satisfies them."""
    prepared = getattr(preprocess, name)(dataset, **ENCODING).fit(dataset.X)
    on_columns = constraints_of(RULES, dataset, ENCODING).on(prepared)
    X = prepared.transform(dataset.X)
    solution = auclab.solve(auclab.RankSVM(1e-3, squared=True), X, dataset.y, constraints=on_columns)
    row = dataset.X.iloc[[0]].assign(debt=5000.0, age=40.0, town="Rome")

    def rise(**changes):
        before, after = (np.asarray(prepared.transform(each)) for each in (row, row.assign(**changes)))
        return float(((after - before) @ solution.coef)[0])

    debt, age = rise(debt=5001.0), rise(age=41.0)
    # The ball divides by an invertible number; within it, where this row is, that is the same for all rows.
    assert debt >= -1e-12
    assert -0.01 - 1e-9 <= age <= 0.01 + 1e-9
    assert 1000 * debt + age <= 0.5 + 1e-9
    assert rise(town="Oslo") - rise(town="Rome") + _of(prepared, solution, "town_Rome") >= 0.25 - 1e-9
    free = auclab.solve(auclab.RankSVM(1e-3, squared=True), X, dataset.y)
    assert on_columns.violation(free.coef) > 1e-3  # the rules exclude the best scorer
    assert solution.gap <= 1e-6


def _of(prepared, solution, name):
    from auclab.export.formula import prepared_columns

    found = prepared_columns(prepared, ["debt", "age", "town", "since", "always"])
    place = found.names.index(name)
    return solution.coef[place] / found.scales[place]


def test_a_nominal_column_and_a_date_are_all_of_their_columns(dataset):
    prepared = preprocess.standard(dataset, **ENCODING).fit(dataset.X)
    names = list(prepared.get_feature_names_out())
    rules = {"nonnegative": ["town"], "excluded": ["age", "since"], "max_features": 2}
    found = constraints_of(rules, dataset, ENCODING).on(prepared)
    assert [name for name, low in zip(names, found.lower, strict=True) if low == 0.0 and name.startswith("town")] == [
        "town_Bonn", "town_Oslo", "town_Rome",
    ]  # fmt: skip
    fixed = {name for name, low, high in zip(names, found.lower, found.upper, strict=True) if low == high == 0.0}
    assert fixed == {"age", "age_missing", "since_year", "since_age"}
    of_town = {found.groups[names.index(f"town_{name}")] for name in ("Rome", "Oslo", "Bonn")}
    assert len(of_town) == 1
    assert found.max_features == 2


def test_a_category_that_a_part_lacks_has_the_coefficient_0(dataset):
    few = dataset.X[dataset.X["town"] != "Oslo"]
    prepared = preprocess.standard(dataset, **ENCODING).fit(few)
    rules = constraints_of({"nonnegative": ["town_Oslo"]}, dataset, ENCODING)
    assert not np.isfinite(rules.on(prepared).lower).any()
    with pytest.raises(AuclabError, match="excludes the coefficient 0"):
        constraints_of({"lower": {"town_Oslo": 1.0}}, dataset, ENCODING).on(prepared)


def test_columns_by_number_are_those_of_the_data(dataset):
    rules = constraints_of({"nonnegative": [0], "upper": {"1": 2.0}}, dataset, ENCODING)
    assert rules.constraints.nonnegative == ["debt"]
    assert rules.constraints.upper == {"age": 2.0}


def test_a_file_of_rules_and_what_is_typed_are_one(tmp_path):
    path = tmp_path / "rules.yaml"
    path.write_text("nonnegative: [age]\nlower: {debt: 0, age: 1}\nsum_to: 1\n", encoding="utf-8")
    found = resolve_constraints({"file": str(path), "nonnegative": ["debt"], "lower": {"age": 2}, "rows": []})
    assert found == {"nonnegative": ["age", "debt"], "lower": {"debt": 0.0, "age": 2.0}, "sum_to": 1.0}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nonnegative: [age", "is not yaml"),
        ("- age", "has no rules"),
        ("", "has no rules"),
        ("positive: [age]", "positive is not a constraint .did you mean 'nonpositive'"),
        ("lower: [age]", "it is a number for each column"),
        ("nonnegative: {age: 1}", "it is a list of columns"),
        ("sum_to: one", "it is a number"),
        ("max_features: 1.5", "whole number"),
        ("rows: [{coefficients: {age: 1}}]", "one of at_most, at_least, equals"),
        ("rows: [{coefficients: {age: .nan}, at_most: 1}]", "it is a list of coefficients and one of at_most"),
    ],
)
def test_files_that_are_no_rules(tmp_path, text, message):
    path = tmp_path / "rules.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(AuclabError, match=message):
        resolve_constraints({"file": str(path)})


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (
            ["constraints=none", "constraints.nonnegative=[age]"],
            "constraints=none; it has none; constraints = rules, signs have it",
        ),
        (["constraints=signs"], "names no column"),
        (
            ["constraints=signs", "constraints.sum_to=1"],
            "sum_to is not a setting of constraints=signs; .* rules has it",
        ),
        (["formulation=lda", "constraints.nonnegative=[age]"], "not supported for baselines such as lda"),
        (["constraints.file=nowhere.yaml"], "cannot be read: No such file"),
    ],
)
def test_settings_that_say_nothing(overrides, message):
    with pytest.raises(AuclabError, match=message), hydra_in_words(overrides):
        check_settings(composed(overrides))


def test_names_and_bounds_are_refused_before_anything_is_solved(dataset):
    with pytest.raises(AuclabError, match=r"'agee', which the data do not have; did you mean age"):
        constraints_of({"excluded": ["agee"]}, dataset, ENCODING).check()
    with pytest.raises(AuclabError, match="no coefficient for 'age': at least 0 and at most -1"):
        constraints_of({"nonnegative": ["age"], "upper": {"age": -1.0}}, dataset, ENCODING).check()


def test_runs_without_constraints_are_recorded_as_before():
    experiment = composed(["formulation=bauc"])
    assert "constraints" not in experiment.configuration
    assert not any(key.startswith("constraints") for key in experiment.params)


@pytest.mark.slow
def test_an_experiment_is_constrained_on_inner_folds_too_and_its_record_is_checked(tmp_path):
    """The best λ is chosen among constrained scorers; the certificate is proved again from the files."""
    rules = tmp_path / "rules.yaml"
    rules.write_text("nonpositive: [x0]\nlower: {x1: 0.2}\n", encoding="utf-8")
    experiment = composed(
        [
            *("dataset=artificial", "dataset.n_pos=60", "dataset.n_neg=60", "dataset.n_features=3"),
            *("formulation=ranksvm", "formulation.squared=true", "tune=penalty", "tune.values=[0.001,0.1]"),
            *("tune.folds=3", f"constraints.file={rules}", "tracking=none"),
        ]
    )
    names = list(_columns(experiment))
    rules.write_text(f"nonpositive: [{names[0]}]\nlower: {{{names[1]}: 0.2}}\n", encoding="utf-8")
    result = solve_splits(experiment)
    fold = result.folds[0]
    effects = fold.effects.table.set_index("column")["effect"]
    assert effects[names[0]] <= 1e-12
    assert effects[names[1]] >= 0.2 - 1e-9
    assert fold.constraints.count == 2
    assert fold.solution.gap <= 1e-6
    kept = experiment.kept_config
    write_artifacts(result, tmp_path, config=_yaml(kept))
    assert yaml.safe_load((tmp_path / "config.yaml").read_text(encoding="utf-8"))["constraints"]["lower"] == {
        names[1]: 0.2
    }
    stored = json.loads((tmp_path / "certificate.json").read_text(encoding="utf-8"))["constraints"]
    assert stored["statement"] == fold.constraints.statement
    rules.unlink()  # the record has the rules themselves
    checks = check_folder(tmp_path)
    assert exit_code(checks) == 0
    assert {"constraints", "satisfied"} <= {claim.name for claim in checks[0].claims}
    _tamper(tmp_path, 0.1)
    assert exit_code(check_folder(tmp_path)) == 1


def test_runs_after_each_other_keep_their_own_norm(tmp_path):
    """A run with norm l1 and constraints stored l2 once; no setting may pass from one run to the next."""
    data = ["dataset=artificial", "dataset.n_pos=15", "dataset.n_neg=15", "dataset.n_features=2", "bounds=none"]
    for number, norm in enumerate(["l1", "l2", "l1", "linf", "l1"]):
        rules = [f"constraints.nonnegative=[x{1 + number % 2}]"] if number != 3 else []
        folder = tmp_path / str(number)
        result = run_here(folder, *data, "formulation=ranksvm", f"formulation.norm={norm}", *rules)
        stored = json.loads((folder / "certificate.json").read_text(encoding="utf-8"))
        assert stored["program"]["norm"] == result.folds[0].solution.formulation.norm == norm
        assert (stored.get("constraints") is not None) == bool(rules)


def _columns(experiment):
    from auclab.runs.config.compose import load_dataset
    from auclab.runs.split.formula import column_names

    return column_names(load_dataset(experiment).X)


def _yaml(config):
    from omegaconf import OmegaConf

    return OmegaConf.to_yaml(config, resolve=True)


def _tamper(folder, bound):
    """A bound of the certificate that is not the one of the configuration."""
    path = folder / "certificate.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    content["constraints"]["lower"][1] = bound
    path.write_text(json.dumps(content), encoding="utf-8")


def test_multipliers_are_the_rates_at_which_the_optimum_falls(dataset):
    """Checked by solving again with a limit that is a little wider, in the units of the data."""
    prepared = preprocess.standard(dataset, **ENCODING).fit(dataset.X)
    program, X = auclab.RankSVM(1e-2, squared=True), np.asarray(prepared.transform(dataset.X))

    def solved(upper):
        rules = constraints_of({"upper": {"age": upper}, "nonnegative": ["debt"]}, dataset, ENCODING)
        solution = auclab.solve(program, X, dataset.y, constraints=rules.on(prepared), tolerance=1e-9)
        return solution, rules.solved(solution, prepared)

    step = 1e-4
    (first, found), (second, _) = solved(0.01), solved(0.01 + step)
    rates = {each.text: each.multiplier for each in found.active}
    assert rates["age ≤ 0.01"] == pytest.approx((first.objective - second.objective) / step, rel=1e-2)
    assert "debt ≥ 0" in rates
    assert found.statement.startswith("2 of 2 hold with equality")


def test_a_statement_of_rows_and_of_nothing():
    stated = ColumnConstraints.of(2, upper=[math.inf, 5.0], matrix=[[1.0, -2.0]], limit=[0.0])
    solution = auclab.solve(
        auclab.RankSVM(0.1, norm="l1"), [[0.0, 1.0], [2.0, 0.0], [1.0, 2.0], [3.0, 1.0]], [0, 0, 1, 1]
    )
    free = replace(solution, constraints=stated, coef=np.array([0.1, 0.4]))
    found = solved_constraints(free, ["age", "debt"], np.ones(2))
    assert found.statement == "none of 2 holds with equality: without them the optimum is the same"
    few = replace(free, constraints=replace(stated, max_features=1), coef=np.array([0.0, 0.4]))
    found = solved_constraints(few, ["age", "debt"], np.ones(2))
    assert found.statement == "1 column is used: debt; none of 2 holds with equality"
    both = replace(few, coef=np.array([0.3, 0.4]))
    found = solved_constraints(both, ["city_Bern", "city_Rome"], np.ones(2), ["city", "city"])  # one column of the data
    assert found.statement.startswith("1 column is used: city; ")
    on_the_row = replace(solution, constraints=stated, coef=np.array([0.8, 0.4]))
    found = solved_constraints(on_the_row, ["age", "debt"], np.array([2.0, 1.0]))
    assert [each.text for each in found.active] == ["2 age − 2 debt ≤ 0"]


def test_forced_features_that_do_not_vary_use_up_the_number_of_features(dataset):
    """A limit that they use up is refused in words; it let one more in."""
    always = {"forced": ["always", "debt"], "max_features": 2}
    preprocessing = preprocess.standard(dataset, **ENCODING).fit(dataset.X)
    stated = constraints_of(always, dataset, ENCODING).on(preprocessing)
    assert stated.max_features == 1
    with pytest.raises(AuclabError, match="max_features is 1, and 1 forced feature is constant on the training part"):
        constraints_of({"forced": ["always"], "max_features": 1}, dataset, ENCODING).on(preprocessing)
