"""What a run keeps of its kernel, read again: the words of the screens, the figure of its stages, damaged files."""

import json

import pytest

from auclab._core.base import AuclabError
from auclab.runs.record.figures import FIGURES, draw_figures
from auclab.runs.stored.stored_files import described_kernels, read_kernel
from composed import composed, run_here

RUN = ("dataset=breast_cancer", "formulation=ranksvm", "formulation.squared=true", "decision.probability=none")
FAST = ("formulation.penalty=0.001", "metrics=[auc]", "bounds=none")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("kernel")
    run_here(place, *RUN, *FAST, "kernel=rbf", "kernel.gamma=0.05", "kernel.tolerance=1e-5")
    return place


def test_a_kernel_is_read_as_it_was_kept(folder):
    kernel, content = read_kernel(folder), json.loads((folder / "certificate.json").read_text(encoding="utf-8"))
    assert (kernel.name, kernel.parameters, kernel.space) == ("rbf", {"gamma": 0.05}, "whole")
    assert kernel.words == "rbf γ = 0.05"
    words = ("rbf γ = 0.05", str(kernel.landmarks), "every scorer of the space")
    assert described_kernels([kernel]) == described_kernels([kernel, kernel]) == words
    assert [stage.landmarks for stage in kernel.stages] == [each["landmarks"] for each in content["kernel"]["stages"]]
    assert content["formulation"] == "min  mean_ij [1 − h(x_i⁺) + h(x_j⁻)]₊ + 0.001 ‖h‖²"
    assert "h/‖h‖" in content["optimum"]["statement"]


@pytest.mark.slow
def test_the_stages_are_drawn_with_the_other_figures(folder):
    assert len(read_kernel(folder).stages) > 1
    drawn = draw_figures(folder, split="holdout")
    assert [path.stem for path in drawn] == [*FIGURES, "landmarks"]
    assert drawn[-1].read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow
def test_a_linear_run_has_none(tmp_path):
    run_here(tmp_path, "dataset=artificial", "dataset.n_pos=20", "dataset.n_neg=30", "bounds=none")
    assert read_kernel(tmp_path) is None


@pytest.mark.parametrize(
    "kernel", [{}, [], {"name": "rbf", "space": "moon", "landmarks": 1, "length": 1.0, "stages": []}]
)
def test_a_damaged_file_is_named(tmp_path, kernel):
    (tmp_path / "certificate.json").write_text(json.dumps({"kernel": kernel}), encoding="utf-8")
    with pytest.raises(AuclabError, match=r"certificate\.json is damaged"):
        read_kernel(tmp_path)


def test_the_details_speak_of_functions():
    from auclab.runs.experiment import solve_splits
    from auclab.runs.screen.result_screen import details

    words = (*RUN, *FAST, "kernel=rbf", "kernel.gamma=0.05", "split=kfold", "split.n_folds=2")
    result = solve_splits(composed(words))
    screen = " ".join(" ".join(text for _, text in details(result)).split())
    sizes = sorted(fold.solution.n_landmarks for fold in result.folds)
    assert "min mean_ij [1 − h(x_i⁺) + h(x_j⁻)]₊ + 0.001 ‖h‖²" in screen
    assert f"RBF(gamma=0.05) · {sizes[0]} to {sizes[1]} landmarks" in screen
