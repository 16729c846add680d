"""Collects the contents of the page, renders the template and writes one file."""

from __future__ import annotations

import hashlib
import json
import math
import shlex
from base64 import b64encode
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pandas as pd
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from auclab._core.base import AuclabError
from auclab._core.files import replace_file
from auclab.datasets.target import names_of
from auclab.runs.compare.cells import measured, no_metric
from auclab.runs.report.comparisons import (
    compare_sheet,
    draw_kernels,
    kernel_lines,
    read_cards,
    run_cards,
    scorer_effects,
)
from auclab.runs.report.curves import ranked_curves, short, split_curves
from auclab.runs.report.lines import run_lines, settings_that_differ
from auclab.runs.report.paths import bound_lines, find_paths, read_bounds, tuning_paths

#: Largest size of all curves, in bytes; the rest of a page of 500 runs takes a megabyte.
MOST_CURVES = 3_200_000

#: Metrics compared by default.
METRICS = ("test/auc", "test/bauc")

#: Line styles and colours of figures that compare runs.
MOST_SELECTED = 6

#: Characters of JSON that are escaped inside an HTML element.
_IN_SCRIPT = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&\u2028\u2029"}

SCRIPTS = ("table.js", "figure.js", "curves.js", "surface.js", "selected.js", "costs.js", "main.js")


def write_report(
    runs: pd.DataFrame,
    path: str | Path,
    *,
    store_dir: str | Path = "mlruns",
    metrics: Sequence[str] | None = None,
    title: str = "Runs of auclab",
    selection: str = "",
) -> Path:
    """Write the report of some runs as one self-contained HTML file.

    Parameters
    ----------
    runs : DataFrame
        As returned by `auclab.runs.read_runs` with ``status=None``; unfinished runs are listed but not compared.
    path : path
        Output file; overwritten if it exists.
    store_dir : path
        Store that contains the runs.
    metrics : sequence of str, optional
        Metrics to compare, such as ``test/auc``; by default AUC and bAUC of the held-out part, or of the training part.
    title : str
        Heading of the page.
    selection : str
        Options with which `auclab compare` selects the same runs.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    AuclabError
        No finished run, a metric that no run has, or a store that cannot be read.

    See Also
    --------
    auclab.runs.read_runs : Reads the runs.
    auclab.runs.compare_runs : The comparison in it.

    Examples
    --------
    >>> from auclab.runs import read_runs
    >>> from auclab._core.base import AuclabError
    >>> try:
    ...     write_report(read_runs("/nowhere", status=None), "report.html")
    ... except AuclabError as error:
    ...     print(error)
    no runs are kept in /nowhere; start one with auclab run, or name the right folder
    """
    finished = runs[runs["run_status"] == "FINISHED"]
    if finished.empty:
        raise AuclabError("no run has finished, so there is nothing to report; auclab runs lists all runs")
    metrics = _metrics(finished, metrics)
    store = str(store_dir)
    lines = run_lines(runs, metrics, store=store)
    numbers = {line["run_id"]: line["number"] for line in lines}
    unfinished = len(lines) - finished["run_id"].nunique()
    notes = [f"runs that did not finish and are not compared: {unfinished}"] if unfinished else []
    curves, left_out = _curves(finished, numbers)
    ranked = _ranked(finished, lines)
    bounds = read_bounds(Path(folder) for folder in finished["fold_folder"])
    kernels = kernel_lines(finished, numbers)
    paths = [*find_paths(finished, ["objective", *metrics]), *tuning_paths(finished)]
    data = {
        "runs": {
            number: {"name": line["name"], "curves": curves[number]}
            for number, line in enumerate(lines)
            if number in curves
        },
        "settings": settings_that_differ(finished, numbers),
        "selected": _first_selection(lines, curves),
        "ranked": ranked,
        "most": MOST_SELECTED,
        "bounds": _bound_points(bounds),
        "paths": paths,
    }
    text = page_template("report.html.j2").render(
        title=title,
        made=datetime.now(UTC),
        version=version("auclab"),
        store=store,
        metrics=metrics,
        sheets=[compare_sheet(finished, metric, numbers, notes) for metric in metrics],
        compare=[
            "auclab compare",
            f"--store {shlex.quote(store)}" if store != "mlruns" else "",
            selection,
        ],
        lines=lines,
        has_curves=set(curves),
        has_ranked=bool(ranked),
        most_selected=MOST_SELECTED,
        left_out=left_out,
        bound_lines=bound_lines(bounds),
        paths=paths,
        kernels=kernels,
        kernel_figure=draw_kernels(kernels),
        scorers=scorer_effects(finished),
        scorecards=run_cards(finished),
        cards=read_cards(store_dir, runs),
        data=_json(data),
    )
    page = Path(path)
    page.parent.mkdir(parents=True, exist_ok=True)
    with replace_file(page) as draft:  # no reader opens a half
        draft.write_text(text, encoding="utf-8")
    return page


def _metrics(runs: pd.DataFrame, requested: Sequence[str] | None) -> list[str]:
    available = [str(name) for name in runs.select_dtypes("number") if runs[name].notna().any()]
    if requested:
        if unknown := [name for name in requested if name not in available]:
            raise AuclabError(no_metric(unknown[0], measured(runs[available])))
        return list(dict.fromkeys(requested))
    test = [each for name in METRICS for each in names_of(name)]
    train = [name.replace("test/", "train/") for name in test]
    return next(
        ([name for name in names if name in available] for names in (test, train) if set(names) & set(available)),
        ["objective"],
    )


def _curves(runs: pd.DataFrame, numbers: Mapping[str, int]) -> tuple[dict[int, list[dict[str, Any]]], int]:
    """Curves of the splits by number of the run, up to the size limit, and the number of splits left out.

    Every run's first split comes before any run's second.
    """
    turn = runs.groupby("run_id").cumcount()
    found: dict[int, list[dict[str, Any]]] = {}
    carried = without = 0
    for row in runs.assign(_turn=turn).sort_values("_turn", kind="stable").to_dict("records"):
        curves = split_curves(Path(row["fold_folder"])) if carried < MOST_CURVES else None
        if curves is None:
            without += 1
            continue
        carried += len(_json(curves))
        found.setdefault(numbers[row["run_id"]], []).append(curves | {"split": row["fold"]})
    return found, without


def _ranked(runs: pd.DataFrame, lines: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The last few runs over groups, grades or times, each with the concordance of its splits."""
    names, found = {line["run_id"]: line["name"] for line in lines}, list[dict[str, Any]]()
    for run_id, of_run in list(runs.groupby("run_id", sort=False))[::-1]:
        curves = [ranked_curves(Path(folder)) for folder in of_run["fold_folder"]]
        if found_here := [each for each in curves if each is not None]:
            found.append({"name": names[str(run_id)], "curves": found_here})
        if len(found) == MOST_SELECTED:
            break
    return found


def _first_selection(lines: Sequence[Mapping[str, Any]], curves: Mapping[int, Any]) -> list[int]:
    """On the data set with the most configurations, the last run of the first few of them."""
    newest: dict[str, dict[str, int]] = {}
    for line in lines:
        if line["number"] in curves:
            newest.setdefault(line["dataset"], {})[line["name"].partition(" · ")[0]] = line["number"]
    return list(max(newest.values(), key=len, default={}).values())[: MOST_SELECTED // 2]


def _bound_points(bounds: pd.DataFrame) -> dict[str, list[list[float]]]:
    """Held-out value and lower end by name of the bound, without points that would coincide in the figure."""
    points: dict[str, dict[tuple[float, ...], None]] = {}
    for name, quantity, test_value, lower in bounds[["name", "quantity", "test_value", "lower"]].to_numpy().tolist():
        points.setdefault(f"{name} ({quantity})", {})[tuple(short([test_value, lower], 3))] = None
    return {name: [list(point) for point in found] for name, found in points.items()}


def _json(data: Any) -> Markup:
    """JSON that cannot close its HTML element, nor open a comment or another element."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return Markup(text.translate(_IN_SCRIPT))


def page_template(name: str) -> Any:
    """A template of ``page/`` with the style and the script of all pages, which need no other file."""
    loader = PackageLoader("auclab.runs.report", "page")
    environment = Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.globals["style"] = Markup(_read(loader, environment, "report.css"))
    script = "\n".join(['"use strict";', *(_read(loader, environment, name) for name in SCRIPTS)])
    environment.globals["script"] = Markup(script)
    # The browser runs no other script, should one get into the page despite the escapes.
    digest = b64encode(hashlib.sha256(script.encode()).digest()).decode()
    environment.globals["script_source"] = f"'sha256-{digest}'"
    environment.filters["or_dash"] = lambda value, form: "—" if math.isnan(value) else format(value, form)
    environment.filters["counted"] = lambda count, noun: f"{count} {noun}" if count == 1 else f"{count} {noun}s"
    environment.filters["sortable"] = lambda value: "" if value is None or math.isnan(value) else repr(float(value))
    return environment.get_template(name)


def _read(loader: PackageLoader, environment: Environment, name: str) -> str:
    # A browser hashes a script with these line endings, whatever those of the file.
    return loader.get_source(environment, name)[0].replace("\r\n", "\n")
