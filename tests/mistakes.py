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
    mistake("dataset=ionosfere", r"did you mean 'ionosphere'", fix="dataset=ionosphere"),
    mistake("solver=newtn", r"did you mean 'newton'", fix="solver=newton"),
    mistake("metrics=[auc,bacu]", r"metrics=bacu does not exist \(did you mean 'bauc'", fix="metrics=[auc,bauc]"),
    mistake("preprocess=standrd", r"did you mean 'standard'", fix="preprocess=standard"),
    mistake("bounds=defalt", r"did you mean 'default'", fix="bounds=default"),
    mistake("formulation=ranksvm tune=penalti", r"did you mean 'penalty'", fix="tune=penalty"),
    mistake("tracking=mlfow", r"did you mean 'mlflow'", fix="tracking=mlflow"),
    mistake("engine=dsk", r"did you mean 'dask'"),
    mistake("split=k-fold", r"did you mean 'kfold'", fix="split=kfold"),
    mistake(
        "experiment=compare_formulation", r"did you mean 'compare_formulations'", fix="experiment=compare_formulations"
    ),
    mistake(
        "split.sed=1",
        r"split.sed is not a setting of the default split \(did you mean 'seed'\?\); it has test_size, seed",
        fix="split.seed=1",
        without="split.sed=1",
    ),
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
        "engine.workers=2",
        r"engine.workers is not a setting of the default engine; it has none; engine = dask has it",
    ),
    mistake(
        "solver=newton solver.encoding=dual",
        r"solver.encoding is not a setting of solver=newton; .*; solver = highs has it",
        fix="solver=highs",
    ),
    mistake("metrics.auc.level=1", r"metrics.auc.level is not a setting of metrics.auc"),
    mistake(
        "formulation=bauc tune.fold=3", r"tune.fold is not a setting of the default tune \(did you mean 'folds'\?\)"
    ),
    mistake(
        "formulation=bauc tune.folds=3",
        r"tune.folds has no effect with tune=none; choose",
        fix="tune=auto",
    ),
    mistake(
        "-m formulation=ranksvm,csvm formulation.penality=0.1,1",
        r"formulation.penality is not a setting of formulation=csvm \(did you mean 'penalty'\?\)",
    ),
    mistake("-m formulation=ranksvm,csvm split.sed=1", r"split.sed is not a setting of the default split"),
    mistake(
        "-m formulation=ranksvm,bauc tune=penalty split.seed=0,1",
        r"formulation=bauc: tune.parameter is 'penalty', which bauc does not have; .*tune=auto takes the parameter",
    ),
    mistake(
        "-m formulation=lda,exact_auc tune=threshold",
        r"formulation=lda: tune.parameter is 'threshold', which lda does not have; .*tune=auto takes the parameter",
    ),
    mistake(
        "-m split.seed=0,1 formulation=ranksvm,csvm formulation.penalty=-1,0.1",
        r"formulation=ranksvm: penalty λ must be finite and ≥ 0, got -1",
    ),
    mistake(
        "formulation=group_lasso formulation.groups=[[age]]",
        r"formulation.groups is not a setting of formulation=group_lasso; it has comparisons, loss, regulariser",
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
    mistake(
        "split.seed=abc solver.tolerance=0",
        r"2 problems: \(1\) split.seed is 'abc'; .* \(2\) solver.tolerance is 0.0; ",
    ),
    mistake("-cn nosuch --cfg job", r"Cannot find primary config 'nosuch'"),
    mistake("-m formulation=bauc,csvm --cfg job", r"Only one of --run, --multirun, --cfg, .* can be specified"),
    mistake("hydra/launcher=joblibb", r"did you mean 'joblib'|choices are basic, dask", fix="hydra/launcher=basic"),
    mistake("-m formulation.penalty=interval(0.1,1)", r"proposed by a search: add hydra/sweeper=optuna"),
    mistake("formulation=ranksvm formulation.penalty=interval(0.1,1)", r"requires --multirun"),
    mistake("hydra.job.chdir=maybe", r"hydra.job.chdir is 'maybe'; it is true or false", fix="hydra.job.chdir=false"),
    mistake("hydra.verbose=3.5", r"Hydra refuses the command, and says no more than AssertionError|assert"),
    mistake("dataset=openml:61", r"dataset=openml:61 does not exist; choices are a9a, "),
    mistake(
        "formulation=csvm formulation.class_weight=balanced",
        r"not a setting of formulation=csvm \(did you mean 'class_weight', without formulation\?\); it has penalty",
        fix="class_weight=balanced",
        without="formulation.class_weight=balanced",
    ),
    mistake("dataset=3", r"dataset=3 does not exist; choices are a9a, ", fix="dataset=a9a"),
    mistake("tune=true", r"tune=true does not exist; choices are auto, ", fix="tune=auto"),
    mistake(
        "inner=3",
        r"inner is 3; it has settings of its own: inner\.folds, inner\.seed, inner\.tolerance",
        fix="inner.folds=3",
        without="inner=3",
    ),
    mistake(
        "decision=prior",
        r"decision is 'prior'; it has settings of its own: decision\.threshold, ",
        fix="decision.threshold=prior",
        without="decision=prior",
    ),
    mistake("+split.foo=1", r"split has no setting 'foo'; it has test_size, seed"),
    mistake("formulation=bauc +tune.foo=1", r"tune.foo is not a setting; tune has parameter, "),
    mistake("+dataset.colour=red", r"dataset has no setting 'colour'; it has name"),
    mistake("+metrics.auc.foo=1", r"metrics.auc has no setting 'foo'; it has none"),
    mistake(
        "+formulation=csvm",
        r"write formulation=CHOICE, without the \+",
        fix="formulation=csvm",
        without="+formulation=csvm",
    ),
    mistake("formulation=", r"formulation= does not exist; choices are bauc", fix="formulation=bauc"),
    mistake("ranksvm", r"'ranksvm' is not a setting; write KEY=VALUE"),
    mistake("~split", r"no split is chosen, but every experiment needs one"),
    mistake("metrics=[auc", r"a bracket is not closed; a list is written as metrics=\[a,b\]", fix="metrics=[auc,bauc]"),
    mistake(
        "metrics=[]",
        r"no metrics is chosen, .*; give some by list, such as 'metrics=\[auc,bauc\]'",
        fix="metrics=[auc,bauc]",
    ),
    mistake("split.seed=0,1", r"split.seed=0,1 has several values: add -m"),
    mistake("-m formulation=bauc,ranksmv", r"did you mean 'ranksvm'"),
)

VALUES = (
    mistake("split.seed=abc", r"split.seed is 'abc'; it is a whole number, such as 0", fix="split.seed=0"),
    mistake("split.seed=-1", r"seed is -1; it must be ≥ 0", fix="split.seed=0"),
    mistake("split.seed=1.5", r"split.seed is 1.5; it is a whole number"),
    mistake("split.seed=null", r"split.seed is null; it is a whole number"),
    mistake("split.seed=99999999999", r"it must be ≥ 0 and below 2³²"),
    mistake("split.test_size=7", r"test_size is 7; it is a share between 0 and 1"),
    mistake("split.test_size=0", r"test_size is 0; it is a share between 0 and 1"),
    mistake(
        "split.test_size=half", r"split.test_size is 'half'; it is a number, such as 0.3", fix="split.test_size=0.3"
    ),
    mistake("split=kfold split.n_folds=1", r"n_folds is 1; cross-validation needs at least 2", fix="split.n_folds=2"),
    mistake("split=kfold split.fold=9", r"fold is 9; the 5 folds are numbered 0 to 4", fix="split.fold=4"),
    mistake(
        "split=kfold split.fold=first",
        r"split.fold is 'first'; it is a whole number, or null for all",
        fix="split.fold=null",
    ),
    mistake("split=repeated split.n_repeats=0", r"n_repeats is 0; at least one split"),
    mistake("formulation=ranksvm formulation.penalty=-1", r"penalty λ must be finite and ≥ 0, got -1"),
    mistake("formulation=ranksvm formulation.penalty=abc", r"formulation.penalty is 'abc'; it is a number"),
    mistake("formulation=ranksvm formulation.penalty=nan", r"penalty λ must be finite"),
    mistake("formulation=ranksvm formulation.penalty=1e300", r"penalty λ .*1e\+?150"),
    mistake("formulation=ranksvm formulation.norm=l3", r"l1.*l2.*linf", fix="formulation.norm=l1"),
    mistake(
        "formulation=ranksvm formulation.squared=maybe",
        r"formulation.squared is 'maybe'; it is true or false",
        fix="formulation.squared=true",
    ),
    mistake("formulation=generalized_bauc formulation.threshold=inf", r"threshold z must be finite"),
    mistake("formulation=partial_auc formulation.max_fpr=2", r"max_fpr"),
    mistake(
        "solver=highs formulation=ranksvm formulation.norm=l2",
        r"solver=highs cannot solve ranksvm: .*use solver=",
        fix="solver=newton",
    ),
    mistake(
        "solver=scs formulation=exact_auc", r"solver=scs cannot solve exact_auc: .*use solver=highs", fix="solver=highs"
    ),
    mistake("solver.tolerance=0", r"solver.tolerance is 0.0; it is a relative gap > 0"),
    mistake("solver.tolerance=abc", r"solver.tolerance is 'abc'; it is a number"),
    mistake("solver.time_limit=-1", r"solver.time_limit is -1.0; it is a number of seconds > 0"),
    mistake("solver=cutting_plane solver.max_iters=0", r"solver.max_iters is 0; at least 1", fix="solver.max_iters=1"),
    mistake(
        "solver=highs solver.encoding=ful",
        r"solver.encoding is 'ful' \(did you mean 'full'",
        fix="solver.encoding=full",
    ),
    mistake("solver=highs solver.export=model.txt", r"ends in .lp or .mps", fix="solver.export=model.lp"),
    mistake(
        "formulation=bauc tune=penalty",
        r"tune.parameter is 'penalty', which bauc does not have",
        fix="formulation=ranksvm",
    ),
    mistake(
        "tune=threshold formulation=ranksvm",
        r"'threshold', which ranksvm does not have; it has penalty",
        fix="tune=penalty",
    ),
    mistake(
        "formulation=ranksvm tune=penalty tune.folds=1",
        r"tune.folds is 1; cross-validation needs at least 2",
        fix="tune.folds=2",
    ),
    mistake(
        "formulation=ranksvm tune=penalty tune.metric=aux",
        r"tune.metric is 'aux' \(did you mean 'auc'",
        fix="tune.metric=auc",
    ),
    mistake(
        "formulation=generalized_bauc tune=penalty tune.parameter=threshold tune.values=[]",
        r"tune.values is empty; give the values",
    ),
    mistake("formulation=ranksvm tune=penalty tune.values=[a]", r"tune.values.* is 'a'; it is a number"),
    mistake("bounds.rho=2", r"bounds.rho is 2.0; it is one minus the confidence"),
    mistake("bounds.stability.a=-1", r"bounds.stability.a is -1.0; it must be ≥ 0"),
    mistake("bounds.weighted.max_fpr=3", r"bounds.weighted.max_fpr is 3.0; it is a rate in \(0, 1\]"),
    mistake("metrics=[soft_auc] metrics.soft_auc.beta=-1", r"metrics.soft_auc: beta must be above 0"),
    mistake("metrics=[partial_auc] metrics.partial_auc.max_fpr=0", r"metrics.partial_auc: .*max_fpr"),
    mistake(
        "class_weight=balancd",
        r"class_weight is 'balancd'; it is null, balanced, or a weight",
        fix="class_weight=balanced",
    ),
    mistake("class_weight={negative:1,positive:-5}", r"class_weight is \{.*-5\}; it is null, balanced"),
    mistake("rerun=maybe", r"rerun is 'maybe'; it is one of stale, false and true", fix="rerun=stale"),
    mistake("data_dir=nowhere", r"data_dir=nowhere is not a folder"),
    mistake("engine=dask", r"engine=dask (needs distributed; install it|reads the blocks of dataset=blocks)"),
    mistake(
        "preprocess.max_categories=1",
        r"max_categories is 1; it is a whole number ≥ 2",
        fix="preprocess.max_categories=2",
    ),
    mistake("preprocess.dates=[yaer]", r"'yaer' \(did you mean 'year'\?\)", fix="preprocess.dates=[year]"),
    mistake(
        "preprocess.missing_indicators=perhaps",
        r"is 'perhaps'; it is true or false",
        fix="preprocess.missing_indicators=true",
    ),
    mistake("tracking=mlflow tracking.wait=-1", r"tracking.wait is not a setting of tracking=mlflow"),
    mistake("dataset=artificial dataset.n_pos=many", r"dataset.n_pos is 'many'; it is a whole number"),
    mistake("dataset.name=${nowhere}", r"nowhere.* does not refer to a setting; give the value itself"),
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
