"""The screen of a finished experiment as a reader sees it, in 80 and in 120 columns."""

import io

import pytest
from rich.console import Console

from auclab.pipeline import result_screen as screen
from auclab.tracking import TrackingConfig
from composed import run_here


class Bare:
    """What the screen asks of a run."""

    def __init__(self, folder, run_id):
        self.name, self.folder, self.run_id = "bauc · artificial", folder, run_id


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
    return console


@pytest.mark.parametrize("which", ["one", "many"])
def test_everything_is_on_the_screen(results, which, console, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = results[which]
    screen.show_solution(result)
    screen.show_run(Bare(tmp_path / "mlruns" / "artifacts" / "abc", "0123abcd"), TrackingConfig())
    text = console.file.getvalue()
    flowing = " ".join(text.split())
    assert "50 rows × 2 features" in flowing
    assert "20 positive" in flowing
    assert result.formulation.equation() in text
    assert "optimal" in flowing
    assert "the gap is within the tolerance" in flowing
    assert f"{result.summary['test/auc']:.4f}" in text
    assert "AUC" in text
    assert "vacuous: it excludes nothing" in flowing
    assert "best for AUC" in flowing
    worst = min((fold.guarantees for fold in result.folds), key=lambda items: items[1].lower_end)[1]
    assert f"{worst.statement} (test {worst.test_value:.4f}) fixed_scorer_auc, test part" in flowing
    assert "[1] assumed:" in text
    assert "stability bounds hold for formulation=ranksvm" in flowing
    assert "0123abcd" in text
    assert "mlruns/artifacts/abc" in text
    assert "mlflow ui --workers 1 --backend-store-uri sqlite:///mlruns/mlflow.db" in text
    if which == "many":
        assert " ± " in text
        assert "interval" not in text.partition("bounds")[0]
        assert "2 × optimal" in flowing
    else:
        assert f"{result.folds[0].solution.objective:.8f}" in text
        low, high = (result.summary[f"test/auc_{end}"] for end in ("low", "high"))
        assert "95% interval" in text
        assert f"{result.summary['test/auc']:.4f}   {low:.4f} to {high:.4f}" in text
    lines = text.splitlines()
    assert len(lines) <= 50
    # Only what is to be copied as a whole may be longer than the screen is wide.
    assert all(len(line) <= console.width for line in lines if "mlflow ui" not in line and "0123abcd" not in line)


def test_without_a_database_no_page_is_offered(results, console, tmp_path):
    screen.show_run(Bare(tmp_path, None), TrackingConfig(name="none"))
    text = console.file.getvalue()
    assert str(tmp_path) in text
    assert "mlflow" not in text


def test_a_job_is_one_line(results, console, tmp_path):
    screen.show_line(results["one"], Bare(tmp_path, None))
    (line,) = console.file.getvalue().splitlines()
    assert line.startswith("✓ bauc · artificial")
    assert "test auc" in line
