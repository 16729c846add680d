"""A store with an adaptive search of five jobs, of which one failed and one was left early; their runs are small."""

import json

from auclab.tracking import Record, TrackingConfig, close_parent, open_parent, open_run
from auclab.tracking.job_status import PARENT_VARIABLE
from auclab.tracking.search_tags import FOLDS_TAG, PRUNED, KeptSearch
from auclab.tracking.searches import keep_search
from composed import run_here

SMALL = ("dataset=artificial", "dataset.n_pos=30", "dataset.n_neg=40", "dataset.n_features=2", "inner.folds=2")
LAMBDAS = (0.5, 0.001, 0.02)


def make_search(folder, monkeypatch, *, metric="inner/auc"):
    """The id of the parent run, and those of the jobs: three values, a failure, one left after a fold."""
    tracking = TrackingConfig(dir=str(folder / "mlruns"))
    grid = ["formulation.penalty=tag(log,interval(1e-4,1))"]
    parent = open_parent(tracking, grid=grid, command="python run.py -m", search=["seed=0"])
    monkeypatch.setenv(PARENT_VARIABLE, parent)
    settings = (*SMALL, "tracking=mlflow", f"tracking.dir={tracking.dir}", "formulation=ranksvm", "bounds=none")
    ids, values = [], []
    for number, penalty in enumerate(LAMBDAS):
        words = f"formulation.penalty={penalty}"
        run_here(folder / str(number), *settings, words, brief=True, command=f"python run.py {words}")
        ids.append(json.loads((folder / str(number) / "run.json").read_text(encoding="utf-8"))["run_id"])
    from auclab.tracking.store import open_tracked

    client = open_tracked(tracking).client
    values = [client.get_run(each).data.metrics[metric] for each in ids]
    for name in ("failed", PRUNED):
        tags = {FOLDS_TAG: json.dumps({"auc": [0.1]}), "status": PRUNED} if name == PRUNED else {"status": name}
        run = open_run(tracking, name=name, folder=folder / name, params={"formulation.penalty": "0.9"})
        with run:
            run.keep(Record(tags=tags, status="KILLED" if name == PRUNED else "FAILED"))
        ids.append(run.run_id)
    kept = KeptSearch(metric, "maximize", "tpe", ("formulation.penalty",), tuple(ids), {"formulation.penalty": 1.0})
    keep_search(tracking, parent, kept, [*values, None, None])
    close_parent(tracking, parent, "FINISHED")
    monkeypatch.delenv(PARENT_VARIABLE)
    return parent, ids
