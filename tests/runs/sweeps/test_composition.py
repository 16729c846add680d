"""Jobs of a sweep have the configuration that Hydra would compose for them."""

from contextlib import nullcontext

import pytest
from hydra._internal.hydra import Hydra
from hydra._internal.utils import create_config_search_path
from hydra.core.global_hydra import GlobalHydra
from hydra.types import RunMode
from omegaconf import OmegaConf

from auclab._core.base import AuclabError
from auclab.runs.config.compose import conf_folder
from auclab.runs.config.settings import register_schema
from auclab.runs.sweeps.choices import SharedLoader, check_choices


@pytest.fixture
def hydra():
    register_schema()
    GlobalHydra.instance().clear()
    yield Hydra.create_main_hydra2("run", create_config_search_path(str(conf_folder())))
    GlobalHydra.instance().clear()


JOBS = [
    ["dataset=ionosphere", "split.seed=0", "metrics=[auc,bauc]"],
    ["dataset=ionosphere", "split.seed=7", "metrics=[auc,bauc]"],
    ["dataset=ionosphere", "split.seed=7", "metrics=[auc]"],
    ["formulation=ranksvm", "formulation.penalty=0.1", "tune=penalty", "tune.values=[1,2]"],
    ["formulation=ranksvm", "formulation.penalty=1e-3", "tune=penalty", "tune.values=[3]"],
    ["formulation=ranksvm", "formulation.penalty=null", "tune=penalty", "tune.values=[3]"],
    ["formulation=ranksvm", "constraints=rules", "formulation.norm=l1", "constraints.nonnegative=[a]"],
    ["formulation=ranksvm", "constraints=rules", "formulation.norm=l2", "constraints.nonnegative=[]"],
    ["formulation=ranksvm", "constraints=rules", "formulation.norm=l1", "constraints.nonnegative=[b,c]"],
    ["bounds.stability=null", "+decision.note=x", "split.seed=1"],
    ["bounds.stability=null", "+decision.note=y", "split.seed=1"],
    ["~rerun", "data_dir='a b,c'", "split.seed=1"],
    ["~rerun", "data_dir=null", "split.seed=2"],
]


@pytest.mark.slow
def test_jobs_are_composed_as_by_hydra(hydra):
    """Everything but what a job alone knows, in the order in which a sweep asks for it, and asked twice."""
    master = hydra.config_loader.load_configuration("config", ["hydra.job.name=run"], RunMode.MULTIRUN)
    shared = SharedLoader(hydra.config_loader.get_search_path())
    expected = [hydra.config_loader.load_sweep_config(master, list(overrides)) for overrides in JOBS]
    for overrides, by_hydra in zip(JOBS * 2, expected * 2, strict=True):
        found = shared.load_sweep_config(master, list(overrides))
        assert OmegaConf.to_container(found) == OmegaConf.to_container(by_hydra)
        assert OmegaConf.is_struct(found)
        with pytest.raises(Exception, match="nothing"):
            found.nothing = 1


def test_a_copy_is_not_shared(hydra):
    master = hydra.config_loader.load_configuration("config", ["hydra.job.name=run"], RunMode.MULTIRUN)
    shared = SharedLoader(hydra.config_loader.get_search_path())
    for seed in (1, 2):
        shared.load_sweep_config(master, [f"split.seed={seed}"]).split.seed = 100
    assert shared.load_sweep_config(master, ["split.seed=1"]).split.seed == 1


def test_a_wrong_value_gets_hydras_words(hydra):
    master = hydra.config_loader.load_configuration("config", ["hydra.job.name=run"], RunMode.MULTIRUN)
    shared = SharedLoader(hydra.config_loader.get_search_path())
    shared.load_sweep_config(master, ["solver.tolerance=1e-6"])
    with pytest.raises(Exception, match=r"merging override solver\.tolerance=abc"):
        shared.load_sweep_config(master, ["solver.tolerance=abc"])


def test_a_setting_holds_for_the_jobs_whose_choices_have_it(hydra):
    """Asked twice: the second job is a copy of the first."""
    master = hydra.config_loader.load_configuration("config", ["hydra.job.name=run"], RunMode.MULTIRUN)
    shared = SharedLoader(hydra.config_loader.get_search_path())
    for penalty in (0.1, 0.2):
        words = [f"formulation.penalty={penalty}", "split.seed=1"]
        has = shared.load_sweep_config(master, ["formulation=ranksvm", *words])
        lacks = shared.load_sweep_config(master, ["formulation=bauc", *words])
        assert has.formulation.penalty == penalty
        assert has.hydra.overrides.task == ["formulation=ranksvm", *words]
        assert "penalty" not in lacks.formulation
        assert lacks.hydra.overrides.task == ["formulation=bauc", "split.seed=1"]
        assert lacks.hydra.job.override_dirname == f"formulation.penalty={penalty},formulation=bauc,split.seed=1"
    assert set(shared.refused) == {"formulation.penalty"}
    with pytest.raises(Exception, match="Could not find 'formulation/nix'"):
        shared.load_sweep_config(master, ["formulation=nix"])


def test_jobs_of_a_sweep_share_its_folder(hydra):
    """``${now:…}`` is one moment, although a configuration was composed before the folder was asked for."""
    master = hydra.config_loader.load_configuration("config", ["hydra.job.name=run"], RunMode.MULTIRUN)
    shared = SharedLoader(hydra.config_loader.get_search_path())
    shared.load_sweep_config(master, ["split.seed=0"])
    folder = master.hydra.sweep.dir
    assert shared.load_sweep_config(master, ["split.seed=1"]).hydra.sweep.dir == folder


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["formulation=bauc,scorecard"], "formulation=scorecard: .*; add preprocess=items"),
        (["formulation=scorecard,bauc", "preprocess=items", "solver=newton"], "solver=newton cannot solve scorecard"),
        (["formulation=bauc,scorecard", "preprocess=items,standard"], None),
    ],
)
def test_scorecards_that_no_job_can_fit_are_refused_at_the_start(hydra, words, said):
    grid = ["dataset=breast_cancer", *words]
    master = hydra.config_loader.load_configuration("config", ["hydra.job.name=run"], RunMode.MULTIRUN)
    with nullcontext() if said is None else pytest.raises(AuclabError, match=said):
        check_choices(master, grid, "sweep", SharedLoader(hydra.config_loader.get_search_path()))
