"""What a run says of pieces of a user that it cannot take, and a classifier without an intercept."""

import numpy as np
import pytest

from auclab import AuclabError
from auclab.bounds import Bound
from auclab.estimators.baselines import BaselineFit
from auclab.runs.config.checks import check_settings
from composed import composed, run_here

SMALL = ("dataset=artificial", "dataset.n_pos=20", "dataset.n_neg=60", "bounds=none", "formulation=bauc")


def too_short(y_true, y_score, *, rho):
    """A bound without a number."""
    return Bound(np.nan, 0.0, False, ())


def test_pairs_by_row_numbers_are_refused():
    pairs = "formulation.comparisons={_target_:auclab.margins.Bicliques,upper:[[0]],lower:[[1]]}"
    with pytest.raises(
        AuclabError, match=r"names pairs by row numbers, and a run splits its rows; give them in Python"
    ):
        check_settings(composed(("formulation=composed", pairs)))


def test_a_module_that_is_not_found_is_named_with_what_to_do():
    with pytest.raises(AuclabError, match=r"No module named 'nowhere' \(a module of your own .* PYTHONPATH\)"):
        check_settings(composed(("formulation=composed", "formulation.loss._target_=nowhere.Loss")))


@pytest.mark.slow
def test_a_bound_without_a_number_is_refused(tmp_path):
    with pytest.raises(AuclabError, match=r"bounds.own.short returned Bound\(lower=nan.*; return auclab.bounds.Bound"):
        run_here(tmp_path, *SMALL, f"+bounds.own.short._target_={__name__}.too_short")


def test_coefficients_without_an_intercept_are_not_taken_for_a_linear_scorer():
    class OnlyCoefficients:
        coef_ = np.ones(2)

        def decision_function(self, X):
            return X @ self.coef_

    fit = BaselineFit(OnlyCoefficients(), None, None)
    assert fit.coef is None
    assert fit.decision_function(np.eye(2)).tolist() == [1.0, 1.0]
