"""The page as text: every number is that of the store, nothing is fetched, and no name can break it."""

import json
import math
import re
from base64 import b64decode
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest

from auclab._core.base import AuclabError
from auclab.cli import main as cli
from auclab.metrics import auc_score, bauc_score, voros_score
from auclab.runs import compare_runs, write_report
from auclab.runs.report import comparisons, writer
from auclab.runs.report.paths import find_paths
from runs.report.conftest import ODD

#: Elements that have no end.
VOID = {"meta", "link", "input", "br", "img"}


class Page(HTMLParser):
    """Elements in order, and the words of every table cell by the caption of its table."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.open, self.tables, self.words = [], [], [], []
        self.feed(text)
        assert self.open == [], "an element was not closed"

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        if tag not in VOID:
            self.open.append(tag)
        if tag == "table":
            self.tables.append([])
        if tag == "tr":
            self.tables[-1].append([])
        if tag in ("td", "th"):
            self.tables[-1][-1].append("")

    def handle_startendtag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if any(tag in ("td", "th") for tag in self.open):
            self.tables[-1][-1][-1] += data.strip()
        if "script" not in self.open and "style" not in self.open:
            self.words.append(data)

    def find(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]


@pytest.fixture(scope="module")
def text(page):
    return page.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def parsed(text):
    return Page(text)


def _data(text):
    return json.loads(re.search(r'id="report-data">(.*?)</script>', text, re.DOTALL)[1])


@pytest.fixture(scope="module")
def data(text):
    return _data(text)


def test_nothing_is_fetched(text, parsed):
    policy = next(meta["content"] for meta in parsed.find("meta") if meta.get("http-equiv"))
    assert policy.startswith("default-src 'none'")
    addresses = [each[key] for _, each in parsed.elements for key in ("src", "href", "action") if each.get(key)]
    assert all(address.startswith(("#", "data:")) for address in addresses)
    assert set(re.findall(r"https?://[^\s\"'<)]+", text)) <= {"http://www.w3.org/2000/svg"}
    assert "@import" not in text
    assert "url(" not in text


def test_an_odd_name_is_text_and_nothing_else(parsed, data):
    assert ODD in "".join(parsed.words)
    assert len(parsed.find("script")) == 2
    assert data["runs"]["0"]["name"] == ODD


def test_the_comparison_is_that_of_the_command(parsed, runs):
    for metric, table in zip(("test/auc", "test/bauc"), parsed.tables[::2], strict=False):
        expected = compare_runs(runs[runs["run_status"] == "FINISHED"], metric=metric)
        head, *lines = table
        assert head[1:] == expected.columns
        assert [line[0] for line in lines] == expected.rows
        for row, line in zip(expected.rows, lines, strict=True):
            for column, word in zip(expected.columns, line[1:], strict=True):
                cell = expected.cell(row, column)
                assert word.startswith("—" if math.isnan(cell.mean) else f"{cell.mean:.4f}")
                assert word.endswith("★") == cell.best


def test_every_run_is_listed_with_its_numbers_and_commands(parsed, runs, store):
    (listed,) = [table[1:] for table in parsed.tables if "started (UTC)" in table[0]]
    assert len(listed) == runs["run_id"].nunique() == 8
    for line, (_, rows) in zip(listed, runs.groupby("run_id", sort=False), strict=True):
        if rows["run_status"].iloc[0] == "FAILED":
            assert line[2:6] == ["—", "—", "1", "failed"]
            continue
        assert line[2].startswith(f"{rows['test/auc'].mean():.4f}")
        assert ("±" in line[2]) == (len(rows) > 1)
        assert line[4:6] == [str(len(rows)), "optimal"]
    (commands,) = [table[1:] for table in parsed.tables if "commands" in table[0]]
    for line, (run_id, rows) in zip(commands, runs.groupby("run_id", sort=False), strict=True):
        assert line[1].endswith(f"auclab rerun --store {store} {run_id[:12]}")
        if isinstance(kept := rows["tag.command"].iloc[0], str):
            assert line[1].startswith(kept)
        known = rows["data_sha256"].dropna()
        assert line[3] == (known.iloc[0][:12] if len(known) else "—")


def test_a_number_of_the_comparison_names_its_runs(parsed, runs):
    ids = list(dict.fromkeys(runs["run_id"]))
    cells = [each["data-runs"].split() for each in parsed.find("button") if each.get("class") == "cell"]
    half = cells[: len(cells) // 2]  # of one metric
    assert sorted(int(number) for cell in half for number in cell) == [
        number
        for number, run_id in enumerate(ids)
        if (runs["run_status"][runs["run_id"] == run_id] == "FINISHED").all()
    ]


def test_a_run_leads_to_its_commands(parsed):
    rows = {each["id"] for each in parsed.find("tr") if "id" in each}
    links = [each["href"][1:] for each in parsed.find("a") if each["href"].startswith("#run-")]
    assert len(links) == len(rows)
    assert set(links) == rows


def test_ranks_and_splits_are_drawn_inside_the_page(parsed, runs):
    titles = [each["alt"].partition(".")[0] for each in parsed.find("img")]
    tables = [compare_runs(runs[runs["run_status"] == "FINISHED"], metric=key) for key in ("test/auc", "test/bauc")]
    expected = []
    for table in tables:
        expected += ["Average ranks"] if table.ranking is not None else []
        several = [len(block) > 1 and block.shape[1] > 1 for block in table.cells.by_row.values()]
        expected += ["Split by split"] if any(several) else []
        expected += ["The best two by cost"]
    assert expected
    assert titles == expected
    for each in parsed.find("img"):
        kind, _, picture = each["src"].partition(";base64,")
        assert kind == "data:image/svg+xml"
        assert b64decode(picture).startswith(b"<?xml")
        assert b"<script" not in b64decode(picture)


def test_curves_are_those_of_the_kept_scores(data, runs):
    folders = {run_id: list(rows["fold_folder"]) for run_id, rows in runs.groupby("run_id", sort=False)}
    for number, each in data["runs"].items():
        for curves, folder in zip(each["curves"], list(folders.values())[int(number)], strict=True):
            table = pd.read_parquet(folder / "scores.parquet")
            y, scores = table["y_true"].to_numpy(), table["score"].to_numpy()
            assert curves["part"] == "test"
            assert (curves["n_pos"], curves["n_neg"]) == (int(y.sum()), int((1 - y).sum()))
            assert curves["auc"] == auc_score(y, scores)
            assert curves["bauc"] == bauc_score(y, scores)
            assert curves["voros"] == pytest.approx(voros_score(y, scores), abs=1e-12)
            fpr, tpr = (np.array(values) / 10_000 for values in curves["roc"])
            assert np.trapezoid(tpr, fpr) == pytest.approx(curves["auc"], abs=5e-3)
            edges, density = (np.array(curves["errors"][key]) for key in ("edges", "density"))
            share = (density * np.diff(edges))[edges[:-1] >= 0].sum()
            assert share == pytest.approx(1 - auc_score(y, scores), abs=5e-3)  # no ties here
            for kind in ("pos", "neg"):
                assert (np.diff(curves["scores"]["edges"]) * curves["scores"][kind]).sum() == pytest.approx(1, abs=1e-2)
            seconds, gaps = curves["history"]
            assert (np.diff(seconds) >= 0).all()
            assert (np.diff(gaps) <= 0).all()


def test_paths_are_means_over_seeds(data, runs):
    found = {(path["symbol"], path["metric"]): path["points"] for path in data["paths"]}
    assert set(found) == {("λ", "objective"), ("λ", "test/auc"), ("λ", "test/bauc")}
    svm = runs[(runs["formulation"] == "ranksvm") & (runs["run_status"] == "FINISHED")]
    for point in found["λ", "test/auc"]:
        values = svm.loc[svm["formulation.penalty"] == point["at"], "test/auc"]
        assert (point["mean"], point["count"]) == (pytest.approx(values.mean()), 2)
        assert point["deviation"] == pytest.approx(values.std(ddof=1))


def test_tuned_runs_and_doubles_are_no_points_of_a_path(runs):
    finished = runs[runs["run_status"] == "FINISHED"]
    expected = find_paths(finished, ["objective"])
    words = finished.assign(**{"formulation.penalty": finished["formulation.penalty"].astype(object)})
    tuned = words.assign(**{"formulation.penalty": "tuned", "tune": "penalty"})
    assert find_paths(pd.concat([words, tuned]), ["objective"]) == expected
    assert find_paths(pd.concat([finished.assign(objective=-1.0), finished]), ["objective"]) == expected
    assert find_paths(finished[finished["formulation"] == "csvm"], ["objective"]) == []


def test_cards_tell_size_source_and_checksum(parsed, runs):
    words = " ".join("".join(parsed.words).split())
    assert "50 positive, 70 negative (41.7 %)" in words
    assert "computed, seed 0" in words
    for checksum in runs["data_sha256"].dropna().unique():
        assert checksum in words


def test_tables_are_semantic(text, parsed):
    assert text.count("<table") == text.count("<caption>")
    assert all(each.get("scope") in ("col", "row") for each in parsed.find("th"))
    ids = [each["id"] for _, each in parsed.elements if "id" in each]
    assert len(ids) == len(set(ids))
    labels = [each["aria-labelledby"] for _, each in parsed.elements if "aria-labelledby" in each]
    assert set(labels) <= set(ids)


def test_runs_without_scores_are_reported_without_curves(store, runs, tmp_path):
    """Runs with rows in blocks keep no scores."""
    bare = runs.assign(fold_folder=tmp_path).drop(columns="tag.command")
    text = write_report(bare, tmp_path / "bare.html", store_dir=store).read_text(encoding="utf-8")
    assert "No run here has stored scores" in text
    assert "auclab rerun" in text


@pytest.mark.slow
def test_a_full_page_has_every_first_split_before_any_second(store, runs, tmp_path, monkeypatch):
    """Of seven runs with curves one has three splits; there is room for six splits and a beginning."""
    whole = write_report(runs, tmp_path / "page.html", store_dir=store).read_text(encoding="utf-8")
    compact = {"separators": (",", ":"), "ensure_ascii": False}
    sizes = [len(json.dumps(curves, **compact)) for run in _data(whole)["runs"].values() for curves in run["curves"]]
    assert len(sizes) == 9
    monkeypatch.setattr(writer, "MOST_CURVES", int(6.5 * min(sizes)))
    text = write_report(runs, tmp_path / "page.html", store_dir=store).read_text(encoding="utf-8")
    carried = [len(run["curves"]) for run in _data(text)["runs"].values()]
    assert set(carried) == {1}
    assert f"{9 - len(carried)} splits are not drawn" in text
    assert len(text) < len(whole)


def test_too_many_configurations_are_not_tested_each_against_each(store, runs, tmp_path, monkeypatch):
    monkeypatch.setattr(comparisons, "MOST_COLUMNS", 2)
    text = write_report(runs, tmp_path / "page.html", store_dir=store).read_text(encoding="utf-8")
    assert "No table: 3 configurations are too many to test each against each" in text


def test_refusals(store, runs, tmp_path):
    with pytest.raises(AuclabError, match=r"no run has a metric 'test/nothing'; metrics are .*test/auc"):
        write_report(runs, tmp_path / "x.html", store_dir=store, metrics=["test/nothing"])
    with pytest.raises(AuclabError, match="no run has finished"):
        write_report(runs[runs["run_status"] == "FAILED"], tmp_path / "x.html", store_dir=store)
    assert list(tmp_path.iterdir()) == []


def test_the_command_writes_it(store, tmp_path, capsys):
    page = tmp_path / "deep" / "page.html"
    with pytest.raises(SystemExit) as end:
        cli.main(["report", "--store", str(store), "--where", "formulation=csvm", "--out", str(page)])
    assert end.value.code == 0
    assert f"written: {page}" in capsys.readouterr().out
    text = page.read_text(encoding="utf-8")
    assert f"auclab compare --store {store} --where formulation=csvm --metric test/auc" in text
    assert "ranksvm" not in re.sub(r"<script.*", "", text, flags=re.DOTALL)
