"""The tables of docs/required_bauc.md: a frontier, levels for groups, and seconds beside one solve.

    python benchmarks/frontier.py [--rounds 3]     # measure, docs/required_bauc/measured.csv
    python benchmarks/frontier.py --page           # the tables of the page, from that file

The frontier is that of ionosphere, standardised, all rows; groups are the applicants of german_credit under 26 and the
others. Seconds are processor seconds of ten levels and of one `auclab.solve("bauc", …)` in the same process, one
thread; the frontier's own solve, which finds the largest bAUC, is part of it.
"""

from __future__ import annotations

import argparse
import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1"))

from collections.abc import Iterator
from time import process_time
from typing import Any

import measured
import numpy as np

import auclab
from auclab.datasets import load
from auclab.datasets.preprocess import standard
from auclab.solvers.guaranteed import frontier, least_norm, with_groups
from auclab.types import AuclabError

PAGE = measured.ROOT / "docs" / "required_bauc.md"
RESULTS = PAGE.with_suffix("") / "measured.csv"
COMMAND, PAGE_COMMAND = "python benchmarks/frontier.py", "benchmarks/frontier.py --page"
FIELDS = ("part", "name", "level", "norm", "bauc", "features", "value", "young", "old", "multiplier", "gap", "solve",
          "seconds", "masters")  # fmt: skip
YOUNG, OLD = "under 26", "26 and older"
ASKED: dict[str, dict[str, Any]] = {
    "`max_difference=0.15`": {"max_difference": 0.15},
    '`at_least={"under 26": 0.6}`': {"at_least": {YOUNG: 0.6}},
    '`at_least={"under 26": 0.65}`': {"at_least": {YOUNG: 0.65}},
    "`at_least=0.6`": {"at_least": 0.6},
}
#: A level that ionosphere does not reach.
IMPOSSIBLE = 0.96
#: Positions in the list of levels that the page shows.
SHOWN = (0, 3, 5, 7, 8, 9)


def prepared(name: str) -> tuple[np.ndarray, np.ndarray, Any]:
    """Columns, standardised and one-hot, labels, and the table as it is."""
    data = load(name)
    return np.asarray(standard(data).fit_transform(data.frame), dtype=float), data.y, data.frame


def artificial(n_per_class: int) -> tuple[np.ndarray, np.ndarray]:
    """Two normal clouds in ten columns."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], n_per_class)
    return rng.normal(size=(2 * n_per_class, 10)) + 0.4 * y[:, None] * rng.normal(size=10), y


def levels() -> Iterator[dict[str, Any]]:
    """The frontier of ionosphere."""
    X, y, _ = prepared("ionosphere")
    for point in frontier(X, y, n_points=10).points:
        yield {"part": "levels", "name": "ionosphere", "level": point.at_least, "norm": point.norm, "bauc": point.bauc,
               "features": point.n_used, "multiplier": point.multiplier, "gap": point.gap}  # fmt: skip
    try:
        least_norm(X, y, IMPOSSIBLE)
    except AuclabError as error:
        yield {"part": "impossible", "name": str(error), "level": IMPOSSIBLE}


def groups() -> Iterator[dict[str, Any]]:
    """What is asked for the groups, and what they have."""
    X, y, frame = prepared("german_credit")
    age = next(column for column in frame.columns if "age" in column)
    of = np.where(frame[age].to_numpy(dtype=float) < 26, YOUNG, OLD)
    best = auclab.solve("bauc", X, y)
    scores = best.decision_function(X)
    young, old = (auclab.metrics.bauc_score(y[of == name], scores[of == name]) for name in (YOUNG, OLD))
    yield {"part": "groups", "name": "nothing (largest bAUC)", "value": 1 - best.objective, "young": young, "old": old}
    for asked, limits in ASKED.items():
        try:
            found = with_groups(X, y, of, **limits)
        except AuclabError as error:
            yield {"part": "groups", "name": f"{asked}: {error}"}
            continue
        young_part, old_part = (found.groups[name] for name in (YOUNG, OLD))
        yield {"part": "groups", "name": asked, "value": 1 - found.objective, "young": young_part.bauc,
               "old": old_part.bauc, "multiplier": young_part.multiplier, "gap": found.gap}  # fmt: skip
    for name in (YOUNG, OLD):
        alone = auclab.solve("bauc", X[of == name], y[of == name])
        yield {"part": "alone", "name": name, "bauc": 1 - alone.lower_bound, "gap": alone.gap}


def seconds(rounds: int) -> Iterator[dict[str, Any]]:
    """One solve and ten levels, in turn."""
    X, y, _ = prepared("ionosphere")
    named = {"ionosphere": (X, y), "artificial 1000 + 1000 × 10": artificial(1000),
             "artificial 10⁴ + 10⁴ × 10": artificial(10_000)}  # fmt: skip
    for name, (X, y) in named.items():
        frontier(X, y, n_points=2)  # compiled, and files read
        for _ in range(rounds):
            begin = process_time()
            auclab.solve("bauc", X, y)
            middle = process_time()
            found = frontier(X, y)
            end = process_time()
            yield {"part": "seconds", "name": name, "solve": middle - begin, "seconds": end - middle,
                   "gap": max(point.gap for point in found.points),
                   "masters": sum(point.iterations for point in found.points)}  # fmt: skip


def tables(rows: list[measured.Row]) -> dict[str, str]:
    """The tables of the page by name."""
    of = {part: [row for row in rows if row["part"] == part] for part in ("levels", "groups", "seconds")}
    shown = [of["levels"][k] for k in SHOWN]
    first = [
        [f"{float(r['level']):.4f}", f"{float(r['norm']):.4g}", f"{float(r['bauc']):.3f}", r["features"]] for r in shown
    ]
    second = [
        [r["name"], *(f"{float(r[key]):.{digits}f}" for key, digits in (("value", 4), ("young", 3), ("old", 3)))]
        if r["value"]
        else [
            r["name"].partition(": ")[0],
            f"impossible: {r['name'].rpartition(': ')[2].partition(' (')[0]} (proved)",
            "",
            "",
        ]
        for r in of["groups"]
    ]
    third = []
    for name in dict.fromkeys(r["name"] for r in of["seconds"]):
        found = [r for r in of["seconds"] if r["name"] == name]
        ratios = sorted(float(r["seconds"]) / float(r["solve"]) for r in found)
        least = [f"{measured.significant(min(float(r[key]) for r in found))} s" for key in ("solve", "seconds")]
        third.append([name, *least, f"{measured.significant(ratios[0])} to {measured.significant(ratios[-1])}"])
    return {
        "levels": measured.table(["bAUC ≥", "least ‖w‖₁", "bAUC of the scores", "features"], first),
        "groups": measured.table(["required", "1 − h", "bAUC under 26", "bAUC 26 and older"], second),
        "seconds": measured.table(["data", "one solve", "ten levels", "ratio"], third),
    }


def sentences(rows: list[measured.Row]) -> list[str]:
    """What the text of the page says about these numbers."""
    of = {part: [row for row in rows if row["part"] == part] for part in dict.fromkeys(row["part"] for row in rows)}
    few, some, last_but_one, last = (of["levels"][k] for k in (3, 7, 8, 9))
    columns = int(last["features"]) - int(last_but_one["features"])
    longer = {8: "eight", 9: "nine"}.get(round(float(last["norm"]) / float(last_but_one["norm"])), "many")
    free, first, third = (of["groups"][k] for k in (0, 1, 2))
    gained = [float(row["young"]) - float(free["young"]) for row in (first, third)]
    cost = [float(free["value"]) - float(row["value"]) for row in (first, third)]
    alone = {row["name"]: float(row["bauc"]) for row in of["alone"]}
    masters = round(int(next(row["masters"] for row in of["seconds"] if row["name"] == "ionosphere")), -1)
    gap = max(float(row["gap"]) for row in of["seconds"] + of["groups"] if row["gap"])
    return [
        f"{few['features']} standardised columns reach a bAUC of {float(few['level']):.2f} and {some['features']} "
        f"columns reach {float(some['level']):.2f}. The last tenth needs {columns} more columns and {longer} times "
        "the norm",
        f"The first gain of {gained[0]:.3f} for the young costs {cost[0]:.3f} overall; "
        f"a gain of {gained[1]:.2f} costs {cost[1]:.3f}",
        f'`found.groups["under 26"].multiplier`, {float(third["multiplier"]):.2f} in the third row',
        f"(No scorer has a bAUC above {alone[YOUNG]:.3f} for the young, or above {alone[OLD]:.3f} for the others.)",
        f"the frontier of ionosphere takes {masters} master programs",
        f"gaps up to {measured.power(gap)}",
        of["impossible"][0]["name"].partition("(proved)")[0],
    ]


def fill_pages() -> None:
    """Write the tables into the page."""
    measured.fill(PAGE, PAGE_COMMAND, tables(measured.read(RESULTS)))


def main() -> None:
    """Measure, or write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--page", action="store_true", help="write the tables of the page")
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    if arguments.page:
        fill_pages()
        return
    with measured.writer(RESULTS, COMMAND, FIELDS) as keep:
        for row in (*levels(), *groups(), *seconds(arguments.rounds)):
            keep(row)


if __name__ == "__main__":
    main()
