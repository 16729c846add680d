"""Every figure of a study can be drawn again from what is kept, is there, and is small."""

import doctest
import importlib

import matplotlib as mpl
import pytest
from matplotlib.figure import Figure

from auclab._core.base import AuclabError
from auclab.displays.canvas import RC_PARAMS
from experiments import drawing, study

PAPERS = (
    *("calders_jaroszewicz_2007", "maurer_pontil_2020", "norton_uryasev_2018", "ratigan_cowen"),
    "vanderlooy_huellermeier_2008",
)
MODULES = {paper: importlib.import_module(f"experiments.{paper}.figures") for paper in PAPERS}
#: Their data are a download: tests/experiments/test_downloads.py draws them.
DOWNLOADS = {("ratigan_cowen", name) for name in ("figure5", "figure6", "figure7")}
#: Files that figures read.
TABLES = {
    **{("norton_uryasev_2018", name): "pima.csv" for name in ("figure3", "figure4", "figure7")},
    **{("norton_uryasev_2018", name): "page_blocks.csv" for name in ("figure5", "figure6")},
}
KEPT = [
    pytest.param(paper, name, marks=pytest.mark.needs_tables(TABLES[paper, name]) if (paper, name) in TABLES else ())
    for paper, module in MODULES.items()
    for name in module.FIGURES
    if (paper, name) not in DOWNLOADS
]


@pytest.mark.slow
@pytest.mark.covering(name=0)
@pytest.mark.parametrize(("paper", "name"), KEPT)
def test_figure_is_drawn(paper, name):
    with mpl.rc_context(RC_PARAMS):
        figure = MODULES[paper].FIGURES[name]()
        figure.draw_without_rendering()
    assert all(ax.has_data() for ax in figure.axes)
    assert all(ax.get_xlabel() or ax.get_subplotspec().is_last_row() is False for ax in figure.axes)


@pytest.mark.parametrize(("paper", "name"), KEPT)
def test_figure_is_kept_small_and_shown(paper, name):
    picture = study.FOLDER / paper / "figures" / f"{name}.png"
    assert picture.stat().st_size < 150_000
    assert f"](figures/{name}.png)" in (study.FOLDER / paper / "README.md").read_text(encoding="utf-8")


def test_no_picture_without_its_figure():
    for paper, module in MODULES.items():
        kept = {path.stem for path in (study.FOLDER / paper / "figures").glob("*.png")}
        assert kept <= set(module.FIGURES)


def test_docstrings_run():
    assert doctest.testmod(drawing).failed == 0


def test_a_figure_without_data_is_left_out_and_told(tmp_path, capsys):
    def missing():
        raise AuclabError("put toy.csv into ./data")

    drawing.draw({"there": lambda: drawing.panels(1, 1, (2, 2))[0], "missing": missing}, tmp_path / "figures")
    assert [path.name for path in (tmp_path / "figures").iterdir()] == ["there.png"]
    assert "missing: not drawn, put toy.csv into ./data" in capsys.readouterr().out


def test_summaries_are_mean_deviation_and_count(tmp_path):
    rows = [study.Row("value.a", value, seed, "n=10") for seed, value in enumerate((1.0, 3.0))]
    study.write(tmp_path / "s.csv", [*rows, study.Row("value.a", 5.0, 0, "corrected")], command="python -m …")
    found = drawing.summaries(tmp_path / "s.csv")
    assert found["value.a", "n=10"] == (2.0, pytest.approx(2.0**0.5), 2)
    assert found["value.a", "corrected"] == (5.0, 0.0, 1)
    assert drawing.sizes(found, "a") == {10: found["value.a", "n=10"]}


def test_panels_are_figures_of_their_own():
    figure, axes = drawing.panels(1, 2, (4, 2))
    assert isinstance(figure, Figure)
    assert len(axes) == 2
