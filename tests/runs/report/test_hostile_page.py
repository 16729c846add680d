"""Names that are HTML or scripts, on the page and in a browser; commands that a reader would copy."""

import json
from html.parser import HTMLParser

import pandas as pd
import pytest

from auclab.runs import write_report
from auclab.runs.report.lines import plain_command
from runs.report.browser import CHROMIUM, ask

ATTACKS = [
    "</script><script>document.documentElement.dataset.owned = 1</script>",
    "<img src=x onerror='document.documentElement.dataset.owned = 1'>",
    '" onmouseover="document.documentElement.dataset.owned = 1" x=\'',
    "<!--<script>",
    "{{ 7 * 7 }} {% raw %}",
    "<svg onload=document.documentElement.dataset.owned=1>",
]


@pytest.fixture(scope="module")
def hostile_page(store, runs, tmp_path_factory):
    """Every text of the store is an attack, and so is every text in the files of one run."""
    place = tmp_path_factory.mktemp("hostile")
    changed = runs.copy()
    texts = [name for name in changed if changed[name].map(lambda value: isinstance(value, str)).any()]
    for number, name in enumerate(texts):
        if name in ("run_id", "run_status", "fold", "dataset", "formulation", "split", "data_sha256"):
            continue
        attack = ATTACKS[number % len(ATTACKS)]
        changed[name] = changed[name].map(lambda value, attack=attack: attack if isinstance(value, str) else value)
    changed["formulation"] = changed["formulation"].map(lambda value: f"{value} {ATTACKS[0]}")
    changed["dataset"] = changed["dataset"].map(lambda value: f"{value} {ATTACKS[1]}")
    changed["fold"] = changed["fold"].map(lambda value: f"{value} {ATTACKS[0]}")
    sums = changed["data_sha256"]
    changed["data_sha256"] = sums.map(lambda value: f"{ATTACKS[5]}{value}", na_action="ignore")
    changed = changed.rename(columns={"test/auc": f"test/{ATTACKS[0]}"})
    first = changed["fold_folder"].iloc[0]
    content = json.loads((first / "bounds.json").read_text(encoding="utf-8"))
    for item in content["bounds"]:
        item["name"], item["quantity"] = ATTACKS[0], ATTACKS[1]
    copy = place / "files"
    copy.mkdir()
    for path in first.iterdir():
        if path.is_file():
            (copy / path.name).write_bytes(path.read_bytes())
    (copy / "bounds.json").write_text(json.dumps(content), encoding="utf-8")
    changed.loc[changed.index[0], "fold_folder"] = copy
    metrics = [f"test/{ATTACKS[0]}", "test/bauc", "objective"]
    return write_report(
        changed, place / "report.html", store_dir=store, metrics=metrics, title=ATTACKS[0], selection=ATTACKS[1]
    )


class Elements(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.found = []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, dict(attributes)))


def test_no_element_and_no_attribute_comes_from_a_name(hostile_page, page):
    text = hostile_page.read_text(encoding="utf-8")
    elements = Elements(text).found
    assert sum(tag == "script" for tag, _ in elements) == 2
    assert {tag for tag, _ in elements} <= {tag for tag, _ in Elements(page.read_text(encoding="utf-8")).found} | {"p"}
    assert not [name for _, attributes in elements for name in attributes if name.startswith("on")]
    assert "49" not in text.partition("{{ 7 * 7 }}")[1]
    for attack in ATTACKS[:2]:
        assert attack not in text


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium (apt-get install chromium)")
def test_no_script_of_a_name_runs(hostile_page, tmp_path):
    """Everything is drawn, all details are open; and a script that got into the page nevertheless is not run."""
    script = """
      for (const each of document.querySelectorAll("details")) each.open = true;
      return [document.documentElement.dataset.owned ?? null, document.querySelectorAll("svg").length];
    """
    (owned, drawings), console = ask(hostile_page, script)
    assert owned is None
    assert drawings > 5
    assert console == []
    text = hostile_page.read_text(encoding="utf-8")
    inserted = "<script>document.documentElement.dataset.owned = 1</script><p onclick='1'>"
    unescaped = tmp_path / "unescaped.html"
    unescaped.write_text(text.replace("<main", f"{inserted}<main"), encoding="utf-8")
    (owned, _), console = ask(unescaped, script)
    assert owned is None
    assert any("Content Security Policy" in line for line in console)


@pytest.mark.parametrize(
    "command",
    [
        "rm -rf ~", "python run.py seed=1; rm -rf ~", "python run.py $(id)", "python run.py `id`", "auclab run a=1 > x",
        "python run.py dataset._target_=os.system", "auclab run --config-dir /tmp/x", "auclab run hydra.run.dir=/etc",
        "python run.py -m a=1", "python run.py x='${oc.env:HOME}'", "python other.py a=1", "python run.py 'a=1",
        "auclab  run a=1", "auclab run a=1 &", "auclab run\na=1", "python run.py hydra/launcher=x", "", "python",
    ],
)  # fmt: skip
def test_commands_that_do_more_are_not_shown_for_copying(command):
    assert plain_command(command) == ""


@pytest.mark.parametrize(
    "command",
    [
        "python run.py",
        "auclab run formulation=ranksvm '+x=[1,2]' '~metrics.auc' split@a=b",
        "python run.py hydra.mode=RUN",
    ],
)
def test_commands_of_runs_are_shown(command):
    assert plain_command(command) == command


def test_runs_without_a_time_are_reported(store, runs, tmp_path):
    """A time beyond the range of dates is unknown."""
    late = runs.assign(started=pd.NaT, ended=pd.NaT)
    text = write_report(late, tmp_path / "page.html", store_dir=store).read_text(encoding="utf-8")
    assert "<td>unknown</td>" in text
