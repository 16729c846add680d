"""`auclab frontier`: the least norm for several levels of bAUC, as a table, a csv file and a figure."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from hydra.core.override_parser.overrides_parser import OverridesParser
from rich.markup import escape
from rich.text import Text

from auclab.files import replace_file
from auclab.pipeline.config.checks import check_settings
from auclab.pipeline.config.compose import compose_experiment
from auclab.pipeline.config.typed_words import hydra_in_words, quoted_where_needed
from auclab.pipeline.screen.console import out
from auclab.pipeline.screen.tables import page, print_table
from auclab.types import AuclabError

if TYPE_CHECKING:
    from auclab.pipeline.split.frontier import DataFrontier

_FIGURES = (".png", ".pdf", ".svg")
#: Groups of settings that do not apply to a frontier, which has its own programs.
_UNUSED = (
    *("formulation", "solver", "kernel", "tune", "class_weight", "inner", "metrics", "bounds", "figures"),
    "decision",
)


def frontier(arguments: Namespace) -> int:
    """Trace, print, and write what was requested.

    `arguments`: of the command.
    """
    for name in arguments.out:
        if Path(name).suffix not in (".csv", *_FIGURES):
            raise AuclabError(f"--out {name}: the name has to end in one of .csv {' '.join(_FIGURES)}")
    settings = [*arguments.settings, *arguments.more_settings]
    for setting in settings:
        if setting.lstrip("+~").partition("=")[0].partition(".")[0] in _UNUSED:
            raise AuclabError(
                f"{setting}: a frontier minimises ‖w‖₁ subject to bAUC ≥ α with a solver of its own, and has no "
                f"{', '.join(_UNUSED[:-1])} or {_UNUSED[-1]}; leave the setting out"
            )
    quoted = quoted_where_needed(settings)
    with hydra_in_words(settings):
        for each in OverridesParser.create().parse_overrides(quoted):
            if each.is_sweep_override():
                raise AuclabError(
                    f"{each.input_line} has several values, and a frontier takes one; run it once for each"
                )
        experiment = compose_experiment(quoted)
    check_settings(experiment)
    from auclab.pipeline.split.frontier import trace_frontier  # with all solvers, once the settings are right

    found = trace_frontier(experiment, levels=arguments.levels, n_points=arguments.points)
    out.print(f"[cyan]frontier[/cyan] {escape(found.title)}", soft_wrap=True)
    _show_table(found)
    frontier = found.frontier
    out.print(
        f"[cyan]largest[/cyan]  bAUC {frontier.best_bauc:.6g} found, at most {frontier.best_bauc_bound:.6g} for any "
        f"linear scorer (proved) · {frontier.seconds:.2f} s",
        soft_wrap=True,
    )
    for name in arguments.out:
        _save(found, Path(name))
        out.print(f"[cyan]written[/cyan]  {escape(name)}", soft_wrap=True)
    return 0


def _show_table(found: DataFrontier) -> None:
    held_out = "test_auc" in found.table
    head = ["bAUC ≥", "least ‖w‖₁", "gap", "bAUC", "features", *(["test AUC", "test bAUC"] if held_out else [])]
    lines = []
    for row in found.table.to_dict("records"):
        cells = [f"{row['at_least']:.4f}", f"{row['norm']:.5g}", f"{row['gap']:.0e}", f"{row['bauc']:.4f}"]
        cells += [str(row["features_used"])]
        lines.append([*cells, *([f"{row['test_auc']:.4f}", f"{row['test_bauc']:.4f}"] if held_out else [])])
    print_table(head, lines, left=(), wrapped=())
    words = (
        "bAUC ≥: the level · least ‖w‖₁: the smallest Σ|w_k| that reaches it on the training part · gap: its largest "
        "distance from the minimum, relative, proved · bAUC: what is reached · features: how many w_k are not 0"
    )
    page.print(Text(words, style="dim"), soft_wrap=not page.is_terminal)


def _save(found: DataFrontier, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".csv":
        with replace_file(path) as draft:
            found.table.to_csv(draft, index=False)
        return
    from auclab.displays.frontier import draw_frontier

    table = found.table
    figure = draw_frontier(
        table["at_least"].tolist(), table["norm"].tolist(), baucs=table["bauc"].tolist(),
        features=table["features_used"].tolist(), best=found.frontier.best_bauc,
    )  # fmt: skip
    with replace_file(path) as draft:
        figure.savefig(draft, format=path.suffix[1:])
