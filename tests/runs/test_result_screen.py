"""The screen of a finished experiment as a reader sees it, in 80 and in 120 columns."""

import io
import re

import pytest
from rich.console import Console

from auclab.runs.screen import console as tables
from auclab.runs.screen import result_screen as screen
from auclab.runs.screen.result_screen import BoundLine, all_lines, best_of, weakest
from auclab.runs.tracking.address import TrackingConfig
from auclab.runs.tracking.record import RunRecord
from composed import run_here


def recorded(folder, run_id=None):
    """The record of a run, in a store if it has an id there."""
    return RunRecord(folder, "bauc · artificial", tracking=run_id and TrackingConfig(), run_id=run_id)


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("screen")
    small = ["dataset=artificial", "dataset.n_pos=20", "dataset.n_neg=30", "dataset.n_features=2"]
    one = run_here(folder / "one", *small, "solver=highs")
    many = run_here(folder / "many", *small, "split=kfold", "split.n_folds=2")
    return {"one": one, "many": many}


@pytest.fixture(params=[80, 120])
def console(request, monkeypatch):
    console = Console(file=io.StringIO(), width=request.param, highlight=False)
    monkeypatch.setattr(screen, "out", console)
    monkeypatch.setattr(tables, "out", console)
    return console


@pytest.mark.parametrize("which", ["one", "many"])
def test_everything_is_on_the_screen(results, which, console, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = results[which]
    screen.show_solution(result, whole=True)
    screen.show_run(result, recorded(tmp_path, "0123abcd"), 12.34)
    text = console.file.getvalue()
    lines, flowing = text.splitlines(), " ".join(text.split())
    assert "50 rows × 2 columns: 20 labelled 1 (positive), 30 labelled 0" in flowing
    assert result.formulation.equation() in text
    assert "optimal" in flowing
    assert "the gap is within the tolerance" in flowing
    assert f"{result.summary['test/auc']:.4f}" in text
    labels = [line.split()[0] for line in lines if line and not line.startswith(" ")]
    assert labels[:3] == ["model", "test", "optimal"]
    decision = result.folds[0].decision
    cut = f"above {decision.threshold:.6g}" if which == "one" else "above a threshold of every split"
    assert f"{result.dataset.positive} for scores {cut}: the share of predicted positives is" in flowing
    assert f"that of the training part, chosen on {decision.source}" in flowing
    assert "yes, proved" in flowing
    assert f"test AUC {result.summary['test/auc']:.4f}" in flowing
    assert f"{result.seconds:.2f} from the data to the bounds" in flowing
    bounds = [BoundLine.of(item) for fold in result.folds for item in fold.guarantees]
    assert best_of(weakest(bounds)).statement in flowing
    assert "assumed" not in text
    assert "seconds 12.3 in all" in flowing
    predict = "auclab predict 0123abcd NEW.csv · " if which == "one" else ""  # several splits have several models
    assert lines[-1] == f"next       auclab show 0123abcd · {predict}auclab ui"
    if which == "many":
        assert " ± " in text
        assert "interval" not in text
        assert "2 × optimal" in flowing
    else:
        assert f"objective {result.folds[0].solution.objective:.8g} " in flowing
        low, high = (result.summary[f"test/auc_{end}"] for end in ("low", "high"))
        assert f"({0.95:.0%} interval {low:.4f} to {high:.4f})" in flowing
        assert f"{result.summary['test/auc']:.4f} {low:.4f} to {high:.4f}" in flowing
    assert len(lines) <= 50
    # Only what is to be copied as a whole may be longer than the screen is wide.
    assert all(len(line) <= console.width for line in lines if "0123abcd" not in line)


@pytest.mark.slow
@pytest.mark.covering
@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (["formulation=ranksvm"], "ranksvm, λ = 0.01 not tuned (tune=penalty chooses it by cross-validation) ·"),
        (["formulation=csvm", "formulation.penalty=0.3"], "csvm, λ = 0.3 not tuned (tune=penalty chooses it"),
        (["formulation=ecsvm"], "ecsvm, z = -0.1 not tuned (tune=threshold chooses it"),
        (["formulation=ranksvm", "kernel=rbf"], "λ = 0.01 not tuned (tune=kernel chooses γ and it"),
        (["formulation=logistic"], "logistic, C = 1 not tuned (tune=auto chooses it"),
        (["formulation=ranksvm", "tune=penalty", "tune.values=[0.01,0.1]"], ""),
        (["formulation=bauc"], ""),
    ],
)
def test_a_parameter_that_nothing_in_the_data_has_chosen_is_named(settings, said, console, tmp_path):
    data = ["dataset=artificial", "dataset.n_pos=20", "dataset.n_neg=30", "dataset.n_features=2"]
    screen.show_solution(run_here(tmp_path, *data, "decision.probability=none", *settings))
    flowing = " ".join(console.file.getvalue().split())
    assert said in flowing
    assert ("not tuned" in flowing) == bool(said)


def test_the_screen_of_a_run_has_six_lines(results, console, tmp_path):
    screen.show_solution(results["one"])
    screen.show_run(results["one"], recorded(tmp_path, "0123abcd"), 2.0)
    rows = [line for line in console.file.getvalue().splitlines() if line and not line.startswith(" ")]
    assert [row[:9].rstrip() for row in rows] == ["model", "test AUC", "optimal", "rows", "seconds", "next"]
    assert console.file.getvalue().count("95% interval") == 1
    (counts,) = [line for line in rows if line.startswith("rows")]
    data = results["one"].dataset
    assert f"{data.n_pos} labelled 1 (positive), {data.n_neg} labelled 0; share of 1 ." in counts


def test_without_a_database_no_page_is_offered(results, console, tmp_path):
    screen.show_run(results["one"], recorded(tmp_path), 1.0)
    text = console.file.getvalue()
    assert str(tmp_path) in text
    assert "auclab ui" not in text


def test_a_job_is_a_few_words(results):
    line = screen.line_of(results["one"])
    assert line.startswith(f"objective {results['one'].summary['objective']:.6g}  gap ")
    assert "test auc" in line


def test_of_several_splits_the_weakest_bound_of_a_name_is_shown():
    ends = [("hoeffding", 0.8), ("hoeffding", 0.6), ("stability", 0.7), ("hoeffding", 0.9)]
    lines = [BoundLine(name, "AUC", "test", "", end, False, ()) for name, end in ends]
    assert [(line.name, line.lower_end) for line in weakest(lines)] == [("hoeffding", 0.6), ("stability", 0.7)]


def test_all_bounds_are_named_with_what_they_assume(results, console):
    result = results["one"]
    for line in all_lines([BoundLine.of(item) for item in result.folds[0].guarantees], result.folds[0].remarks):
        console.print(line)
    flowing = " ".join(console.file.getvalue().split())
    for item in result.folds[0].guarantees:
        assert f"{item.name}, {item.sample} part" in flowing
        assert all(text in flowing for text in item.bound.assumptions)
    assert "vacuous: it excludes nothing" in flowing
    assert "best for AUC" in flowing
    assert "stability bounds hold for formulation=ranksvm" in flowing


@pytest.mark.parametrize(
    ("settings", "advice"),
    [
        (["formulation.penalty=1e3"], "λ = 1000 is too large: try formulation.penalty=10, or tune=penalty"),
        (["tune=penalty", "tune.values=[1e3,1e4]"], "so it is for all values (λ from 1000 to 10000): try another"),
        (["formulation=csvm", "formulation.penalty=1e3"], "try class_weight=balanced, which counts both classes alike"),
        (
            ["formulation=csvm", "formulation.penalty=1e3", "class_weight=balanced"],
            "λ = 1000 is too large: try formulation.penalty=10, or tune=penalty",
        ),
        (
            ["formulation=partial_auc", "formulation.max_fpr=0.02", "dataset.n_neg=100"],
            "so it is for every λ, because λ_max = 0: try formulation=ranksvm",
        ),
        (
            ["formulation=ecsvm", "dataset.n_neg=300", "tune=auto"],
            "so it is for all values (z from -1 to -0.0001): try class_weight=balanced, or try larger ones with",
        ),
        (
            ["formulation=generalized_bauc", "tune=threshold", "tune.values=[-400,-200]"],
            "try larger ones with 'tune.values=[-200,-100,-50,-25,-12.5]'",
        ),
    ],
)
def test_a_constant_scorer_gets_no_tick_but_advice(settings, advice, console, tmp_path):
    data = ["dataset=artificial", "dataset.n_pos=20", "dataset.n_neg=30", "dataset.n_features=2"]
    formulation = [] if settings[0].startswith("formulation=") else ["formulation=ranksvm"]
    result = run_here(tmp_path, *data, *formulation, *settings)
    screen.show_solution(result)
    flowing = " ".join(console.file.getvalue().split())
    assert "warning the scorer is constant (w = 0): it ranks nothing, and its AUC is 0.5;" in flowing
    assert advice in flowing
    assert screen.line_of(result).endswith("constant scorer, w = 0")


def test_metrics_in_units_of_the_score_are_no_headline(console, tmp_path):
    data = ["dataset=artificial", "dataset.n_pos=20", "dataset.n_neg=30", "dataset.n_features=2"]
    result = run_here(tmp_path / "out", *data, "metrics=[auc,ferri_auc,scored_auc]")
    screen.show_solution(result, whole=True)
    shown = " ".join(console.file.getvalue().split())
    headline, *_ = re.findall(r"columns (test .*?) on \d+ held-out", shown)
    assert "AUC" in headline
    assert "ferri" not in headline


def test_few_positives_are_noted_below_the_interval_once(console, tmp_path):
    data = ["dataset=artificial", "dataset.n_pos=20", "dataset.n_neg=60", "dataset.n_features=2"]
    screen.show_solution(run_here(tmp_path / "out", *data, "metrics=[auc,bauc]"))
    shown = " ".join(console.file.getvalue().split())
    note = "interval: only 6 positives: limits are those of large samples and may be too narrow"
    assert shown.count(note) == shown.count("test AUC")


def test_what_makes_no_difference_or_may_not_end_is_said_before_the_work(monkeypatch, tmp_path):
    said = []
    monkeypatch.setattr("auclab.runs.screen.console.show_foreseen", said.extend)
    data = ["dataset=artificial", "dataset.n_pos=12", "dataset.n_neg=20", "bounds=none", "decision.probability=none"]
    result = run_here(tmp_path / "1", *data, "dataset.n_features=2", "formulation=bauc", "class_weight=balanced")
    assert [note[:60] for note in said] == ["class_weight makes no difference to a scorer over pairs, bec"]
    assert said[0] in result.folds[0].solution.notes
    said.clear()
    run_here(tmp_path / "2", *data, "dataset.n_features=2", "formulation=csvm", "class_weight=balanced")
    run_here(tmp_path / "3", *data, "dataset.n_features=2", "formulation=exact_auc")
    assert said == []
    run_here(tmp_path / "4", *data, "dataset.n_features=4", "formulation=exact_auc", "solver.time_limit=0.1")
    assert len(said) == 1
    assert "pairs in 4 features by branch and bound" in said[0]
    said.clear()
    kinds = "".join(f"{'abcdef'[k % 6]},{k % 7},{k % 2}\n" for k in range(40))
    (tmp_path / "kinds.csv").write_text(f"kind,size,y\n{kinds}", encoding="utf-8")
    own = ["dataset=file", f"dataset.path={tmp_path / 'kinds.csv'}", "dataset.target=y", "decision.probability=none"]
    run_here(tmp_path / "5", *own, "bounds=none", "formulation=exact_auc", "solver.time_limit=0.1")
    assert "pairs in 7 features by branch and bound" in said[0]  # of 2 columns


def test_the_columns_that_max_features_leaves_are_named(tmp_path, console):
    data = ["dataset=artificial", "dataset.n_pos=20", "dataset.n_neg=30", "dataset.n_features=3"]
    run_here(tmp_path / "out", *data, "formulation=ranksvm", "constraints.max_features=1")  # shows its result
    shown = " ".join(console.file.getvalue().split())
    assert re.search(r" columns 1 of 3 used: \w+ ", shown)
    run_here(tmp_path / "free", *data)
    assert console.file.getvalue().count(" of 3 used: ") == 1


def test_a_composed_program_has_the_name_of_its_choice_and_its_penalty(tmp_path, console):
    data = ["dataset=artificial", "dataset.n_pos=20", "dataset.n_neg=30", "dataset.n_features=2", "bounds=none"]
    run_here(tmp_path / "out", *data, "formulation=group_lasso", "formulation.regulariser.weight=0.02")
    shown = " ".join(console.file.getvalue().split())
    assert "model group_lasso, λ = 0.02 not tuned (tune=penalty chooses it by cross-validation)" in shown
