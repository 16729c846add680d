"""Settings of all tests, and a store with real runs that several of them read."""

import os

import pytest
from hydra import compose, initialize_config_dir
from hypothesis import settings as hypothesis_settings
from omegaconf import open_dict

from auclab.pipeline.build import build
from auclab.pipeline.experiment import run_experiment
from auclab.tracking import close_parent, open_parent
from auclab.tracking.job_status import PARENT_VARIABLE
from auclab.types import AuclabError
from composed import REPOSITORY

# the first call of a kernel compiles it, which no deadline should count
hypothesis_settings.register_profile("compiled", deadline=None)
hypothesis_settings.load_profile("compiled")


@pytest.fixture(scope="session")
def store(tmp_path_factory):
    """Made once: two formulations on three seeds in a sweep, a run over folds, one that failed."""
    place = tmp_path_factory.mktemp("kept") / "mlruns"
    settings = [f"tracking.dir={place}", "solver=newton", "bounds=none", "metrics=[auc,bauc]"]

    def run(*words):
        with initialize_config_dir(version_base="1.3", config_dir=str(REPOSITORY / "conf")):
            config = compose("config", [*settings, *words], return_hydra_config=True)
        choices = dict(config.hydra.runtime.choices)
        with open_dict(config):
            del config["hydra"]
        run_experiment(config, build=build, choices=choices, folder=place.parent / "out", brief=True)

    tracking = {"dir": str(place), "experiment": "auclab"}
    parent = open_parent(tracking, grid=["formulation=ranksvm,csvm", "split.seed=0,1,2"], command="python run.py -m")
    os.environ[PARENT_VARIABLE] = parent
    try:
        for formulation in ("ranksvm", "csvm"):
            for seed in range(3):
                run(f"formulation={formulation}", f"split.seed={seed}")
    finally:
        del os.environ[PARENT_VARIABLE]
    close_parent(tracking, parent, "FINISHED")
    run("formulation=csvm", "split=kfold", "split.n_folds=2", "tracking.experiment=folds")
    with pytest.raises(AuclabError, match="test_size is 7"):
        run("formulation=ranksvm", "split.test_size=7")
    return place
