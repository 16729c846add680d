"""The arguments of every command, one function per command, and their pages of help; needs the standard library alone.

A page is a file of text: what the command does, ``----``, then examples.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NoReturn

from auclab import __version__
from auclab._core.words import did_you_mean

_PAGES = Path(__file__).with_name("pages")


class Parser(argparse.ArgumentParser):
    """A parser with a help page, whose errors suggest the closest word.

    `line`: what the command does, in a line. `listing`: text below the page, and `commands`: parsers by name, of the
    parser of all commands.
    """

    def __init__(self, prog: str, *, page: str, line: str = "", **options: Any) -> None:
        # Without abbreviations: `--all` of `auclab report` would be `--allow`.
        super().__init__(prog, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False, **options)
        self._page, self._line = page, line
        self.listing = ""
        self.commands: Mapping[str, argparse.ArgumentParser] = {}

    def format_help(self) -> str:
        """The text of the page, read on first use."""
        words, _, self.epilog = (_PAGES / f"{self._page}.txt").read_text(encoding="utf-8").partition("----\n")
        line = f"{self._line[:1].upper()}{self._line[1:]}.\n\n" if self._line else ""
        self.description = f"{line}{words}".strip() + self.listing
        return super().format_help()

    def error(self, message: str) -> NoReturn:
        """End with code 2."""
        wrong = re.search(r"invalid choice: '(.*?)' \(choose from (.*)\)", message)
        message += did_you_mean(wrong[1], re.findall(r"[\w.-]+", wrong[2])) if wrong else ""
        if (unknown := re.match(r"unrecognized arguments: .*?(--[\w-]+)", message)) is not None:
            message += did_you_mean(unknown[1], [name for name in self._option_string_actions if name[:2] == "--"])
        self.exit(2, f"error: {message}; {self.prog} --help explains all\n")


Arguments = Callable[[argparse.ArgumentParser], None]

#: Languages of `auclab export`: of scorers, and of programs.
LANGUAGES = ("json", "sql", "onnx", "lp", "mps", "pyomo", "cvxpy")

_MODEL = "a run (id, its first letters, name, last), a folder, or models:/NAME/VERSION, models:/NAME@ALIAS"


def _add_store(parser: Any) -> None:
    what = "what tracking.dir or tracking.uri was (default: mlruns)"
    parser.add_argument("--store", default="mlruns", metavar="DIR", help=what)


def _add_store_and_allow(parser: Any) -> None:
    _add_store(parser)
    trust = "trust what a run names: a class (my.module.Class), an address (s3://bucket, tcp://host:8786), openml:ID"
    parser.add_argument("--allow", action="append", default=[], metavar="NAME", help=f"{trust}; repeatable")


def _add_run(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run", metavar="RUN", help="its id, the first letters of its id, its name, or: last")
    _add_store_and_allow(parser)


def _add_split(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--split", type=int, default=None, metavar="N", help="of a run with several splits, from 0")


def _add_written(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--sep", default=None, help="of a csv file: a sign, or comma, semicolon, tab (default: found)")
    add("--decimal", default=None, help="of a csv file: . or , (default: found)")
    add("--encoding", default=None, help="of a csv file: utf-8, latin-1, … (default: found)")


def _add_selection(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("which runs")
    add = group.add_argument
    add("--experiment", action="append", default=None, metavar="NAME", help="repeatable (default: all)")
    add("--sweep", default=None, metavar="ID", help="the jobs of one sweep: its id, or: last (started)")
    conditions = "runs whose setting, tag.NAME or fact has one of the values; repeatable"
    add("--where", nargs="+", action="extend", default=[], metavar="KEY=VALUE,…", help=conditions)
    add("--filter", default="", metavar="TEXT", help="MLflow's search language")
    _add_store_and_allow(group)


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
    figures = "draw its ROC curve, ranking errors, scores and coefficients into its folder"
    parser.add_argument("--figures", action="store_true", help=figures)


def _inspect(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="a csv, tsv or parquet file with a header")
    parser.add_argument("--target", default=None, metavar="COLUMN", help="the column with the labels (default: found)")
    parser.add_argument("--positive", default=None, metavar="LABEL", help="its positive label (default: found)")


def _compare(parser: argparse.ArgumentParser) -> None:
    _add_selection(parser)
    add = parser.add_argument_group("table").add_argument
    add("--metric", default="auc", help="a number of the runs, such as bauc, train/auc, seconds/solve (default: auc)")
    add("--rows", type=_keys, default=None, metavar="KEY,…", help="settings that make the rows (default: dataset …)")
    add("--columns", type=_keys, default=None, metavar="KEY,…", help="… the columns (default: formulation …)")
    tests = ("corrected-t", "t", "wilcoxon")
    add("--test", choices=tests, default="corrected-t", help="paired test (default: corrected-t)")
    add("--level", type=float, default=0.05, metavar="ALPHA", help="level of all tests (default: 0.05)")
    better = "the better end of the metric (default: that of the metric)"
    add("--better", choices=("high", "low"), default=None, help=better)
    add = parser.add_argument_group("output").add_argument
    formats = ("screen", "csv", "markdown", "latex")
    add("--format", choices=formats, default="screen", help="what is printed (default: screen)")
    out = (
        "also write the table (.csv .md .tex), every metric with a line per value (.parquet), or the "
        "critical-difference diagram (.png .pdf .svg); repeatable"
    )
    add("--out", action="append", default=[], metavar="FILE", help=out)
    add("--values", default=None, metavar="FILE.csv", help="also write every value, a line per pair")
    pairs = "also test every two columns over rows: Wilcoxon with Holm's correction, Bayesian signed ranks"
    add("--pairs", nargs="?", const="", default=None, metavar="FILE.csv", help=pairs)
    add("--rope", type=float, default=0.01, help="differences of means within ±ROPE count as equal (default: 0.01)")
    add = parser.add_argument_group("the best").add_argument
    add("--refit", action="store_true", help="fit the best configuration to all rows, as a run of its own")
    add("--register", default=None, metavar="NAME", help="the same, and register the model under this name")


def _rerun(parser: argparse.ArgumentParser) -> None:
    _add_run(parser)
    tolerance = "differences up to this count as the same, relative above 1 (default: 1e-9, the last digits of threads)"
    parser.add_argument("--tolerance", type=float, default=1e-9, help=tolerance)


def _check(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run", metavar="RUN", help="its id, the first letters of its id, its name, last, or its folder")
    _add_store_and_allow(parser)


def _report(parser: argparse.ArgumentParser) -> None:
    _add_selection(parser)
    add = parser.add_argument_group("page").add_argument
    add("--out", default="report.html", metavar="FILE", help="the page; replaced if it is there (report.html)")
    add("--metric", action="append", default=None, help="compared; repeatable (default: test/auc and test/bauc)")
    add("--title", default="Runs of auclab", help="heading of the page")


def _predict(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("run", metavar="MODEL", help=_MODEL)
    add("rows", metavar="ROWS", help="a csv, tsv, parquet or svmlight file")
    add("--out", default=None, metavar="FILE", help="a .csv or .parquet file (default: csv on standard output)")
    keep = "a column of the file that the result starts with; repeatable (default: the number of the row)"
    add("--id", action="append", default=[], metavar="COLUMN", help=keep)
    only = ("all", "score", "probability", "label")
    add("--only", choices=only, default="all", help="one of the columns alone (default: all)")
    _add_split(parser)
    _add_written(parser)
    _add_store_and_allow(parser)


def _evaluate(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("runs", metavar="MODEL", nargs="+", help=f"one or two: {_MODEL}")
    add("rows", metavar="ROWS", help="a csv, tsv or parquet file with labels")
    add("--target", default=None, metavar="COLUMN", help="the column with the labels (default: as in training)")
    label = "a positive label; repeatable (default: as in training)"
    add("--positive", action="append", default=[], metavar="LABEL", help=label)
    add("--metric", action="append", default=[], metavar="NAME", help="repeatable (default: auc and bauc)")
    add("--level", type=float, default=0.95, metavar="LEVEL", help="of intervals and tests (default: 0.95)")
    add("--out", default=None, metavar="FILE.json", help="also write every number")
    _add_split(parser)
    _add_written(parser)
    _add_store_and_allow(parser)


def _measure(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("file", metavar="SCORES", help="a table with labels and a column of scores for each scorer")
    add("--score", action="append", required=True, metavar="COLUMN", help="scores; repeatable, or a,b,c")
    add("--target", default=None, metavar="COLUMN", help="the labels")
    add("--positive", action="append", default=[], metavar="LABEL", help="a positive label; repeatable")
    add("--cluster", default=None, metavar="COLUMN", help="rows of one value depend on each other, as of a patient")
    add("--group", default=None, metavar="COLUMN", help="rows are compared within groups, such as queries")
    add("--graded", action="store_true", help="the labels are grades: pairs of different grades")
    add("--time", default=None, metavar="COLUMN", help="times, of an event or of censoring")
    add("--event", default=None, metavar="COLUMN", help="whether the event was observed")
    add("--metric", action="append", default=None, help="repeatable (default: auc and bauc)")
    add("--level", type=float, default=0.95, metavar="LEVEL", help="of intervals (default: 0.95)")
    add("--plot", default=None, metavar="FILE.png", help="draw the ROC curves with their bands")
    add(
        "--out",
        default=None,
        metavar="FILE.md",
        help="the table too: .md, .tex, .html, or .csv with every digit",
    )
    _add_written(parser)


def _export(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run", metavar="MODEL", help=_MODEL)
    parser.add_argument("--to", choices=LANGUAGES, required=True, help="the language")
    out = "the file (default: standard output; scorer.onnx, program.lp, program.mps, program.py)"
    parser.add_argument("--out", default=None, metavar="FILE", help=out)
    _add_split(parser)
    _add_store_and_allow(parser)


def _ui(parser: argparse.ArgumentParser) -> None:
    _add_store(parser)
    parser.add_argument("--port", type=int, default=5000, help="the next free one from here on (default: 5000)")


#: By heading of `auclab --help`: what a command does, in a line, its arguments, and the module of its function.
_COMMANDS: dict[str, dict[str, tuple[str, Arguments, str]]] = {
    "first steps": {
        "run": ("run one experiment, or a sweep of them with -m", lambda parser: None, "run"),
        "inspect": ("look at a table of your own, and get the command that runs on it", _inspect, "inspect"),
        "show": ("show one run: settings, numbers, certificate, files", _show, "commands"),
    },
    "kept runs": {
        "runs": ("list runs, oldest first", _runs, "commands"),
        "compare": ("compare runs side by side, tested, and find the best", _compare, "commands"),
        "report": ("write one page of HTML on runs", _report, "commands"),
        "ui": ("open MLflow's page on the store", _ui, "ui"),
    },
    "models": {
        "predict": ("score new rows with a model", _predict, "models"),
        "evaluate": ("measure a model on new labelled rows", _evaluate, "models"),
        "measure": ("measure scores of any model, in a file with labels", _measure, "measure"),
        "export": ("write a model as json, sql or onnx, or the program of a run", _export, "models"),
    },
    "checks": {
        "check": ("prove the certificate of a run again", _check, "commands"),
        "rerun": ("run a stored configuration again and compare", _rerun, "commands"),
        "doctor": ("see what of the installation works", _add_store, "doctor"),
    },
}


def all_commands() -> Parser:
    """The parser of the command `auclab`, with those of its commands."""
    parser = Parser("auclab", page="auclab", usage="auclab [-h] [--version] COMMAND …")
    parser.add_argument("--version", action="version", version=f"auclab {__version__}")
    parser.set_defaults(command=None)
    commands = parser.add_subparsers(prog="auclab", metavar="COMMAND", help=argparse.SUPPRESS)
    for heading, group in _COMMANDS.items():
        parser.listing += f"\n\n{heading}:"
        for name, (line, arguments, module) in group.items():
            parser.listing += f"\n  {name:<10}{line}"
            own = commands.add_parser(name, page=name, line=line)
            own.set_defaults(command=name, module=module)
            arguments(own)
    parser.commands = commands.choices
    return parser
