"""What the shell lines of the pages need to be run, and which of them are not run as they stand.

Lines of a page run in their order, in one folder with a store of its own. `NEEDS` says what else has to be there:
files, runs, and what a reader puts in the place of a name such as FOLDER. `OTHERWISE` has the lines that take too long,
or need what a test does not have; every other line of a ``bash`` block is run by tests/test_documented_shell.py.
"""

from __future__ import annotations

import ast
import re
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd

import ranked_tables
from documented import BLOCKS, ROOT, SHELL


@dataclass(frozen=True)
class Otherwise:
    """Why a line is not run as it stands, which lines are run in its place, or what else runs it."""

    why: str
    runs: tuple[str, ...] = ()
    by: str = ""

    @property
    def text(self) -> str:
        """What is said of it in the list of blocks."""
        if self.runs:
            return f"{SHELL}, others in its place: {' && '.join(self.runs)} ({self.why})"
        return f"{self.by}: {self.why}" if self.by else f"not run: {self.why}"


@dataclass(frozen=True)
class Needs:
    """What is made before the lines of a page are run.

    `before` are lines with their exit codes, run before the line `at`, the first one if that is empty. `real` are the
    words for names on the page, known when a line is run. `servers_first` starts servers before the other lines.
    `tables` are files that do not come with the package; without them the page is skipped.
    """

    files: Callable[[Path], object] = lambda folder: None
    before: tuple[tuple[str, int], ...] = ()
    at: str = ""
    real: Mapping[str, Callable[[Path], str]] = field(default_factory=dict)
    servers_first: bool = False
    tables: tuple[str, ...] = ()


def _rows(n: int, seed: int = 0) -> pd.DataFrame:
    """Customers: two numbers, a category, and whether they left."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    size, colour = rng.normal(size=n) + y, np.where(rng.random(n) < 0.3 + 0.4 * y, "red", "blue")
    return pd.DataFrame({"customer_id": np.arange(n) + 100, "size": size, "colour": colour, "y": y})


def _table(folder: Path) -> None:
    """my.csv with the target y, and new.csv without."""
    _rows(120).drop(columns="customer_id").to_csv(folder / "my.csv", index=False)
    _rows(10, 1).drop(columns=["customer_id", "y"]).to_csv(folder / "new.csv", index=False)


def _scores(folder: Path) -> None:
    """scores.csv: two scorers, two rows of each patient."""
    rows = _rows(120)
    ill = ["yes" if each else "no" for each in rows["y"]]
    numbers = rows.select_dtypes("number").drop(columns="y").iloc[:, :2].set_axis(["model", "radiologist"], axis=1)
    numbers.assign(ill=ill, patient=[k // 2 for k in range(120)]).to_csv(folder / "scores.csv", index=False)


def _customers(folder: Path) -> None:
    _rows(120).to_csv(folder / "customers.csv", index=False)
    _rows(10, 1).drop(columns="y").to_csv(folder / "new.csv", index=False)


def _labelled_customers(folder: Path) -> None:
    _customers(folder)
    _rows(60, 2).to_csv(folder / "labelled.csv", index=False)


def _ranked_tables(folder: Path) -> None:
    """Documents of queries with grades, and patients with times."""
    ranked_tables.queries().to_csv(folder / "queries.csv", index=False)
    ranked_tables.patients().to_csv(folder / "patients.csv", index=False)
    clicks = ranked_tables.queries()
    (folder / "FOLDER").mkdir()
    clicks.assign(click=(clicks.pop("relevance") > 1).astype(int)).to_parquet(folder / "FOLDER" / "part0.parquet")


def _parquet(folder: Path) -> None:
    (folder / "FOLDER").mkdir()
    for part in range(2):
        rows = _rows(200, part).drop(columns="customer_id")
        rows.to_parquet(folder / "FOLDER" / f"part{part}.parquet")


def _pieces(folder: Path) -> None:
    """pieces.py with the definitions of docs/own_pieces.md, checks.py with the rest, and its yaml files."""
    page = [block for block in BLOCKS if block.page == "docs/own_pieces.md"]
    code = [node for block in page if block.language == "python" for node in ast.parse(block.text).body]
    kinds = (ast.Import, ast.ImportFrom, ast.ClassDef, ast.FunctionDef)
    first, *code = code  # from pieces import *
    for name, nodes in (
        ("pieces", [node for node in code if isinstance(node, kinds)]),
        ("checks", [first, *(node for node in code if not isinstance(node, kinds))]),
    ):
        (folder / f"{name}.py").write_text("\n\n".join(map(ast.unparse, nodes)), encoding="utf-8")
    text = (ROOT / "docs" / "own_pieces.md").read_text(encoding="utf-8")
    for name, yaml in re.findall(r"`(mine/\S+?\.yaml)`.*?```yaml\n(.*?)```", text, re.DOTALL):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(yaml, encoding="utf-8")


def _repository(folder: Path) -> None:
    """A Git repository for hooks."""
    (folder / ".git").mkdir()
    for name in ("objects", "refs"):
        (folder / ".git" / name).mkdir()
    (folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n", encoding="utf-8")


def _stored(folder: Path, is_sweep: bool) -> str:
    """First letters of the id of a finished run that is, or is not, the parent of a sweep."""
    with closing(sqlite3.connect(folder / "mlruns" / "mlflow.db")) as database:
        parents = "SELECT value FROM tags WHERE key = 'mlflow.parentRunId'"
        where = f"run_uuid {'' if is_sweep else 'NOT '}IN ({parents}) AND status = 'FINISHED'"
        rows = database.execute(f"SELECT run_uuid FROM runs WHERE {where} ORDER BY start_time DESC").fetchall()
    return rows[0][0]


RUN = {"564bf01a": lambda folder: _stored(folder, False)[:8]}
SWEEP = {"27f53bd8": lambda folder: _stored(folder, True)[:8]}
A_FILE = "dataset=file dataset.target=y dataset.positive=1 bounds=none decision.probability=none"

NEEDS: dict[str, Needs] = {
    "README.md": Needs(_table),
    "CONTRIBUTING.md": Needs(_repository),
    "docs/all_data_sets.md": Needs(tables=("w8a.csv.gz",)),
    "docs/blocks.md": Needs(_parquet),
    "docs/comparing.md": Needs(
        _table,
        before=((f"auclab run -m {A_FILE} dataset.path=my.csv formulation=bauc,csvm tracking.experiment=thesis", 0),),
        at="auclab compare --where dataset=my.csv --register churn",
        real=RUN | SWEEP,
    ),
    "docs/constraints.md": Needs(tables=("german_credit.csv",)),
    "docs/groups_and_times.md": Needs(_ranked_tables),
    "docs/groups_and_times_files.md": Needs(_ranked_tables),
    "docs/inference.md": Needs(_scores),
    "docs/linear_or_kernel.md": Needs(tables=("manifest.csv",)),
    "docs/losses_and_regularisers.md": Needs(tables=("german_credit.csv",)),
    "docs/models.md": Needs(
        _labelled_customers,
        before=((f"auclab run {A_FILE} dataset.path=customers.csv 'dataset.drop=[customer_id]' formulation=bauc", 0),),
        real={"RUN_ID": lambda folder: _stored(folder, False)} | RUN,
    ),
    "docs/own_pieces.md": Needs(_pieces),
    "docs/scorecards.md": Needs(tables=("german_credit.csv",)),
    "docs/sweeps.md": Needs(servers_first=True),
    "experiments/which_formulation/README.md": Needs(tables=("manifest.csv",)),
}


def command_of(line: str) -> str:
    """A line without its comment."""
    return re.sub(r"\s+# .*", "", line).strip()


LINES = {
    page: [
        command_of(line)
        for block in BLOCKS
        if (block.page, block.language) == (page, "bash")
        for line in block.text.splitlines()
        if line.strip() and not line.startswith("#")
    ]
    for page in dict.fromkeys(block.page for block in BLOCKS if block.language == "bash")
}

_INSTALLS = Otherwise("a new environment takes minutes and a network", by=".ci/run")
_BY_HAND = Otherwise("before a release, by hand")
_BENCHOPT = Otherwise("benchopt is not an extra of auclab; by hand")
_SERVED = "tests/runs/tracking/test_elsewhere.py, where PostgreSQL is installed"
_STUDY = "python -m experiments.which_formulation.nonlinear.splits"
_BLOCKS = "python run.py dataset=blocks dataset.path=FOLDER dataset.target=y"
_CARD = "python run.py formulation=scorecard"
_ALL_SETS = "python benchmarks/all_data_sets.py"
OTHERWISE: dict[tuple[str, str], Otherwise] = {
    ("CONTRIBUTING.md", 'pip install -e ".[dev]"'): _INSTALLS,
    ("CONTRIBUTING.md", "uv venv oldest && source oldest/bin/activate"): _BY_HAND,
    ("CONTRIBUTING.md", 'uv pip install --resolution lowest-direct -e ".[dev]"'): _BY_HAND,
    ("CONTRIBUTING.md", "pytest -n auto --dist worksteal"): Otherwise("is the whole suite", by=".ci/run"),
    ("CONTRIBUTING.md", "pip install build twine"): Otherwise(
        "needs build and twine", by=".github/workflows/release.yml"
    ),
    ("CONTRIBUTING.md", "python .ci/release.py v0.3.0 --dist dist"): Otherwise(
        "needs the tag", by="tests/test_release.py"
    ),
    ("README.md", "pip install -e . && python run.py"): Otherwise(_INSTALLS.why, ("python run.py",), _INSTALLS.by),
    ("README.md", 'pip install -e ".[dev]" && pytest -n auto --dist worksteal'): _INSTALLS,
    ("README.md", 'pip install -e ".[docs]" && sphinx-build docs docs/_build'): Otherwise(
        "the long examples are left out", by=".ci/run, with -t quick"
    ),
    ("benchmarks/benchopt_ranksvm/README.md", "pip install -e . benchopt"): _BENCHOPT,
    **{
        ("benchmarks/benchopt_ranksvm/README.md", line): _BENCHOPT
        for line in LINES["benchmarks/benchopt_ranksvm/README.md"]
        if "benchopt" in line
    },
    **{(f"docs/{page}.md", "pip install -e ."): _INSTALLS for page in ("index", "start")},
    ("docs/all_data_sets.md", f"{_ALL_SETS} --workers 2"): Otherwise(
        "all sets take too long", (f'{_ALL_SETS} --workers 2 --sets main --only "ionosphere bauc " --results new.csv',)
    ),
    ("docs/all_data_sets.md", f"{_ALL_SETS} --again any --only spambase"): Otherwise(
        "twelve programs on 4,601 rows", (f'{_ALL_SETS} --again any --only "ionosphere bauc "',)
    ),
    ("docs/all_data_sets.md", f"{_ALL_SETS} --longest 10 --limit 5 --results docs/all_data_sets/limit.csv"): Otherwise(
        "takes minutes",
        (f"{_ALL_SETS} --longest 1 --limit 1 --results limit.csv",),
    ),
    (
        "docs/all_data_sets.md",
        f"{_ALL_SETS} --longest 150 --solvers auto newton highs clarabel --limit 5 "
        "--results docs/all_data_sets/solvers.csv",
    ): Otherwise(
        "takes too long",
        (f'{_ALL_SETS} --sets main --only "ionosphere bauc " --solvers auto newton --limit 5 --results solvers.csv',),
    ),
    ("docs/blocks.md", f"{_BLOCKS} engine=dask engine.workers=4"): Otherwise(
        "four processes on a machine with two cores", (f"{_BLOCKS} engine=dask engine.workers=1",)
    ),
    (
        "docs/choose_formulation.md",
        "auclab run -m formulation=bauc,ranksvm,csvm,logistic tune=auto dataset=breast_cancer 'split.seed=range(5)'",
    ): Otherwise(
        "20 jobs, each tuned",
        (
            "auclab run -m formulation=bauc,ranksvm,csvm,logistic tune=auto dataset=breast_cancer "
            "'split.seed=range(1)' tune.folds=2 tune.grids.penalty=[0.01,0.1]",
        ),
    ),
    (
        "docs/comparing.md",
        "python run.py -m formulation=ranksvm,csvm,ecsvm,logistic tune=auto "
        "dataset=breast_cancer,ionosphere,heart_statlog,sonar 'split.seed=range(5)'",
    ): Otherwise(
        "80 jobs, each tuned",
        (
            "python run.py -m formulation=ranksvm,csvm,ecsvm,logistic tune=auto dataset=breast_cancer,ionosphere "
            "'split.seed=range(2)' tune.folds=2 tune.grids.penalty=[0.01,0.1] tune.grids.threshold=[-1,-0.1]",
        ),
    ),
    **{
        ("docs/kernels.md", f"python run.py dataset=phoneme {words}"): Otherwise(
            "5,404 rows", (f"python run.py dataset=ionosphere {words}",)
        )
        for words in (
            "kernel=rbf",
            "kernel=rbf kernel.gamma=0.4 kernel.tolerance=1e-2 formulation=partial_auc formulation.penalty=0.01",
        )
    },
    ("docs/kernels.md", "python run.py dataset=phoneme kernel=rbf tune=kernel"): Otherwise(
        "takes minutes", ("python run.py dataset=ionosphere kernel=rbf tune=kernel tune.gammas=[0.25,1]",)
    ),
    (
        "docs/kernels.md",
        "python run.py dataset=phoneme kernel=rbf tune=kernel tune.gammas=[0.5,1,2] "
        "tune.grids.penalty=[1e-4,1e-3,1e-2] tune.tolerance=1e-3",
    ): Otherwise(
        "takes minutes",
        (
            "python run.py dataset=ionosphere kernel=rbf tune=kernel tune.gammas=[0.5,1] "
            "tune.grids.penalty=[1e-3,1e-2] tune.tolerance=1e-2",
        ),
    ),
    ("docs/scorecards.md", f"{_CARD} dataset=german_credit formulation.max_items=8"): Otherwise(
        "is searched for half a minute", (f"{_CARD} dataset=german_credit formulation.max_items=8 solver.time_limit=2",)
    ),
    ("docs/scorecards.md", f"{_CARD} dataset=breast_cancer preprocess=items preprocess.max_candidates=16"): Otherwise(
        "is searched for a minute",
        (f"{_CARD} dataset=breast_cancer preprocess=items preprocess.max_candidates=16 solver.time_limit=2",),
    ),
    **{
        (page, f"OMP_NUM_THREADS=1 python benchmarks/{name}_coverage.py"): Otherwise(
            "takes too long; the tables are made from its results",
            (f"python benchmarks/{name}_coverage.py --page",),
        )
        for page, name in (("docs/roc_bands.md", "roc_band"), ("docs/interval_coverage.md", "interval"))
    },
    ("docs/interval_coverage.md", "OMP_NUM_THREADS=1 python benchmarks/few_observations.py"): Otherwise(
        "2,000 samples of every row",
        ("OMP_NUM_THREADS=1 python benchmarks/few_observations.py --samples 2 --results few.csv",),
    ),
    ("docs/linear_or_kernel.md", _STUDY): Otherwise("takes too long", (f"{_STUDY} --minutes 0",)),
    ("experiments/which_formulation/README.md", f"{_STUDY} --minutes 70"): Otherwise(
        "takes 70 minutes", (f"{_STUDY} --minutes 0",)
    ),
    (
        "docs/sweeps.md",
        "python run.py -m formulation=bauc,ranksvm,csvm dataset=ionosphere,pima 'split.seed=range(20)'",
    ): (
        Otherwise(
            "120 jobs",
            ("python run.py -m formulation=bauc,ranksvm,csvm dataset=breast_cancer,ionosphere split.seed=0",),
        )
    ),
    (
        "docs/sweeps.md",
        "python run.py -m hydra/sweeper=optuna hydra.sweeper.n_trials=40 "
        "'formulation.penalty=tag(log,interval(1e-5,1))' preprocess=standard,minmax",
    ): Otherwise(
        "40 jobs of six solves",
        (
            "python run.py -m hydra/sweeper=optuna hydra.sweeper.n_trials=3 "
            "'formulation.penalty=tag(log,interval(1e-5,1))' preprocess=standard,minmax",
        ),
    ),
    (
        "docs/sweeps.md",
        "python run.py tracking.uri=postgresql+psycopg://me@host/runs tracking.dir=/shared/mlruns",
    ): Otherwise("needs a server of PostgreSQL", by=_SERVED),
}

#: Lines that go on until they are stopped, and what answers when they are ready.
SERVERS = {"mlflow models serve": "/ping", "mlflow server": "/health", "auclab ui": "/"}
#: Words of a line, and a text that its output contains if it did what it is there for.
SAYS = {
    "curl ": '"predictions"',
}
