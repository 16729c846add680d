"""A store with real runs, and the page on them: seeds, folds, a path along λ, a failure, an odd name."""

from itertools import count

import pytest

from auclab._core.base import AuclabError
from auclab.runs import read_runs, write_report
from composed import run_here

#: Ends a script element, an attribute and a paragraph where it is not escaped.
ODD = """</script><script>alert("x")</script>' " & <b>"""

SMALL = ("dataset=artificial", "dataset.n_pos=50", "dataset.n_neg=70", "dataset.n_features=3")


@pytest.fixture(scope="session")
def store(tmp_path_factory):
    place = tmp_path_factory.mktemp("reported") / "mlruns"
    settings, numbers = [f"tracking.dir={place}", "solver=newton", "metrics=[auc,bauc]", *SMALL], count()

    def run(*overrides, command=""):
        words = ("tracking=mlflow", *settings, *overrides)
        run_here(place.parent / f"out{next(numbers)}", *words, command=command)

    for seed in range(2):
        run("formulation=csvm", f"split.seed={seed}", command=f"python run.py formulation=csvm split.seed={seed}")
        for penalty in (0.01, 0.1):
            run("formulation=ranksvm", f"formulation.penalty={penalty}", f"split.seed={seed}")
    run("formulation=csvm", "split=kfold", "split.n_folds=3", "dataset.seed=7")
    with pytest.raises(AuclabError, match="test_size is 7"):
        run("formulation=ranksvm", "split.test_size=7", command=ODD)
    return place


@pytest.fixture(scope="session")
def runs(store):
    return read_runs(store, status=None)


@pytest.fixture(scope="session")
def page(store, runs, tmp_path_factory):
    renamed = runs.assign(run=runs["run"].replace(runs["run"].iloc[0], ODD))
    return write_report(renamed, tmp_path_factory.mktemp("page") / "report.html", store_dir=store, title=ODD)
