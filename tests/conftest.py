"""Settings of all tests, and a store with real runs that several of them read."""

import gc
import os
import signal
from itertools import count

import pytest
from hypothesis import settings as hypothesis_settings

from auclab._core.base import AuclabError
from auclab.datasets.catalogue import find_file
from composed import run_here
from store_copies import copy_databases
from tiers import mark_tiers

# a shell starts background jobs with Ctrl-C ignored, which they and their children inherit; some tests send it
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# A file or a pipe has no width: pytest's workers are told that of the terminal.
os.environ.pop("COLUMNS", None)

#: What needs a system with POSIX: modules of tests, or functions in them, and why. test_portability.py checks the list.
POSIX_ALONE = {
    "cli/test_hostile_stores.py": "links and pipes",
    "cli/test_models.py": "links and groups of processes",
    "cli/test_ui.py": "signals",
    "datasets/test_overrides.py": "lines for bash",
    "datasets/test_unpacked.py::test_a_pipe_is_refused": "pipes",
    "runs/test_tuning.py::test_what_is_printed_at_the_end_of_a_path_can_be_typed": "lines for bash",
    "runs/report/test_browser.py": "the pipe to a browser",
    "runs/report/test_hostile_page.py": "a browser",
    "runs/report/test_kernels.py": "a browser",
    "runs/report/test_reading.py": "the pipe to a browser",
    "runs/report/test_selected.py": "a browser",
    "solvers/test_binned.py::test_a_worker_that_is_killed_is_replaced": "signals",
    "test_documented_shell.py": "lines for bash",
    "test_documents.py::test_ci_is_a_script_that_can_be_read": "lines for bash",
    "test_workflows.py": "lines for bash",
    "runs/tracking/test_elsewhere.py": "groups of processes",
    "runs/tracking/test_model_loading.py": "links",
}


def pytest_configure(config):
    """The same few examples every time, fewer in the first tier, unless AUCLAB_FUZZ asks for more; the first call of a
    kernel compiles it, which no deadline should count.
    """
    fuzz, first = os.environ.get("AUCLAB_FUZZ"), "not" in config.option.markexpr
    settings = hypothesis_settings(deadline=None, max_examples=int(fuzz or (10 if first else 30)), derandomize=not fuzz)
    hypothesis_settings.register_profile("few", settings)
    hypothesis_settings.load_profile("few")


@pytest.hookimpl(tryfirst=True)  # before what -m does not choose is left out
def pytest_collection_modifyitems(items):
    """Weekly tests are marked. What this machine lacks is the reason of a skip: tables of the mark `needs_tables`, and
    elsewhere POSIX.
    """
    mark_tiers(items)
    for item in items:
        named = [file for mark in item.iter_markers("needs_tables") for file in mark.args or ("manifest.csv",)]
        if missing := [file for file in named if find_file(file) is None]:
            reason = f"needs {', '.join(missing)} in data/ or in the folder that AUCLAB_DATA names"
            item.add_marker(pytest.mark.skip(reason=reason))
    for item in items if os.name != "posix" else ():
        module = "/".join(item.path.relative_to(item.config.rootpath / "tests").parts)
        reason = POSIX_ALONE.get(module) or POSIX_ALONE.get(f"{module}::{item.name.partition('[')[0]}")
        if reason is not None:
            item.add_marker(pytest.mark.skip(reason=f"needs POSIX: {reason}"))


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """What is imported and collected stays until the end, so that no search for garbage looks at it."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_collection_finish():
    """When the modules of the tests are imported."""
    copy_databases()


@pytest.fixture(scope="session")
def store(tmp_path_factory):
    """Made once: two formulations on three seeds in a sweep, a run over folds, one that failed."""
    from auclab.runs.tracking.address import TrackingConfig
    from auclab.runs.tracking.sync import (
        close_parent,
        open_parent,
        writing,  # with MLflow, in two seconds
    )

    place = tmp_path_factory.mktemp("kept") / "mlruns"
    settings = [f"tracking.dir={place}", "solver=newton", "bounds=none", "metrics=[auc,bauc]"]
    tracking, numbers = TrackingConfig(dir=str(place)), count()

    def run(*overrides, parent=None):
        words = ("tracking=mlflow", *settings, *overrides)
        run_here(place.parent / f"out{next(numbers)}", *words, parent=parent)

    with writing(tracking) as kept:
        parent = open_parent(
            kept, grid=["formulation=ranksvm,csvm", "split.seed=0,1,2"], command="python run.py -m", pending="x"
        )
    for formulation in ("ranksvm", "csvm"):
        for seed in range(3):
            run(f"formulation={formulation}", f"split.seed={seed}", parent=parent)
    with writing(tracking) as kept:
        close_parent(kept, parent, "FINISHED", {"FINISHED": 6})
    run("formulation=csvm", "split=kfold", "split.n_folds=2", "tracking.experiment=folds")
    with pytest.raises(AuclabError, match="test_size is 7"):
        run("formulation=ranksvm", "split.test_size=7")
    return place
