"""The folder of a run: whole or without run.json, read back as written."""

import json
import os
import signal
import subprocess
import sys

import pytest

from auclab._core.base import AuclabError
from auclab.runs.tracking.address import TrackingConfig
from auclab.runs.tracking.record import ERROR_TAG, LONGEST_VALUE, RECORD_FILE, TRACEBACK_FILE, RunRecord, recording
from tracked_runs import record_run
from waiting import wait_until


def test_a_record_is_read_back_as_it_was_written(tmp_path):
    written = record_run(tmp_path, TrackingConfig(dir="runs"), sweep="s", parent="p")
    found = RunRecord.read(tmp_path)
    assert found.metrics.keys() == written.metrics.keys()
    assert found.metrics["test/auc"] == 0.1 + 0.2  # every digit
    assert found.metrics["gap"] != found.metrics["gap"]
    assert {**vars(found), "metrics": None} == {**vars(written), "metrics": None}
    assert found.waits
    assert found.files == ("config.yaml", "figures")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["config.yaml", "figures", RECORD_FILE]
    json.loads((tmp_path / RECORD_FILE).read_text(encoding="utf-8"), parse_constant=pytest.fail)  # without NaN


@pytest.mark.parametrize(
    ("error", "status", "line"),
    [
        (AuclabError("no such column"), "FAILED", "no such column"),
        (ValueError("it broke"), "FAILED", "ValueError: it broke"),
        (KeyboardInterrupt(), "KILLED", "KeyboardInterrupt"),
    ],
)
def test_a_run_that_failed_says_why_and_keeps_no_half_of_its_files(tmp_path, error, status, line):
    def fail():
        with recording(tmp_path, name="bad", tracking=TrackingConfig(), params={}, tags={}) as run:
            (run.staging / "half.txt").write_text("half", encoding="utf-8")
            (run.staging / "model").mkdir()
            raise error

    with pytest.raises(type(error)):
        fail()
    found = RunRecord.read(tmp_path)
    assert (found.status, found.line, found.files) == (status, line, (TRACEBACK_FILE,))
    assert found.tags[ERROR_TAG].startswith(type(error).__name__)
    assert type(error).__name__ in (tmp_path / TRACEBACK_FILE).read_text(encoding="utf-8")
    assert sorted(path.name for path in tmp_path.iterdir()) == [RECORD_FILE, TRACEBACK_FILE]


def test_a_clock_that_is_set_changes_no_duration(tmp_path, monkeypatch):
    times = iter([1_000.0, 900_000.0])
    monkeypatch.setattr("auclab.runs.tracking.record.time.time", lambda: next(times))
    found = record_run(tmp_path, None)
    assert found.start_time == 1_000_000
    assert 0 <= found.end_time - found.start_time < 60_000


def test_long_parameters_are_cut(tmp_path):
    with recording(tmp_path, name="long", tracking=None, params={"x": "a" * 9000}, tags={}) as run:
        pass
    assert len(run.record.params["x"]) == LONGEST_VALUE
    assert not run.record.waits  # without a store there is nothing to send


@pytest.mark.parametrize("text", ["", "{", "[1]", '{"name": 1}', '{"metrics": {"a": "b"}}'])
def test_a_damaged_record_is_none(tmp_path, text):
    (tmp_path / RECORD_FILE).write_text(text, encoding="utf-8")
    assert RunRecord.read(tmp_path) is None


KILLED = """
import time
from pathlib import Path
from auclab.runs.tracking.record import recording
with recording(Path(sys.argv[1]), name="killed", tracking=None, params={}, tags={}) as run:
    (run.staging / "half.txt").write_text("half")
    time.sleep(1000)
"""


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="SIGKILL")
def test_a_killed_process_leaves_no_record(tmp_path):
    process = subprocess.Popen([sys.executable, "-c", f"import sys\n{KILLED}", str(tmp_path)])
    wait_until(lambda: list(tmp_path.glob(".staging-*/half.txt")), process)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert RunRecord.read(tmp_path) is None
    assert record_run(tmp_path, None).status == "FINISHED"  # the folder can be used again
