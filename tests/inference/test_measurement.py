"""Several scorers on one sample are what estimate, compare_scorers and their relatives say of them."""

import numpy as np
import pandas as pd
import pytest

from auclab import AuclabError, compare_scorers, estimate, measure
from auclab.inference import check_calibration, compare_pairs, estimate_pairs
from auclab.metrics import censored_pairs, ordered_pairs


def sample(n=90):
    rng = np.random.default_rng(0)
    y = np.arange(n) % 2
    scores = {"a": rng.normal(size=n) + y, "b": rng.normal(size=n) + 0.5 * y, "c": rng.normal(size=n)}
    return y, scores, np.repeat(np.arange(n // 3), 3)


def test_two_classes():
    y, scores, clusters = sample()
    found = measure(y, scores, metrics=["auc", "voros"], clusters=clusters)
    for name, s in scores.items():
        for metric in ("auc", "voros"):
            assert found.estimates[name][metric] == estimate(y, s, metric, clusters=clusters)
    pair = found.comparisons["auc"][1]
    assert (pair.first, pair.second) == (0, 2)
    assert pair.comparison == compare_scorers(y, scores["a"], scores["c"], clusters=clusters)
    assert (found.n, found.events, found.units) == (90, 45, "30 clusters")
    assert pair.p_holm >= pair.comparison.p_value


def test_groups_and_times():
    _, scores, groups = sample()
    rng = np.random.default_rng(1)
    grades, time, event = rng.integers(0, 3, 90), rng.exponential(size=90), rng.integers(0, 2, 90)
    found = measure(grades, scores, groups=groups)
    assert found.estimates["b"]["bauc"] == estimate_pairs(ordered_pairs(grades, groups), scores["b"], "bauc")
    found = measure(time, scores, event=event)
    pairs = censored_pairs(time, event)
    assert found.comparisons["auc"][0].comparison == compare_pairs(pairs, scores["a"], scores["b"])
    assert found.events == event.sum()


def test_labels_that_are_words_have_their_positives():
    y, scores, groups = sample()
    found = measure(np.where(y == 1, "ill", "well"), scores, groups=groups, pos_label="ill")
    assert (found.events, found.units) == (int(y.sum()), "30 groups")


def test_probabilities_are_checked_and_other_scores_are_not():
    y, scores, _ = sample()
    p = 1 / (1 + np.exp(-scores["a"]))
    found = measure(y, pd.DataFrame({"p": p, "score": scores["b"], "label": (p > 0.5).astype(float)}))
    assert set(found.calibration) == {"p"}
    assert found.calibration["p"] == check_calibration(y, p)


def test_the_table_has_the_numbers():
    y, scores, _ = sample()
    found = measure(y, scores, metrics=["auc"])
    assert found.to_text()["scorer"].tolist() == ["a", "b", "c", "a − b", "a − c", "b − c"]
    assert found.frame()["value"].tolist()[:3] == [estimate(y, s).value for s in scores.values()]
    assert found.written("md").splitlines()[2].split(" | ")[4] == f"{estimate(y, scores['a']).value:.3f}"
    assert "<table" in found._repr_html_()
    assert "toprule" in found.written("tex")
    assert "p (Holm)" not in measure(y, {"a": scores["a"]}).to_text()


def test_what_is_refused():
    y, scores, groups = sample()
    with pytest.raises(AuclabError, match="one of event, groups and clusters"):
        measure(y, scores, groups=groups, clusters=groups)
    with pytest.raises(AuclabError, match="no column of scores"):
        measure(y, {})
