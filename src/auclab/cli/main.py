"""The command `auclab`: run an experiment, list and compare runs, rerun one, write a report.

Only what a command needs is imported: a page of help needs the standard library alone.
"""

from __future__ import annotations

import argparse
import re
import sys
import warnings
from collections.abc import Sequence
from typing import Any, NoReturn

from auclab import __version__
from auclab.cli.help_width import WIDEST, help_width, narrower
from auclab.cli.process import run_as_program

DESCRIPTION = """\
Run experiments, and compare the runs that were kept.

A first table, from nothing:

  auclab run -m formulation=bauc,ranksvm,csvm dataset=breast_cancer split.seed=0,1,2,3,4
  auclab runs
  auclab compare
"""

EPILOG = "`auclab COMMAND --help` explains a command and shows examples. `auclab run --help` lists the settings."

COMPARE = """\
Configurations (columns) on data sets (rows): mean ± standard deviation over the pairs that the columns of a row share,
and how many these are. A pair is two runs on the same split: same data, same seed, same fold. The best of a row is
bold, and so is what a paired test does not find worse; one pair marks nothing. Runs that lack a partner, results that
came twice and runs that failed are named under the table.

Without --rows and --columns, the rows are data sets and the columns formulations, together with every setting that
varies among the selected runs (a penalty, a solver, a kind of split). Tuned runs have columns of their own.
Seconds are those of a job: build, solve and tuning.
"""

COMPARE_EXAMPLES = """\
select runs
  auclab compare                                      all finished runs of ./mlruns
  auclab compare --sweep last                         the jobs of the newest sweep
  auclab compare --experiment thesis --where solver=newton formulation=bauc,ranksvm
  auclab compare --where tag.status=optimal           tags are written tag.NAME
  auclab compare --filter "metrics.gap < 1e-6"        MLflow's search language

rows, columns, metric
  auclab compare --metric bauc
  auclab compare --columns formulation,formulation.penalty
  auclab compare --rows dataset,preprocess --columns solver --metric seconds/solve

export
  auclab compare --out table.tex --out table.md --out table.csv
  auclab compare --out ranks.pdf                      critical-difference diagram over the data sets
  auclab compare --values values.csv                  every value, paired, for your own statistics
  auclab compare --out results.parquet                every metric, a line per value
  auclab compare --pairs pairs.csv                    every two columns over rows, tested
  auclab compare --format latex > table.tex

which test
  corrected-t  the default: resampled t-test of Nadeau & Bengio (2003), which allows for the observations that splits of
               one data set share. Of data generated anew for every seed, which share none, it is t.
  t            paired t, as in Norton & Uryasev (2018), Table 2. Over overlapping splits it finds too much.
  wilcoxon     signed ranks; needs 6 pairs or more to find anything at level 0.05.
Friedman's test and Nemenyi's critical difference (Demšar 2006) are added for 3 columns or more on 2 data sets or
more; rows of one data set, split in several ways, count as one.
"""

BEST = """\
The configuration with the best mean over the seeds and folds that all have, how it compares with the next one by a
paired test, and its command. --refit fits it to all rows of the data set, tuning included, and keeps that as a run.
"""

BEST_EXAMPLES = """\
  auclab best
  auclab best --sweep last --metric bauc
  auclab best --where dataset=my.csv --refit --register churn
"""

RUN_EXAMPLES = """\
  auclab run solver=highs dataset=breast_cancer
  auclab run -m formulation=bauc,ranksvm split.seed=0,1,2
"""

INSPECT = """\
Look at a table before the first run: how the file is written; what every column is (numbers, categories, dates,
identifiers), its gaps, decimals and rare categories; columns that say nothing or repeat another; and the labels. Then
the command that runs on it, which has been tried on the table. Nothing is solved or kept.
"""

INSPECT_EXAMPLES = """\
  auclab inspect customers.csv
  auclab inspect customers.csv --target left --positive yes
"""

RUNS_EXAMPLES = """\
  auclab runs
  auclab runs --where dataset=ionosphere --metric bauc
  auclab runs --status FAILED
  auclab runs --sweep last --last 20
"""

SHOW_EXAMPLES = """\
  auclab show last
  auclab show last --bounds                           every bound, and what it assumes
  auclab show 564bf01a                                first letters of an id, as `auclab runs` lists them
  auclab show "bauc · ionosphere · seed 0 · highs"    a name, if one run alone has it
"""

FIGURES_EXAMPLES = """\
  auclab figures last
  auclab figures 564bf01a                             roc.png, ranking_errors.png, scores.png beside its files
"""

RERUN = """\
Take the configuration that a run has kept, run it once more with this version, this machine and today's data, and
lay new numbers beside the stored ones. Nothing is added to the store. Exit code 0: the numbers came out the same;
1: they did not, and each that differs is listed.

With settings, such as dataset.path=new.csv, the configuration is fitted with them, tuning included, and kept as a run
of its own.

What the configuration names is built only if conf/ names it too, or --allow does (docs/security.md).
"""

RERUN_EXAMPLES = """\
  auclab rerun last
  auclab rerun 564bf01a --tolerance 0                 every digit
  auclab rerun last dataset.path=new.csv              a new run on other rows, with the same settings
  auclab rerun last split=none                        on all rows
  auclab rerun 564bf01a --allow my.module.Program     build this class too, which the run names and you trust
"""

REPORT = """\
One HTML file with everything: the comparison, every run, curves of selected ones, bounds, paths along λ and z, cards
of the data sets, and the command behind each number. It needs no server and no network, so it can be sent and printed.
"""

REPORT_EXAMPLES = """\
  auclab report                                       all runs of ./mlruns to report.html
  auclab report --sweep last --out sweep.html
  auclab report --metric test/auc --metric seconds/solve --where dataset=ionosphere,pima --title "Two data sets"
"""

CHECK = """\
Check the certificate of a run in rational arithmetic, with nothing of the solvers: the objective at the stored point,
the lower bound that the stored multipliers prove, the gap, the status, and whether the training part is the one that
was solved. A line per claim. Exit code 0: all of it confirmed; 1: something refuted or not proved; 2: something could
not be checked.
"""

CHECK_EXAMPLES = """\
  auclab check last
  auclab check 564bf01a                               first letters of an id, as `auclab runs` lists them
  auclab check outputs/2026-11-21/10-00-00            the folder of a run without a store
"""

PUSH = """\
Send runs into the store that were kept in their output folders, because the store could not be written: its disk was
full, its server gone, its database held by another program. A run is sent once, however often the command is repeated.
Without arguments: list the runs that wait below ./outputs and ./multirun.
"""

PUSH_EXAMPLES = """\
  auclab push                                         what waits
  auclab push all
  auclab push 564bf01a                                first letters of an id, as listed
  auclab push multirun/2026-11-21/10-00-00            every run kept below a folder
  auclab push all --store http://127.0.0.1:5000       into another store than the one that failed
"""

PREDICT = """\
Score the rows of a file with the model of a run: score, probability of the positive class and label. Columns are found
by name, in any order; those that the model does not use are left out, with a note. Gaps and new categories are treated
as in training. The result has the order of the file.
"""

PREDICT_EXAMPLES = """\
  auclab predict last new.csv --out scores.csv
  auclab predict 564bf01a new.csv --id customer_id --out scores.csv
  auclab predict models:/churn/2 new.parquet --out scores.parquet
  auclab predict outputs/2026-11-21/10-00-00 new.csv --only score > scores.csv
"""

EVALUATE = """\
Measure a stored model on new rows that have labels: metrics with intervals, what its labels find, whether its
probabilities are right, and whether scores are distributed as they were in the run. With two models, a paired test on
the same rows. The column and the labels are those of the training file, unless --target and --positive name others.
"""

EVALUATE_EXAMPLES = """\
  auclab evaluate last new.csv
  auclab evaluate 564bf01a models:/churn/2 new.csv    two models on the same rows
  auclab evaluate last new.csv --target left --positive yes --metric auc --out new.json
"""

EXPORT = """\
Write the model of a run in another language. json: every number of the formula (docs/models.md says how to compute the
score by hand); sql: one expression over the columns; onnx: a graph in double precision (pip install 'auclab[onnx]').
"""

EXPORT_EXAMPLES = """\
  auclab export last --to json --out scorer.json
  auclab export last --to sql > score.sql
  auclab export models:/churn/latest --to onnx --out scorer.onnx
"""

FRONTIER = """\
The shortest scorer, by Σ|w_k| on the prepared columns, for each of several levels that its buffered AUC must reach:
how much length, and how many features, each level costs. Settings are those of `auclab run`: data set, split,
preprocessing and constraints are used. Levels are reached on the training part of the first split; each least norm is
certified. docs/guarantees_as_constraints.md explains the numbers.
"""

FRONTIER_EXAMPLES = """\
  auclab frontier dataset=ionosphere
  auclab frontier dataset=ionosphere split=none --levels 0.5 0.9 0.95
  auclab frontier dataset=german_credit --points 20 --out frontier.csv --out frontier.png
"""

DOCTOR = """\
Look at the installation: versions of auclab, Python and the libraries, optional parts, cores, the folder of compiled
loops, the store and the folders of data sets; with the command that mends what is wrong. Exit code 1 if something is.
"""

DOCTOR_EXAMPLES = """\
  auclab doctor
  auclab doctor --store ../thesis/mlruns
"""

UI = """\
Serve MLflow's page on the store, with settings that keep it light (one worker, no job runner), and print the addresses
of its tables of runs. The parent run of each sweep gets the comparison of its jobs: the table as its description, and
comparison.csv and comparison.png among its files. The server ends with this command: Ctrl-C, or the end of its
terminal. Nothing is sent anywhere.
"""

UI_EXAMPLES = """\
  auclab ui
  auclab ui --store ../thesis/mlruns --port 5050
"""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command; exit codes: 0 done, 1 cannot be done or not the same, 2 not understood."""
    typed = sys.argv[1:] if arguments is None else list(arguments)
    if typed[:1] == ["run"]:  # Hydra parses its arguments, --help among them
        from auclab.cli.run import main as run

        run(typed[1:])
        return
    parser = _parser()
    parsed = _parse(parser, typed)
    if parsed.command is None:
        parser.print_help()
        return
    from auclab.pipeline.screen.console import plain_errors

    with plain_errors(lambda line: SystemExit(1), stopped="the store is as it was"):
        from auclab.cli import commands

        code: int = getattr(commands, parsed.command)(parsed)
    sys.exit(code)


def _parse(parser: argparse.ArgumentParser, typed: Sequence[str]) -> argparse.Namespace:
    """The words of a command; of its own words the options may stand before, between and after the others."""
    commands = _commands_of(parser)
    if not typed or typed[0] not in commands:
        return parser.parse_args(typed)
    own = commands[typed[0]]
    with warnings.catch_warnings(record=True) as hints:
        warnings.simplefilter("always", category=RenamedOption)
        parsed = own.parse_intermixed_args(typed[1:])
    for hint in dict.fromkeys(str(each.message) for each in hints):
        sys.stderr.write(f"note: {hint}\n")
    return parsed


def program() -> None:
    """The command as the process's own work."""
    run_as_program(main)


def _commands_of(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """The parser of each command by its name."""
    (found,) = (action for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    return dict(found.choices)


class RenamedOption(UserWarning):
    """An option was typed by the name that it had in an earlier version."""


class _Out(argparse.Action):
    """``--out FILE``, also under the names of earlier versions, which go on with a hint."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option_string: str | None = None) -> None:
        """Keep the file, or one more of them."""
        if option_string not in (None, "--out"):
            warnings.warn(f"{option_string} is now --out; both work in 0.3", RenamedOption, stacklevel=2)
        before = getattr(namespace, self.dest)
        setattr(namespace, self.dest, [*before, values] if isinstance(before, list) else values)


class _Numbers(argparse.Action):
    """Numbers after an option; a word with ``=`` among them is a setting."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option_string: str | None = None) -> None:
        """Keep the numbers, and put the settings to the others."""
        is_setting = ["=" in word for word in values]
        try:
            numbers = [float(word) for word, other in zip(values, is_setting, strict=True) if not other]
        except ValueError:
            raise argparse.ArgumentError(self, f"numbers are needed, got {' '.join(values)}") from None
        setattr(namespace, self.dest, numbers)
        namespace.more_settings = [word for word, other in zip(values, is_setting, strict=True) if other]


def _parser() -> argparse.ArgumentParser:
    parser = _Parser("auclab", description=DESCRIPTION, epilog=EPILOG, formatter_class=_Form)
    parser.add_argument("--version", action="version", version=f"auclab {__version__}")
    parser.set_defaults(command=None)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")

    _add(commands, "run", "run one experiment, or a sweep with -m: auclab run --help", examples=RUN_EXAMPLES)

    runs = _add(commands, "runs", "list runs, oldest first", examples=RUNS_EXAMPLES)
    _add_selection(runs)
    runs.add_argument(
        "--metric", default="auc", help="number to show (default: auc, of the held-out part if there is one)"
    )
    runs.add_argument("--status", default=None, help="FINISHED, FAILED, KILLED or RUNNING (default: all)")
    runs.add_argument("--last", type=int, default=None, metavar="N", help="the newest N only")

    show = _add(
        commands, "show", "one run: settings, numbers, certificate, files; of a sweep, its runs", examples=SHOW_EXAMPLES
    )
    _add_run(show)
    show.add_argument("--bounds", action="store_true", help="all bounds, and what they assume")

    inspect = _add(commands, "inspect", "what is in a table of your own", text=INSPECT, examples=INSPECT_EXAMPLES)
    inspect.add_argument("file", metavar="FILE", help="a csv, tsv or parquet file with a header")
    inspect.add_argument("--target", default=None, metavar="COLUMN", help="the column with the labels (default: found)")
    inspect.add_argument("--positive", default=None, metavar="LABEL", help="its positive label (default: found)")

    figures = _add(commands, "figures", "draw ROC, ranking errors and scores of one run", examples=FIGURES_EXAMPLES)
    _add_run(figures)

    compare = _add(commands, "compare", "runs side by side, tested", text=COMPARE, examples=COMPARE_EXAMPLES)
    _add_selection(compare)
    _add_table(compare)
    add = compare.add_argument_group("output").add_argument
    formats = ("screen", "csv", "markdown", "latex")
    add("--format", choices=formats, default="screen", help="what is printed (default: screen)")
    save = (
        "also write the table (.csv .md .tex), every metric with a line per value (.parquet), or the "
        "critical-difference diagram (.png .pdf .svg); repeatable"
    )
    add("--out", "--save", dest="out", action=_Out, default=[], metavar="FILE", help=save)
    add(
        "--values",
        default=None,
        metavar="FILE.csv",
        help="also write every value, a line per pair",
    )
    pairs = "also test every two columns over rows: Wilcoxon with Holm's correction, Bayesian signed ranks"
    add("--pairs", nargs="?", const="", default=None, metavar="FILE.csv", help=pairs)
    add("--rope", type=float, default=0.01, help="differences of means within ±ROPE count as equal (default: 0.01)")

    best = _add(commands, "best", "which configuration is best, and its model", text=BEST, examples=BEST_EXAMPLES)
    _add_selection(best)
    _add_table(best)
    add = best.add_argument_group("model").add_argument
    add("--refit", action="store_true", help="fit the best configuration to all rows, as a run of its own")
    add("--register", default=None, metavar="NAME", help="with --refit: also register the model under this name")

    rerun = _add(commands, "rerun", "run a stored configuration again and compare", text=RERUN, examples=RERUN_EXAMPLES)
    _add_run(rerun)
    rerun.add_argument("settings", nargs="*", metavar="SETTING", help="make a new run with these settings")
    tolerance = "differences up to this count as the same, relative above 1 (default: 1e-9, the last digits of threads)"
    rerun.add_argument("--tolerance", type=float, default=1e-9, help=tolerance)

    check = _add(commands, "check", "prove the certificate of a run again", text=CHECK, examples=CHECK_EXAMPLES)
    check.add_argument("run", metavar="RUN", help="its id, the first letters of its id, its name, last, or its folder")
    _add_store(check)
    trust = "a name that the stored configuration may have besides those of conf/; repeatable"
    check.add_argument("--allow", action="append", default=[], metavar="NAME", help=trust)

    report = _add(commands, "report", "one page of HTML on runs", text=REPORT, examples=REPORT_EXAMPLES)
    _add_selection(report)
    add = report.add_argument_group("page").add_argument
    page = "the page; replaced if it is there (report.html)"
    add("--out", "--output", dest="out", action=_Out, default="report.html", metavar="FILE", help=page)
    add("--metric", action="append", default=None, help="compared; repeatable (default: test/auc and test/bauc)")
    add("--title", default="Runs of auclab", help="heading of the page")

    push = _add(commands, "push", "send runs that the store could not take", text=PUSH, examples=PUSH_EXAMPLES)
    push.add_argument(
        "runs", nargs="*", metavar="RUN_OR_FOLDER", help="an id, its first letters, a name, a folder, or: all"
    )
    push.add_argument("--store", default=None, metavar="DIR", help="another store than the one that failed")

    predict = _add(commands, "predict", "score new rows with a model", text=PREDICT, examples=PREDICT_EXAMPLES)
    _add_model(predict)
    predict.add_argument("rows", metavar="ROWS", help="a csv, tsv, parquet or svmlight file")
    add = predict.add_argument
    add("--out", default=None, metavar="FILE", help="a .csv or .parquet file (default: csv on standard output)")
    keep = "a column of the file that the result starts with; repeatable (default: the number of the row)"
    add("--id", action="append", default=[], metavar="COLUMN", help=keep)
    only = ("all", "score", "probability", "label")
    add("--only", choices=only, default="all", help="one of the columns alone (default: all)")
    _add_written(predict)
    _add_store(predict)
    _add_allow(predict)

    evaluate = _add(
        commands, "evaluate", "measure a model on new labelled rows", text=EVALUATE, examples=EVALUATE_EXAMPLES
    )
    which = "one or two: a run (id, its first letters, name, last), a folder, models:/NAME/VERSION, models:/NAME@ALIAS"
    evaluate.add_argument("runs", metavar="MODEL", nargs="+", help=which)
    evaluate.add_argument("rows", metavar="ROWS", help="a csv, tsv or parquet file with labels")
    add = evaluate.add_argument
    add("--target", default=None, metavar="COLUMN", help="the column with the labels (default: as in training)")
    label = "a positive label; repeatable (default: as in training)"
    add("--positive", action="append", default=[], metavar="LABEL", help=label)
    add("--metric", action="append", default=[], metavar="NAME", help="repeatable (default: auc and bauc)")
    add("--level", type=float, default=0.95, metavar="LEVEL", help="of intervals and tests (default: 0.95)")
    add("--out", default=None, metavar="FILE.json", help="also write every number")
    add("--split", type=int, default=None, metavar="N", help="of a run with several splits, from 0")
    _add_written(evaluate)
    _add_store(evaluate)
    _add_allow(evaluate)

    export = _add(commands, "export", "write a model as json, sql or onnx", text=EXPORT, examples=EXPORT_EXAMPLES)
    _add_model(export)
    export.add_argument("--to", choices=("json", "sql", "onnx"), required=True, help="the language")
    out = "the file (default: standard output; of onnx: scorer.onnx)"
    export.add_argument("--out", default=None, metavar="FILE", help=out)
    _add_store(export)
    _add_allow(export)

    frontier = _add(
        commands, "frontier", "the least norm for a guaranteed bAUC", text=FRONTIER, examples=FRONTIER_EXAMPLES
    )
    frontier.add_argument("settings", nargs="*", metavar="SETTING", help="as of auclab run: dataset=ionosphere …")
    frontier.set_defaults(more_settings=[])
    add = frontier.add_argument
    few = "number of equally spaced levels, up to 99.9 %% of the largest bAUC (default: 10)"
    add("--points", type=int, default=10, metavar="N", help=few)
    add("--levels", action=_Numbers, nargs="+", default=None, metavar="LEVEL", help="these levels, 0 to 1, instead")
    save = "also write the table (.csv, with all coefficients) or the figure (.png .pdf .svg); repeatable"
    add("--out", "--save", dest="out", action=_Out, default=[], metavar="FILE", help=save)

    doctor = _add(commands, "doctor", "what of the installation works", text=DOCTOR, examples=DOCTOR_EXAMPLES)
    _add_store(doctor)

    ui = _add(commands, "ui", "MLflow's page on the store", text=UI, examples=UI_EXAMPLES)
    _add_store(ui)
    ui.add_argument("--port", type=int, default=5000, help="the next free one from here on (default: 5000)")
    return parser


class _Form(argparse.RawDescriptionHelpFormatter):
    """Help with its own line breaks in 110 columns; in a narrower terminal lines are broken where it ends."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=24, width=help_width())

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return text if width >= WIDEST else narrower(text, width)


class _Parser(argparse.ArgumentParser):
    """A parser whose errors say which word is meant."""

    def error(self, message: str) -> NoReturn:
        """End with code 2."""
        from auclab.validation import did_you_mean  # NumPy, which help does not need

        if (wrong := re.search(r"argument (.*?): invalid choice: '(.*?)' \(choose from (.*)\)", message)) is not None:
            name, word, choices = wrong[1], wrong[2], re.findall(r"[\w.-]+", wrong[3])
            if name == "COMMAND" and re.search(r"\.\w+$", word):
                self.exit(2, f"error: {word!r} is not a command; for a table of your own: auclab inspect {word}\n")
            there = f"there is no command {word!r}" if name == "COMMAND" else f"{name} is {word!r}"
            message = f"{there}{did_you_mean(word, choices)}; choose from {', '.join(choices)}"
        if message.startswith("unrecognized arguments"):
            options = [name for name in self._option_string_actions if name.startswith("--")]
            typed = re.findall(r"(?<=\s)--[\w-]+", message)
            message += next(filter(None, (did_you_mean(word, options) for word in typed)), "")
        self.exit(2, f"error: {message}; {self.prog} --help explains all\n")


def _add(commands: Any, name: str, line: str, *, text: str = "", examples: str) -> argparse.ArgumentParser:
    head = f"{line[0].upper()}{line[1:]}.\n\n{text}".rstrip()
    epilog = f"examples\n{examples}" if examples.startswith("  ") else examples
    parser: argparse.ArgumentParser = commands.add_parser(
        name, help=line, description=head, epilog=epilog, formatter_class=_Form
    )
    parser.set_defaults(command=name)
    return parser


def _add_store(parser: Any) -> None:
    parser.add_argument(
        "--store", default="mlruns", metavar="DIR", help="what tracking.dir or tracking.uri was (default: mlruns)"
    )


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


if __name__ == "__main__":
    program()
