"""Which runs make a cell, a pair, a row: synthetic runs, so that every answer is known."""

import itertools
import math

import pandas as pd
import pytest

from auclab._core.base import AuclabError
from auclab.runs import arrange, compare_runs
from auclab.runs.compare import formats
from made_runs import fake, table_of


def test_means_deviations_and_the_best_of_a_row():
    runs = table_of({("one", "bauc"): [0.8, 0.9], ("one", "csvm"): [0.7, 0.6], ("two", "bauc"): [0.5, 0.5]})
    table = compare_runs(runs)
    assert (table.rows, table.columns) == (["one", "two"], ["bauc", "csvm"])
    cell = table.cell("one", "bauc")
    assert cell.mean == pytest.approx(0.85)
    assert cell.deviation == pytest.approx(math.sqrt(0.005))
    assert (cell.count, cell.best, cell.level, cell.gap) == (2, True, True, 1e-9)
    assert cell.seconds == 1.0  # three less two of compilation
    assert math.isnan(table.cell("two", "csvm").mean)
    assert not table.cell("two", "csvm").level
    # d = 0.1, 0.3: mean 0.2, s² = 0.02, t = 0.2/√(0.02/2) = 2 with one degree of freedom: p = 2 (½ − atan(2)/π).
    plain = compare_runs(runs, test="t")
    assert plain.cell("one", "csvm").p_value == pytest.approx(1 - 2 * math.atan(2) / math.pi)
    assert plain.cell("one", "csvm").level
    assert not compare_runs(runs, test="t", alpha=0.35).cell("one", "csvm").level
    # By default splits of 70 to 30 are allowed for: t = 0.2/√((1/2 + 3/7) 0.02).
    corrected = 0.2 / math.sqrt((1 / 2 + 3 / 7) * 0.02)
    assert table.cell("one", "csvm").p_value == pytest.approx(1 - 2 * math.atan(corrected) / math.pi)
    assert compare_runs(runs, alpha=0.35).cell("one", "csvm").level


def test_constant_scorers_are_marked_in_every_table():
    runs = table_of({("one", "bauc"): [0.8, 0.9], ("one", "csvm"): [0.5, 0.5], ("two", "csvm"): [0.5, 0.7]})
    runs["constant"] = runs["test/auc"] == 0.5
    table = compare_runs(runs)
    assert [table.cell("one", name).constant for name in ("bauc", "csvm")] == [0, 2]
    assert table.cell("one", "csvm").remark(2) == " (constant)"
    assert table.cell("two", "csvm").remark(2) == " (1 constant)"
    assert "constant" not in table.cell("one", "bauc").remark(2)
    for text in (formats.to_markdown(table), formats.to_latex(table)):
        assert "(constant)" in text
        assert "csvm on one, csvm on two" in text
    assert formats.to_csv(table).splitlines()[0].split(",")[13] == "constant"
    assert not any("constant" in note for note in compare_runs(runs[runs["formulation"] == "bauc"]).notes)


def test_runs_with_and_without_class_weights_are_two_columns():
    """They were one: the older run was called replaced, and its value left out."""
    runs = pd.concat([table_of({("one", "csvm"): [0.5, 0.5]}), table_of({("one", "csvm"): [0.8, 0.9]})])
    runs = runs.assign(class_weight=[None, None, "balanced", "balanced"])
    table = compare_runs(runs)
    assert table.columns == ["csvm", "csvm balanced"]
    assert not any("replaced" in note for note in table.notes)
    weights = {
        "class_weight.negative": [math.nan, math.nan, 1.0, 1.0],
        "class_weight.positive": [math.nan] * 2 + [5.0] * 2,
    }
    table = compare_runs(runs.drop(columns="class_weight").assign(**weights))
    assert table.columns == ["csvm", "csvm weight of negative=1 weight of positive=5"]


def test_less_is_better_where_it_is():
    runs = table_of({("one", "bauc"): [0.8, 0.9, 0.85], ("one", "csvm"): [0.7, 0.6, 0.65]})
    assert compare_runs(runs, better="low").cell("one", "csvm").best
    runs["seconds/solve"] = runs["test/auc"]
    assert compare_runs(runs, metric="seconds/solve").cell("one", "csvm").best
    for loss in ("test/auc_threshold", "test/ranking_superquantile"):
        runs[loss] = runs["test/auc"]
        assert compare_runs(runs, metric=loss).cell("one", "csvm").best
    runs["alpha"] = runs["test/auc"]
    with pytest.raises(AuclabError, match="--better high or --better low"):
        compare_runs(runs, metric="alpha")


def test_the_better_end_of_a_users_metric_is_that_of_its_tag_or_said_to_be_unknown():
    runs = table_of({("one", "bauc"): [0.8, 0.9, 0.85], ("one", "csvm"): [0.7, 0.6, 0.65]})
    runs["test/missed"] = runs["test/auc"]
    for said, best, noted in (("low", "csvm", False), ("high", "bauc", False), ("unknown", "bauc", True)):
        table = compare_runs(runs.assign(**{"tag.better.missed": said}), metric="test/missed")
        assert table.cell("one", best).best
        assert any("missed are better is not known; larger is taken" in note for note in table.notes) == noted


def test_missing_pairs_are_named_and_tested_without():
    runs = table_of({("one", "bauc"): [0.9, 0.8, 0.7], ("one", "csvm"): [0.6, None, 0.5], ("two", "bauc"): [0.5]})
    table = compare_runs(runs, test="t")
    notes = " | ".join(table.notes)
    assert "missing: csvm on one lacks 1 of 3 (seed 1); the means of this row are over the 2 pairs that its" in notes
    assert "missing: csvm was not run on two" in notes
    assert table.cell("one", "csvm").count == table.cell("one", "bauc").count == table.pairs["one"] == 2
    assert table.cell("one", "bauc").mean == pytest.approx(0.8)  # of 0.9 and 0.7: the pairs that both have
    # Over the two common seeds d = 0.3, 0.2: mean 0.25, error 0.05, t = 5.
    assert table.cell("one", "csvm").p_value == pytest.approx(1 - 2 * math.atan(5) / math.pi)


def test_what_came_twice_counts_once_and_is_said():
    runs = table_of({("one", "bauc"): [0.9, 0.8], ("one", "csvm"): [0.6, 0.5]})
    older = table_of({("one", "bauc"): [0.1]}, started=-10)
    table = compare_runs(pd.concat([runs, older], ignore_index=True))
    assert table.cell("one", "bauc").mean == pytest.approx(0.85)
    [note] = [note for note in table.notes if "older" in note]
    assert note.startswith("1 older results of a configuration are replaced")
    assert "differ by up to 0.8 in test/auc (one · bauc · seed 0)" in note
    same = table_of({("one", "bauc"): [0.9]}, started=10)
    [note] = [note for note in compare_runs(pd.concat([runs, same])).notes if "older" in note]
    assert "they agree" in note


def test_settings_that_vary_are_found():
    runs = table_of({("one", "ranksvm"): [0.9, 0.8], ("one", "bauc"): [0.6, 0.5]})
    runs["formulation.penalty"] = [0.1, 0.1, math.nan, math.nan]
    other = table_of({("one", "ranksvm"): [0.7, 0.6]}).assign(**{"formulation.penalty": 0.01})
    both = pd.concat([runs, other], ignore_index=True)
    table = compare_runs(both)
    assert table.cells.columns == ("formulation", "formulation.penalty")
    assert table.columns == ["ranksvm λ=0.1", "bauc", "ranksvm λ=0.01"]
    with pytest.raises(
        AuclabError, match=r"differ in formulation\.penalty \(0\.1, nan, 0\.01\); add formulation\.penalty"
    ):
        compare_runs(both, columns=["formulation"])
    assert compare_runs(both, columns=["formulation.penalty", "formulation"]).columns[0] == "λ=0.1 ranksvm"


def test_rows_do_not_mix_splits():
    runs = table_of({("one", "ranksvm"): [0.9, 0.8]})
    wider = table_of({("one", "bauc"): [0.7, 0.6]}).assign(**{"split.test_size": 0.5})
    both = pd.concat([runs, wider], ignore_index=True)
    assert compare_runs(both).rows == ["one test_size=0.3", "one test_size=0.5"]
    with pytest.raises(AuclabError, match=r"a row mixes data or splits .*split\.test_size"):
        compare_runs(both, rows=["dataset"])


def test_pairs_are_the_same_seed_and_fold_of_the_same_data():
    folds = pd.DataFrame(
        [
            fake(auc=0.5 + 0.1 * number, formulation=name, seed=seed, fold=f"fold {fold}")
            for number, (name, seed, fold) in enumerate(itertools.product(["bauc", "csvm"], [3, 4], [0, 1]))
        ]
    )
    cells = arrange(folds, metric="test/auc")
    pairs = ["seed 3 · fold 0", "seed 3 · fold 1", "seed 4 · fold 0", "seed 4 · fold 1"]
    assert cells.values.index.get_level_values("pair").tolist() == pairs
    assert cells.values.loc[("one", "seed 4 · fold 1")].to_dict() == pytest.approx({"bauc": 0.8, "csvm": 1.2})
    folds.loc[folds["formulation"] == "csvm", "data_sha256"] = "other"
    with pytest.raises(AuclabError, match=r"one, seed 3 · fold 0, read different data"):
        arrange(folds, metric="test/auc")


def test_generated_data_are_paired_by_their_seed():
    runs = table_of({("one", "bauc"): [0.9, 0.8], ("one", "csvm"): [0.6, 0.5]})
    runs["dataset.seed"], runs["split.seed"] = runs["split.seed"], 0
    runs["data_sha256"] = runs["dataset.seed"].astype(str)
    cells = arrange(runs, metric="test/auc")
    assert cells.rows == ("dataset",)
    assert cells.values.index.tolist() == [("one", "data seed 0"), ("one", "data seed 1")]


def test_many_gaps_are_counted():
    scores = {(f"data {n}", name): [0.5, 0.6 if name == "a" else None] for n in range(20) for name in "ab"}
    missing = [note for note in compare_runs(table_of(scores)).notes if note.startswith("missing")]
    assert missing[0].startswith("missing: b on data 0 lacks 1 of 2 (seed 1)")
    assert missing[-1] == "missing: 8 more like these; --values lists every value"


def test_two_columns_are_ranked_by_signs():
    """Six rows, a better in all: p = 2/2⁶."""
    scores = {(f"data {n}", name): [0.5 + 0.01 * n * (name == "a")] * 2 for n in range(1, 7) for name in "ab"}
    assert (
        "two columns over 6 data sets: signed ranks of their means (Wilcoxon), p = 0.031"
        in compare_runs(table_of(scores)).notes
    )


def test_a_column_of_one_seed_is_neither_the_best_nor_waited_for():
    """It is equal to the better column where they meet; its mean would be the highest."""
    runs = table_of(
        {("one", "a"): [0.95, 0.8, 0.82, 0.81, 0.8], ("one", "b"): [0.7, 0.6, 0.62, 0.6, 0.6], ("one", "c"): [0.95]}
    )
    table = compare_runs(runs)
    assert [table.cell("one", name).best for name in "abc"] == [True, False, False]
    assert [table.cell("one", name).level for name in "abc"] == [True, False, False]
    assert [table.cell("one", name).count for name in "abc"] == [5, 5, 1]
    assert math.isnan(table.cell("one", "c").p_value)
    assert any("c on one lacks 4 of 5" in note and "over 1 pair, and it is not tested" in note for note in table.notes)
    other = pd.concat([runs, table_of({("one", "d"): [None] * 5 + [0.99]})], ignore_index=True)
    table = compare_runs(other)
    assert math.isnan(table.cell("one", "d").mean)
    assert any("d on one" in note and "shares none with the others" in note for note in table.notes)


def test_one_pair_marks_nothing():
    table = compare_runs(table_of({("one", "a"): [0.9], ("one", "b"): [0.8]}))
    assert not (table.best | table.level).any(axis=None)
    assert table.tally("a") == (0, 0, 0)
    assert any(note.startswith("one pair does not distinguish configurations") for note in table.notes)
    alone = compare_runs(table_of({("one", "a"): [0.9]}))
    assert alone.notes == ()


def test_data_of_their_own_need_no_correction():
    """Samples that are generated anew for every seed share nothing: corrected-t is t."""
    runs = table_of({("one", "a"): [0.9, 0.8, 0.85], ("one", "b"): [0.7, 0.65, 0.6]})
    runs["dataset.seed"], runs["data_sha256"] = runs["split.seed"], runs["split.seed"].astype(str)
    assert arrange(runs, metric="test/auc").ratios.to_dict() == {"one": 0.0}
    p_value = compare_runs(runs).cell("one", "b").p_value
    assert p_value == compare_runs(runs, test="t").cell("one", "b").p_value > 0


def test_tuned_and_untuned_runs_have_columns_of_their_own():
    """The solver that varies with the tuning does not hide it."""
    runs = table_of({("one", "ranksvm"): [0.9, 0.8], ("one", "bauc"): [0.7, 0.7]}).assign(
        **{"tune": "none", "solver": "auto", "formulation.penalty": [0.01, 0.01, None, None]}
    )
    tuned = table_of({("one", "ranksvm"): [0.95, 0.85]}).assign(
        **{"tune": "penalty", "solver": "newton", "formulation.penalty": "tuned"}
    )
    tuned["seconds/tune"], tuned["seconds/total"] = 4.0, 7.0
    table = compare_runs(pd.concat([runs, tuned], ignore_index=True))
    assert table.columns == ["ranksvm", "bauc", "ranksvm λ tuned"]
    assert (table.seconds["ranksvm λ tuned"], table.tuning["ranksvm λ tuned"]) == (5.0, 4.0)
    head, lines = formats.summary(table)
    assert head[-3:] == ["mean seconds", "of it tuning", "largest gap"]
    assert [line[-2] for line in lines] == ["—", "—", "4"]
    with pytest.raises(AuclabError, match="add tune"):
        compare_runs(pd.concat([runs, tuned], ignore_index=True), columns=["formulation"])


def test_a_file_is_one_row_however_its_path_was_typed():
    runs = table_of({("my.csv", "a"): [0.9, 0.8], ("my.csv", "b"): [0.7, 0.6]})
    runs["dataset.path"] = ["my.csv", "/home/me/my.csv", "my.csv", "./my.csv"]
    assert compare_runs(runs).rows == ["my.csv"]
    other = runs.assign(**{"dataset.path": "old/my.csv", "data_sha256": "other"})
    rows = compare_runs(pd.concat([runs, other], ignore_index=True)).rows
    assert rows == ["my.csv path=my.csv", "my.csv path=old/my.csv"]


def test_the_number_of_pairs_is_in_the_table():
    runs = table_of({("one", "a"): [0.9, 0.8, 0.7], ("one", "b"): [0.6, 0.5, None], ("two", "a"): [0.5, 0.5, 0.4]})
    head, lines = formats.grid(compare_runs(runs), lambda text, cell: f"{text}*")
    assert head == ["dataset", "pairs", "a", "b"]
    assert [line[1] for line in lines] == ["2", "3"]


def test_no_certificate_is_said():
    runs = table_of({("one", "a"): [0.9, 0.8], ("one", "lda"): [0.6, 0.5]})
    runs.loc[runs["formulation"] == "lda", "gap"] = math.nan
    assert [line[-1] for line in formats.summary(compare_runs(runs))[1]] == ["1.0e-09", "no certificate"]


def test_seeds_can_be_columns():
    runs = table_of({("one", "a"): [0.9, 0.8], ("two", "a"): [0.7, 0.6]})
    table = compare_runs(runs, columns=["split.seed"])
    assert table.columns == ["seed=0", "seed=1"]
    assert table.cells.notes == ()


def test_the_share_of_test_observations():
    runs = table_of({("one", "bauc"): [0.9, 0.8], ("one", "csvm"): [0.6, 0.5]})
    assert arrange(runs, metric="test/auc").ratios.to_dict() == pytest.approx({"one": 3 / 7})
    folds = runs.assign(**{"split": "kfold", "split.n_folds": 5, "split.test_size": math.nan})
    assert arrange(folds, metric="test/auc").ratios.to_dict() == {"one": 0.25}
    unknown = compare_runs(runs.drop(columns="split.test_size"), test="corrected-t")
    assert any("unknown for one" in note for note in unknown.notes)
    assert unknown.p_value.isna().all(axis=None)


def test_wins_ties_and_losses():
    good, bad = [0.9, 0.8, 0.9, 0.8], [0.6, 0.5, 0.61, 0.51]
    near = [0.9, 0.81, 0.89, 0.8]
    runs = table_of({("one", "a"): good, ("one", "b"): near, ("one", "c"): bad, ("two", "a"): bad, ("two", "b"): bad})
    table = compare_runs(runs)
    assert (table.wins.loc["a", "c"], table.losses.loc["c", "a"], table.wins.loc["a", "b"]) == (1, 1, 0)
    assert [table.tally(name) for name in "abc"] == [(1, 2, 0), (1, 2, 0), (0, 0, 2)]


def test_ranks_leave_out_rows_that_lack_a_column_and_say_so():
    scores = {(data, name): [0.5 + 0.1 * j, 0.6 + 0.1 * j] for data in ("x", "y", "z") for j, name in enumerate("abc")}
    del scores["z", "c"]
    table = compare_runs(table_of(scores))
    assert table.ranking.n_rows == 2
    assert table.ranking.average_ranks.to_dict() == {"c": 1.0, "b": 2.0, "a": 3.0}
    assert "ranks leave out rows that lack a column: z" in table.notes
    assert compare_runs(table_of({("x", "a"): [1, 2], ("y", "a"): [1, 2]})).ranking is None


def test_five_pairs_are_too_few_for_signed_ranks():
    runs = table_of({("one", "a"): [0.9] * 5, ("one", "b"): [0.1, 0.2, 0.3, 0.4, 0.5]})
    [note] = [note for note in compare_runs(runs, test="wilcoxon").notes if "too few" in note]
    assert note.endswith("run at least 6 seeds or folds")
    assert not any("too few" in note for note in compare_runs(runs).notes)


def test_values_that_are_absent_or_infinite_are_said():
    runs = table_of({("one", "a"): [0.9, 0.8, 0.7], ("one", "b"): [0.1, math.nan, math.inf]})
    table = compare_runs(runs)
    assert any("1 of 6 splits have no test/auc" in note for note in table.notes)
    assert any("1 values of test/auc are infinite" in note for note in table.notes)
    with pytest.raises(AuclabError, match="no run has a metric 'test/nothing'; metrics are test/auc"):
        compare_runs(runs, metric="test/nothing")
    with pytest.raises(AuclabError, match=r"no setting 'penalty'; settings are dataset"):
        compare_runs(runs, columns=["penalty"])
    with pytest.raises(AuclabError, match="no run matches"):
        compare_runs(runs.iloc[:0])
    for wrong in ({"test": "sign"}, {"alpha": 5}, {"better": "more"}):
        with pytest.raises(AuclabError):
            compare_runs(runs, **wrong)


def _split_twice(names, dataset="one", **more):
    """Runs on one data set over three seeds, split by holdout and into folds."""
    rows = []
    for (k, name), split, seed in itertools.product(enumerate(names), ("holdout", "kfold"), range(3)):
        folds = {"split.n_folds": 5, "split.test_size": math.nan} if split == "kfold" else {}
        rows.append(fake(auc=0.5 + 0.1 * k + 0.01 * seed, dataset=dataset, formulation=name, seed=seed, split=split))
        rows[-1] |= folds | more
    return rows


def test_one_data_set_split_in_two_ways_has_no_test_over_data_sets():
    table = compare_runs(pd.DataFrame(_split_twice("abc")))
    assert table.rows == ["one holdout", "one kfold"]
    assert table.ranking is None
    assert any(note.startswith("no test over data sets: the 2 rows are of one, one, and share") for note in table.notes)
    assert not any("Friedman" in sentence for sentence in formats.sentences(table))
    assert table.cell("one kfold", "a").p_value < 0.05  # the tests within a row are those of splits
    two = compare_runs(pd.DataFrame(_split_twice("ab")))
    assert not any("signed ranks" in note for note in two.notes)


def test_rows_of_one_data_set_count_once_among_others():
    rows = [*_split_twice("abc"), *_split_twice("abc", dataset="two")]
    table = compare_runs(pd.DataFrame(rows))
    assert table.ranking.n_rows == 2
    assert "the 4 rows are of 2 data sets: tests over data sets take one mean of each" in table.notes
    # c leads on both: χ² = N (k − 1) with N the number of data sets.
    assert table.ranking.chi_square == pytest.approx(4.0)


def test_other_labels_are_another_data_set_and_other_decimals_are_not():
    def rows(**more):
        return pd.DataFrame([each for one in more.pop("of") for each in _split_twice("abc", **one)])

    read = [{"dataset.decimal": ","}, {"dataset.decimal": "."}]
    assert compare_runs(rows(of=read)).ranking is None
    labels = [{"dataset.positive": "1"}, {"dataset.positive": "2"}]
    assert compare_runs(rows(of=labels)).ranking.n_rows == 2
