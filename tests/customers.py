"""A table of customers as a shop exports it: dates, identifiers, one column with decimal commas, gaps, a rare category.

``python tests/customers.py FOLDER`` writes ``customers.csv`` (2,000 rows, 8 % positives) and ``new.csv`` with 600 later
rows, labelled too, whose scores have drifted.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pandas as pd

TARGET, POSITIVE = "left", "yes"


def table(n_rows: int = 2_000, seed: int = 0, *, later: bool = False) -> pd.DataFrame:
    """The table; `later` rows have more visits, and the same relation of labels to columns."""
    rng = np.random.default_rng(seed)
    days = rng.integers(0, 1_800, n_rows) + (200 if later else 0)
    visits = rng.poisson(8 if later else 6, n_rows)
    spent = rng.lognormal(3.0, 0.8, n_rows)
    plan = rng.choice(["free", "basic", "pro"], n_rows, p=[0.5, 0.35, 0.15]).astype(object)
    plan[rng.choice(n_rows, 4, replace=False)] = "trial 2019"
    logit = -2.0 - 0.35 * (visits - 6) + 0.9 * (plan == "free") - 0.5 * (np.log(spent) - 3) - 0.0004 * (days - 900)
    left = rng.random(n_rows) < 1 / (1 + np.exp(-logit + 1.15))
    frame = pd.DataFrame(
        {
            "customer": [f"C-{70_001 + 3 * (k + 10_000 * later)}" for k in range(n_rows)],
            "row": np.arange(n_rows),
            "since": (pd.Timestamp("2020-01-01") + pd.to_timedelta(days, "D")).strftime("%d.%m.%Y"),
            "plan": plan,
            "visits": visits,
            "score": rng.normal(50, 10, n_rows).round(1),
            "spent": [f"{value:.2f}".replace(".", ",") for value in spent],
            "country": "CH",
            "left": np.where(left, "yes", "no"),
        }
    )
    frame.loc[rng.random(n_rows) < 0.05, "spent"] = np.nan
    frame.loc[rng.random(n_rows) < 0.03, "visits"] = np.nan
    frame["visits"] = frame["visits"].astype("Int64")
    frame.loc[rng.random(n_rows) < 0.02, "since"] = np.nan
    return frame


def write(folder: Path, n_rows: int = 2_000, n_new: int = 600) -> Path:
    """The two files."""
    path = folder / "customers.csv"
    table(n_rows).to_csv(path, index=False)
    table(n_new, seed=1, later=True).to_csv(folder / "new.csv", index=False)
    return path


if __name__ == "__main__":
    print(write(Path(sys.argv[1])))
