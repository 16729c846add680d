"""Formulations by name, their parameters and defaults."""

import pickle
from pathlib import Path

import pytest
import yaml
from hydra.utils import instantiate
from omegaconf import OmegaConf
from sklearn.base import clone

from auclab import AuclabError, BufferedAUC, RankSVM, formulations
from auclab.formulations import FORMULATIONS, as_formulation, formulation_named
from auclab.runs.config.settings import register_schema
from programs import CONVEX, CVAR, label

CONF = Path(__file__).parents[2] / "conf" / "formulation"


register_schema()  # the norms of conf/ depend on the solver


@pytest.mark.parametrize("name", FORMULATIONS)
def test_the_defaults_are_those_of_the_command_line(name):
    text = (CONF / f"{name}.yaml").read_text(encoding="utf-8")
    composed = OmegaConf.create({"solver": {"name": "auto"}, "formulation": yaml.safe_load(text)})
    settings = OmegaConf.to_container(composed, resolve=True)["formulation"]
    target = settings.pop("_target_")
    program = formulation_named(name)
    assert f"{type(program).__module__}.{type(program).__qualname__}" == target
    assert instantiate({"_target_": target} | settings, _convert_="all") == program
    assert set(settings) == set(program.get_params())


def test_every_program_of_the_package_has_a_name():
    programs = {program for program in map(vars(formulations).get, formulations.__all__) if hasattr(program, "name")}
    assert programs == set(FORMULATIONS.values())


@pytest.mark.parametrize("program", [*CONVEX, *CVAR, BufferedAUC()], ids=label)
def test_copies_are_equal_in_every_way(program):
    for copied in (clone(program), pickle.loads(pickle.dumps(program)), type(program)(**program.get_params())):
        assert copied == program
        assert hash(copied) == hash(program)
        assert type(copied) is type(program)


def test_a_changed_copy_leaves_the_formulation_alone():
    program = RankSVM(0.5)
    assert program.with_params(penalty=0.1, norm="l1") == RankSVM(0.1, "l1")
    assert program == RankSVM(0.5)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            lambda: formulation_named("ranksmv"),
            "formulation='ranksmv' is unknown (did you mean 'ranksvm'?); choose one",
        ),
        (lambda: formulation_named("bauc", penalty=1.0), "formulation bauc has no penalty; it has no parameters"),
        (lambda: formulation_named("ecsvm", penalty=1.0), "ecsvm has no penalty; its parameters are threshold, norm"),
        (
            lambda: formulation_named("ranksvm", penality=1.0),
            "has no penality (did you mean 'penalty'?); its parameters",
        ),
        (lambda: RankSVM(0.1, norm="L2"), "norm='L2' is unknown (did you mean 'l2'?); choose one of l1, l2, linf"),
        (lambda: formulation_named("ranksvm", penalty=-1.0), "penalty λ must be finite and ≥ 0"),
        (lambda: as_formulation(RankSVM), "RankSVM is a class; pass an object of it, RankSVM()"),
        (lambda: as_formulation(0.1), "formulation must be a name (bauc, "),
    ],
)
def test_what_is_wrong_is_named(call, words):
    with pytest.raises(AuclabError) as refusal:
        call()
    assert words in str(refusal.value)
