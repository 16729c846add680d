"""Every yaml of conf/dataset keeps its word."""

from __future__ import annotations

import csv
import hashlib
import importlib
import inspect
import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hydra import compose, initialize_config_dir
from hydra.utils import instantiate
from omegaconf import OmegaConf

from auclab import datasets
from auclab._core.base import AuclabError
from auclab.datasets.catalogue import dataset_configs
from auclab.runs.config.compose import conf_folder

FOLDER = dataset_configs()
SETTINGS = {name: OmegaConf.load(FOLDER / f"{name}.yaml") for name in datasets.names()}
#: Sets with a known file; the others are the user's own, computed, or a download of unknown bytes.
PUBLISHED = sorted(name for name, settings in SETTINGS.items() if settings.get("sha256"))

#: From the papers and from KEEL's descriptions: positives and negatives.
PAPERS = {
    "ionosphere": (126, 225),  # Norton & Uryasev, 4.5.2
    "abalone19": (32, 4145),
    "yeast_me2": (51, 1433),
    "wine_red4": (53, 1546),
    "wine_white4": (163, 4735),
    "solar_flare_m": (68, 1321),
    "page_blocks": (560, 4913),
    "satimage4": (626, 5809),
    "covertype_sample": (33894, 45328),
    "pima": (268, 500),
    "wdbc": (212, 357),
}


def test_the_catalogue_is_that_of_the_command_line() -> None:
    assert conf_folder() / "dataset" == FOLDER


def test_configs_of_a_checkout_come_before_those_of_the_package(tmp_path: Path) -> None:
    package = tmp_path / "src" / "auclab"
    assert dataset_configs(package) == package / "conf" / "dataset"  # as in a wheel
    (tmp_path / "conf").mkdir()
    assert dataset_configs(package) == package / "conf" / "dataset"  # somebody else's folder conf beside the package
    (tmp_path / "conf" / "config.yaml").touch()
    assert dataset_configs(package) == tmp_path / "conf" / "dataset"


@pytest.mark.slow
def test_a_set_is_loaded_from_the_configs_inside_an_installed_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A copy of src/auclab with conf in it, and no checkout around it, as a wheel is unpacked."""
    installed = tmp_path / "site-packages" / "auclab"
    shutil.copytree(Path(datasets.__file__).parents[1], installed, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(FOLDER.parent, installed / "conf")
    program = "from auclab import datasets; print(datasets.__file__); print(datasets.load('ionosphere').source)"
    monkeypatch.setenv("PYTHONPATH", str(installed.parent))
    monkeypatch.delenv("AUCLAB_DATA", raising=False)
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, check=True, text=True)
    assert done.stdout.splitlines() == [
        str(installed / name) for name in ("datasets/__init__.py", "conf/dataset/ionosphere.csv")
    ]


@pytest.fixture(scope="module")
def manifest(data_folder: Path) -> dict[str, dict[str, str]]:
    """Rows of the manifest by file."""
    with (data_folder / "manifest.csv").open(encoding="utf-8", newline="") as stream:
        return {row["file"]: row for row in csv.DictReader(stream)}


@pytest.mark.parametrize("name", datasets.names())
def test_yaml_has_a_comment_and_names_arguments_of_its_loader(name: str) -> None:
    text = (FOLDER / f"{name}.yaml").read_text(encoding="utf-8")
    assert text.startswith("# ")
    settings = dict(OmegaConf.to_container(SETTINGS[name]))
    module, _, function = settings.pop("_target_").rpartition(".")
    accepted = set(inspect.signature(getattr(importlib.import_module(module), function)).parameters)
    assert set(settings) <= accepted


@pytest.mark.parametrize("name", PUBLISHED)
@pytest.mark.needs_tables
def test_yaml_matches_the_manifest(name: str, manifest: dict[str, dict[str, str]]) -> None:
    settings, row = SETTINGS[name], manifest[SETTINGS[name].file]
    assert settings.name == name
    assert settings.sha256 == row["sha256"]
    assert (settings.rows, settings.features) == (int(row["rows"]), int(row["features"]))
    nominal = settings.nominal if settings.nominal == "ALL" else " ".join(settings.nominal)
    assert nominal == row["categorical_features"]
    counts = dict(entry.strip().rsplit(":", 1) for entry in row["target_values_with_counts"].split(";"))
    positive = [settings.positive] if isinstance(settings.positive, str) else list(settings.positive)
    negative = [settings.negative] if settings.negative else [label for label in counts if label not in positive]
    assert settings.n_pos == sum(int(counts[label]) for label in positive)
    assert settings.n_neg == sum(int(counts[label]) for label in negative)


@pytest.mark.needs_tables
def test_every_published_set_has_a_yaml(manifest: dict[str, dict[str, str]]) -> None:
    names = {row["name"] for row in manifest.values() if not row["name"].startswith("keel_")}
    assert names <= set(PUBLISHED)


@pytest.mark.parametrize("name", PUBLISHED)
@pytest.mark.needs_tables
def test_published_set_loads_as_described(name: str, data_folder: Path) -> None:
    settings = SETTINGS[name]
    dataset = datasets.load(name)
    assert (dataset.n_pos, dataset.n_neg) == (settings.n_pos, settings.n_neg)
    assert dataset.X.shape == (
        settings.n_pos + settings.n_neg,
        len(settings.get("columns") or range(settings.features)),
    )
    assert dataset.sha256 == settings.sha256 == hashlib.sha256((data_folder / settings.file).read_bytes()).hexdigest()
    assert dataset.y.dtype == np.int64
    assert set(dataset.nominal) <= set(dataset.X.columns)
    assert dataset.citation
    # Whatever is not nominal is a number: nothing was read as text by accident.
    assert all(np.issubdtype(dataset.X[column].dtype, np.number) for column in set(dataset.X) - set(dataset.nominal))


@pytest.mark.parametrize(("name", "counts"), PAPERS.items())
def test_counts_of_the_papers(name: str, counts: tuple[int, int]) -> None:
    assert (SETTINGS[name].n_pos, SETTINGS[name].n_neg) == counts


@pytest.mark.needs_tables
def test_missing_cells_stay_missing(manifest: dict[str, dict[str, str]]) -> None:
    for name in ("horse_colic", "house_votes", "credit_approval", "breast_cancer_ljubljana"):
        cells = int(datasets.load(name).X.isna().to_numpy().sum())
        assert cells == int(manifest[SETTINGS[name].file]["missing_cells"])


@pytest.mark.needs_tables("solar_flare_both.csv")
def test_nominal_codes_are_kept_as_written() -> None:
    flares = datasets.load("solar_flare_m")
    assert set(flares.X["evolution"]) == {"1", "2", "3"}
    assert pd.api.types.is_object_dtype(flares.X["evolution"])


@pytest.mark.needs_tables("yeast.csv", "wpbc.csv")
def test_overrides_replace_values_of_the_yaml() -> None:
    assert datasets.load("yeast", positive="ME1").n_pos == 44
    pair = datasets.load("yeast", positive=["ME1"], negative=["ME2", "ME3"])
    assert (pair.n_pos, pair.n_neg, pair.negative) == (44, 51 + 163, "ME2, ME3")
    without_time = datasets.load("wpbc", columns=list(datasets.load("wpbc").X.columns[1:]))
    assert without_time.X.shape == (198, 32)


def test_unknown_names_and_settings_list_the_choices() -> None:
    with pytest.raises(AuclabError, match=r"no data set 'ionosfere'; choose from .*ionosphere"):
        datasets.load("ionosfere")
    with pytest.raises(AuclabError, match=r"has no setting sead; it has .*seed"):
        datasets.load("artificial", sead=1)


def test_import_is_cheap() -> None:
    """Importing the catalogue loads no table or learning library."""
    program = "import json, sys; import auclab.datasets; print(json.dumps(sorted(sys.modules)))"
    printed = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, text=True).stdout
    assert not {"pandas", "sklearn", "omegaconf", "scipy"} & set(json.loads(printed))


@pytest.mark.needs_tables
def test_composes_in_the_main_configuration(data_folder: Path) -> None:
    """Labels, lists and the setting data_dir arrive at the loaders as Hydra passes them on."""
    keel = str(data_folder / "keel" / "keel_zoo_3.csv")
    choices: dict[str, tuple[list[str], tuple[int, int]]] = {
        "ionosphere": ([f"data_dir={data_folder}"], (126, 225)),
        "page_blocks": ([], (560, 4913)),
        "yeast": (["dataset.positive=[ME1,ME2]"], (95, 1389)),
        "credit_approval": (["dataset.positive=-"], (383, 307)),
        "perturbed": (["dataset.base=breast_cancer", "dataset.factor=2"], (424, 714)),
        "artificial": (["dataset.n_pos=5"], (5, 1000)),
        "file": ([f"dataset.path={keel}", "dataset.target=target", "dataset.positive=positive"], (5, 96)),
    }
    with initialize_config_dir(str(FOLDER.parent), version_base="1.3"):
        for name, (overrides, counts) in choices.items():
            config = compose(
                overrides=[f"+dataset={name}", *(f"+{it}" if it.startswith("data_dir") else it for it in overrides)]
            )
            dataset = instantiate(config.dataset)
            assert (dataset.n_pos, dataset.n_neg) == counts, name
