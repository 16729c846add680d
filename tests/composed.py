"""Experiments composed as `run.py` composes them, run in this process."""

import importlib.util
from pathlib import Path

from hydra import compose, initialize_config_dir
from omegaconf import open_dict

REPOSITORY = Path(__file__).parents[1]
SHARED_DATA = REPOSITORY.parent / "shared" / "data"


def load_run():
    spec = importlib.util.spec_from_file_location("run", REPOSITORY / "run.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run_here(folder, *overrides, brief=False):
    """The result of ``python run.py`` with `overrides`; files go below `folder`, without a database."""
    from auclab.pipeline.experiment import run_experiment

    with initialize_config_dir(version_base="1.3", config_dir=str(REPOSITORY / "conf")):
        config = compose("config", ["tracking=none", *overrides], return_hydra_config=True)
    choices = dict(config.hydra.runtime.choices)
    with open_dict(config):
        del config["hydra"]
    return run_experiment(config, build=load_run().build, choices=choices, folder=folder, brief=brief)
