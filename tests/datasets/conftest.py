"""The folder of data files, and a place without any."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from auclab.datasets import catalogue
from openml_server import OpenMLServer


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder that holds the manifest of the published sets, for tests marked `needs_tables`."""
    manifest = catalogue.find_file("manifest.csv")
    assert manifest is not None, "the test is not marked needs_tables"
    return manifest.parent


@pytest.fixture
def bare_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No data folder anywhere, an empty cache; returns the working directory."""
    work = tmp_path / "project" / "work"
    work.mkdir(parents=True)
    monkeypatch.chdir(work)
    monkeypatch.delenv(catalogue.VARIABLE, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(catalogue, "ROOT", tmp_path / "elsewhere" / "root")
    return work


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every connection is refused, as without a network."""

    def refuse(*_: object, **__: object) -> None:
        raise OSError("Network is unreachable")

    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.setattr(socket.socket, "connect", refuse)


@pytest.fixture
def openml_server(monkeypatch: pytest.MonkeyPatch) -> Iterator[OpenMLServer]:
    """A server that speaks OpenML's language, to which scikit-learn's client is directed."""
    server = OpenMLServer()
    server.lead(monkeypatch)
    yield server
    server.stop()
