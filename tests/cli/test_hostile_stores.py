"""Stores that somebody else made, to be read by who trusts nobody: each test carries one attack.

Each of them did what its maker wanted in auclab 0.2.
"""

import os
import pickle
import sys

import numpy as np
import pandas as pd
import pytest
import yaml

from auclab.cli import main as cli
from hostile_store import CallCounter, HostileStore, tree
from openml_server import OpenMLServer

#: ``figures`` is ``show --figures``.
ONE_RUN = ("show", "figures", "rerun")


@pytest.fixture
def hostile(store, tmp_path):
    return HostileStore(store, tmp_path / "hostile" / "mlruns")


@pytest.fixture
def victim(tmp_path, monkeypatch):
    """The reader's own place: nothing in it may change."""
    place = tmp_path / "victim"
    place.mkdir()
    (place / "diary.txt").write_text("mine", encoding="utf-8")
    monkeypatch.chdir(place)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return place


@pytest.fixture
def call(hostile, victim, capfd):
    """Exit code and all that was said by ``auclab … --store`` of the hostile store."""

    def run(command, *words):
        command, *more = ("show", "--figures") if command == "figures" else (command,)
        with pytest.raises(SystemExit) as end:
            cli.main([command, *map(str, words), *more, "--store", str(hostile.place)])
        said = capfd.readouterr()
        return end.value.code, said.out + said.err

    return run


@pytest.fixture
def server():
    counter = CallCounter()
    yield counter
    counter.stop()


def refused(answer, *words):
    """Exit code 1 with one line, which has these words."""
    code, text = answer
    lines = [line for line in text.splitlines() if line.strip()]
    assert code == 1, text
    assert len(lines) == 1, text
    assert lines[0].startswith("error: "), text
    for word in words:
        assert word in lines[0], text


# --- rerun: what the stored configuration names -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "command"),
    [("os.system", "touch owned"), ("mlflow.utils.process._exec_cmd", ["touch", "owned"])],
    ids=["which Hydra 1.3.8 refuses by itself, too", "which it does not"],
)
def test_a_command_is_not_run(call, hostile, victim, name, command):
    hostile.configure(dataset={"_target_": name, "_args_": [command]})
    refused(call("rerun", hostile.run_id), f"'{name}' at dataset._target_", "load_file", f"--allow {name}")
    assert os.listdir(victim) == ["diary.txt"]


def test_a_command_deep_in_the_arguments_is_not_run(call, hostile, victim):
    deep = {"_target_": "auclab.metrics.auc_score", "_partial_": True, "x": [{"_target_": "os.mkdir", "path": "owned"}]}
    hostile.configure(metrics={"auc": deep})
    refused(call("rerun", hostile.run_id), "'os.mkdir' at metrics.auc.x[0]._target_")
    assert os.listdir(victim) == ["diary.txt"]


def test_a_pickle_is_not_loaded(call, hostile, victim):
    (hostile.folder / "data.pkl").write_bytes(pickle.dumps(Owned()))
    hostile.configure(
        dataset={"_target_": "pandas.read_pickle", "filepath_or_buffer": str(hostile.folder / "data.pkl")}
    )
    refused(call("rerun", hostile.run_id), "'pandas.read_pickle'")
    assert os.listdir(victim) == ["diary.txt"]


class Owned:
    """Its unpickling makes a folder."""

    def __reduce__(self):
        return os.mkdir, ("owned",)


def test_an_address_is_not_fetched(call, hostile, server):
    address = f"http://{server.address}/who-reads-this.csv"
    hostile.configure(dataset={"_target_": "pandas.read_csv", "filepath_or_buffer": address})
    refused(call("rerun", hostile.run_id), "'pandas.read_csv'")
    assert server.calls == []


def test_a_file_is_not_overwritten(call, hostile, victim):
    hostile.configure(dataset={"_target_": "builtins.open", "_args_": ["diary.txt", "w"]})
    refused(call("rerun", hostile.run_id), "'builtins.open'")
    assert (victim / "diary.txt").read_text(encoding="utf-8") == "mine"


def test_no_module_is_imported_for_a_function_of_a_metric(call, hostile, victim, monkeypatch):
    (victim / "innocent.py").write_text("import os; os.mkdir('owned'); from numpy import tanh", encoding="utf-8")
    monkeypatch.syspath_prepend(victim)
    function = {"_target_": "hydra.utils.get_method", "path": "innocent.tanh"}
    gauc = {"_target_": "auclab.metrics.gauc_score", "_partial_": True, "modifier": function}
    hostile.configure(metrics={"gauc": gauc})
    refused(call("rerun", hostile.run_id), "'innocent.tanh' at metrics.gauc.modifier.path", "universal function")
    assert sorted(os.listdir(victim)) == ["diary.txt", "innocent.py"]


def test_functions_of_numpy_are_no_attack(call, hostile):
    function = {"_target_": "hydra.utils.get_method", "path": "scipy.special.expit"}
    gauc = {"_target_": "auclab.metrics.gauc_score", "_partial_": True, "modifier": function}
    hostile.configure(metrics={"gauc": gauc})
    code, text = call("rerun", hostile.run_id)
    assert code == 1  # another metric than the stored ones
    assert "test/gauc" in text


def test_environment_variables_are_not_read(call, hostile, monkeypatch):
    monkeypatch.setenv("TOKEN_OF_THE_BANK", "s3cr3t")
    hostile.configure(dataset={"_target_": "auclab.datasets.file.load_file", "path": "${oc.env:TOKEN_OF_THE_BANK}.csv"})
    code, text = call("rerun", hostile.run_id)
    assert "s3cr3t" not in text
    refused((code, text), "the interpolation '${oc.env:TOKEN_OF_THE_BANK}.csv' at dataset.path")


def test_no_model_is_exported(call, hostile, victim):
    """It would be written with every run, to any path that ends in .lp or .mps."""
    (victim / "mine.lp").write_text("mine", encoding="utf-8")
    solver = {"name": "highs", "encoding": "full", "export": str(victim / "mine.lp"), "tolerance": 1e-6}
    data = {"_target_": "auclab.datasets.artificial.make_artificial", "n_pos": 20, "n_neg": 20, "n_features": 2}
    formulation = {"_target_": "auclab.formulations.programs.BufferedAUC"}
    hostile.configure(solver=solver, dataset=data, formulation=formulation, bounds={"rho": 0.05})
    assert "the numbers are different" in call("rerun", hostile.run_id)[1]
    assert (victim / "mine.lp").read_text(encoding="utf-8") == "mine"


def test_a_download_is_written_to_the_cache_alone(call, hostile, victim, monkeypatch):
    """A data set at OpenML is anyone's text; as .bashrc it is a program."""
    openml = OpenMLServer()
    openml.lead(monkeypatch)
    file = "../../victim/.bashrc"
    hostile.configure(
        dataset={
            "_target_": "auclab.datasets.published.load_published", "name": "toy", "file": file, "openml_id": 7,
            "target": "class", "positive": "tested_yes",
        }
    )  # fmt: skip
    try:
        refused(call("rerun", hostile.run_id), "OpenML's data set 7", file, "--allow openml:7")
        assert openml.requests == 0
        refused(call("rerun", hostile.run_id, *allowed("openml:7")), f"dataset.file is '{file}'")
        assert openml.requests == 0
    finally:
        openml.stop()
    assert os.listdir(victim) == ["diary.txt"]


def test_a_download_does_not_take_the_name_of_another_data_set(call, hostile, victim, tmp_path, monkeypatch):
    """It would be read as ionosphere by every later experiment."""
    openml = OpenMLServer()
    openml.lead(monkeypatch)
    monkeypatch.setattr("auclab.datasets.catalogue.ROOT", tmp_path)
    monkeypatch.delenv("AUCLAB_DATA", raising=False)
    hostile.configure(
        dataset={
            "_target_": "auclab.datasets.published.load_published", "name": "ionosphere", "file": "ionosphere.csv",
            "openml_id": 7, "target": "class", "positive": "tested_yes",
        }
    )  # fmt: skip
    try:
        refused(call("rerun", hostile.run_id), "OpenML's data set 7 in the cache as ionosphere.csv")
    finally:
        openml.stop()
    assert not (tmp_path / "cache" / "auclab" / "ionosphere.csv").exists()


BLOCKS = "auclab.datasets.blocks.load_blocks"
FILE = "auclab.datasets.file.load_file"
PUBLISHED = "auclab.datasets.published.load_published"
DASK = "auclab.samples.blocks.DaskEngine"
GET = "hydra.utils.get_method"
COMPOSED = "auclab.formulations.programs.Composed"


def own_function(**arguments):
    """A metric of a function of scores, with these arguments of the function's configuration."""
    modifier = {"_target_": GET, **arguments}
    return {"metrics": {"gauc": {"_target_": "auclab.metrics.gauc_score", "_partial_": True, "modifier": modifier}}}


def own_blocks(path="x", **engine):
    """A data set in blocks, read by an engine with these arguments."""
    given = {"engine": {"_target_": DASK, **engine}} if engine else {}
    return {"dataset": {"_target_": BLOCKS, "path": path, "target": "y", **given}}


def other_download(**others):
    """A data set at OpenML that conf/ does not describe."""
    return {"_target_": PUBLISHED, "name": "toy", "file": "ionosphere.csv", "openml_id": 7, "target": "class", **others}


RUN = {"_target_": "os.mkdir", "path": "owned"}

#: Settings of a stored configuration, in which LISTENER is the address of a server, and what is said about them.
ESCAPES = {
    "an engine's scheduler by its place": (own_blocks(_args_=[1, "tcp://LISTENER"]), "_args_"),
    "an engine that nothing uses": ({"engine": {"_target_": DASK, "_args_": [1, "tcp://LISTENER"]}}, "_args_"),
    "an engine's scheduler": (own_blocks(address="tcp://LISTENER"), "'tcp://LISTENER' at dataset.engine.address"),
    "a scheduler without a protocol": (own_blocks(address="LISTENER"), "'LISTENER' at dataset.engine.address"),
    "a list of schedulers": (own_blocks(address=["tcp://LISTENER"]), "dataset.engine.address"),
    "an engine of a split": ({"split": {"_target_": "auclab.datasets.splits.holdout", "engine": {"_target_": DASK}}},
                             "at split.engine._target_"),
    "a download as a name": (
        {"dataset": {"_target_": FILE, "path": "x.csv", "name": other_download()}}, f"'{PUBLISHED}' at dataset.name"
    ),
    "a download as the base of another set": (
        {"dataset": {"_target_": "auclab.datasets.artificial.make_perturbed", "base": other_download()}},
        f"'{PUBLISHED}' at dataset.base._target_",
    ),
    "a described download of another name": ({"dataset": other_download(openml_id=59, file="pima.csv")}, "openml:59"),
    "blocks at an address": (own_blocks("http://LISTENER/x.parquet"), "'http://LISTENER/x.parquet' at dataset.path"),
    "blocks at a list of addresses": (own_blocks(["http://LISTENER/x.parquet"]), "at dataset.path"),
    "blocks at an address behind a cache": (own_blocks("simplecache::http://LISTENER/x.parquet"), "at dataset.path"),
    "blocks at an address in a mapping": (own_blocks({"x": ["http://LISTENER/x.parquet"]}), "at dataset.path"),
    "blocks at a share": (own_blocks(r"\\LISTENER\share"), "not a file of this machine"),
    "a file at an address by its place": (
        {"dataset": {"_target_": FILE, "_args_": ["http://LISTENER/x.csv"]}}, "_args_: ['http://LISTENER/x.csv']"
    ),
    "a folder of data at an address": (
        {"dataset": {"_target_": PUBLISHED, "name": "a", "file": "a.csv", "target": "y", "data_dir": "http://LISTENER"}},
        "at dataset.data_dir",
    ),
    "a function by its place": (own_function(path="numpy.tanh", _args_=["os.system"]), "_args_: ['os.system']"),
    "a function that loads files": (own_function(path="numpy.load"), "'numpy.load' at metrics.gauc.modifier.path"),
    "a method of a function": (own_function(path="numpy.add.at"), "'numpy.add.at' at metrics.gauc.modifier.path"),
    "a function as the name of another": (own_function(path=RUN), "'os.mkdir'"),
    "a function in the place of a loss": (
        {"formulation": {"_target_": COMPOSED, "loss": {"_target_": GET, "path": "numpy.square"}}},
        f"'{GET}' at formulation.loss._target_",
    ),
    "all metrics as one call": ({"metrics": RUN}, "'os.mkdir' at metrics._target_"),
    "a call deep in a metric": ({"metrics": {"a": {"b": {"c": [[RUN]]}}}}, "'os.mkdir' at metrics.a.b.c[0][0]"),
    "a call in the groups of columns": (
        {"formulation": {"_target_": COMPOSED, "regulariser": {
            "_target_": "auclab.regularisers.GroupLasso", "groups": [RUN]}}},
        "'os.mkdir' at formulation.regulariser.groups[0]._target_",
    ),
    "a call in a group without objects": ({"solver": {"name": "newton", "tolerance": RUN}}, "at solver.tolerance"),
    "a call in an option of tuning": ({"tune": {"parameter": None, "options": {"a": RUN}}}, "at tune.options.a"),
    "a call in the rows of constraints": ({"constraints": {"rows": [{"x": RUN}]}}, "at constraints.rows[0].x._target_"),
    "a call in a group that there is not": ({"hydra": {"callbacks": {"x": RUN}}}, "at hydra.callbacks.x._target_"),
    "the whole configuration as a call": (RUN, "'os.mkdir' at _target_"),
    "an attribute of what is allowed": ({"dataset": {"_target_": f"{FILE}.__globals__"}}, f"'{FILE}.__globals__'"),
    "what a module of ours imports": ({"dataset": {"_target_": "auclab.datasets.catalogue.importlib.import_module"}},
                                      "importlib.import_module"),
    "a name that is read later": ({"dataset": {"_target_": "${oc.decode:os.mkdir}"}}, "the interpolation"),
    "a key that is read later": ({"dataset": {"${oc.env:HOME}": 1}}, "the interpolation '${oc.env:HOME}' at dataset"),
    "objects that Hydra shall leave alone": (
        {"dataset": {"_target_": FILE, "_recursive_": False, "path": "x.csv"}}, "_recursive_: False"
    ),
}  # fmt: skip


@pytest.mark.parametrize("escape", ESCAPES)
def test_a_configuration_leads_nowhere_else(call, hostile, victim, server, escape):
    settings, words = ESCAPES[escape]
    hostile.configure(**yaml.safe_load(yaml.safe_dump(settings).replace("LISTENER", server.address)))
    refused(call("rerun", hostile.run_id), "the stored configuration", words.replace("LISTENER", server.address))
    assert server.callers == []
    assert os.listdir(victim) == ["diary.txt"]


def test_an_address_is_read_when_it_is_allowed(call, hostile, server):
    """The place of a file allows the file, and no other place."""
    pytest.importorskip("fsspec")
    pytest.importorskip("aiohttp")  # by which it reads from a server
    hostile.configure(**own_blocks(f"http://{server.address}/folder/x.parquet"))
    for place in (f"http://{server.address}/fold", "http://127.0.0.1", "http"):
        refused(call("rerun", hostile.run_id, *allowed(place)), "at dataset.path")
    assert server.callers == []
    assert call("rerun", hostile.run_id, *allowed(f"http://{server.address}"))[0] == 1
    assert server.callers != []


def test_a_pipe_is_not_read_without_end(call, hostile, victim):
    os.mkfifo(victim / "data.csv")
    hostile.configure(dataset={"_target_": "auclab.datasets.file.load_file", "path": str(victim / "data.csv")})
    refused(call("rerun", hostile.run_id), "is a device or a pipe")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n", "an alias"),
        ("dataset: !!python/object/apply:os.mkdir [owned]\n", "the tag"),
        (f"dataset: {'[' * 500}{']' * 500}\n", "more than 40 levels"),
        ("dataset: os.system\n", "its dataset has no settings"),
        ("just words\n", "this version cannot run"),
        ("[1, 2]\n", "is not a configuration of auclab"),
        ("a: [\n", "is damaged"),
        ("\x00", "is damaged"),
        ("a: 1\n" + "# " * 600_000, "more than the limit of"),
    ],
    ids=["aliases", "tag", "deep", "no mapping", "words", "list", "half", "zero", "large"],
)
def test_a_configuration_that_is_none_is_refused(call, hostile, victim, text, words):
    (hostile.folder / "config.yaml").write_text(text, encoding="utf-8")
    refused(call("rerun", hostile.run_id), words)
    assert os.listdir(victim) == ["diary.txt"]


@pytest.mark.slow
def test_a_class_of_ones_own_is_built_when_it_is_allowed(call, hostile, victim, monkeypatch):
    (victim / "own_program.py").write_text("from auclab.formulations import RankSVM as MyProgram\n", encoding="utf-8")
    monkeypatch.syspath_prepend(victim)
    name = "own_program.MyProgram"
    hostile.configure(formulation={"_target_": name, "penalty": 0.01, "norm": "l2", "squared": False})
    refused(call("rerun", hostile.run_id), name, f"--allow {name}")
    assert "own_program" not in sys.modules
    code, text = call("rerun", hostile.run_id, *allowed(name))
    assert code == 0, text
    assert "the numbers are the same" in text
    refused(call("rerun", hostile.run_id, *allowed("own_program")), name)  # a module is not its classes


def allowed(name):
    return "--allow", name


# --- files: where a run may be, and what may lie there ----------------------------------------------------------------


@pytest.fixture
def other_run(hostile, victim):
    """A run of the reader's own, elsewhere, with figures that shall stay."""
    folder = victim / "own"
    folder.mkdir()
    (folder / "scores.parquet").write_bytes((hostile.folder / "scores.parquet").read_bytes())
    (folder / "roc.png").write_text("mine", encoding="utf-8")
    (folder / "secret-plans.txt").write_text("mine", encoding="utf-8")
    return folder


@pytest.mark.slow
def test_a_parameter_does_not_say_where_the_files_are(call, hostile, victim, other_run):
    before = tree(victim)
    for key in ("folder", "fold_folder"):
        hostile.set_param(key, str(other_run))
    code, text = call("show", hostile.run_id)
    assert code == 0, text
    assert "secret-plans" not in text
    assert call("figures", hostile.run_id)[0] == 0
    assert tree(victim) == before


@pytest.mark.slow
def test_the_address_of_the_files_does_not_lead_elsewhere(call, hostile, victim, other_run):
    before = tree(victim)
    (hostile.place / "artifacts" / hostile.run_id).rename(hostile.place / "away")
    for address in (other_run.as_uri(), f"file://elsewhere{other_run}", f"{hostile.folder.as_uri()}/../../{other_run}"):
        hostile.change("UPDATE runs SET artifact_uri = ? WHERE run_uuid = ?", address, hostile.run_id)
        for command in ONE_RUN:
            refused(call(command, hostile.run_id), "not the run's folder", f"attributes.run_id != '{hostile.run_id}'")
    assert tree(victim) == before
    leave_out = f"attributes.run_id != '{hostile.run_id}'"
    assert call("runs", "--filter", leave_out)[0] == 0


def test_an_id_is_no_path(call, hostile, victim, other_run):
    for table in ("runs", "params", "tags", "metrics", "latest_metrics"):
        hostile.change(f"UPDATE {table} SET run_uuid = ? WHERE run_uuid = ?", "../../victim/own", hostile.run_id)
    refused(call("runs"), "has a run with the id '../../victim/own'")


def test_links_in_the_place_of_folders_are_refused(call, hostile, victim, other_run):
    before = tree(victim)
    (hostile.place / "artifacts" / hostile.run_id).rename(hostile.place / "away")
    (hostile.place / "artifacts" / hostile.run_id).mkdir()
    hostile.folder.symlink_to(other_run)
    for command in ONE_RUN:
        refused(call(command, hostile.run_id), "not the run's folder")
    hostile.folder.unlink()
    (hostile.place / "artifacts" / hostile.run_id).rmdir()
    (hostile.place / "away").rename(hostile.place / "artifacts" / hostile.run_id)
    split = hostile.place / "artifacts" / hostile.folds_id / "artifacts" / "fold_1"
    split.rename(hostile.place / "away")
    split.symlink_to(other_run)
    refused(call("figures", hostile.folds_id), "fold_1 is a link")
    assert tree(victim) == before


@pytest.mark.slow
def test_links_in_the_place_of_files_are_not_followed(call, hostile, victim, other_run):
    before = tree(victim)
    (hostile.folder / "roc.png").symlink_to(victim / "diary.txt")
    assert call("figures", hostile.run_id)[0] == 0
    assert tree(victim) == before
    assert not (hostile.folder / "roc.png").is_symlink()
    assert (hostile.folder / "roc.png").read_bytes().startswith(b"\x89PNG")
    for name, command in (
        *(("details.json", "show"), ("scores.parquet", "figures")),
        *(("config.yaml", "rerun"), ("bounds.json", "report"), ("history.csv", "report")),
    ):
        content = (hostile.folder / name).read_bytes()
        (victim / name).write_bytes(content)
        (hostile.folder / name).unlink()
        (hostile.folder / name).symlink_to(victim / name)
        words = [command] if command == "report" else [command, hostile.run_id]
        refused(call(*words), f"{name} is a link")
        (hostile.folder / name).unlink()
        (hostile.folder / name).write_bytes(content)
    assert not (victim / "report.html").exists()


@pytest.mark.slow
def test_a_store_behind_links_is_still_read(call, hostile, tmp_path):
    """The reader's own links, to a larger disk."""
    (hostile.place / "artifacts").rename(tmp_path / "large disk")
    (hostile.place / "artifacts").symlink_to(tmp_path / "large disk")
    assert call("show", hostile.run_id)[0] == 0
    assert call("figures", hostile.run_id)[0] == 0


@pytest.mark.parametrize("scheme", ["http", "mlflow-artifacts"])
def test_no_address_of_files_is_contacted_and_sent_a_password(call, hostile, server, monkeypatch, scheme):
    monkeypatch.setenv("MLFLOW_TRACKING_TOKEN", "s3cr3t")
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"http://{server.address}")
    address = f"{scheme}://{server.address}/api/2.0/mlflow-artifacts/artifacts/0/x/artifacts"
    hostile.change("UPDATE runs SET artifact_uri = ? WHERE run_uuid = ?", address, hostile.folds_id)
    for words in (["runs"], ["compare"], ["report"], ["show", hostile.folds_id]):
        refused(call(*words), "not the server that", f"--allow {scheme}://{server.address}")
    assert server.calls == []
    call("runs", *allowed(f"{scheme}://{server.address}"))
    assert (server.calls != []) == (scheme == "http")  # the second is an address of servers alone


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "content", "commands"),
    [
        *(
            (name, content, (command,))
            for name, command in (("bounds.json", "report"), ("details.json", "show"))
            for content in ("[", "{}", "7", "[" * 90_000)
        ),
        ("history.csv", "seconds,objective,lower_bound\n1\n", ("report",)),
        ("history.csv", "a\nb\n", ("report",)),
        ("history.csv", 'seconds,objective,lower_bound\n1,"\x00,3\n', ("report",)),
        ("scores.parquet", "no table", ("figures", "report")),
    ],
)
def test_damaged_files_are_said_in_words(call, hostile, name, content, commands):
    (hostile.folder / name).write_text(content, encoding="utf-8")
    for command in commands:
        words = [command] if command == "report" else [command, hostile.run_id]
        refused(call(*words), name)


def test_few_bytes_that_describe_many_rows_are_refused(call, hostile, monkeypatch):
    """Equal rows pack to a thousandth."""
    monkeypatch.setattr("auclab.runs.stored.stored_files.MOST_SCORES", 1_000_000, raising=False)
    rows = 1_000_001
    scores = pd.DataFrame({"part": pd.Categorical(["test"] * rows), "y_true": np.ones(rows, "int8"), "score": 0.0})
    scores.to_parquet(hostile.folder / "scores.parquet", index=False, compression="zstd")
    assert (hostile.folder / "scores.parquet").stat().st_size < 20_000
    refused(call("figures", hostile.run_id), "1,000,001 rows")


# --- screens: names that command the terminal -------------------------------------------------------------------------

COMMANDS = "\x1b]0;owned\x07\x1b[2J\x1b[31m\x9b2J\r\u202eevil\u2028"


@pytest.mark.slow
def test_names_do_not_command_the_terminal(call, hostile, victim):
    hostile.rename(f"bauc{COMMANDS}")
    for key in ("error", "status", "mlflow.source.git.commit"):
        hostile.set_tag(key, f"x{COMMANDS}")
    for key in ("formulation", f"formulation.{COMMANDS}", "dataset"):
        hostile.set_param(key, f"ranksvm{COMMANDS}")
    new = f"test/new{COMMANDS}"
    for table in ("metrics", "latest_metrics"):
        hostile.change(f"UPDATE {table} SET key = ? WHERE run_uuid = ? AND key = 'test/auc'", new, hostile.run_id)
    certificate = hostile.folder / "certificate.json"
    certificate.write_text(
        certificate.read_text(encoding="utf-8").replace('"advice": "', '"advice": "\\u001b[2J'), encoding="utf-8"
    )
    (hostile.folder / f"file{COMMANDS.replace('/', '')}").write_text("", encoding="utf-8")
    said = "".join(
        call(*words)[1] for words in (["runs"], ["show", hostile.run_id], ["rerun", hostile.run_id], ["report"])
    )
    for form in ("screen", "csv", "markdown", "latex"):
        said += call("compare", "--metric", "train/auc", "--format", form)[1]
    said += call("compare", "--metric", "none")[1]  # an error, which lists metrics
    said += (victim / "report.html").read_text(encoding="utf-8")
    assert "evil" in said
    for sign in COMMANDS:
        assert sign == "\n" or sign.isprintable() or sign not in said.replace("\n", ""), repr(sign)


def test_a_name_is_one_line(call, hostile):
    hostile.rename("bauc\nthe numbers are the same, to the last digit\n\nx")
    hostile.change("UPDATE runs SET status = 'FAILED' WHERE run_uuid = ?", hostile.run_id)
    for words in (["runs"], ["compare"], ["compare", "--format", "latex"], ["rerun", hostile.run_id]):
        text = call(*words)[1]
        assert not any(line.startswith("the numbers are the same") for line in text.splitlines()), text


def test_markup_in_names_is_text(call, hostile, victim):
    """An end without a beginning is an error of rich, and a link may say one thing and lead to another."""
    name = "[/bold] [link=http://evil.example]auclab.org[/link] [red]x"
    hostile.rename(name)
    hostile.set_param("formulation", f"ranksvm {name}")
    hostile.set_tag("status", name)
    table = hostile.place / "artifacts" / hostile.folds_id / "artifacts" / "folds.csv"
    table.write_text(
        table.read_text(encoding="utf-8").replace("fold 0", "fold [/0]").replace("test/auc", "test/[/auc]", 1),
        encoding="utf-8",
    )
    for words in (["runs"], ["show", hostile.run_id], ["show", hostile.folds_id], ["compare", "--metric", "train/auc"]):
        code, text = call(*words)
        assert code == 0, text
        assert "[/" in text


@pytest.mark.slow
def test_figures_take_names_as_text(call, hostile, tmp_path):
    """What stands between dollars would be a formula to matplotlib, and this one is an error."""
    table = hostile.place / "artifacts" / hostile.folds_id / "artifacts" / "folds.csv"
    table.write_text(table.read_text(encoding="utf-8").replace("fold 0", r"$\frac{$"), encoding="utf-8")
    code, text = call("figures", hostile.folds_id)
    assert code == 0, text
