"""What a stored configuration may name is what conf/ names, no more and no less."""

import re

import pytest
import yaml

from auclab.pipeline.config.compose import compose_experiment, conf_folder
from auclab.pipeline.stored.allowed import ALLOWED, check_locations, check_targets, is_function
from auclab.pipeline.stored.configuration import stored_experiment
from auclab.types import AuclabError


def targets(group):
    """Every ``_target_`` in the yaml files of a group."""
    texts = [path.read_text(encoding="utf-8") for path in (conf_folder() / group).glob("*.yaml")]
    return {name for text in texts for name in re.findall(r"^\s*_target_: (\S+)", text, re.MULTILINE)}


def test_the_names_of_each_group_are_those_of_conf():
    named = {group: found for group in map(str, groups()) if (found := targets(group))}
    named["dataset"] |= named["engine"]  # an engine is part of the blocks that it reads
    assert named == ALLOWED
    assert all(name.startswith("auclab.") for names in named.values() for name in names - {"hydra.utils.get_method"})


def groups():
    """Groups of an experiment; those of Hydra are not part of a stored configuration."""
    return sorted(path.name for path in conf_folder().iterdir() if path.is_dir() and path.name != "hydra")


def test_every_data_set_of_conf_may_be_downloaded():
    configurations = [
        yaml.safe_load(path.read_text(encoding="utf-8")) for path in (conf_folder() / "dataset").iterdir()
    ]
    downloads = [each | {"data_dir": None} for each in configurations if each.get("openml_id")]
    assert len(downloads) > 20
    for each in downloads:
        check_locations({"dataset": each})
        for key, value in (("openml_id", 7), ("file", "iris.csv"), ("target", "x"), ("openml_labels", {"a": "b"})):
            with pytest.raises(AuclabError, match=r"no data set of conf/dataset describes; later"):
                check_locations({"dataset": each | {key: value}})


@pytest.mark.parametrize(
    "name",
    [
        "auclab.metrics.auc_score ", "auclab.metrics", "auclab.datasets.splits.holdout.__globals__",
        "AUCLAB.metrics.auc_score",
        "auclab.datasets.file.Path", "auclab.metrics.registry.METRICS", "", None, 7, ["os.system"], {"a": 1},
        "hydra.utils.instantiate", "hydra.utils.get_class", "hydra.utils.get_object",
    ],
    ids=repr,
)  # fmt: skip
def test_names_that_look_alike_are_refused(name):
    with pytest.raises(AuclabError, match=r"the stored configuration names .* at metrics\.a\._target_"):
        check_targets({"metrics": {"a": {"_target_": name}}})


def test_a_formulation_is_made_of_any_public_piece():
    check_targets({"formulation": {"regulariser": {"_target_": "auclab.regularisers.Norm"}}})
    for group, name in (("metrics", "auclab.losses.Hinge"), ("formulation", "auclab.losses.loss_named")):
        with pytest.raises(AuclabError, match="the stored configuration names"):
            check_targets({group: {"_target_": name}})


def test_a_name_of_another_group_is_refused():
    check_targets({"dataset": {"_target_": "auclab.datasets.file.load_file"}})
    for group in ("metrics", "solver", "split", "hydra", "anything"):
        with pytest.raises(AuclabError, match=r"names 'auclab\.datasets\.file\.load_file'"):
            check_targets({group: {"_target_": "auclab.datasets.file.load_file"}})


def test_only_universal_functions_are_taken_by_name():
    for name in ("numpy.tanh", "numpy.square", "scipy.special.expit"):
        assert is_function(name)
    for name in (
        "numpy.load",
        "numpy.frompyfunc",
        "numpy.vectorize",
        "numpy",
        "tanh",
        "numpy.lib.npyio.NpzFile",
        None,
        3,
    ):
        assert not is_function(name)


def test_what_a_run_stores_is_taken_and_recorded_nowhere(tmp_path):
    experiment = compose_experiment(["dataset=ionosphere", "solver=highs", "solver.export=x.lp", "tracking.dir=there"])
    (tmp_path / "config.yaml").write_text(yaml.safe_dump(experiment.configuration), encoding="utf-8")
    again = stored_experiment(tmp_path, choices=experiment.choices)
    assert again.solver.export is None
    assert again.tracking.name == "none"
    expected = dict(experiment.configuration)
    expected["solver"] = expected["solver"] | {"export": None}
    expected["tracking"] = {"name": "none"}
    assert again.configuration == expected
    assert again.name == experiment.name
