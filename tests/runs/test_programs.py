"""The program of a stored run: solvers on the exported files have the run's objective."""

import json
import re
import runpy
import sys

import highspy
import pytest
from pyomo.contrib.solver.common.util import NoFeasibleSolutionError

from auclab._core.base import AuclabError
from auclab.runs.programs import LANGUAGES, stored_program, write_program
from composed import run_here

SMALL = [
    *("dataset=artificial", "dataset.n_pos=20", "dataset.n_neg=30", "dataset.n_features=3"),
    *("bounds=none", "solver.tolerance=1e-9", "decision.probability=none"),
]
RANKSVM, CSVM = "formulation=ranksvm", "formulation=csvm"
L1, LINF, SQUARED = "formulation.norm=l1", "formulation.norm=linf", "formulation.squared=true"
RULES = ["constraints=rules", "constraints.upper={x1: 0.1}", "constraints.nonnegative=[x2]"]
ROW = ["constraints=rules", "constraints.rows=[{coefficients: {x1: 1, x3: -1}, equals: 0}]"]
BALANCED, COSTS = "class_weight=balanced", "class_weight={negative: 1, positive: 5}"

#: Formulations × norms × constraints × weights of the classes, with a solver of linear or convex programs.
RUNS = [
    ["formulation=bauc"],
    ["formulation=bauc", *RULES],
    ["formulation=bauc", *ROW],
    [RANKSVM, L1, "tune=none"],
    [RANKSVM, LINF, "tune=none"],
    [RANKSVM, L1, "tune=penalty", "tune.values=[0.01,0.1]", "tune.folds=2"],
    [RANKSVM, "tune=none"],
    [RANKSVM, SQUARED, "tune=none"],
    [RANKSVM, L1, "tune=none", *ROW],
    [RANKSVM, SQUARED, "formulation.loss=squared_hinge", "tune=none"],
    [CSVM, L1, BALANCED],
    [CSVM, SQUARED, COSTS],
    [CSVM, LINF, *RULES],
    [CSVM, L1, COSTS, *ROW],
    ["formulation=ecsvm", L1, COSTS],
    ["formulation=partial_auc", L1, "formulation.penalty=0.01"],
    ["formulation=generalized_bauc", L1, "formulation.threshold=-0.2"],
    ["formulation=generalized_bauc", "formulation.threshold=-0.2", "preprocess=none"],
    ["formulation=elastic_net", "tune=none"],
    ["formulation=group_lasso", "tune=none", BALANCED],
]
#: One linear program of pairs, one of points with weights and a row, and one with a square.
QUICK = (2, 13, 18)


def solved(path, language, quadratic, capsys, monkeypatch):
    """The least objective of a file; None for cones, and where HiGHS ends a quadratic program without an optimum."""
    if language in ("lp", "mps"):
        highs = highspy.Highs()
        highs.silent()
        if highs.readModel(str(path)) != highspy.HighsStatus.kOk:
            return None
        highs.setOptionValue("time_limit", 20.0)  # its method for squares may not end
        highs.run()
        if highs.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            assert quadratic
            return None
        return highs.getInfo().objective_function_value
    if '"ipopt"' in path.read_text(encoding="utf-8"):
        return None
    monkeypatch.setattr(sys, "argv", [str(path)])
    capsys.readouterr()
    try:
        runpy.run_path(str(path))
    except NoFeasibleSolutionError:
        assert quadratic
        return None
    return float(re.match(r"objective ([\d.e-]+)", capsys.readouterr().out)[1])


@pytest.mark.slow
@pytest.mark.parametrize(
    "number", [number if number in QUICK else pytest.param(number, marks=pytest.mark.weekly) for number in range(20)]
)
def test_the_exported_program_has_the_objective_of_the_run(tmp_path, number, capsys, monkeypatch):
    run_here(tmp_path / "run", *SMALL, *RUNS[number])
    program = stored_program(str(tmp_path / "run"), "mlruns")
    found = {}
    for language, ending in LANGUAGES.items():
        if language != "cvxpy" and not program.problem.program.loss.is_hinge:
            continue  # refused, in a test below
        files = write_program(program, language, tmp_path / f"{language}{ending}")
        found[language] = solved(files[-1], language, SQUARED in RUNS[number], capsys, monkeypatch)
    print(" ".join(RUNS[number]), f"{program.objective:.9f}")
    print({name: None if value is None else f"{value - program.objective:+.0e}" for name, value in found.items()})
    values = [value for value in found.values() if value is not None]
    assert "cvxpy" in found
    assert values == pytest.approx([program.objective] * len(values), rel=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("given", "language", "words"),
    [
        (["formulation=exact_auc"], "lp", "the run is of exact_auc"),
        (["formulation=logistic"], "lp", "the run is of logistic"),
        (["formulation=ranksvm", SQUARED, "tune=none", "kernel=rbf"], "lp", "the run is of a kernel"),
        ([RANKSVM, SQUARED, "formulation.loss=squared_hinge", "tune=none"], "mps", "states the hinge alone"),
    ],
    ids=["counts", "baseline", "kernel", "squared hinge"],
)
def test_what_cannot_be_written_is_refused(tmp_path, given, language, words):
    run_here(tmp_path / "run", *SMALL[:4], "bounds=none", "decision.probability=none", *given)
    with pytest.raises(AuclabError, match=words):
        write_program(stored_program(str(tmp_path / "run"), "mlruns"), language, tmp_path / "m.lp")


@pytest.mark.slow
def test_a_run_whose_numbers_were_changed_is_refused(tmp_path):
    run_here(tmp_path / "run", *SMALL)
    path = tmp_path / "run" / "certificate.json"
    stored = json.loads(path.read_text(encoding="utf-8"))
    for change, words in [
        ({"objective": stored["objective"] + 0.1}, "the stored coefficients have the objective"),
        ({"data": stored["data"] | {"training_sha256": "0"}}, "no longer that of the run"),
    ]:
        path.write_text(json.dumps(stored | change), encoding="utf-8")
        with pytest.raises(AuclabError, match=words):
            stored_program(str(tmp_path / "run"), "mlruns")
