"""What a stored configuration may name is what conf/ names, no more and no less."""

import importlib
import inspect

import pytest
import yaml

from auclab._core.base import AuclabError
from auclab.runs.config.compose import compose_experiment, conf_folder
from auclab.runs.stored.configuration import (
    ALLOWED,
    FILES,
    PIECES,
    check_configuration,
    is_function,
    stored_experiment,
)


def called(value, place):
    """The place and the name of everything that a configuration calls."""
    if isinstance(value, dict):
        if "_target_" in value:
            yield place, value["_target_"]
        for key, item in value.items():
            yield from called(item, f"{place}.{'*' if place == 'metrics' else key}")


def called_by_conf():
    """Everything that the yaml files of the groups call; those of Hydra are not part of a stored configuration."""
    groups = {path.name for path in conf_folder().iterdir() if path.is_dir()} - {"hydra"}
    for group in sorted(groups):
        for path in (conf_folder() / group).glob("*.yaml"):
            content = yaml.safe_load(path.read_text(encoding="utf-8"))
            yield from called(content, group)
            if isinstance(content, dict) and "engine" in content:  # an engine is part of the blocks that it reads
                assert content["engine"] == "${engine}"
                yield from ((f"{group}.engine", name) for name in ALLOWED["engine"])


def test_what_is_called_at_each_place_is_what_conf_calls():
    found = {}
    for place, name in called_by_conf():
        if not (place in PIECES and name.startswith(f"{PIECES[place]}.")):
            found.setdefault(place, set()).add(name)
    assert found == ALLOWED
    names = {name for place, names in ALLOWED.items() if place != "formulation.estimator" for name in names}
    assert all(name.startswith("auclab.") for name in names - {"hydra.utils.get_method"})


def test_arguments_that_name_files_are_known():
    names = {name for names in ALLOWED.values() for name in names if name.startswith("auclab.")}
    found = set()
    for name in names:
        module, _, function = name.rpartition(".")
        signature = inspect.signature(getattr(importlib.import_module(module), function))
        found |= {key for key, each in signature.parameters.items() if "Path" in str(each.annotation) or "file" in key}
    assert found == set(FILES)


def test_every_data_set_of_conf_may_be_downloaded():
    files = (conf_folder() / "dataset").glob("*.yaml")
    configurations = [yaml.safe_load(path.read_text(encoding="utf-8")) for path in files]
    downloads = [each | {"data_dir": None} for each in configurations if each.get("openml_id")]
    assert len(downloads) > 20
    for each in downloads:
        check_configuration({"dataset": each})
        for key, value in (("openml_id", 7), ("file", "iris.csv"), ("target", "x"), ("openml_labels", {"a": "b"})):
            with pytest.raises(AuclabError, match=r"no data set of conf/dataset describes; later"):
                check_configuration({"dataset": each | {key: value}})


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
        check_configuration({"metrics": {"a": {"_target_": name}}})


def test_a_formulation_is_made_of_any_public_piece():
    check_configuration({"formulation": {"regulariser": {"_target_": "auclab.regularisers.Norm"}}})
    for place, name in (
        ("metrics", "auclab.losses.Hinge"),
        ("formulation", "auclab.losses.Hinge"),
        ("loss", "auclab.losses.loss_named"),
        ("loss", "auclab.regularisers.Norm"),
    ):
        with pytest.raises(AuclabError, match="the stored configuration names"):
            check_configuration({"formulation": {place: {"_target_": name}}})


def test_a_name_of_another_group_is_refused():
    check_configuration({"dataset": {"_target_": "auclab.datasets.file.load_file"}})
    for group in ("metrics", "solver", "split", "hydra", "anything", "engine"):
        with pytest.raises(AuclabError, match=r"names 'auclab\.datasets\.file\.load_file'"):
            check_configuration({group: {"_target_": "auclab.datasets.file.load_file"}})


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
