"""Runs over the space of a kernel, and scorecards: values between rationals, and what is claimed of them."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from auclab._core.base import AuclabError
from auclab.certificates.checker.kernel import ERROR, PLACES, KernelData, StoredKernel, refused_points
from auclab.kernels import kernel_named
from auclab.runs.checking.claims import Verdict
from auclab.runs.checking.command import check_folder, exit_code
from composed import run_here
from tampered_runs import copied_runs, edit_certificate, read_certificate, refuted, small_table, verdicts

KERNELS = {
    "rbf": ["formulation=ranksvm", "kernel=rbf"],
    "laplacian": ["formulation=generalized_bauc", "formulation.threshold=-0.3", "kernel=laplacian"],
    "polynomial": ["formulation=csvm", "kernel=polynomial", "class_weight={negative: 1, positive: 3}"],
    "partial": ["formulation=partial_auc", "formulation.penalty=0.01", "kernel=rbf", "kernel.gamma=0.2"],
    "tuned": ["formulation=ranksvm", "kernel=rbf", "tune=kernel", "tune.folds=2", "tune.grids.penalty=[0.1,1]"],
}
CARD = ["formulation=scorecard", "preprocess=items", "formulation.max_items=2", "formulation.max_features=1"]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    place = tmp_path_factory.mktemp("kernels")
    data = small_table(place)
    for name, settings in KERNELS.items():
        run_here(place / name, *data, *settings)
    run_here(place / "span", *data, "formulation=bauc", "kernel=polynomial", "kernel.degree=1")
    run_here(place / "card", *data, *CARD, "formulation.signs={a: 1, b: 1}")
    return place


@pytest.fixture
def copied(made, tmp_path):
    return copied_runs(made, tmp_path / "copy")


@pytest.mark.parametrize("name", KERNELS)
def test_everything_about_a_kernel_is_confirmed(made, name):
    assert set(verdicts(made / name).values()) == {Verdict.CONFIRMED}


def test_a_bound_over_the_span_of_landmarks_is_not_checked(made):
    found = verdicts(made / "span")
    assert {name for name, verdict in found.items() if verdict is Verdict.UNCHECKED} == {"lower bound", "status"}
    assert exit_code(check_folder(made / "span")) == 2


def test_points_of_a_card_are_checked_and_its_bound_is_not(made):
    found = verdicts(made / "card")
    assert found["objective"] is found["points"] is Verdict.CONFIRMED
    assert {name for name, verdict in found.items() if verdict is not Verdict.CONFIRMED} == {"lower bound", "status"}


@pytest.mark.parametrize(
    ("change", "claims"),
    [
        (lambda kernel: kernel | {"gamma": kernel["gamma"] * 1.001}, {"width", "objective", "length"}),
        (lambda kernel: kernel | {"name": "laplacian"}, {"kernel", "objective", "length"}),
        (lambda kernel: kernel | {"landmarks": kernel["landmarks"] + 1}, {"landmarks"}),
        (lambda kernel: kernel | {"length": kernel["length"] * 1.001}, {"length"}),
    ],
)
def test_a_changed_kernel_is_refuted(copied, change, claims):
    folder = copied / "rbf"
    edit_certificate(folder, kernel=change(read_certificate(folder)["kernel"]))
    assert claims <= refuted(folder)


def test_changed_coefficients_multipliers_and_bounds_are_refuted(copied):
    folder = copied / "rbf"
    table = pd.read_csv(folder / "landmarks.csv")
    table.assign(coefficient=table["coefficient"] * 1.01).to_csv(folder / "landmarks.csv", index=False)
    assert {"objective", "length"} <= refuted(folder)
    table.assign(row=table["row"].iloc[0]).to_csv(folder / "landmarks.csv", index=False)
    assert "coefficients" in refuted(folder)
    table.to_csv(folder / "landmarks.csv", index=False)
    rows = pd.read_parquet(folder / "multipliers.parquet")
    rows.assign(multiplier=rows["multiplier"] * 0.5).to_parquet(folder / "multipliers.parquet", index=False)
    assert {"lower bound", "status"} <= refuted(folder)
    rows.to_parquet(folder / "multipliers.parquet", index=False)
    assert refuted(folder) == set()
    edit_certificate(folder, lower_bound=read_certificate(folder)["objective"] * (1 + 1e-7))
    assert "lower bound" in refuted(folder)


def test_the_intercept_of_points_is_checked_and_needed(copied):
    folder = copied / "polynomial"
    kernel = read_certificate(folder)["kernel"]
    edit_certificate(folder, kernel=kernel | {"intercept": kernel["intercept"] + 0.5})
    assert "objective" in refuted(folder)
    edit_certificate(folder, kernel={key: value for key, value in kernel.items() if key != "intercept"})
    with pytest.raises(AuclabError, match="no intercept of the kernel's scorer"):
        check_folder(folder)


def test_a_kernel_without_a_twin_is_named(copied):
    folder = copied / "rbf"
    edit_certificate(folder, kernel=read_certificate(folder)["kernel"] | {"name": "precomputed"})
    with pytest.raises(AuclabError, match="does not support the kernel precomputed"):
        check_folder(folder)


def test_changed_points_are_refuted(copied):
    folder = copied / "card"
    table = pd.read_csv(folder / "coefficients.csv")
    used = table.index[(table["coefficient"] != 0) & (table["feature"] != "(intercept)")][0]
    for value in (0.5, 9.0, -table["coefficient"][used]):
        changed = table["coefficient"].where(table.index != used, value)
        table.assign(coefficient=changed).to_csv(folder / "coefficients.csv", index=False)
        assert "points" in refuted(folder)
    table.to_csv(folder / "coefficients.csv", index=False)
    edit_certificate(folder, lower_bound=read_certificate(folder)["objective"] + 1e-3)
    assert "lower bound" in refuted(folder)


def test_too_many_points_are_refused():
    stated = {"points": [-5, 5], "max_items": 2, "max_features": 1}
    assert refused_points(np.array([1.0, 2.0, 0.0]), stated, [0, 0, 1]) == []
    assert refused_points(np.array([1.0, 0.0, 2.0]), stated, [0, 0, 1]) == ["2 features have points, and 1 may"]


@pytest.mark.parametrize("power", [1, 2])
def test_exponentials_are_those_of_decimals(power):
    """Against 70 digits, with columns of very different sizes: distances from 0 to 10⁷."""
    rng = np.random.default_rng(power)
    X = np.vstack([rng.normal(size=(12, 4)) * 10.0 ** np.array([-3, 0, 1, 3]), np.zeros((2, 4))])
    values = StoredKernel("laplacian" if power == 1 else "rbf", {"gamma": 0.03}).values(X)
    for (i, j), value in np.ndenumerate(values):
        distance = sum((abs(Fraction(a) - Fraction(b)) ** power for a, b in zip(X[i], X[j], strict=True)), Fraction(0))
        exponent = -distance * Fraction(0.03)
        with localcontext() as context:
            context.prec = 70
            exact = Fraction((Decimal(exponent.numerator) / Decimal(exponent.denominator)).exp())
        assert abs(Fraction(int(value), 1 << PLACES) - exact) <= ERROR


@pytest.mark.parametrize("name", ["rbf", "laplacian", "polynomial"])
def test_values_scores_and_lengths_are_those_in_floating_point(name):
    rng = np.random.default_rng(0)
    X, c = rng.normal(size=(9, 3)), rng.normal(size=9)
    kernel = kernel_named(name, gamma=0.4)
    K = kernel.between(X, X)
    parameters = {key: float(value) for key, value in kernel.get_params().items()}
    data = KernelData(StoredKernel(name, parameters).values(X), np.arange(9) < 4, np.ones(9, dtype=object))
    scores, exponent = data.scores(c)
    assert [float(Fraction(int(s), 1 << exponent)) for s in scores] == pytest.approx((K @ c).tolist(), rel=1e-12)
    low, high = data.length([Fraction(value) for value in c])
    assert float(low) == pytest.approx(float(np.sqrt(c @ K @ c)), rel=1e-12)
    assert 0 <= high - low <= 1e-40
