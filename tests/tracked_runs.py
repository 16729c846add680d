"""Runs made by hand: a data set, a run recorded in a folder, and one that is sent to a store."""

import numpy as np
import pandas as pd

from auclab.datasets.records import Dataset
from auclab.runs.tracking.environment import CODE_TAG, HASH_TAG, SETTINGS_TAG, fingerprint
from auclab.runs.tracking.record import DatasetEntry, recording
from auclab.runs.tracking.sync import computing, sync_run

DATASET = Dataset(
    "toy",
    pd.DataFrame({"a": [0.0, 1.0, 2.0]}),
    np.array([0, 1, 1]),
    sha256="0123456789abcdef" * 4,
    source="made here",
)
SETTINGS = {"split": {"seed": 1}}


def record_run(folder, tracking, *, name="a run", settings=SETTINGS, data="aa", code="here", **ids):
    """A run that finished, with a file and a metric, in its folder alone."""
    params = {"dataset": "toy", "split": "holdout"}
    tags = {SETTINGS_TAG: fingerprint(settings), CODE_TAG: code}
    with recording(folder, name=name, tracking=tracking, params=params, tags=tags, **ids) as run:
        (run.staging / "config.yaml").write_text("split: {seed: 1}", encoding="utf-8")
        (run.staging / "figures").mkdir()
        (run.staging / "figures" / "roc.txt").write_text("a curve", encoding="utf-8")
        run.keep(
            metrics={"test/auc": 0.1 + 0.2, "gap": float("nan")},
            dataset=DatasetEntry.of(DATASET),
            tags={HASH_TAG: fingerprint(settings, data)},
            line="auc .3",
        )
    return run.record


def keep_run(folder, tracking, **more):
    """The same, sent to its store."""
    with computing(folder, tracking) as pending:
        record_run(folder, tracking, **more)
        return sync_run(pending)
