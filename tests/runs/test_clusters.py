"""Rows that stay together in a split depend on each other in the intervals of its held-out part."""

import numpy as np
import pandas as pd
import pytest

from auclab import estimate
from composed import run_here


@pytest.mark.slow
def test_intervals_are_those_of_clusters(tmp_path):
    rng, patient = np.random.default_rng(0), np.repeat(np.arange(40), 4)
    frame = pd.DataFrame({"patient": [f"p{each}" for each in patient], "x": rng.normal(size=160)})
    frame["y"] = (frame["x"] + rng.normal(size=40)[patient] + 0.5 * rng.normal(size=160) > 0).astype(int)
    frame.to_csv(tmp_path / "rows.csv", index=False)
    words = ("dataset=file", f"dataset.path={tmp_path / 'rows.csv'}", "dataset.target=y", "dataset.drop=[patient]")
    result = run_here(
        tmp_path / "run", *words, "split=grouped", "split.column=patient", "formulation=ranksvm", "metrics=[auc,bauc]"
    )
    (fold,) = result.folds
    part, rows = fold.parts["test"], fold.split.test
    for metric in ("auc", "bauc"):
        expected = estimate(part.y_true, part.y_score, metric, clusters=patient[rows])
        assert part.estimates[metric].standard_error == pytest.approx(expected.standard_error)
        assert part.estimates[metric].method == expected.method
    alone = estimate(part.y_true, part.y_score)
    assert part.estimates["auc"].standard_error != pytest.approx(alone.standard_error, rel=1e-3)
