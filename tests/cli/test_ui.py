"""`auclab ui`: a real server, the address of the runs, tables on parent runs, and nothing left when it ends."""

import json
import os
import signal
import socket
import subprocess
import sys
from urllib.request import Request, urlopen

import pytest

from auclab.cli.main import main
from auclab.cli.run import main as run
from auclab.cli.ui import free_port
from auclab.runs.compare.runs import open_reader
from waiting import wait_until

SWEEP = ["dataset=artificial", "dataset.n_pos=20", "dataset.n_neg=20", "dataset.n_features=2", "bounds=none"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A store with one sweep of four jobs."""
    folder, before = tmp_path_factory.mktemp("ui"), os.getcwd()
    os.chdir(folder)
    try:
        run(["-m", *SWEEP, "solver=newton", "formulation=bauc,ranksvm", "split.seed=0,1"])
    finally:
        os.chdir(before)
    return folder


def answers(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.mark.weekly
def test_the_page_opens_on_the_runs_and_its_server_ends_with_the_command(folder):
    port = free_port(5400)
    command = [sys.executable, "-m", "auclab.cli.main", "ui", "--port", str(port)]
    with (folder / "errors.txt").open("w", encoding="utf-8") as errors:
        process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=errors, text=True)
    try:
        line = next(process.stdout)
        assert line.startswith("open")
        experiment = open_reader(folder / "mlruns").get_experiment_by_name("auclab").experiment_id
        address = f"http://127.0.0.1:{port}"
        assert line.split()[1] == f"{address}/#/experiments/{experiment}/runs?workflowType=machine_learning"
        wait_until(lambda: answers(port))
        body = json.dumps({"experiment_ids": [experiment], "filter": "tags.`sweep.compared` = '4'"}).encode()
        request = Request(f"{address}/api/2.0/mlflow/runs/search", body, {"Content-Type": "application/json"})
        (parent,) = json.load(urlopen(request))["runs"]
        note = next(tag["value"] for tag in parent["data"]["tags"] if tag["key"] == "mlflow.note.content")
        assert "bauc" in note
        assert "ranksvm" in note
        listed = json.load(urlopen(f"{address}/api/2.0/mlflow/artifacts/list?run_id={parent['info']['run_id']}"))
        assert {"comparison.csv", "comparison.png"} <= {file["path"] for file in listed["files"]}
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait()
        process.stdout.close()
    assert "http://" not in (folder / "errors.txt").read_text(encoding="utf-8")  # no line for each request
    wait_until(lambda: not answers(port))


def test_a_taken_port_is_passed_over():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert free_port(port) > port


def test_there_is_no_page_without_a_store(capsys, tmp_path):
    with pytest.raises(SystemExit) as end:
        main(["ui", "--store", str(tmp_path)])
    assert end.value.code == 1
    assert "no runs are kept" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
