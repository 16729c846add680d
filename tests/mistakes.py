"""Mistakes that people make in a command, each with words that the answer has to contain.

Where the answer proposes what to type, `fix` has it: the answer contains these words, and with them (in place of the
settings of the same names) the command is accepted.

``python tests/mistakes.py TABLE.csv`` types all of them as commands and writes the answer, the exit code and the
seconds of each; `tests/cli/test_mistakes.py` runs them in one process.
"""

from __future__ import annotations

import csv
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from file_mistakes import CONTENTS, FILES
from run_command import command
from typed_mistake import Mistake, mistake

CHOICES_AND_KEYS = (
    mistake(
        "formulation=ranksmv",
        r"formulation=ranksmv does not exist \(did you mean 'ranksvm'\?\); choices are bauc, ",
        fix="formulation=ranksvm",
    ),
    mistake(
        "formulaton=bauc",
        r"no setting 'formulaton' \(did you mean 'formulation'\?\)",
        fix="formulation=bauc",
        without="formulaton=bauc",
    ),
    mistake("metrics=[auc,bacu]", r"metrics=bacu does not exist \(did you mean 'bauc'", fix="metrics=[auc,bauc]"),
    mistake("engine=dsk", r"did you mean 'dask'"),
    mistake(
        "formulation=ranksvm formulation.penality=1",
        r"did you mean 'penalty'",
        fix="formulation.penalty=1",
        without="formulation.penality=1",
    ),
    mistake(
        "formulation=bauc formulation.norm=l1",
        r"formulation.norm is not a setting of formulation=bauc; it has none; formulation = .*ranksvm have it",
        fix="formulation=ranksvm",
    ),
    mistake(
        "dataset.path=my.csv",
        r"dataset.path is not a setting of the default dataset; .*; dataset = file, blocks have it",
    ),
    mistake(
        "solver=newton solver.encoding=dual",
        r"solver.encoding is not a setting of solver=newton; .*; solver = highs has it",
        fix="solver=highs",
    ),
    mistake(
        "formulation=bauc tune.folds=3",
        r"tune.folds is not a setting of the default tune; .* tune = auto, kernel, penalty, threshold have it",
        fix="tune=auto",
    ),
    mistake(
        "-m formulation=ranksvm,csvm formulation.penality=0.1,1",
        r"formulation.penality is not a setting of formulation=csvm \(did you mean 'penalty'\?\)",
    ),
    mistake(
        "-m formulation=ranksvm,bauc tune=penalty split.seed=0,1",
        r"formulation=bauc: tune.parameter is 'penalty', which bauc does not have; .*tune=auto takes the parameter",
    ),
    mistake(
        "-m split.seed=0,1 formulation=ranksvm,csvm formulation.penalty=-1,0.1",
        r"formulation=ranksvm: penalty λ must be finite and ≥ 0, got -1",
    ),
    mistake(
        "formulation=group_lasso formulation.regulariser.groups=[[meanradius]]",
        r"groups has 'meanradius', which is not a column of the data \(did you mean 'mean radius'\?\); columns are",
        fix='formulation.regulariser.groups=[["mean radius"]]',
    ),
    mistake("hydra.rum.dir=x", r"hydra.rum.dir is not a setting of hydra \(did you mean 'run'\?\)"),
    mistake(
        "split.test_size=7 solver.tolerance=0 class_weight=5",
        r"3 problems: \(1\) test_size is 7; .* \(2\) solver.tolerance is 0.0; .* \(3\) class_weight is 5; ",
    ),
    mistake("-m formulation=bauc,csvm --cfg job", r"Only one of --run, --multirun, --cfg, .* can be specified"),
    mistake("hydra/launcher=joblibb", r"did you mean 'joblib'|choices are basic, dask", fix="hydra/launcher=basic"),
    mistake("-m formulation.penalty=interval(0.1,1)", r"proposed by a search: add hydra/sweeper=optuna"),
    mistake("hydra.job.chdir=maybe", r"hydra.job.chdir is 'maybe'; it is true or false", fix="hydra.job.chdir=false"),
    mistake(
        "formulation=csvm formulation.class_weight=balanced",
        r"not a setting of formulation=csvm \(did you mean 'class_weight', without formulation\?\); it has penalty",
        fix="class_weight=balanced",
        without="formulation.class_weight=balanced",
    ),
    mistake("dataset=3", r"dataset=3 does not exist; choices are a9a, ", fix="dataset=a9a"),
    mistake(
        "inner=3",
        r"inner is 3; it has settings of its own: inner\.folds, inner\.seed, inner\.tolerance",
        fix="inner.folds=3",
        without="inner=3",
    ),
    mistake("+split.foo=1", r"split has no setting 'foo'; it has test_size, seed"),
    mistake("formulation=bauc +tune.foo=1", r"tune.foo is not a setting; tune has parameter, "),
    mistake("ranksvm", r"'ranksvm' is not a setting; write KEY=VALUE"),
    mistake("metrics=[auc", r"a bracket is not closed; a list is written as metrics=\[a,b\]", fix="metrics=[auc,bauc]"),
    mistake(
        "metrics=[]",
        r"no metrics is chosen, .*; give some by list, such as 'metrics=\[auc,bauc\]'",
        fix="metrics=[auc,bauc]",
    ),
    mistake("split.seed=0,1", r"split.seed=0,1 has several values: add -m"),
)

VALUES = (
    mistake("split.seed=abc", r"split.seed is 'abc'; it is a whole number, such as 0", fix="split.seed=0"),
    mistake("split.seed=-1", r"seed is -1; it must be ≥ 0", fix="split.seed=0"),
    mistake("split.test_size=7", r"test_size is 7; it is a share between 0 and 1"),
    mistake(
        "split.test_size=half", r"split.test_size is 'half'; it is a number, such as 0.3", fix="split.test_size=0.3"
    ),
    mistake("split=kfold split.fold=9", r"fold is 9; the 5 folds are numbered 0 to 4", fix="split.fold=4"),
    mistake("formulation=ranksvm formulation.penalty=-1", r"penalty λ must be finite and ≥ 0, got -1"),
    mistake("formulation=ranksvm formulation.penalty=abc", r"formulation.penalty is 'abc'; it is a number"),
    mistake("formulation=ranksvm formulation.norm=l3", r"l1.*l2.*linf", fix="formulation.norm=l1"),
    mistake(
        "formulation=ranksvm formulation.squared=maybe",
        r"formulation.squared is 'maybe'; it is true or false",
        fix="formulation.squared=true",
    ),
    mistake(
        "solver=highs formulation=ranksvm formulation.norm=l2",
        r"solver=highs cannot solve ranksvm: .*use solver=",
        fix="solver=newton",
    ),
    mistake("solver.tolerance=0", r"solver.tolerance is 0.0; it is a relative gap > 0"),
    mistake("solver.tolerance=abc", r"solver.tolerance is 'abc'; it is a relative gap > 0"),
    mistake(
        "solver=cutting_plane solver.max_iters=0",
        r"solver.max_iters is 0; it is a largest number of iterations, at least 1",
        fix="solver.max_iters=1",
    ),
    mistake(
        "solver=highs solver.encoding=ful",
        r"solver.encoding is 'ful' \(did you mean 'full'",
        fix="solver.encoding=full",
    ),
    mistake(
        "tune=threshold formulation=ranksvm",
        r"'threshold', which ranksvm does not have; it has penalty",
        fix="tune=penalty",
    ),
    mistake(
        "formulation=ranksvm tune=penalty tune.metric=aux",
        r"tune.metric is 'aux' \(did you mean 'auc'",
        fix="tune.metric=auc",
    ),
    mistake("formulation=ranksvm tune=penalty tune.values=[a]", r"tune.values is \['a'\]; it is a list of numbers"),
    mistake("bounds.rho=2", r"bounds.rho is 2.0; it is one minus the confidence"),
    mistake("metrics=[partial_auc] metrics.partial_auc.max_fpr=0", r"metrics.partial_auc: .*max_fpr"),
    mistake(
        "class_weight=balancd",
        r"class_weight is 'balancd'; it is null, balanced, or a weight",
        fix="class_weight=balanced",
    ),
    mistake("rerun=maybe", r"rerun is 'maybe'; it is one of stale, false, true", fix="rerun=stale"),
    mistake("data_dir=nowhere", r"data_dir is 'nowhere'; it is a folder that is there"),
    mistake("engine=dask", r"engine=dask (needs distributed; install it|reads the blocks of dataset=blocks)"),
    mistake("preprocess.dates=[yaer]", r"'yaer' \(did you mean 'year'\?\)", fix="preprocess.dates=[year]"),
)

MISTAKES = (*CHOICES_AND_KEYS, *VALUES, *FILES)


def write_files(folder: Path) -> None:
    """The files that the words name."""
    for name, content in CONTENTS.items():
        (folder / name).write_bytes(content.encode("utf-8") if isinstance(content, str) else content)


def type_it(one: Mistake, folder: Path, *options: str) -> tuple[subprocess.CompletedProcess[str], float]:
    """The answer to a mistake that is typed as a command, with options of Python, and its processor seconds."""
    before = os.times()
    own = () if "tracking=mlflow" in one.words else ("tracking=none",)
    python, *words = command(*own, *one.words)
    answer = subprocess.run([python, *options, *words], cwd=folder, capture_output=True, text=True, check=False)
    after = os.times()
    seconds = after.children_user + after.children_system - before.children_user - before.children_system
    return answer, seconds


def row(one: Mistake, folder: Path) -> dict[str, object]:
    """A mistake and the answer to it, as a row of the table."""
    answer, seconds = type_it(one, folder)
    message = answer.stderr.strip()
    good = len(message.splitlines()) == 1 and re.search(one.answer, message) is not None and "Traceback" not in message
    left = sorted({path.name for path in folder.iterdir()} - set(CONTENTS))
    verdict = "accepted" if answer.returncode == 0 else "refused" if good else "in other words"
    return {
        "typed": one.typed,
        "message": message,
        "exit": answer.returncode,
        "verdict": f"left {', '.join(left)}" if left else verdict,
        "traceback": "Traceback" in answer.stderr + answer.stdout,
        "cpu": round(seconds, 2),
    }


def main(path: Path) -> None:
    """Type all, write the table, and print the sums."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        write_files(folder)
        rows = [row(one, folder) for one in MISTAKES]
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    seconds = sorted(float(str(each["cpu"])) for each in rows)
    for each in rows:
        if each["verdict"] != "refused" or each["traceback"]:
            print(each)
    print(
        f"{len(rows)} mistakes: {sum(bool(each['traceback']) for each in rows)} tracebacks, "
        f"{sum(each['verdict'] == 'accepted' for each in rows)} accepted, "
        f"{sum(each['verdict'] == 'refused' for each in rows)} refused in one line with the words; processor seconds: "
        f"median {seconds[len(seconds) // 2]:.2f}, largest {seconds[-1]:.2f}"
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
