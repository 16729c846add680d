"""docs/ranking_study.md from results/*.csv: ``python -m experiments.ranking.page``."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from auclab._core.base import AuclabError
from auclab.runs.compare.paired import paired_test
from experiments.study import FOLDER, VALUE, read

PAGE = FOLDER.parent / "docs" / "ranking_study.md"
RESULTS = FOLDER / "ranking" / "results"
NAMES = {
    "hinge": "hinge",
    "squared_hinge": "squared hinge",
    "bauc": "bAUC",
    "bauc_z": "bAUC_z",
    "cox": "Cox",
    "fast_svm": "FastSurvivalSVM",
    "conditional_logit": "conditional logit",
    "regression": "regression",
    "one_against_rest": "one against the rest",
}
#: Study to what is usual there, first what its differences are to.
USUAL = {
    "survival": ("cox", "fast_svm"),
    "choice": ("conditional_logit",),
    "grades": ("regression", "one_against_rest"),
}
OWN = ("hinge", "squared_hinge", "bauc", "bauc_z")
#: Test rows for each training row of a split.
RATIOS = {"flchain": 1.97, "wine_quality_white": 1.22, "abalone": 1.04}
LEVEL = 0.05


def kept_values(study: str) -> pd.DataFrame:
    """Columns ``set, measure, scorer, seed, value``.

    Raises
    ------
    AuclabError
        The study was not run.
    """
    path = RESULTS / f"{study}.csv"
    if not path.exists():
        raise AuclabError(f"{path.name} is missing; run experiment=ranking_{study} first")
    rows = [row for row in read(path)[2] if row.claim_id.startswith(VALUE)]
    return pd.DataFrame(
        [(*row.claim_id.removeprefix(VALUE).split("."), row.variant, row.seed, row.value) for row in rows],
        columns=["set", "measure", "scorer", "seed", "value"],
    )


def means(values: pd.DataFrame, measure: str) -> pd.DataFrame:
    """Mean over splits: a row per set, a column per scorer."""
    chosen = values[values["measure"] == measure]
    table = chosen.pivot_table(index="set", columns="scorer", values="value")
    return table.loc[list(dict.fromkeys(chosen["set"])), [name for name in NAMES if name in table]]


def tested(values: pd.DataFrame, measure: str, name: str, first: str, second: str) -> tuple[float, float]:
    """Mean difference of two scorers on a set, and p of the corrected paired t-test."""
    chosen = values[(values["measure"] == measure) & (values["set"] == name)]
    table = chosen.pivot_table(index="seed", columns="scorer", values="value")
    found = paired_test(table[first], table[second], test="corrected-t", test_train_ratio=RATIOS.get(name, 1.0))
    return float((table[first] - table[second]).mean()), found.p_value


def page() -> str:
    """Text of the page."""
    numbers: dict[str, object] = _of_bauc()
    for study, usual in USUAL.items():
        values = kept_values(study)
        command, origin, _ = read(RESULTS / f"{study}.csv")
        numbers |= {f"{study}_command": command, f"{study}_origin": origin}
        for key in dict.fromkeys(values["measure"]):
            table = means(values, key)
            numbers[f"{study}_{key}"] = _means(table)
            numbers |= {f"{study}_{key}_{name}": _number(table[name].mean(), 3) for name in table}
            if study == "survival" and key == "auc":
                few_rows = dict(
                    zip(table.columns, table.to_numpy()[list(table.index).index("breast_cancer")], strict=True)
                )
                numbers |= {
                    "worst": _number(float(few_rows["bauc"]), 3),
                    "worst_cox": _number(float(few_rows["cox"]), 3),
                }
            if key != "auc":
                each = [
                    f"{NAMES[str(name)]} {_number(table[name].mean(), 2 if key == 'seconds' else 3)}" for name in table
                ]
                numbers[f"{study}_{key}_mean"] = ", ".join(each)
        if study == "choice":
            tables = {"correct pairs": "auc", "buffered share": "bauc", "chosen mode first": "first"}
            numbers["choice_all"] = _means(
                pd.concat([means(values, key).set_axis([title]) for title, key in tables.items()]), mean=False
            )
        numbers[f"{study}_differences"] = _differences(values, usual)
    return _TEXT.format_map(numbers)


def _of_bauc() -> dict[str, object]:
    """What the text says of the differences of bAUC to what is usual, and of all differences on patients."""
    found, patients = [], []
    for study, usual in USUAL.items():
        values = kept_values(study)
        for name in dict.fromkeys(values["set"]):
            for second in usual:
                found += [tested(values, "bauc", name, "bauc", second)] if name != "breast_cancer" else []
                if study == "survival":
                    patients += [tested(values, key, name, first, second) for key in ("auc", "bauc") for first in OWN]
    return {
        "tests": len(found),
        "largest": _number(max(abs(difference) for difference, _ in found), 3),
        "better": sum(difference > 0 and p_value < LEVEL for difference, p_value in found),
        "worse": sum(difference < 0 and p_value < LEVEL for difference, p_value in found),
        "survival_tests": len(patients),
        "survival_apart": sum(p_value < LEVEL for _, p_value in patients),
    }


def _means(table: pd.DataFrame, *, mean: bool = True) -> str:
    best = {name: row.max() for name, row in table.iterrows()}
    rows = [
        [str(name), *(_bold(_number(value, 3), value == best[name]) for value in row)] for name, row in table.iterrows()
    ]
    if mean:
        rows.append(["mean", *(_number(value, 3) for value in table.mean())])
    return _table(["", *(NAMES[str(column)] for column in table)], rows)


def _differences(values: pd.DataFrame, usual: Iterable[str]) -> str:
    """The differences with p < .05 by either measure, a row for each pair of scorers and data set."""
    rows = []
    for second in usual:
        for first in OWN:
            for name in dict.fromkeys(values["set"]):
                found = [tested(values, key, name, first, second) for key in ("auc", "bauc")]
                if min(p_value for _, p_value in found) < LEVEL:
                    rows.append([f"{NAMES[first]} − {NAMES[second]}, {name}", *(_difference(*each) for each in found)])
    return _table(["difference", "correct pairs", "buffered share"], rows) if rows else "none."


def _difference(value: float, p_value: float) -> str:
    p = "p < .001" if p_value < 0.001 else f"p = {_number(p_value, 3)}"
    return f"{'−' if value < 0 else '+'}{_number(abs(value), 3)} ({p})"


def _bold(text: str, is_so: bool) -> str:
    return f"**{text}**" if is_so else text


def _number(value: float, digits: int) -> str:
    """Without the zero before the point."""
    return f"{value:.{digits}f}".removeprefix("0")


def _table(head: list[str], rows: Iterable[list[str]]) -> str:
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def main(target: Path = PAGE) -> None:
    """Write the page."""
    target.write_text(page(), encoding="utf-8")


_TEXT = """# Patients, choices, grades: a study

Generated by `python -m experiments.ranking.page` from the files in `experiments/ranking/results`.

**In short.** Programs over comparable pairs rank new rows as well as the usual methods of each field, but not better.
On five data sets of patients, {survival_apart} of {survival_tests} differences to Cox's model and to FastSurvivalSVM
have p < .05. For new travellers the conditional logit ranks {choice_auc_conditional_logit} of the pairs correctly,
and the four programs {choice_auc_squared_hinge} to {choice_auc_hinge}. Grades of wine and rings of abalones are
ranked best by one logistic regression for each grade ({grades_auc_one_against_rest} of the pairs on average; RankSVM
with the hinge {grades_auc_hinge}, bAUC {grades_auc_bauc}, least squares {grades_auc_regression}).

**What is the advantage of bAUC?** It has no λ, so it needs one fit and no tuning, and comes with a proof that no other
linear scorer has a larger buffered share on the training rows. On new rows it is not larger: without breast_cancer, its
{tests} differences to the usual methods have both signs and are at most {largest}; {better} of them has p < .05 in its
favour, and {worse} against it. With few patients and many columns it overfits, like other models without a penalty: on
breast_cancer (198 patients, 80 columns) its concordance is {worst}, and that of Cox's model with a ridge {worst_cox}.

## What was run

Each data set has ten splits, with half of the rows (at most 2,000) for training. Columns are standardised.
`python run.py -m experiment=ranking_survival scale=default` repeats the study of patients as a tracked sweep, and
`ranking_choice` and `ranking_grades` the others. The numbers are those of the commands below.

* **hinge**, **squared hinge**: RankSVM with λ‖w‖₂, and with the squared hinge and λ‖w‖₂².
* **bAUC**, **bAUC_z**: the buffered share, and that with z‖w‖₂ < 0.
* λ, z and the ridge of the other methods are chosen among four fractions of their unit, on half of the training part.
  bAUC, the conditional logit and the logistic regressions (C = 1) have no parameter to choose.

Every solution of the four programs was proved optimal to a gap of 10⁻⁶; without a penalty on w the proof is for all
w, or for all w up to a norm. The tables have means over the splits, the largest of a row in bold. Differences have the
p-value of the corrected paired t-test (Nadeau & Bengio 2003), not adjusted for multiple tests; those with a larger p
are in the files. Seconds are processor seconds for fitting, including the choice of λ.

## Patients

The data sets come from scikit-survival; flchain is without the cause of death. Cox's model has a ridge. FastSurvivalSVM
minimises the program of the squared hinge, except for tied times, with the same λ: the two differ by less than .001
everywhere.

Concordance of new patients:

{survival_auc}

Buffered, mean over the sets: {survival_bauc_mean}.

Differences with p < .05: {survival_differences} Mean seconds: {survival_seconds_mean}.

(`{survival_command}`; {survival_origin})

## Choices

In the data set modechoice of statsmodels, each of 210 travellers chose among air, train, bus and car. A pair is the
chosen mode with one of the other three. The columns are four costs and times, constants of three modes, and income
for air.

Of new travellers: the share of correct pairs, the buffered share, and the share of those whose chosen mode has the
largest score:

{choice_all}

Differences with p < .05: {choice_differences} Mean seconds: {choice_seconds_mean}.

(`{choice_command}`; {choice_origin})

## Grades

Wine has grades from 3 to 9, and abalones have 1 to 29 rings. All pairs of different grades are compared. "Regression"
is least squares on the grade with a ridge. "One against the rest" fits a logistic regression for each grade and uses
the expected grade as the score. It has one coefficient for each column and grade, and is not linear.

Share of correct pairs of new rows:

{grades_auc}

Buffered, mean over the sets: {grades_bauc_mean}.

Differences with p < .05:

{grades_differences}

Mean seconds: {grades_seconds_mean}.

(`{grades_command}`; {grades_origin})

## Which method to choose

Choose Cox's model, the conditional logit or a regression if you need hazards, probabilities or grades. Choose RankSVM
over comparable pairs if only the ranking matters and you need a proof, constraints on the coefficients, a norm that
selects columns, or 10⁵ rows and more. Choose bAUC if there are many rows for each column and you do not want to tune.
If there are many grades and enough rows, try one model for each grade.
"""


if __name__ == "__main__":
    main()
