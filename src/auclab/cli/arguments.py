"""The arguments of every command, one function per command, and shared ones."""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from typing import Any

from auclab import __version__
from auclab.cli.help_pages import Parser

Arguments = Callable[[argparse.ArgumentParser], None]


class RenamedOption(UserWarning):
    """Warning for an option typed with its name of an earlier version."""


class _Out(argparse.Action):
    """``--out FILE``; names of earlier versions still work, with a warning."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option_string: str | None = None) -> None:
        """Store the file, or append it."""
        if option_string not in (None, "--out"):
            warnings.warn(f"{option_string} is now --out; both work in 0.3", RenamedOption, stacklevel=2)
        before = getattr(namespace, self.dest)
        setattr(namespace, self.dest, [*before, values] if isinstance(before, list) else values)


class _Numbers(argparse.Action):
    """Numbers after an option; an argument with ``=`` among them is a setting."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option_string: str | None = None) -> None:
        """Store the numbers, and add the settings to the other ones."""
        is_setting = ["=" in word for word in values]
        try:
            numbers = [float(word) for word, other in zip(values, is_setting, strict=True) if not other]
        except ValueError:
            raise argparse.ArgumentError(self, f"numbers are needed, got {' '.join(values)}") from None
        setattr(namespace, self.dest, numbers)
        namespace.more_settings = [word for word, other in zip(values, is_setting, strict=True) if other]


def _add_store(parser: Any) -> None:
    what = "what tracking.dir or tracking.uri was (default: mlruns)"
    parser.add_argument("--store", default="mlruns", metavar="DIR", help=what)


def _add_written(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--sep", default=None, help="of a csv file: a sign, or comma, semicolon, tab (default: found)")
    add("--decimal", default=None, help="of a csv file: . or , (default: found)")
    add("--encoding", default=None, help="of a csv file: utf-8, latin-1, … (default: found)")


def _add_allow(parser: Any) -> None:
    trust = "trust what a run names: a class (my.module.Class), an address (s3://bucket, tcp://host:8786), openml:ID"
    parser.add_argument("--allow", action="append", default=[], metavar="NAME", help=f"{trust}; repeatable")


def _add_run(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run", metavar="RUN", help="its id, the first letters of its id, its name, or: last")
    _add_store(parser)
    _add_allow(parser)


def _add_model(parser: argparse.ArgumentParser) -> None:
    what = "a run (id, its first letters, name, last), a folder, or models:/NAME/VERSION, models:/NAME@ALIAS"
    parser.add_argument("run", metavar="MODEL", help=what)
    parser.add_argument("--split", type=int, default=None, metavar="N", help="of a run with several splits, from 0")


def _add_selection(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("which runs")
    _add_store(group)
    group.add_argument("--experiment", action="append", default=None, metavar="NAME", help="repeatable (default: all)")
    group.add_argument("--sweep", default=None, metavar="ID", help="the jobs of one sweep: its id, or: last (started)")
    conditions = "runs whose setting, tag.NAME or fact has one of the values; repeatable"
    add = group.add_argument
    add("--where", nargs="+", action="extend", default=[], metavar="KEY=VALUE,…", help=conditions)
    group.add_argument("--filter", default="", metavar="TEXT", help="MLflow's search language")
    _add_allow(group)


def _add_table(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("table").add_argument
    add("--metric", default="auc", help="a number of the runs, such as bauc, train/auc, seconds/solve (default: auc)")
    add("--rows", type=_keys, default=None, metavar="KEY,…", help="settings that make the rows (default: dataset …)")
    add("--columns", type=_keys, default=None, metavar="KEY,…", help="… the columns (default: formulation …)")
    tests = ("corrected-t", "t", "wilcoxon")
    add("--test", choices=tests, default="corrected-t", help="paired test (default: corrected-t)")
    add("--level", type=float, default=0.05, metavar="ALPHA", help="level of all tests (default: 0.05)")
    better = "the better end of the metric (default: that of the metric)"
    add("--better", choices=("high", "low"), default=None, help=better)


def _keys(text: str) -> list[str]:
    return [key.strip() for key in text.split(",") if key.strip()]


def _runs(parser: argparse.ArgumentParser) -> None:
    _add_selection(parser)
    shown = "number to show (default: auc, of the held-out part if there is one)"
    parser.add_argument("--metric", default="auc", help=shown)
    parser.add_argument("--status", default=None, help="FINISHED, FAILED, KILLED or RUNNING (default: all)")
    parser.add_argument("--last", type=int, default=None, metavar="N", help="the newest N only")


def _show(parser: argparse.ArgumentParser) -> None:
    _add_run(parser)
    parser.add_argument("--bounds", action="store_true", help="all bounds, and what they assume")


def _inspect(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="a csv, tsv or parquet file with a header")
    parser.add_argument("--target", default=None, metavar="COLUMN", help="the column with the labels (default: found)")
    parser.add_argument("--positive", default=None, metavar="LABEL", help="its positive label (default: found)")


def _compare(parser: argparse.ArgumentParser) -> None:
    _add_selection(parser)
    _add_table(parser)
    add = parser.add_argument_group("output").add_argument
    formats = ("screen", "csv", "markdown", "latex")
    add("--format", choices=formats, default="screen", help="what is printed (default: screen)")
    save = (
        "also write the table (.csv .md .tex), every metric with a line per value (.parquet), or the "
        "critical-difference diagram (.png .pdf .svg); repeatable"
    )
    add("--out", "--save", dest="out", action=_Out, default=[], metavar="FILE", help=save)
    add("--values", default=None, metavar="FILE.csv", help="also write every value, a line per pair")
    pairs = "also test every two columns over rows: Wilcoxon with Holm's correction, Bayesian signed ranks"
    add("--pairs", nargs="?", const="", default=None, metavar="FILE.csv", help=pairs)
    add("--rope", type=float, default=0.01, help="differences of means within ±ROPE count as equal (default: 0.01)")


def _best(parser: argparse.ArgumentParser) -> None:
    _add_selection(parser)
    _add_table(parser)
    add = parser.add_argument_group("model").add_argument
    add("--refit", action="store_true", help="fit the best configuration to all rows, as a run of its own")
    add("--register", default=None, metavar="NAME", help="with --refit: also register the model under this name")


def _rerun(parser: argparse.ArgumentParser) -> None:
    _add_run(parser)
    parser.add_argument("settings", nargs="*", metavar="SETTING", help="make a new run with these settings")
    tolerance = "differences up to this count as the same, relative above 1 (default: 1e-9, the last digits of threads)"
    parser.add_argument("--tolerance", type=float, default=1e-9, help=tolerance)


def _check(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run", metavar="RUN", help="its id, the first letters of its id, its name, last, or its folder")
    _add_store(parser)
    trust = "a name that the stored configuration may have besides those of conf/; repeatable"
    parser.add_argument("--allow", action="append", default=[], metavar="NAME", help=trust)


def _report(parser: argparse.ArgumentParser) -> None:
    _add_selection(parser)
    add = parser.add_argument_group("page").add_argument
    page = "the page; replaced if it is there (report.html)"
    add("--out", "--output", dest="out", action=_Out, default="report.html", metavar="FILE", help=page)
    add("--metric", action="append", default=None, help="compared; repeatable (default: test/auc and test/bauc)")
    add("--title", default="Runs of auclab", help="heading of the page")


def _predict(parser: argparse.ArgumentParser) -> None:
    _add_model(parser)
    parser.add_argument("rows", metavar="ROWS", help="a csv, tsv, parquet or svmlight file")
    add = parser.add_argument
    add("--out", default=None, metavar="FILE", help="a .csv or .parquet file (default: csv on standard output)")
    keep = "a column of the file that the result starts with; repeatable (default: the number of the row)"
    add("--id", action="append", default=[], metavar="COLUMN", help=keep)
    only = ("all", "score", "probability", "label")
    add("--only", choices=only, default="all", help="one of the columns alone (default: all)")
    _add_written(parser)
    _add_store(parser)
    _add_allow(parser)


def _evaluate(parser: argparse.ArgumentParser) -> None:
    which = "one or two: a run (id, its first letters, name, last), a folder, models:/NAME/VERSION, models:/NAME@ALIAS"
    parser.add_argument("runs", metavar="MODEL", nargs="+", help=which)
    parser.add_argument("rows", metavar="ROWS", help="a csv, tsv or parquet file with labels")
    add = parser.add_argument
    add("--target", default=None, metavar="COLUMN", help="the column with the labels (default: as in training)")
    label = "a positive label; repeatable (default: as in training)"
    add("--positive", action="append", default=[], metavar="LABEL", help=label)
    add("--metric", action="append", default=[], metavar="NAME", help="repeatable (default: auc and bauc)")
    add("--level", type=float, default=0.95, metavar="LEVEL", help="of intervals and tests (default: 0.95)")
    add("--out", default=None, metavar="FILE.json", help="also write every number")
    add("--split", type=int, default=None, metavar="N", help="of a run with several splits, from 0")
    _add_written(parser)
    _add_store(parser)
    _add_allow(parser)


def _export(parser: argparse.ArgumentParser) -> None:
    _add_model(parser)
    parser.add_argument("--to", choices=("json", "sql", "onnx"), required=True, help="the language")
    out = "the file (default: standard output; of onnx: scorer.onnx)"
    parser.add_argument("--out", default=None, metavar="FILE", help=out)
    _add_store(parser)
    _add_allow(parser)


def _frontier(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("settings", nargs="*", metavar="SETTING", help="as of auclab run: dataset=ionosphere …")
    parser.set_defaults(more_settings=[])
    add = parser.add_argument
    few = "number of equally spaced levels, up to 99.9 %% of the largest bAUC (default: 10)"
    add("--points", type=int, default=10, metavar="N", help=few)
    add("--levels", action=_Numbers, nargs="+", default=None, metavar="LEVEL", help="these levels, 0 to 1, instead")
    save = "also write the table (.csv, with all coefficients) or the figure (.png .pdf .svg); repeatable"
    add("--out", "--save", dest="out", action=_Out, default=[], metavar="FILE", help=save)


def _ui(parser: argparse.ArgumentParser) -> None:
    _add_store(parser)
    parser.add_argument("--port", type=int, default=5000, help="the next free one from here on (default: 5000)")


#: What a command does, in a line, its arguments, and the module of the function of its name, unless it is `commands`.
_COMMANDS: dict[str, tuple[str, Arguments, *tuple[str, ...]]] = {
    "run": ("run one experiment, or a sweep with -m: auclab run --help", lambda parser: None),
    "runs": ("list runs, oldest first", _runs),
    "show": ("one run: settings, numbers, certificate, files; of a sweep, its runs", _show),
    "inspect": ("what is in a table of your own", _inspect, "inspect"),
    "figures": ("draw ROC, ranking errors and scores of one run", _add_run),
    "compare": ("runs side by side, tested", _compare),
    "best": ("which configuration is best, and its model", _best),
    "rerun": ("run a stored configuration again and compare", _rerun),
    "check": ("prove the certificate of a run again", _check),
    "report": ("one page of HTML on runs", _report),
    "predict": ("score new rows with a model", _predict, "models"),
    "evaluate": ("measure a model on new labelled rows", _evaluate, "evaluate"),
    "export": ("write a model as json, sql or onnx", _export, "models"),
    "frontier": ("the least norm for a guaranteed bAUC", _frontier, "frontier"),
    "doctor": ("what of the installation works", _add_store, "doctor"),
    "ui": ("MLflow's page on the store", _ui, "ui"),
}


def all_commands() -> Parser:
    """The parser of the command `auclab`, with those of its commands."""
    parser = Parser("auclab", page="auclab")
    parser.add_argument("--version", action="version", version=f"auclab {__version__}")
    parser.set_defaults(command=None)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    for name, (line, arguments, *module) in _COMMANDS.items():
        own = commands.add_parser(name, help=line, page=name, line=line)
        own.set_defaults(command=name, module=[*module, "commands"][0])
        arguments(own)
    return parser
