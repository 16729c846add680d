"""Files and downloads that unpack to more than they should."""

from __future__ import annotations

import bz2
import gzip
import os
import urllib.request
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.error import URLError

import numpy as np
import pandas as pd
import pytest

from auclab._core.base import AuclabError
from auclab.datasets import cache, published
from auclab.datasets.cache import limited_downloads
from auclab.datasets.file import load_file
from auclab.datasets.published import load_published
from openml_server import OpenMLServer, Table

LINE = {".csv": b"1.5,1\n", ".tsv": b"1.5\t1\n", ".svmlight": b"1 1:1.5\n"}
HEAD = {".csv": b"x,y\n", ".tsv": b"x\ty\n", ".svmlight": b""}


@pytest.fixture
def small_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "MOST_BYTES", 1_000_000)
    monkeypatch.setattr(cache, "MOST_RATIO", 20)


@pytest.mark.usefixtures("small_limits")
@pytest.mark.parametrize(
    ("ending", "packing", "pack"),
    [(".csv", ".gz", gzip.compress), (".tsv", ".gz", gzip.compress), (".svmlight", ".gz", gzip.compress),
     (".svmlight", ".bz2", bz2.compress)],
)  # fmt: skip
def test_a_small_file_that_is_large_unpacked_is_refused(
    tmp_path: Path, ending: str, packing: str, pack: Callable[[bytes], bytes]
) -> None:
    path = tmp_path / f"bomb{ending}{packing}"
    path.write_bytes(pack(HEAD[ending] + LINE[ending] * 400_000))
    assert path.stat().st_size < 20_000
    with pytest.raises(AuclabError, match=r"bomb.* has .* MB and unpacks to more than 1, .*unpack it yourself"):
        load_file(path, target="y", positive="1")
    if ending == ".csv":
        with pytest.raises(AuclabError, match="unpacks to more than"):
            load_published(name="bomb", file=path.name, target="y", positive="1", data_dir=tmp_path)
        plain = tmp_path / "plain.csv"  # the way out that the message names
        plain.write_bytes(gzip.decompress(path.read_bytes()).replace(b"1\n", b"0\n", 5))
        assert load_file(plain, target="y", positive="1").n_neg == 5


@pytest.mark.slow
@pytest.mark.usefixtures("small_limits")
def test_a_large_file_may_be_larger_unpacked(tmp_path: Path) -> None:
    """Random digits pack to a half: no limit is reached, though there are more bytes than in the test before."""
    numbers = np.random.default_rng(0).random(200_000)
    path = tmp_path / "x.csv.gz"
    pd.DataFrame({"x": numbers, "y": np.arange(numbers.size) % 2}).to_csv(path, index=False)
    assert len(gzip.decompress(path.read_bytes())) > cache.MOST_BYTES
    assert load_file(path, target="y", positive="1").X["x"].tolist() == pytest.approx(numbers.tolist(), abs=1e-15)


@pytest.mark.usefixtures("small_limits")
@pytest.mark.parametrize("ending", [".zip", ".xz"])
def test_other_endings_have_the_same_limit(tmp_path: Path, ending: str) -> None:
    """pandas would unpack a .zip or .xz by itself, and without a limit."""
    path = tmp_path / f"x.csv{ending}"
    pd.DataFrame({"x": [1] * 400_000, "y": [0, 1] * 200_000}).to_csv(path, index=False)
    with pytest.raises(AuclabError, match="unpacks to more than"):
        load_file(path, target="y", positive="1")


@pytest.mark.parametrize("file", ["../x.csv", "/etc/passwd", "a/x.csv", "..", "", "C:x.csv", "a\\x.csv"])
def test_a_file_of_a_data_set_is_named_without_a_folder(tmp_path: Path, file: str) -> None:
    with pytest.raises(AuclabError, match="it is the name of a file, and its folder is given by data_dir"):
        load_published(name="x", file=file, target="y", positive="1", openml_id=7, data_dir=tmp_path)


@pytest.mark.parametrize("path", ["http://127.0.0.1:1/x.csv", "s3://bucket/x.csv", "file:///etc/passwd"])
def test_files_of_this_machine_are_read(path: str) -> None:
    with pytest.raises(AuclabError, match="is an address, but only local files are read"):
        load_file(path, target="y", positive="1")


def test_a_pipe_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "x.csv")
    with pytest.raises(AuclabError, match="is a device or a pipe"):
        load_file(tmp_path / "x.csv", target="y", positive="1")


def test_parquet_that_describes_more_than_memory_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Equal rows pack to nearly nothing."""
    path = tmp_path / "x.parquet"
    pd.DataFrame({"x": np.zeros(2_000_000), "y": np.ones(2_000_000)}).to_parquet(path)
    assert path.stat().st_size < 20_000
    memory = type("Memory", (), {"total": 30_000_000})
    monkeypatch.setattr("psutil.virtual_memory", lambda: memory)
    with pytest.raises(AuclabError, match=r"2,000,000 rows and 2 columns.* this machine has .*dataset=blocks"):
        load_file(path, target="y", positive="1")


class Bomb(BaseHTTPRequestHandler):
    """Sends two million bytes, packed, and says that a page has moved to a file of this machine."""

    packed = gzip.compress(bytes(2_000_000))

    def do_GET(self) -> None:
        if self.path == "/moved":
            self.send_response(302)
            self.send_header("Location", "file:///etc/hostname")
            self.end_headers()
            return
        self.send_response(200)
        if self.path == "/packed":
            self.send_header("Content-Encoding", "gzip")
        self.end_headers()
        self.wfile.write(self.packed if self.path == "/packed" else b"short")

    def log_message(self, *_: Any) -> None:
        """Keep quiet."""


@pytest.fixture
def bomb() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Bomb)
    Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()


def test_downloads_end_at_a_limit_and_follow_http_alone(bomb: str, tmp_path: Path) -> None:
    before = getattr(urllib.request, "_opener", None)
    with limited_downloads(seconds=5.0, most=1_000_000):
        with urllib.request.urlopen(f"{bomb}/packed") as answer, pytest.raises(OSError, match="unpacks to more"):
            answer.read()
        with urllib.request.urlopen(f"{bomb}/") as answer:
            assert answer.status == 200
            assert answer.read() == b"short"
        (tmp_path / "x").write_text("mine", encoding="utf-8")
        for address in (f"{bomb}/moved", (tmp_path / "x").as_uri(), "ftp://127.0.0.1:1/x"):
            with pytest.raises(URLError):
                urllib.request.urlopen(address)
    assert getattr(urllib.request, "_opener", None) is before


def test_a_copy_from_openml_that_is_too_large_is_refused(
    bare_machine: Path, openml_server: OpenMLServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    limits = {"seconds": published.TIMEOUT, "most": 1_000}
    monkeypatch.setattr(published, "limited_downloads", lambda **_: limited_downloads(**limits))
    settings: dict[str, Any] = {"name": "toy", "file": "toy.csv", "target": "class", "positive": "tested_yes"}
    table = openml_server.table
    openml_server.table = Table(table.arff + "1.5,red,tested_no\n" * 100, table.kinds, "class", 106)
    with pytest.raises(
        AuclabError, match=r"it could not be fetched from OpenML \(it unpacks to more than is allowed\)"
    ):
        load_published(**settings, openml_id=7)
    assert not (bare_machine.parents[1] / "cache").exists()
