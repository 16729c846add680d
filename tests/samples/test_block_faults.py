"""Files of odd shapes give the optimum of memory; files that change or lack rows are said."""

import io

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet as pq
import pytest

from auclab._core.base import AuclabError, Status
from auclab.datasets.blocks import load_blocks
from auclab.formulations import RankSVM
from auclab.samples.blocks import LocalEngine, open_parquet, passes_to
from auclab.samples.blocks.parquet import RowGroup
from auclab.solvers.dispatch import solve
from auclab.solvers.path import solve_path
from links import link

N_ROWS = 1_200
PROGRAM = RankSVM(0.05)


@pytest.fixture(autouse=True)
def in_bins(monkeypatch):
    monkeypatch.setattr("auclab.samples.blocks.block_sample.DRAWN_FROM", 200)


def rows(n_rows=N_ROWS, seed=0):
    rng = np.random.default_rng(seed)
    y = (rng.random(n_rows) < 0.4).astype("int8")
    return pd.DataFrame({"a": rng.normal(size=n_rows) + y, "b": rng.normal(size=n_rows)}).assign(y=y)


def write(frame, path, size=200):
    frame.to_parquet(path, row_group_size=size, index=False)


def solved(folder, engine=None, **options):
    table, labels = open_parquet(folder, target="y", engine=engine)
    return solve(PROGRAM, table, labels.astype(str) == "1", solver="newton", **options)


def without_groups(folder):
    schema = pa.Table.from_pandas(rows(), preserve_index=False).schema
    pq.ParquetWriter(folder / "0.parquet", schema).close()
    write(rows(), folder / "1.parquet")


def with_an_empty_group(folder):
    table = pa.Table.from_pandas(rows(), preserve_index=False)
    with pq.ParquetWriter(folder / "0.parquet", table.schema) as writer:
        for part in (table.slice(0, 500), table.slice(0, 0), table.slice(500)):
            writer.write_table(part)


def without_rows(folder):
    write(rows()[:0], folder / "0.parquet")
    write(rows(), folder / "1.parquet")


def other_order(folder):
    write(rows()[:500], folder / "0.parquet")
    write(rows()[500:][["y", "b", "a"]], folder / "1.parquet")


def labels_of_other_types(folder):
    write(rows()[:500], folder / "0.parquet")
    write(rows()[500:].astype({"y": str}), folder / "1.parquet")


def same_names(folder):
    for number, part in enumerate((rows()[:500], rows()[500:])):
        (folder / f"part={number}").mkdir()
        write(part, folder / f"part={number}" / "a.parquet")


@pytest.mark.parametrize(
    "make",
    [
        without_groups,
        with_an_empty_group,
        without_rows,
        other_order,
        labels_of_other_types,
        lambda folder: write(rows()[:300], folder / "0.parquet", size=1),
        lambda folder: write(rows().sort_values("y"), folder / "0.parquet", size=100),
    ],
    ids=["no groups", "empty group", "no rows", "order", "label types", "one row a group", "one class a block"],
)
def test_odd_files_have_the_optimum_of_memory(tmp_path, make):
    make(tmp_path)
    found = solved(tmp_path)
    frame = rows()[: len(open_parquet(tmp_path, target="y")[0])]
    assert len(frame) in (300, N_ROWS)
    memory = solve(PROGRAM, frame[["a", "b"]].to_numpy(), frame["y"].to_numpy(), solver="newton")
    assert found.status is memory.status is Status.OPTIMAL
    assert found.bin_multipliers is not None
    assert found.objective == pytest.approx(memory.objective, rel=1e-6)
    assert found.lower_bound <= memory.objective * (1 + 1e-12)
    assert memory.lower_bound <= found.objective * (1 + 1e-12)


def test_files_of_one_name_in_several_folders(tmp_path):
    same_names(tmp_path)
    table, _ = open_parquet(tmp_path, target="y")
    assert len(table) == N_ROWS
    assert table.columns == ("a", "b", "part")
    assert np.asarray(table)[:, 2].sum() == N_ROWS - 500


@pytest.mark.parametrize("opened", [str, lambda folder: pyarrow.dataset.dataset(folder, partitioning="hive")])
def test_rows_of_a_relative_path_are_read_from_another_folder(tmp_path, monkeypatch, opened):
    """Workers that a user starts may run in any folder."""
    for name in ("elsewhere", "rows"):
        (tmp_path / name).mkdir()
    same_names(tmp_path / "rows")
    monkeypatch.chdir(tmp_path)
    table = load_blocks(opened("rows"), "y").X
    monkeypatch.chdir("elsewhere")
    assert np.asarray(table)[:, 2].sum() == N_ROWS - 500


def link_to_nothing(folder):
    link(folder / "1.parquet", folder / "nowhere.parquet")


def folder_like_a_file(folder):
    (folder / "1.parquet").mkdir()


@pytest.mark.parametrize(
    ("add", "reason"), [(link_to_nothing, "is a link to a file"), (folder_like_a_file, "is a folder")]
)
def test_no_rows_are_left_out_without_a_word(tmp_path, add, reason):
    write(rows(), tmp_path / "0.parquet")
    add(tmp_path)
    with pytest.raises(AuclabError, match=rf"1\.parquet {reason}"):
        open_parquet(tmp_path, target="y")


class Disturbed(LocalEngine):
    """Does something before a pass of a given number."""

    def __init__(self, number, disturb):
        self.left, self.disturb = number, disturb

    def reduce(self, task, blocks):
        self.left -= 1
        if self.left == 0:
            self.disturb()
        return super().reduce(task, blocks)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (
            lambda path: path.unlink(),
            "cannot be read as parquet: .*No such file.*; every worker must see it at this path",
        ),
        (lambda path: write(rows(seed=1), path), "has changed since it was opened"),
        (lambda path: write(rows(300), path), "has changed since it was opened"),
        (lambda path: write(rows().drop(columns="b"), path), "has changed since it was opened"),
        (lambda path: path.write_bytes(b"x" * 1000), "cannot be read as parquet"),
    ],
    ids=["removed", "other values", "fewer rows", "fewer columns", "overwritten"],
)
def test_a_file_that_changes_during_a_solve_is_refused(tmp_path, change, reason):
    path = tmp_path / "0.parquet"
    write(rows(), path)
    with pytest.raises(AuclabError, match=reason):
        solved(tmp_path, Disturbed(2, lambda: change(path)))


def plain(frame):
    """The bytes of a file whose footer says nothing of its values: neither statistics nor compressed sizes."""
    stream = io.BytesIO()
    table = pa.Table.from_pandas(frame, preserve_index=False)
    pq.write_table(table, stream, compression="none", use_dictionary=False, write_statistics=False, row_group_size=200)
    return stream.getvalue()


def flipped(content):
    """The same with one bit of a value changed."""
    changed = bytearray(content)
    changed[200] ^= 1
    return bytes(changed)


UNSEEN = {
    "other values": lambda: plain(rows(seed=1)),
    "other order": lambda: plain(rows()[::-1]),
    "one bit": lambda: flipped(plain(rows())),
}


@pytest.mark.parametrize("number", [1, 2, 3])
@pytest.mark.parametrize("changed", UNSEEN.values(), ids=UNSEEN)
def test_rows_that_change_between_passes_are_refused_though_size_and_footer_stay(tmp_path, changed, number):
    path, before = tmp_path / "0.parquet", plain(rows())
    path.write_bytes(before)
    assert len(changed()) == len(before)
    assert changed() != before
    with pytest.raises(AuclabError, match=r"0\.parquet has changed since it was opened"):
        solved(tmp_path, Disturbed(number, lambda: path.write_bytes(changed())))


@pytest.mark.parametrize("by_path", [False, True])
def test_a_file_that_changes_in_the_last_pass_is_refused(tmp_path, by_path):
    def fit():
        if by_path:
            solve_path(RankSVM(0.1, squared=True), table, labels.to_numpy(), [0.1], solver="newton")
        else:
            solve(RankSVM(0.1, squared=True), table, labels.to_numpy(), solver="newton")

    path, last = tmp_path / "0.parquet", []
    path.write_bytes(plain(rows()))
    table, labels = open_parquet(tmp_path, target="y")
    with passes_to(lambda done: last.append(done.number)):
        fit()

    def change(done):
        if (done.number, done.share) == (max(last), 1.0):
            path.write_bytes(plain(rows(seed=1)))

    with passes_to(change), pytest.raises(AuclabError, match="has changed since it was opened"):
        fit()


def test_a_file_that_changes_while_it_is_read_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "0.parquet"
    path.write_bytes(plain(rows()))
    table, _ = open_parquet(tmp_path, target="y")
    read = RowGroup._table

    def read_and_change(group, file):
        found = read(group, file)
        path.write_bytes(plain(rows(seed=1)))
        return found

    monkeypatch.setattr(RowGroup, "_table", read_and_change)
    with pytest.raises(AuclabError, match="has changed since it was opened"):
        table.blocks[-1].read()


def test_a_damaged_page_is_seen_where_the_file_has_checksums(tmp_path):
    path = tmp_path / "0.parquet"
    table = pa.Table.from_pandas(rows(), preserve_index=False)
    pq.write_table(table, path, use_dictionary=False, compression="none", write_page_checksum=True)
    content = bytearray(path.read_bytes())
    content[2_000] ^= 1  # the last bit of a number or so, which no range would tell
    path.write_bytes(bytes(content))
    table, _ = open_parquet(tmp_path, target="y")
    with pytest.raises(AuclabError, match=r"cannot be read as parquet: .*(CRC|could not verify|corrupt)"):
        np.asarray(table)
