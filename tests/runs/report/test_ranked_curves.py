"""The concordance of stored runs over groups and times, as the report draws it."""

import numpy as np
import pytest

from auclab.runs.report.curves import ranked_curves, split_curves
from auclab.runs.stored.stored_files import read_scores
from composed import run_here
from ranked_tables import settings


@pytest.mark.parametrize(("kind", "units"), [("groups alike", "group"), ("times", "row")])
def test_the_area_below_the_curve_is_the_value(tmp_path, kind, units):
    run_here(tmp_path, *settings(tmp_path, kind), "formulation=ranksvm", "formulation.penalty=0.05", "bounds=none")
    curves = ranked_curves(tmp_path)
    assert curves is not None
    assert split_curves(tmp_path) is None
    assert curves["units"] == units
    shares, right = (np.array(part) / 10_000 for part in curves["concordance"])
    assert (np.diff(right) >= 0).all()
    stored = read_scores(tmp_path)
    target, scores = stored.target, stored.y_score
    upper, lower, weight = target.pairs.pairs()
    value = weight @ ((scores[upper] > scores[lower]) + 0.5 * (scores[upper] == scores[lower]))
    assert curves["values"][0] == pytest.approx(value, abs=1e-12)
    assert np.diff(shares) @ right[1:] == pytest.approx(value, abs=5e-3)  # thinned for a screen
    assert target.weights == ("groups" if kind == "groups alike" else "pairs")


def test_two_classes_have_no_such_curve(tmp_path):
    run_here(tmp_path, "dataset=artificial", "dataset.n_pos=20", "dataset.n_neg=20", "formulation=ranksvm")
    assert ranked_curves(tmp_path) is None
