"""The files of conf/solver and conf/tune agree with the solvers and the maps they describe."""

import inspect

import pytest
import yaml

from auclab import CSVM, RankSVM, ranksvm_to_threshold, solve
from auclab.solvers.registry import SOLVERS, load_solver
from composed import REPOSITORY
from programs import CONVEX, CVAR, overlapping

FILES = {path.stem: path for path in (REPOSITORY / "conf" / "solver").glob("*.yaml")}


def comment(path):
    """The text of the comment lines."""
    return " ".join(line[1:].strip() for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("#"))


def test_every_solver_has_a_file():
    assert set(FILES) == {"auto", *SOLVERS}


@pytest.mark.parametrize("name", SOLVERS)
def test_options_are_those_of_the_function(name):
    settings = yaml.safe_load(FILES[name].read_text(encoding="utf-8"))
    parameters = inspect.signature(load_solver(name)).parameters
    options = {p.name: p.default for p in parameters.values() if p.kind is p.KEYWORD_ONLY}
    options |= {"tolerance": 1e-6, "time_limit": None}  # of the monitor
    options = {key: value for key, value in options.items() if key != "start"}  # a point
    assert {key: value for key, value in settings.items() if key not in ("name", "defaults", "export")} == options


@pytest.mark.parametrize("name", SOLVERS)
def test_what_a_file_says_of_convex_programs_holds(name):
    text, why_not = comment(FILES[name]), SOLVERS[name].capabilities.why_not
    takes = {program.name for program in (*CONVEX, *CVAR) if why_not(program) is None}
    everything = {program.name for program in (*CONVEX, *CVAR)}
    if "every convex program" in text:
        assert takes == everything
    else:
        assert name in ("highs", "integer", "interior")
    if name not in ("highs", "integer", "interior"):
        assert "every convex" in text


@pytest.mark.parametrize("program", [RankSVM(0.3), CSVM(0.1)], ids=["pairs", "points"])
def test_the_threshold_of_a_penalty_is_as_the_file_of_tuning_says(program):
    assert "−λ/V" in comment(REPOSITORY / "conf" / "tune" / "threshold.yaml")
    X, y = overlapping(5)
    solution = solve(program, X, y, tolerance=1e-8)
    assert 0 < solution.objective < 0.99
    expected = -program.regulariser.weight / solution.objective
    assert ranksvm_to_threshold(solution).threshold == pytest.approx(expected, rel=1e-9)
