"""Files at addresses: what fsspec reads, in memory, on disk, behind a cache and from a server on this machine."""

import io
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pandas as pd
import pytest

fsspec = pytest.importorskip("fsspec", reason="needs the extra auclab[remote]")

from auclab._core.base import AuclabError  # noqa: E402
from auclab.datasets.blocks import load_blocks  # noqa: E402
from auclab.samples.blocks import open_parquet  # noqa: E402

#: pyarrow leaves the closing of a file of fsspec to Python.
UNCLOSED = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    columns = {"a": rng.normal(size=300), "city": rng.choice(["Rome", "Bonn"], 300), "y": np.arange(300) % 2}
    return pd.DataFrame({**columns, "year": 2020 + np.arange(300) // 100})


@pytest.fixture(scope="module")
def folder(frame, tmp_path_factory):
    place = tmp_path_factory.mktemp("stored") / "folder"
    frame.to_parquet(place, partition_cols=["year"], index=False)
    (place / "_log").mkdir()
    (place / "_log" / "other.parquet").write_bytes(b"not read")
    return place


@pytest.fixture
def in_memory(folder):
    """The same files in fsspec's memory."""
    system = fsspec.filesystem("memory")
    for file in folder.rglob("*.parquet"):
        system.pipe(f"/bucket/folder/{file.relative_to(folder)}", file.read_bytes())
    yield "memory://bucket/folder"
    system.rm("/bucket", recursive=True)


def same(address, folder, frame):
    ours, theirs = load_blocks(address, target="y"), load_blocks(folder, target="y")
    assert (ours.name, ours.X.columns, ours.X.nominal) == ("folder", ("a", "city", "year"), ("city",))
    pd.testing.assert_frame_equal(ours.X.to_frame(), theirs.X.to_frame())
    assert ours.y.tolist() == theirs.y.tolist() == frame.sort_values("year", kind="stable")["y"].tolist()
    assert len(ours.sha256) == 64


def test_memory_and_disk(in_memory, folder, frame):
    for address in (in_memory, f"{in_memory}/", f"file://{folder}"):
        same(address, folder, frame)


@UNCLOSED
def test_a_cache_in_front(folder, frame, tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    same(f"simplecache::file://{folder}", folder, frame)


@UNCLOSED
def test_a_server(folder, frame):
    """HTTP has no folders with sizes that could be relied on, but a file is a file; this server sends whole ones."""
    pytest.importorskip("aiohttp", reason="fsspec reads http with aiohttp")
    handler = partial(SimpleHTTPRequestHandler, directory=str(folder))
    handler.func.log_message = lambda *_: None
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        (file,) = (folder / "year=2021").glob("*.parquet")
        address = f"http://127.0.0.1:{server.server_address[1]}/year=2021/{file.name}"
        with pytest.raises(AuclabError, match=r"cannot be read as parquet: .*support range requests"):
            open_parquet(address, target="y", drop=["city"])
        table, labels = open_parquet(f"simplecache::{address}", target="y", drop=["city"])
        found = np.asarray(table)
        server.shutdown()
    np.testing.assert_array_equal(found[:, 0], frame["a"][100:200])
    assert labels.tolist() == frame["y"][100:200].tolist()


def test_what_is_not_there(in_memory):
    with pytest.raises(AuclabError, match=r"memory://bucket/nowhere does not exist"):
        open_parquet("memory://bucket/nowhere", target="y")
    with pytest.raises(AuclabError, match=r"unheard://bucket/folder cannot be read"):
        open_parquet("unheard://bucket/folder", target="y")
    fsspec.filesystem("memory").pipe("/bucket/empty/readme.txt", b"nothing")
    with pytest.raises(AuclabError, match="holds no file that ends in"):
        open_parquet("memory://bucket/empty", target="y")


def test_a_file_that_changes_is_noticed(in_memory, frame, folder):
    table, _ = open_parquet(in_memory, target="y", drop=["city"])
    first = next(iter(table.blocks)).source.path
    small = frame[:5].drop(columns="year")
    with fsspec.filesystem("memory").open(first, "wb") as stream:
        small.to_parquet(stream, index=False)
    with pytest.raises(AuclabError, match="has changed since it was opened"):
        np.asarray(table)


def test_a_change_is_noticed_though_size_footer_and_listing_stay(in_memory, frame):
    system, contents = fsspec.filesystem("memory"), []
    for rows in (frame, frame[::-1]):
        stream = io.BytesIO()
        rows[["a", "y"]].to_parquet(stream, index=False, compression=None, engine="pyarrow", write_statistics=False)
        contents.append(stream.getvalue())
    assert len(contents[0]) == len(contents[1])
    system.pipe("/bucket/plain/0.parquet", contents[0])
    table, _ = open_parquet("memory://bucket/plain", target="y")
    np.testing.assert_array_equal(np.asarray(table)[:, 0], frame["a"])
    system.pipe("/bucket/plain/0.parquet", contents[1])
    with pytest.raises(AuclabError, match="has changed since it was opened"):
        np.asarray(table)


def test_the_state_of_a_file_is_asked_of_the_store_and_not_of_a_listing(in_memory, monkeypatch):
    """Object stores keep listings of folders, in which a file stays as it was."""
    dropped = []
    monkeypatch.setattr(
        type(fsspec.filesystem("memory")), "invalidate_cache", lambda _, path=None: dropped.append(path)
    )
    open_parquet(in_memory, target="y", drop=["city"])[0].blocks[0].read()
    assert "/bucket/folder/year=2020" in {path.rpartition("/")[0] for path in dropped}


def test_a_folder_as_spark_writes_it(tmp_path):
    frame = pd.DataFrame({"a": np.arange(40.0), "y": np.arange(40) % 2})
    for month, first in (("jan", 0), ("feb", 20)):
        folder = tmp_path / f"month={month}"
        folder.mkdir()
        for part in range(2):
            name = f"part-0000{part}-9f3a.c000.snappy.parquet"
            frame.iloc[first + 10 * part : first + 10 * part + 10].to_parquet(folder / name, index=False)
            (folder / f".{name}.crc").write_bytes(b"crc")
    for name in ("_SUCCESS", "._SUCCESS.crc"):
        (tmp_path / name).write_bytes(b"")
    table, labels = open_parquet(str(tmp_path), target="y")
    assert (table.shape, list(table.columns), list(table.nominal)) == ((40, 2), ["a", "month"], ["month"])
    assert sorted(labels.to_numpy().tolist()) == [0] * 20 + [1] * 20
