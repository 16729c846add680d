"""The program of a stored run as a file: .lp and .mps, or a script in Pyomo or CVXPY that builds and solves it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import auclab.formulations
import auclab.losses
import auclab.margins
import auclab.regularisers
from auclab._core.base import Array, AuclabError
from auclab._core.files import replace_file
from auclab._core.words import no_formula
from auclab.datasets.records import part_sha256
from auclab.datasets.splits import take_rows
from auclab.formulations import Program
from auclab.formulations.problem import Problem
from auclab.formulations.programs import without_squares
from auclab.margins import Bicliques, RankedPairs
from auclab.runs.compare.models import find_split
from auclab.runs.config.compose import built, load_dataset
from auclab.runs.experiment import task_of
from auclab.runs.stored.configuration import stored_experiment
from auclab.runs.stored.stored_files import read_json, read_rows
from auclab.samples.tables import in_memory
from auclab.solvers.path_parameters import along

#: Languages, and the ending of their files.
LANGUAGES = {"lp": ".lp", "mps": ".mps", "pyomo": ".py", "cvxpy": ".py"}
#: Relative distance up to which the program has the stored objective at the stored coefficients.
_AGREEMENT = 1e-6


@dataclass(frozen=True)
class StoredProgram:
    """The program of one split on its prepared rows.

    `X`, `y`, `weight`: its rows, 1 for the positive class, and the weight of each; None where all count alike.
    `columns`: names of the features. `objective`: of the run.
    """

    problem: Problem
    X: Any
    y: Array
    weight: Array | None
    columns: tuple[str, ...]
    objective: float


def stored_program(run: str, store: str, *, split: int | None = None, allow: Sequence[str] = ()) -> StoredProgram:
    """Prepare the training part of a split of a run again, and state its program on it.

    `run`, `store`, `split`, `allow`: as of `auclab.runs.compare.models.find_model`. Raises `AuclabError` for a fit that
    is not a convex program over rows in memory, and where the data or the program are no longer those of the run.
    """
    folder, number, files = find_split(run, store, split=split, allow=allow)
    experiment = stored_experiment(folder, allow=allow)
    certificate = read_json(files, "certificate.json") or {}
    formulation = built(experiment, "formulation")
    if experiment.kernel is not None or not isinstance(formulation, Program) or not formulation.is_convex:
        what = "a kernel" if experiment.kernel is not None else formulation.name
        raise AuclabError(
            f"the run is of {what}, and a convex program with a coefficient a column is written; leave out --to, or "
            "choose --to json for the scorer"
        )
    dataset, splits = experiment.parts(load_dataset(experiment))
    if not in_memory(dataset.X):
        raise AuclabError("the rows of the run are in blocks, and a program is written of rows in memory")
    rows, y = take_rows(dataset.X, splits[number].train), dataset.target.take(splits[number].train)
    task = task_of(experiment, dataset, formulation)
    if (tuned := experiment.tune.parameter) is not None:
        formulation = along(formulation, tuned, [certificate["program"][tuned]])[0]
    preprocessing = task.preprocessing
    X = preprocessing.fit_transform(rows, y.y)
    method = replace(task.method, formulation=formulation).prepared(preprocessing, dataset)
    if part_sha256(X, y) != certificate["data"]["training_sha256"]:
        raise AuclabError("the training part is no longer that of the run: the data or their preparation have changed")
    problem = method.stated(X, y)
    problem = replace(problem, sample=problem.sample.uncentred())
    *coef, intercept = (float(row["coefficient"]) for row in read_rows(files, "coefficients.csv") or ())
    found, objective = problem.objective(np.array(coef), intercept), float(certificate["objective"])
    if not abs(found - objective) <= _AGREEMENT * max(1.0, abs(objective)):
        raise AuclabError(f"the stored coefficients have the objective {found:.9g}, and the run says {objective:.9g}")
    columns = tuple(no_formula(str(name)) for name in preprocessing.get_feature_names_out())
    return StoredProgram(problem, X, y.y, method.row_weights(y), columns, objective)


def write_program(program: StoredProgram, language: str, path: Path) -> list[Path]:
    """Write a program, and return the files: of a script, also the table of its rows."""
    problem = program.problem
    if language != "cvxpy" and not problem.program.loss.is_hinge:
        raise AuclabError(f"--to {language} states the hinge alone, not {problem.program.loss}; use --to cvxpy")
    if language in ("lp", "mps"):
        from auclab.models.pyomo_model import write_model

        write_model(problem, path, program.columns)
        return [path]
    if isinstance(problem.program.comparisons, Bicliques | RankedPairs):
        raise AuclabError(
            f"--to {language} states all pairs of two classes or points, and the run compares rows by groups, grades "
            "or times; use --to lp"
        )
    table = path.with_suffix(".csv")
    text = _script(program, language, table.name)
    X = program.X.toarray() if hasattr(program.X, "toarray") else np.asarray(program.X)
    weight = np.ones(len(program.y)) if program.weight is None else program.weight
    rows = pd.DataFrame(np.column_stack([program.y, weight, X]), columns=["label", "weight", *program.columns])
    with replace_file(table) as draft:
        rows.to_csv(draft, index=False)
    with replace_file(path) as draft:
        draft.write_text(text, encoding="utf-8")
    return [table, path]


def _script(program: StoredProgram, language: str, table: str) -> str:
    """The text of a script; names of columns are literals, as they come from a data file."""
    stated = program.problem.program
    kinds = _classes_of(stated)
    limits = _limits(program)
    weighted = "" if program.weight is None else ", sample_weight=table.iloc[:, 1]"
    lines = [
        f'"""{stated.equation()}, on the prepared rows of a run."""',
        "",
        "import sys",
        "from pathlib import Path",
        "",
        "import pandas as pd",
        "import pyomo.environ as pyo" if language == "pyomo" else "import cvxpy as cp",
        "",
        "import auclab",
        *(f"from {module} import {name}" for name, module in kinds.items()),
        "",
        f"table = pd.read_csv(Path(__file__).with_name({table!r}))",
        "X, y = table.iloc[:, 2:], table.iloc[:, 0]",
        f"built = auclab.models.build({stated!r}, X, y, {language!r}{weighted})",
    ]
    if language == "pyomo":
        default = "ipopt" if _has_cone(stated) else "highs"
        lines += [
            "w = dict(zip(X.columns, built.w.values()))",
            *(["built.model.limits = pyo.ConstraintList()"] if limits else []),
            *(f"built.model.limits.add({limit})" for limit in limits),
            f'solver = sys.argv[1] if len(sys.argv) > 1 else "{default}"',
            "pyo.SolverFactory(solver).solve(built.model)",
            "found = auclab.certify(built)",
        ]
    else:
        lines += [
            "w = {name: built.w[k] for k, name in enumerate(X.columns)}",
            f"limits = [{', '.join(limits)}]",
            "problem = cp.Problem(built.objective, [*built.constraints, *limits])",
            'problem.solve(solver=sys.argv[1] if len(sys.argv) > 1 else "CLARABEL")',
            "found = auclab.certify(built, solved=problem)",
        ]
    lines += [
        'print(f"objective {found.objective:.12g}, no scorer is below {found.lower_bound:.12g}")',
        f'print("objective of the run {program.objective:.12g}")',
    ]
    return "\n".join(lines) + "\n"


def _has_cone(program: Program) -> bool:
    """Whether ‖w‖ appears by a cone, and not by linear rows or by a square alone."""
    _, rest = without_squares(program)
    return rest.uses_norm and not rest.regulariser.norm.is_polyhedral


def _classes_of(value: Any) -> dict[str, str]:
    """The classes of a piece and of its fields, and the packages that have them; another class is refused."""
    if value is None or type(value) in (bool, int, float, str):
        return {}
    if isinstance(value, tuple):
        return {name: home for each in value for name, home in _classes_of(each).items()}
    name = type(value).__name__
    for home in (auclab.formulations, auclab.losses, auclab.margins, auclab.regularisers):
        if name in home.__all__ and getattr(home, name) is type(value):
            parts = [getattr(value, field.name) for field in fields(value)] if is_dataclass(value) else []
            return {name: home.__name__} | _classes_of(tuple(parts))
    raise AuclabError(
        f"a script names the pieces of the package alone, and not {name}; build it with auclab.models.build"
    )


def _limits(program: StoredProgram) -> list[str]:
    """The constraints on w as text, a line each."""
    constraints = program.problem.constraints
    if constraints is None:
        return []
    if not constraints.is_convex:
        raise AuclabError("max_features needs whole numbers, which the program that is written does not have")
    lines = []
    for row, limit, equal in zip(*constraints.all_rows(), strict=True):
        terms = [f"{float(value)!r} * w[{program.columns[k]!r}]" for k, value in enumerate(row) if value]
        lines.append(f"{' + '.join(terms) or '0.0'} {'==' if equal else '<='} {float(limit)!r}")
    return lines
