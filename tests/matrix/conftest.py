"""A tiny table for every cell of the matrix, and a stored run of every scorer."""

import numpy as np
import pandas as pd
import pytest


@pytest.fixture(scope="session")
def place(tmp_path_factory):
    """A csv of two numbers, a nominal column, a shop and a day, with a class, a grade and a time that may be censored.

    The same rows are in ``blocks`` as parquet, and with a column of dates in ``dated.csv``.
    """
    folder = tmp_path_factory.mktemp("matrix")
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"a": rng.normal(size=60).round(3), "b": rng.normal(size=60).round(3)})
    table["c"] = rng.choice(["x", "y", "z"], 60)
    table["shop"], table["day"] = np.arange(60) % 12, np.arange(60)
    table["y"] = (table["a"] + 0.5 * (table["c"] == "x") + rng.normal(size=60) > 0.5).astype(int)
    signal = table["a"] + 0.5 * (table["c"] == "x") + 0.5 * rng.normal(size=60)
    table["grade"], table["died"] = np.digitize(signal, [-0.3, 0.6]), (rng.random(60) < 0.7).astype(int)
    table["days"] = np.exp(-signal).round(3)
    table.to_csv(folder / "rows.csv", index=False)
    since = pd.Timestamp("2023-01-31") + pd.to_timedelta(rng.integers(0, 700, 60), "D")
    since = pd.Series(since.strftime("%d.%m.%Y")).mask(rng.random(60) < 0.1)
    table.assign(since=since).to_csv(folder / "dated.csv", index=False)
    (folder / "blocks").mkdir()
    table.to_parquet(folder / "blocks" / "part.parquet", index=False)
    return folder
