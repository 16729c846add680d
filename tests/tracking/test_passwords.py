"""Passwords of addresses: in no message, no file, no log and no record of a run."""

import logging

import numpy as np
import pandas as pd
import pytest

from auclab.datasets.records import Dataset
from auclab.pipeline.screen.console import failed_line, plain_errors
from auclab.tracking import TrackingConfig, open_run
from auclab.tracking.address import Address, PasswordFilter, hide_password
from auclab.tracking.dataset_entry import DatasetEntry
from auclab.tracking.runs import format_traceback
from auclab.tracking.store import open_store
from auclab.types import AuclabError
from tracked_runs import DATASET, write_half_and_fail

SECRET = "s3cr3t"

ADDRESSES = [
    f"postgresql://me:{SECRET}@host/runs",
    f"postgresql+psycopg2://me:{SECRET}@host:5432/runs?sslmode=require",
    f"postgresql://me:a/{SECRET}@host/runs",
    f"postgresql://me:a@{SECRET}@host/runs",
    f"postgresql://me:a:{SECRET}@host/runs",
    f"postgresql://me@tenant:{SECRET}@host/runs",
    f"postgresql://host/runs?user=me&password={SECRET}",
    f"mssql+pyodbc:///?odbc_connect=DRIVER%3DX%3BPWD%3D{SECRET}",
    f"mysql://:{SECRET}@host/runs",
    f"http://me:{SECRET}@host:5000",
    f"http://me:a/{SECRET}@host:5000",
    f"https://{SECRET}@host/mlflow",
    f"https://host/mlflow?access_token={SECRET}",
    f"https://host/container?sv=1&sig={SECRET}",
    f"http:/me:{SECRET}@host/data.csv",
]


@pytest.mark.parametrize("address", ADDRESSES)
def test_hidden_in_every_form_of_address(address):
    for text in (
        *(address, f"tracking.uri={address}", f"'{address}'", f'{{"uri": "{address}", "other": "a@b"}}'),
        *(f"cannot use {address}: refused", f"- tracking.uri={address}\n- seed=1\n"),
    ):
        shown = hide_password(text)
        assert SECRET not in shown
        assert "***" in shown
        assert hide_password(shown) == shown
    assert '"other": "a@b"' in hide_password(f'{{"uri": "{address}", "other": "a@b"}}')


@pytest.mark.parametrize(
    "text",
    [
        "http://127.0.0.1:5000", "postgresql://me@host:5432/x", "sqlite:////data/a@b/x.db", "http://host:5000/a@b",
        "a: b @ c", "seed=1 sigma=0.5 significance=0.05", "C:/a:b@c", "s3://bucket/key", "dataset.target=password",
    ],
)  # fmt: skip
def test_all_else_stays_as_it_is(text):
    assert hide_password(text) == text


def test_long_texts_are_searched_at_once():
    for text in ("a" * 300_000 + "@ :/", "http://" + "@:" * 100_000, "x:/" * 100_000 + "@", "a=" * 200_000):
        hide_password(text)


def test_drivers_that_say_the_password_are_not_repeated():
    assert hide_password(f"connection failed: host=h user=me password={SECRET}") == (
        "connection failed: host=h user=me password=***"
    )


@pytest.mark.parametrize("address", [f"http://me:a/{SECRET}@h", f"http://me:{SECRET}@h:port", f"https://me:{SECRET}@"])
def test_an_address_that_is_none_is_refused_without_it(address, tmp_path, capsys):
    """Python's own message names what stands after the colon: nonnumeric port: 's3cr3t@host'."""
    with pytest.raises(AuclabError, match=r"tracking\.uri is .*\*\*\*@") as refused:
        open_store(tmp_path, "auclab", address)
    assert SECRET not in str(refused.value)
    with pytest.raises(SystemExit), plain_errors(lambda line: SystemExit(line)):
        raise AuclabError(address)
    assert SECRET not in capsys.readouterr().err
    assert SECRET not in failed_line(address, OSError(address))


def test_a_server_is_asked_at_its_own_host(tmp_path):
    """The name of the host is after the last @; what stands before it is not looked up in a network."""
    with pytest.raises(AuclabError, match=r"no MLflow server responds at http://me:\*\*\*@127\.0\.0\.1:1 .*refused"):
        open_store(tmp_path, "auclab", f"http://me:{SECRET}@127.0.0.1:1")


def test_a_log_and_a_traceback_have_none():
    with pytest.raises(OSError, match="postgresql") as raised:
        raise OSError(ADDRESSES[0])
    error = raised.value
    assert SECRET not in format_traceback(error)
    info = (OSError, error, error.__traceback__)
    record = logging.LogRecord("x", logging.ERROR, "x", 1, "cannot use %s", (ADDRESSES[0],), info)
    stream = logging.StreamHandler()
    stream.addFilter(PasswordFilter())
    assert stream.filter(record)
    text = stream.format(record)
    assert SECRET not in text
    assert "OSError: postgresql://me:***@host/runs" in text


@pytest.mark.slow
def test_no_record_of_a_run_has_one(tmp_path):
    assert SECRET not in repr(Address.of("x", ADDRESSES[0]))
    source = Dataset("x", pd.DataFrame({"a": [1.0, 2.0]}), np.array([0, 1]), source=ADDRESSES[-1])
    assert SECRET not in DatasetEntry.of(source).source
    tracking = TrackingConfig(dir=str(tmp_path / "mlruns"))
    tags, params = {"command": f"auclab run tracking.uri={ADDRESSES[2]}"}, {"tracking.uri": ADDRESSES[3]}
    with pytest.raises(RuntimeError), open_run(tracking, name="x", folder=tmp_path, params=params, tags=tags) as run:
        write_half_and_fail(run, RuntimeError(f"cannot read {ADDRESSES[4]}"))
    with open_run(TrackingConfig(name="none"), name="x", folder=tmp_path / "out", params={}) as run:
        assert DATASET.name == "toy"
    kept = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert any(path.name == "traceback.txt" for path in kept)
    assert [path for path in kept if SECRET.encode() in path.read_bytes()] == []
