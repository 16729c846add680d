"""Where a published set is looked for, and what is checked."""

from __future__ import annotations

import hashlib
import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from auclab import datasets
from auclab._core.base import AuclabError
from auclab.datasets import catalogue, published
from auclab.datasets.catalogue import dataset_configs
from auclab.datasets.published import load_published
from openml_server import OpenMLServer

CSV = "size,colour,target\n1.5,red,no\n2.5,,yes\n3.5,blue,no\n"
DIGEST = hashlib.sha256(CSV.encode()).hexdigest()
TOY: dict[str, Any] = {
    "name": "toy",
    "file": "toy.csv",
    "target": "target",
    "positive": "yes",
    "nominal": ["colour"],
}


def put(folder: Path, text: str = CSV) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "toy.csv").write_text(text, encoding="utf-8")
    return folder


def test_order_of_the_search_path(bare_machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From the last place to the first, each new file goes before the ones that are there."""
    (catalogue.ROOT / "conf").mkdir(parents=True)
    cached, near, below, given = (
        catalogue.cache_dir(),
        bare_machine / "../shared/data",
        bare_machine / "data",
        bare_machine / "here",
    )
    packaged, root = bare_machine / "with the package", catalogue.ROOT
    monkeypatch.setattr(catalogue, "dataset_configs", lambda: packaged)
    order = [cached, packaged, root / "../shared/data", root / "data", near, below]
    for folder in order:
        found = Path(load_published(**TOY).source) if put(folder) else None
        assert found is not None
        assert found.resolve() == (folder / "toy.csv").resolve()
    monkeypatch.setenv(catalogue.VARIABLE, str(put(bare_machine / "variable")))
    assert load_published(**TOY).source == str(bare_machine / "variable" / "toy.csv")
    assert load_published(**TOY, data_dir=put(given)).source == str(given / "toy.csv")


def test_ionosphere_comes_with_the_package(bare_machine: Path, no_network: None) -> None:
    dataset = datasets.load("ionosphere")
    assert (dataset.X.shape, dataset.n_pos, dataset.n_neg) == ((351, 34), 126, 225)
    assert Path(dataset.source) == dataset_configs() / "ionosphere.csv"
    assert "CC BY 4.0" in (dataset_configs() / "ionosphere.yaml").read_text(encoding="utf-8")


@pytest.mark.needs_tables("manifest.csv", "sonar.csv")
def test_found_from_any_working_directory(data_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(catalogue.VARIABLE, str(data_folder))
    assert datasets.load("sonar").n_pos == 97


def test_content(bare_machine: Path) -> None:
    put(bare_machine / "data")
    dataset = load_published(**TOY, sha256=DIGEST)
    assert dataset.sha256 == DIGEST
    assert dataset.y.tolist() == [0, 1, 0]
    assert dataset.nominal == ("colour",)
    assert dataset.X["colour"].isna().tolist() == [False, True, False]


def test_checksum_that_differs(bare_machine: Path) -> None:
    put(bare_machine / "data", CSV + "4.5,red,no\n")
    other = hashlib.sha256((CSV + "4.5,red,no\n").encode()).hexdigest()
    with pytest.raises(AuclabError, match=rf"{other}, expected {DIGEST}; .*dataset\.sha256=null"):
        load_published(**TOY, sha256=DIGEST)
    assert load_published(**TOY, sha256=None).sha256 == other


def test_checksum_of_a_real_file(tmp_path: Path) -> None:
    shutil.copy(dataset_configs() / "ionosphere.csv", tmp_path / "ionosphere.csv")
    assert datasets.load("ionosphere", data_dir=tmp_path).source == str(tmp_path / "ionosphere.csv")
    with (tmp_path / "ionosphere.csv").open("a", encoding="utf-8") as stream:
        stream.write("\n")
    with pytest.raises(AuclabError, match=r"is not the file that was expected"):
        datasets.load("ionosphere", data_dir=tmp_path)


@pytest.mark.slow
def test_offline_error_names_the_search_path_and_ways_out(bare_machine: Path, no_network: None) -> None:
    with pytest.raises(AuclabError) as caught:
        load_published(**TOY, openml_id=7, data_dir=bare_machine / "given")
    message = str(caught.value)
    for folder in catalogue.search_path(bare_machine / "given"):
        assert os.path.abspath(folder / "toy.csv") in message
    assert "Network is unreachable" in message
    for word in ("OpenML data set 7", "put toy.csv into", "data_dir=", "AUCLAB_DATA", "go online once"):
        assert word in message
    assert not catalogue.cache_dir().exists()


def test_without_a_copy_at_openml(bare_machine: Path) -> None:
    with pytest.raises(AuclabError, match=r"there is no equal copy at OpenML.*put satimage\.csv\.gz into"):
        datasets.load("satimage4")


def test_download_is_checked_kept_and_read_without_network(
    bare_machine: Path, openml_server: OpenMLServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    facts = {
        "rows": 6,
        "features": 2,
        "n_pos": 2,
        "n_neg": 4,
        "openml_labels": {"tested_yes": "yes", "tested_no": "no"},
    }
    first = load_published(**TOY, **facts, sha256=DIGEST, openml_id=7)
    assert openml_server.requests > 0
    openml_server.stop()
    second = load_published(**TOY, **facts, sha256=DIGEST, openml_id=7)
    for dataset in (first, second):
        assert dataset.source == "OpenML data set 7"
        assert dataset.y.tolist() == [0, 1, 0, 1, 0, 0]
        assert dataset.nominal == ("Colour",)
        assert dataset.X["Colour"].isna().tolist() == [False, False, True, False, False, False]
        np.testing.assert_array_equal(dataset.X["Size"], [1.5, 2.5, 3.5, 4.5, 5.5, 6.5])
    copy = catalogue.cache_dir() / "toy.csv"
    assert first.sha256 == second.sha256 == hashlib.sha256(copy.read_bytes()).hexdigest()
    assert sorted(path.name for path in copy.parent.iterdir()) == ["toy.csv", "toy.csv.origin.json"]
    copy.write_text(copy.read_text(encoding="utf-8").replace("1.5", "1.6"), encoding="utf-8")
    with pytest.raises(AuclabError, match=r"is not the file that was expected"):
        load_published(**TOY, **facts, openml_id=7)
    (copy.parent / "toy.csv.origin.json").write_text("{", encoding="utf-8")
    with pytest.raises(AuclabError, match=r"is damaged .*remove it and toy\.csv"):
        load_published(**TOY, **facts, openml_id=7)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"rows": 7}, "rows 6 instead of 7"),
        ({"features": 3}, "features 2 instead of 3"),
        ({"n_pos": 1, "n_neg": 5}, "n_pos 2 instead of 1, n_neg 4 instead of 5"),
    ],
)
def test_download_that_is_another_set_is_not_kept(
    bare_machine: Path, openml_server: OpenMLServer, wrong: dict[str, int], message: str
) -> None:
    with pytest.raises(AuclabError, match=message):
        load_published(**{**TOY, "positive": "tested_yes"}, **wrong, openml_id=7)
    assert not catalogue.cache_dir().exists()


def test_damaged_download_is_not_kept(bare_machine: Path, openml_server: OpenMLServer) -> None:
    openml_server.damaged = True
    with pytest.raises(AuclabError, match=r"it could not be fetched from OpenML \((The )?md5 checksum"):
        load_published(**{**TOY, "positive": "tested_yes"}, openml_id=7)
    assert not catalogue.cache_dir().exists()


def test_packed_copies_have_the_same_bytes(bare_machine: Path, openml_server: OpenMLServer) -> None:
    """Two processes that fetch the same set at once must agree on its checksum."""
    table, nominal = published.fetch(7, target="target")
    digests = set()
    for folder in ("a", "b"):
        path = bare_machine / folder / "toy.csv.gz"
        published.store(table, path, source="here", nominal=nominal)
        digests.add(hashlib.sha256(path.read_bytes()).hexdigest())
    assert len(digests) == 1


def test_cache_that_cannot_be_written(bare_machine: Path, openml_server: OpenMLServer) -> None:
    catalogue.cache_dir().parent.mkdir(parents=True)
    catalogue.cache_dir().write_text("a file where the folder should be", encoding="utf-8")
    with pytest.raises(AuclabError, match=r"was downloaded but cannot be written"):
        load_published(**{**TOY, "positive": "tested_yes"}, openml_id=7)
