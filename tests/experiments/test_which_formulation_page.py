"""What docs/which_formulation.md says in its text is in the results files of the study."""

import numpy as np
import pandas as pd
import pytest
from experiments.study import FOLDER, read
from experiments.which_formulation import answers, exact, methods
from experiments.which_formulation.methods import COMPARED, NAMES

from auclab.runs import holm, rank_columns
from auclab.runs.compare.paired import paired_test

RESULTS = FOLDER / "which_formulation" / "results"
PAGE = " ".join((FOLDER.parent / "docs" / "which_formulation.md").read_text(encoding="utf-8").split())
WORDS = dict(
    enumerate(
        ("none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
    )
)


def shares(value: float, digits: int = 3) -> str:
    """A number below 1 as the page prints it, without the 0."""
    return f"{value:.{digits}f}".replace("0.", ".").replace("-", "−")


def rows_of(name: str) -> pd.DataFrame:
    return pd.DataFrame([vars(row) for row in read(RESULTS / f"{name}.csv")[2]])


def mean_of(table: pd.DataFrame, claim: str) -> float:
    return float(table[table["claim_id"] == claim]["value"].mean())


def error_of(table: pd.DataFrame, claim: str) -> float:
    values = table[table["claim_id"] == claim]["value"]
    return float(values.std(ddof=1) / np.sqrt(len(values)))


@pytest.fixture(scope="module")
def found():
    return rows_of("answers").set_index("claim_id")["value"]


def says(*sentences: str) -> None:
    for sentence in sentences:
        assert sentence in PAGE


def test_ranks(found):
    p = {measure: found[f"friedman.{measure}"] for measure in answers.MEASURES}
    says(
        f"AUC p = {shares(p['auc'])}, bAUC {shares(p['bauc'])}, VOROS {shares(p['voros'], 4)}, Brier score "
        f"{shares(p['brier'], 4)}"
    )
    says(f"separates is RankSVM² ({found['rank.auc.ranksvm2']:.2f}) and bAUC ({found['rank.auc.bauc']:.2f})")
    separated = {
        measure: {
            tuple(sorted((a, b)))
            for a in COMPARED
            for b in COMPARED
            if found[f"rank.{measure}.{b}"] - found[f"rank.{measure}.{a}"] > found[f"critical_difference.{measure}"]
        }
        for measure in answers.MEASURES
    }
    assert separated["auc"] == {("bauc", "ranksvm2")}
    assert separated["voros"] == {("bauc", "csvm2"), ("bauc", "logistic"), ("bauc", "ranksvm2")}
    assert separated["brier"] == {("bauc", "logistic"), ("bauc", "ranksvm2")}
    assert min(NAMES, key=lambda key: found.get(f"rank.auc.{key}", 9)) == "ranksvm2"
    assert max(COMPARED, key=lambda key: found[f"rank.auc.{key}"]) == "bauc"


def test_differences(found):
    values = answers.kept_values()
    auc, bauc = (answers.means(values, measure) for measure in ("auc", "bauc"))
    gain = auc["ranksvm2"] - auc["bauc"]
    near = int((gain.abs() < 0.005).sum())
    says(
        f"RankSVM² gains {shares(found['difference.ranksvm2'])} of AUC on average over all sets (signed ranks p = "
        f"{shares(found['signed_rank.ranksvm2'])}), but the median is {shares(gain.median())}, and {near} of "
        f"{len(gain)} sets differ by less than .005"
    )
    assert near > len(gain) / 2
    says(f"its bAUC is {shares((bauc['ranksvm2'] - bauc['bauc']).mean())} below that of RankSVM² on average")
    for name in ("breast_cancer_ljubljana", "solar_flare_m"):
        says(f"{name} ({shares(auc['bauc'][name], 2)} to {shares(auc['ranksvm2'][name], 2)})")
    says(
        f"finds RankSVM² better than bAUC on {WORDS[found['better.ranksvm2']]} sets and worse on "
        f"{WORDS[found['worse.ranksvm2']]}"
    )
    p_values = [
        paired_test(each["ranksvm2"], each["bauc"], test="corrected-t", test_train_ratio=answers.RATIO).p_value
        for _, each in values[values["measure"] == "auc"]
        .pivot_table(index=["set", "seed"], columns="method", values="value")
        .groupby(level="set")
    ]
    assert min(holm(p_values)) > 0.05
    says(f"after Holm's correction for the {len(p_values)} tests it is better on none")
    says(f"rows per column is {shares(found['room.correlation'], 2)} (p = {shares(found['room.p_value'])})")
    seconds = {key: shares(found[f"seconds.{key}"], 2) for key in COMPARED}
    says(
        f"LDA {seconds['lda']}, logistic regression {seconds['logistic']}, bAUC {seconds['bauc']} (nothing to tune), "
        f"RankSVM² {seconds['ranksvm2']}, C-SVM² {seconds['csvm2']}"
    )
    splits = rows_of("splits")
    assert (splits[splits["claim_id"].str.startswith("certified.")]["value"] == 1).all()


def test_sets_of_one_source_do_not_decide():
    source = answers.means(answers.kept_values(), "auc").rename(
        lambda name: next((kind for kind in ("monks", "wine_quality") if name.startswith(kind)), name)
    )
    ranks = rank_columns(source.groupby(level=0).mean(), alpha=answers.LEVEL)
    says(f"with one value for each of the {ranks.n_rows} sources Nemenyi's test separates the same pair")
    average = ranks.average_ranks
    apart = {
        (a, b) for a in average.index for b in average.index if average[b] - average[a] > ranks.critical_difference
    }
    assert apart == {("ranksvm2", "bauc")}


@pytest.mark.slow
@pytest.mark.needs_tables
def test_where_the_gain_is():
    table = answers.means(answers.kept_values(), "auc")
    gain = table["ranksvm2"] - table["bauc"]
    room = pd.Series({name: answers.rows_per_column(name) for name in table.index})
    above, crowded = gain > 0.01, room < 5
    says(f"The {WORDS[int(above.sum())]} sets with a gain above .01 all have fewer than five training rows")
    assert crowded[above].all()
    others = gain[crowded & ~above]
    few, lose = int((others >= 0).sum()), int((others < 0).sum())
    says(f"of {WORDS[len(others)]} other such sets {WORDS[few]} gain less and {WORDS[lose]} lose")


def test_one_path():
    family = rows_of("family")
    sets = {each.split(".")[1] for each in family["claim_id"] if each.startswith("value.")}
    pairs, points = (shares(mean_of(family, f"family.gap.{kind}")) for kind in ("pairs", "points"))
    most = [shares(mean_of(family, f"family.largest.{kind}")) for kind in ("pairs", "points")]
    says(
        f"On {WORDS[len(sets)]} sets with {WORDS[family['seed'].nunique()]} splits the tuned formulations still differ "
        f"by {pairs} (pairs) and {points} (points) of test AUC, best minus worst, and by {most[0]} and {most[1]} on "
        "the set"
    )


def test_partial_auc():
    table = rows_of("partial")
    above, below = (mean_of(table, f"partial.gain.{key}") for key in ("bauc", "ranksvm2"))
    says(f"was {shares(above)} above that of bAUC and {shares(-below)} below that of RankSVM²")
    errors = [error_of(table, f"partial.gain.{key}") for key in ("bauc", "ranksvm2")]
    says(f"with standard errors of {shares(errors[0])} and {shares(errors[1])}")
    says(f"Cutting planes proved {100 * mean_of(table, 'partial.certified.partial'):.0f} % of its optima")


def test_exact():
    table = rows_of("exact")
    two, three = (
        [shares(mean_of(table, f"lost.{key}.d={d}")) for key in ("bauc", "family", "logistic")] for d in (2, 3)
    )
    says(f"bAUC optimum loses {two[0]} of AUC with two components and 60 + 60 rows, {three[0]} with three and 30 + 30")
    says(f"loses {two[1]} and {three[1]}, logistic regression {two[2]} and {three[2]}")
    says(f"the bAUC optimum is {two[0]} to {three[0]} below it on the training rows")
    won = []
    for d in (2, 3):
        by_seed = {
            key: table[table["claim_id"] == f"test.{key}.d={d}"].set_index("seed")["value"] for key in ("bauc", "exact")
        }
        difference = by_seed["bauc"] - by_seed["exact"]
        won.append((difference.mean(), difference.std(ddof=1) / np.sqrt(len(difference))))
    says(
        f"bAUC is {shares(won[0][0], 4)} (standard error {shares(won[0][1], 4)}) and {shares(won[1][0], 4)} "
        f"({shares(won[1][1], 4)}) above the AUC optimum"
    )
    unproved = table[table["claim_id"].str.contains(".unproved.", regex=False)]
    says(f"All {len(unproved)} programs were solved to optimality")
    assert unproved["value"].abs().max() < 1e-12
    assert exact.SIZES == {2: 60, 3: 30}
    assert methods.COMPARED
