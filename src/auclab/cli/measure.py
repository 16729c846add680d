"""`auclab measure`: scores from anywhere, in a file with labels; metrics, intervals, tests, figures."""

from __future__ import annotations

import math
import re
from argparse import Namespace
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from io import BytesIO
from itertools import combinations
from pathlib import Path
from typing import Any

from markupsafe import Markup

from auclab._core.base import AuclabError
from auclab._core.files import replace_file
from auclab._core.words import did_you_mean, few, visible
from auclab.datasets.file import FileSettings, read_table
from auclab.datasets.target import Ranked, group_labels
from auclab.inference.measurement import Measurement
from auclab.inference.measurement import measure as measure_scores
from auclab.metrics.costs import scorer_hull
from auclab.runs.compare.costs import cost_words
from auclab.runs.report.writer import page_template
from auclab.runs.screen.console import print_row, print_table

_WRITTEN = ("sep", "decimal", "encoding")
#: Scorers of which every pair has a line on costs.
_MOST_CROSSED = 4
TABLES, FIGURES = (".md", ".csv", ".tex", ".html"), (".png", ".pdf", ".svg")


def measure(arguments: Namespace) -> int:
    """Measure, print, and write the requested files."""
    for option, name, endings in (("--out", arguments.out, TABLES), ("--plot", arguments.plot, FIGURES)):
        if name is not None and Path(name).suffix not in endings:
            raise AuclabError(f"{option} {name}: the name has to end in {', '.join(endings)}")
    with _options_of_measure():
        names = [name for given in arguments.score for name in given.split(",")]
        frame, ranked = _read(arguments, names)
    target = ranked.target
    if arguments.plot and not target.is_of_classes:
        raise AuclabError("--plot draws the ROC curves of two classes; leave out --time and --group")
    scores = {name: _scores(frame, name)[ranked.kept] for name in names}
    clusters = None if arguments.cluster is None else group_labels(frame[arguments.cluster])[ranked.kept]
    metrics = tuple(arguments.metric or ("auc", "bauc"))
    found = measure_scores(
        target.y,
        scores,
        metrics=metrics,
        event=target.event,
        groups=target.groups,
        clusters=clusters,
        level=arguments.level,
    )
    units = "" if found.units == "rows" else f" in {found.units}"
    rows = f"{found.n:,} of {arguments.file}{units}: {_in_words(found, ranked)}"
    calibration = {name: _calibration(check, found.level) for name, check in found.calibration.items()}
    bands = "; bands take rows as independent" if arguments.cluster else ""
    _row("rows", rows)
    for note in found.remarks():
        _row("note", note)
    table = found.to_text().drop(columns=["n", "events"])
    print_table(list(table.columns), table.to_numpy().tolist(), left=(0, 1))
    for name, words in calibration.items():
        _row("calibrated", f"{name}: {words}")
    crossed = names[:_MOST_CROSSED] if target.is_of_classes else []
    hulls = {name: scorer_hull(target.y, scores[name]) for name in crossed}
    costs = [cost_words(a, b, (hulls[a], hulls[b])) for a, b in combinations(crossed, 2)]
    for words in costs:
        _row("costs", words)
    if arguments.plot:
        _draw(found, ranked, scores).savefig(arguments.plot)
        _row("written", f"{arguments.plot}{bands}")
    if arguments.out:
        language = Path(arguments.out).suffix[1:]
        text = found.written(language)
        if language == "html":
            figure = _drawn_svg(_draw(found, ranked, scores)) if target.is_of_classes else ""
            text = page_template("measured.html.j2").render(
                title=f"Scores of {Path(arguments.file).name}",
                rows=rows,
                version=version("auclab"),
                table=Markup(text),
                notes=found.remarks(),
                calibration=calibration,
                costs=costs,
                figure=figure,
                scorers=", ".join(found.scorers),
                level=f"{found.level:.0%}",
                bands=bands,
            )
        with replace_file(Path(arguments.out)) as draft:
            draft.write_text(text, encoding="utf-8")
        _row("written", arguments.out)
    return 0


@contextmanager
def _options_of_measure() -> Iterator[None]:
    """Rephrase error messages: settings of a run become options of `auclab measure`."""
    try:
        yield
    except AuclabError as error:
        options = r"\bdataset\.(target|time|event|group|positive|sep|decimal|encoding)(=?)"
        raise AuclabError(re.sub(options, lambda m: f"--{m[1]}{' ' * bool(m[2])}", str(error))) from error


def _read(arguments: Namespace, names: list[str]) -> tuple[Any, Ranked]:
    """The table, and what its rows are ranked by."""
    path = Path(arguments.file)
    if not path.is_file():
        raise AuclabError(f"{path} does not exist; give a table with labels and a column for each scorer")
    if arguments.target is None and arguments.time is None:
        raise AuclabError("--target names the column of labels; with censored times give --time and --event")
    given = {key: getattr(arguments, key) for key in ("target", "group", "time", "event", "graded", *_WRITTEN)}
    nominal = () if arguments.cluster is None else (arguments.cluster,)
    settings = FileSettings.of({**given, "nominal": list(nominal)})
    roles, frame = settings.roles, read_table(path, settings).frame
    for name in (*roles.columns, *nominal, *names):
        if name not in frame:
            columns = [str(column) for column in frame]
            raise AuclabError(f"{path} has no column {name!r}{did_you_mean(name, columns)}; columns are {few(columns)}")
    return frame, roles.ranked(frame, arguments.positive or None, None)


def _scores(frame: Any, name: str) -> Any:
    """A column of scores."""
    if frame[name].dtype.kind not in "biuf":
        raise AuclabError(f"column {name!r} is not numbers; --score names columns of scores")
    if missing := int(frame[name].isna().sum()):
        raise AuclabError(f"column {name!r} has {missing} missing scores; leave those rows out of the file")
    return frame[name].to_numpy(float)


def _in_words(found: Measurement, ranked: Ranked) -> str:
    """What the rows are."""
    others, share = found.n - found.events, found.events / found.n
    if ranked.target.event is not None:
        return f"{found.events:,} events ({share:.1%}), {others:,} censored"
    if ranked.target.graded:
        return f"{len(set(ranked.target.y.tolist()))} grades"
    return f"{found.events:,} positive ({ranked.positive}, {share:.1%}), {others:,} negative"


def _calibration(check: Any, level: float) -> str:
    low, high = check.interval
    words = (
        f"mean probability {check.expected:.3f}, share of positives {check.observed:.3f} ({level:.0%} interval "
        f"{low:.3f} to {high:.3f}); Brier score {check.brier:.4f}"
    )
    if math.isfinite(check.slope):
        words += f"; logit slope {check.slope:.2f} ± {check.slope_error:.2f} (1 is right)"
    return words


def _draw(found: Measurement, ranked: Ranked, scores: dict[str, Any]) -> Any:
    """The ROC curves with bands that hold for the whole curve."""
    from auclab.displays import ROCBandDisplay

    ax: Any = None
    for number, (name, each) in enumerate(scores.items()):
        colour = {"color": f"C{number}"}
        display = ROCBandDisplay.from_predictions(
            ranked.target.y, each, ax=ax, name=name, pos_label=1, level=found.level, curve_kwargs=colour
        )
        ax = display.ax_
    return ax.get_figure(root=True)


def _drawn_svg(figure: Any) -> str:
    """The figure in base64, for an address that contains it."""
    with BytesIO() as file:
        figure.savefig(file, format="svg")
        return b64encode(file.getvalue()).decode()


def _row(word: str, text: str) -> None:
    print_row(word, visible(text), 12)
