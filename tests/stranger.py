"""A table as it comes from somebody's office: categories, gaps, dates, an identifier, names, a target of three values.

``python tests/stranger.py FOLDER`` writes ``customers.csv`` (5,000 rows), and ``new_customers.csv`` with 200 more rows
of the same kind, without the target, with a category that the first file does not have.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pandas as pd

TARGET = "outcome"
#: The values of the target: 23 % are positive where "default" is.
VALUES = ("paid", "late", "default")
POSITIVE = "default"
#: Columns that no scorer should see as they are: all values distinct, all but distinct, a date.
IDENTIFIER, NAMES, DATE = "customer_id", "name", "signup_date"

_REGIONS = ("Nord", "Süd", "Ost", "West", "Île-de-France", "Łódź", "Åland", "São Paulo")
_PLANS = ("basic", "plus, yearly", "plus, monthly", "trial")
_FIRST = ("Zoë", "José", "Anna", "Björn", "Søren", "Wei", "Olga", "Marta", "Ángel", "Yusuf", "Ivana", "Thảo")
_LAST = ("Müller", "O'Neill", "García", "Smith", "Nguyễn", "Ødegård", "Кузнецова", "李", "Dvořák", "Şahin")


def table(n_rows: int = 5_000, seed: int = 0) -> pd.DataFrame:
    """The table; equal for equal arguments, and its first rows do not depend on the number of rows.

    A linear scorer that leaves out identifier and names ranks about 0.7 of the pairs rightly; the rest is noise.
    """
    rows = [_row(np.random.default_rng([seed, number]), number) for number in range(n_rows)]
    frame = pd.DataFrame(rows)
    assert list(frame) == [*FEATURES, TARGET]
    return frame


#: The columns before the target, as they are in the file; one has a comma in its name.
FEATURES = (
    *(IDENTIFIER, NAMES, "age", "income (€, year)", "visits", "region", "plan", "city", "newsletter", DATE),
)  # fmt: skip


def _row(rng: np.random.Generator, number: int) -> dict[str, object]:
    region, plan = rng.choice(8, p=_falling(8)), rng.choice(4, p=_falling(4))
    age, visits = rng.normal(44.0, 13.0), rng.poisson(3.0)
    income = np.exp(rng.normal(10.4, 0.5))
    day = int(rng.integers(0, 1_826))
    city = rng.choice(150, p=_falling(150))
    newsletter = rng.random() < 0.4
    risk = (
        0.03 * (44.0 - age) - 0.9 * (np.log(income) - 10.4) + 0.15 * (visits - 3) + 0.35 * (region % 3 - 1)
        + 0.4 * (plan == 3) - 0.3 * newsletter + 0.5 * (day / 1_826 - 0.5) + rng.logistic(0.0, 0.75)
    )  # fmt: skip
    gaps = rng.random(3)
    return {
        IDENTIFIER: f"K-{70_001 + 7 * number:06d}",
        NAMES: f"{_LAST[rng.integers(10)]}, {_FIRST[rng.integers(12)]} {rng.integers(1_000):03d}",
        "age": None if gaps[0] < 0.06 else round(float(np.clip(age, 18, 95))),
        "income (€, year)": None if gaps[1] < 0.12 else round(float(income), 2),
        "visits": int(visits),
        "region": None if gaps[2] < 0.04 else _REGIONS[region],
        "plan": _PLANS[plan],
        "city": f"Ort {city:03d}",
        "newsletter": "yes" if newsletter else "no",
        DATE: (np.datetime64("2019-01-01") + day).item().isoformat(),
        TARGET: VALUES[0] if risk < 0.3 else VALUES[1] if risk < 1.1 else VALUES[2],
    }


def _falling(n: int) -> np.ndarray:
    """Probabilities of categories, the first the most frequent."""
    weights = 1.0 / np.arange(1, n + 1)
    return weights / weights.sum()


def write_csv(folder: Path, n_rows: int = 5_000, seed: int = 0) -> Path:
    """The table as ``customers.csv``: commas, UTF-8, empty fields where values are missing."""
    path = folder / "customers.csv"
    table(n_rows, seed).to_csv(path, index=False, encoding="utf-8")
    return path


def write_new_csv(folder: Path, n_rows: int = 200, seed: int = 1) -> Path:
    """Rows of the same kind as ``new_customers.csv``: no target, and one region that was not there before."""
    path = folder / "new_customers.csv"
    frame = table(n_rows, seed).drop(columns=TARGET)
    frame.loc[frame.index[::50], "region"] = "Реюньон"
    frame.to_csv(path, index=False, encoding="utf-8")
    return path


if __name__ == "__main__":
    place = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    place.mkdir(parents=True, exist_ok=True)
    print(write_csv(place), write_new_csv(place))
