"""Draw the picture of docs/blocks.md from docs/blocks_scale.csv.

python docs/blocks_figure.py
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import matplotlib.pyplot as plt

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
from save_figure import save_figure  # noqa: E402

#: Ways by their name and number of workers in the results file, and their words.
WAYS = {("memory", "0"): "in memory", ("bins", "0"): "bins, this process", ("bins", "2"): "bins, two Dask workers"}


def draw() -> Path:
    """Seconds against the number of rows, both on logarithmic axes."""
    with (HERE / "blocks_scale.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
    figure, axes = plt.subplots(figsize=(5.4, 3.6), dpi=130, layout="constrained")
    for (way, workers), name in WAYS.items():
        found = sorted((int(row["rows"]), float(row["seconds"])) for row in rows
                       if (row["way"], row["workers"]) == (way, workers))  # fmt: skip
        axes.plot(*zip(*found, strict=True), marker="o", label=name)
    axes.set(xscale="log", yscale="log", xlabel="rows × 10 columns", ylabel="seconds to a certified 1e-6")
    axes.grid(alpha=0.3)
    axes.legend(frameon=False)
    path = HERE / "blocks" / "scale.png"
    path.parent.mkdir(exist_ok=True)
    save_figure(figure, path)
    return path


if __name__ == "__main__":
    print(draw())
