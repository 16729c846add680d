"""Runs with a kernel on the page: a line each, the picture of their stages, and how they look in a browser."""

from itertools import count

import pytest

from auclab.runs import read_runs, write_report
from auclab.runs.report.comparisons import draw_kernels, kernel_lines
from auclab.runs.stored.stored_files import read_kernel
from composed import run_here
from runs.report.browser import CHROMIUM, ask

SMALL = ("dataset=artificial", "dataset.n_pos=60", "dataset.n_neg=80", "dataset.n_features=3", "bounds=none")


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    place = tmp_path_factory.mktemp("kernels") / "mlruns"

    numbers = count()

    def run(*overrides):
        settings = [f"tracking.dir={place}", "metrics=[auc,bauc]", *SMALL, *overrides]
        run_here(place.parent / f"out{next(numbers)}", "tracking=mlflow", *settings)

    ranksvm = ("formulation=ranksvm", "formulation.squared=true", "formulation.penalty=0.001")
    run(*ranksvm)
    several = ("dataset.n_pos=400", "dataset.n_neg=400")  # rows for which one stage is not enough
    run(*ranksvm, *several, "kernel=rbf", "kernel.gamma=0.3", "kernel.tolerance=1e-6", "split=kfold", "split.n_folds=2")
    run("formulation=bauc", "kernel=laplacian", "kernel.max_landmarks=5")
    return place


@pytest.fixture(scope="module")
def runs(store):
    return read_runs(store, status=None)


def test_every_kernel_run_has_a_line(runs):
    numbers = {str(run_id): k for k, run_id in enumerate(runs["run_id"].drop_duplicates())}
    whole, span = kernel_lines(runs, numbers)
    kernels = [read_kernel(folder) for folder in runs["fold_folder"] if read_kernel(folder)]
    sizes = sorted(kernel.landmarks for kernel in kernels[:2])
    assert (whole["number"], whole["kernel"], whole["space"]) == (1, "rbf γ = 0.3", "every scorer of the space")
    assert (whole["landmarks"], whole["most"]) == (f"{sizes[0]} to {sizes[1]}", sizes[1])
    assert 0 < whole["gap"] <= 1e-6
    assert span["kernel"].startswith("laplacian γ = ")
    assert (span["landmarks"], span["space"]) == ("5", "the scorers in the span of the landmarks")


def test_a_solve_of_one_stage_is_no_picture(runs):
    lines = kernel_lines(runs, {str(run_id): 0 for run_id in runs["run_id"]})
    assert draw_kernels(lines).source.startswith("data:image/svg+xml")
    assert draw_kernels(lines[1:]) is None
    assert draw_kernels([]) is None


def test_a_page_without_kernels_has_no_section(store, runs, tmp_path):
    linear = runs[runs["run_id"] == runs["run_id"].iloc[0]]
    page = write_report(linear, tmp_path / "linear.html", store_dir=store)
    assert 'id="kernels"' not in page.read_text(encoding="utf-8")


@pytest.mark.skipif(CHROMIUM is None, reason="neither chromium nor google-chrome is installed")
def test_the_section_in_a_browser(store, runs, tmp_path):
    page = write_report(runs, tmp_path / "kernels.html", store_dir=store)
    script = """
    const section = document.getElementById("kernels"), picture = section.querySelector("img");
    return {
      rows: [...section.querySelectorAll("tbody tr")].map((row) => row.cells[1].textContent),
      loaded: picture.complete && picture.naturalWidth > 300,
      inside: picture.getBoundingClientRect().right <= innerWidth,
      linked: [...section.querySelectorAll("a")].every((a) => document.querySelector(a.getAttribute("href"))),
    };
    """
    answer, console = ask(page, script)
    assert console == []
    assert [text.partition(" ")[0] for text in answer["rows"]] == ["rbf", "laplacian"]
    assert answer["loaded"]
    assert answer["inside"]
    assert answer["linked"]
