"""A data set and a failure, for runs that are made by hand."""

import numpy as np
import pandas as pd

from auclab.datasets.records import Dataset

DATASET = Dataset(
    "toy",
    pd.DataFrame({"a": [0.0, 1.0, 2.0]}),
    np.array([0, 1, 1]),
    sha256="0123456789abcdef" * 4,
    source="made here",
)


def write_half_and_fail(run, error):
    (run.staging / "half.txt").write_text("half", encoding="utf-8")
    raise error
