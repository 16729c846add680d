"""Uno's concordance and the AUC at a time as metrics of a run."""

from functools import partial

import numpy as np
import pytest

from auclab import AuclabError
from auclab.datasets.target import Target
from auclab.inference import estimate_concordance, estimate_time_dependent_auc
from auclab.metrics import concordance_index, time_dependent_auc
from auclab.runs.split.measured import RankedPart, measure, metrics_of

UNO = partial(concordance_index, weights="ipcw", tau=None)
AT = partial(time_dependent_auc, times=2.0)
TIME, EVENT = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]), np.array([1, 0, 1, 1, 0, 1], dtype=bool)
SCORES = np.array([0.9, 0.8, 0.3, 0.6, 0.2, 0.1])


def test_values_and_intervals_are_those_of_the_functions():
    target = Target(TIME, event=EVENT)
    metrics = metrics_of(target, {"auc": "auc", "uno": UNO, "time_dependent_auc": AT})
    assert list(metrics) == ["concordance", "uno", "time_dependent_auc"]
    found = measure(RankedPart(target, SCORES), metrics, 0.95)
    assert found.metrics["uno"] == concordance_index(TIME, EVENT, SCORES, weights="ipcw")
    assert found.estimates["uno"] == estimate_concordance(TIME, EVENT, SCORES)
    (at,) = estimate_time_dependent_auc(TIME, EVENT, SCORES, 2.0)
    assert found.estimates["time_dependent_auc"] == at
    assert found.metrics["time_dependent_auc"] == pytest.approx(at.value)


@pytest.mark.parametrize(
    "target", [Target(np.array([0, 1])), Target(np.array([1.0, 2.0]), np.array([1, 1]), event=np.array([True, True]))]
)
def test_other_targets_are_refused(target):
    with pytest.raises(AuclabError, match="needs censored times without groups"):
        metrics_of(target, {"uno": UNO})


def test_the_time_has_to_be_given():
    with pytest.raises(AuclabError, match="times must be one number"):
        metrics_of(Target(TIME, event=EVENT), {"time_dependent_auc": partial(time_dependent_auc, times=None)})
