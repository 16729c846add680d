"""What the commands print and write, on a real store."""

import io
import math
import re
import shutil
import subprocess
from argparse import Namespace
from collections import Counter

import pandas as pd
import pytest
from scipy import stats

from auclab._core.base import AuclabError
from auclab.cli import commands
from auclab.cli import main as cli
from auclab.runs import compare_runs, read_runs
from auclab.runs.compare import formats
from auclab.runs.compare.replay import replay
from auclab.runs.compare.runs import read_run
from auclab.runs.screen.console import out
from made_runs import table_of
from pseudo_terminal import in_terminal


@pytest.fixture
def call(capsys, store):
    """Exit code, standard output and standard error of ``auclab … --store``."""

    def run(*words):
        with pytest.raises(SystemExit) as end:
            cli.main([*map(str, words), "--store", str(store)])
        said = capsys.readouterr()
        return end.value.code, said.out, said.err

    return run


@pytest.mark.slow
def test_paired_tests_are_scipys_on_the_exported_values(call, tmp_path):
    values_file = tmp_path / "values.csv"
    for test in ("t", "wilcoxon", "corrected-t"):
        words = ["--where", "split=holdout", "--test", test, "--format", "csv", "--values", values_file]
        code, text, _ = call("compare", *words, "--metric", "test/bauc")
        assert code == 0
        values = pd.read_csv(values_file)
        assert values.columns.tolist() == ["row", "pair", "ranksvm", "csvm"]
        assert values["pair"].tolist() == ["seed 0", "seed 1", "seed 2"]
        a, b = values["ranksvm"].to_numpy(), values["csvm"].to_numpy()
        if test == "t":
            expected = stats.ttest_rel(a, b).pvalue
        elif test == "wilcoxon":
            expected = stats.wilcoxon(a, b).pvalue
        else:  # Nadeau & Bengio (2003), eq. 9, with 30 % against 70 %
            t = (a - b).mean() / math.sqrt((1 / 3 + 3 / 7) * (a - b).var(ddof=1))
            expected = 2 * stats.t.sf(abs(t), 2)
        cells = pd.read_csv(io.StringIO(text)).set_index("column")
        worse = cells.index[~cells["best"]]
        assert cells.loc[worse, "p_value"].to_list() == pytest.approx([expected])
        assert cells["mean"].to_dict() == pytest.approx({"ranksvm": a.mean(), "csvm": b.mean()})
        assert cells["sd"].to_dict() == pytest.approx({"ranksvm": a.std(ddof=1), "csvm": b.std(ddof=1)})
        assert cells["best"].to_dict() == {"ranksvm": a.mean() > b.mean(), "csvm": b.mean() > a.mean()}
        assert cells["not_worse"].to_dict() == (cells["best"] | (cells["p_value"] >= 0.05)).to_dict()


def test_exported_values_are_those_of_the_runs(call, store, tmp_path):
    call("compare", "--where", "split=holdout", "--format", "csv", "--values", tmp_path / "values.csv")
    values = pd.read_csv(tmp_path / "values.csv", dtype=str)  # older pandas rounds the last digit of floats
    runs = read_runs(store)
    for name in ("ranksvm", "csvm"):
        kept = runs[(runs["formulation"] == name) & (runs["fold"] == "holdout")]
        assert values[name].map(float).to_list() == kept["test/auc"].to_list()


def test_the_screen_says_what_was_left_out(call):
    code, text, _ = call("compare")
    assert code == 0
    assert "breast_cancer holdout" in text
    assert "breast_cancer kfold" in text
    assert re.search(r"0\.9\d{3} ± 0\.0\d{3}", text)
    assert "missing: ranksvm was not run on breast_cancer kfold" in text
    assert "left out, as they failed: ranksvm λ=0.01 l2 · breast_cancer · seed 0 · newton" in text


def test_latex_markdown_and_csv_have_the_same_cells(call, tmp_path):
    files = [tmp_path / f"table.{suffix}" for suffix in ("tex", "md", "csv")]
    code, screen, _ = call("compare", "--where", "split=holdout", *(word for file in files for word in ("--out", file)))
    assert code == 0
    assert "written:" in screen
    latex, markdown, cells = (file.read_text(encoding="utf-8") for file in files)
    for line in ("\\toprule", "\\midrule", "\\bottomrule", "breast\\_cancer & 3 & "):
        assert line in latex
    for _, row in pd.read_csv(io.StringIO(cells)).iterrows():
        numbers = f"{row['mean']:.4f} ± {row['sd']:.4f}"
        in_tex, in_md = numbers.replace("±", "$\\pm$"), numbers
        if row["not_worse"]:
            in_tex, in_md = f"\\textbf{{{in_tex}}}", f"**{in_md}**"
        assert in_tex in latex
        assert f"| {in_md} |" in markdown
    printed = call("compare", "--where", "split=holdout", "--format", "latex")[1]
    assert printed == latex


def test_latex_compiles_as_far_as_braces_go(call):
    text = call("compare", "--format", "latex")[1]
    body = re.sub(r"(?m)^%.*$", "", text)
    assert body.count("{") == body.count("}")
    assert body.count(r"\begin") == body.count(r"\end") == 2
    assert not re.search(r"(?<!\\)[_%#]", body)
    widths = {line.count("&") for line in body.splitlines() if line.endswith(r"\\")}
    assert len(widths) == 1


@pytest.mark.skipif(
    shutil.which("kpsewhich") is None or not subprocess.run(["kpsewhich", "booktabs.sty"], capture_output=True).stdout,
    reason="no LaTeX with booktabs (apt-get install texlive-latex-recommended)",
)
def test_latex_compiles(tmp_path):
    """Characters that mean something to LaTeX, those it does not know, a cell with too few pairs and one without."""
    names = ("ranksvm λ=0.01 l2²", "fpr≤0.1", "generalized_bauc z=−0.1", "100% & #1_{x}~y^2$\\")
    scores = {(data, name): [0.5 + j / 10, 0.6 + j / 9, 0.7] for data in "xy" for j, name in enumerate(names)}
    scores["y", names[1]] = [None, None, 0.8]
    del scores["x", names[0]]
    (tmp_path / "table.tex").write_text(formats.to_latex(compare_runs(table_of(scores))), encoding="utf-8")
    page = r"\documentclass{article}\usepackage{booktabs}\begin{document}\input{table}\end{document}"
    (tmp_path / "page.tex").write_text(page, encoding="utf-8")
    order = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "page.tex"]
    done = subprocess.run(order, cwd=tmp_path, capture_output=True, text=True, errors="replace")
    assert done.returncode == 0, done.stdout[-2000:]
    assert (tmp_path / "page.pdf").stat().st_size > 10_000


def test_a_run_that_was_stopped_and_finished_later_is_not_named():
    runs = table_of({("x", "a"): [0.5, 0.6, 0.7]})
    runs["run"], runs["run_id"] = ["one", "two", "three"], ["1", "2", "3"]
    runs["run_status"] = ["KILLED", "FINISHED", "KILLED"]
    assert commands._unfinished(runs) == ["left out, as they were stopped early: one, three"]
    runs["tag.config.settings"] = ["same", "same", "other"]
    assert commands._unfinished(runs) == ["left out, as they were stopped early: three"]


def test_folders_are_made_as_for_a_report(call, tmp_path):
    code, *_ = call("compare", "--out", str(tmp_path / "a" / "t.md"), "--values", str(tmp_path / "b" / "v.csv"))
    assert code == 0
    assert (tmp_path / "a" / "t.md").is_file()
    assert (tmp_path / "b" / "v.csv").is_file()


def test_a_diagram_is_drawn_where_there_are_ranks(call, tmp_path):
    code, _, error = call("compare", "--out", tmp_path / "ranks.pdf")
    assert code == 1
    said = " ".join(error.split())
    assert f"{tmp_path / 'ranks.pdf'} is not written: a critical-difference diagram needs 3 columns or more" in said
    scores = {(data, name): [0.5 + j, 0.6 + j] for data in ("x", "y") for j, name in enumerate("abc")}
    table = compare_runs(table_of(scores))
    for suffix, start in ((".png", b"\x89PNG"), (".svg", b"<?xml")):
        path = tmp_path / f"ranks{suffix}"
        commands._write_files(table, table_of(scores), Namespace(pairs=None, values=None, out=[path], format="csv"))
        assert path.read_bytes().startswith(start)


def test_a_file_that_cannot_be_written_keeps_no_other_from_it(call, tmp_path):
    """A diagram of ranks needs several data sets, the values and the table do not."""
    words = [word for name in ("ranks.png", "table.md") for word in ("--out", tmp_path / name)]
    one = ["--where", "split=holdout", "--values", tmp_path / "values.csv"]
    code, text, error = call("compare", *one, *words)
    assert code == 1
    assert f"written: {tmp_path / 'values.csv'}, {tmp_path / 'table.md'}" in text
    assert f"{tmp_path / 'ranks.png'} is not written: " in error
    assert "that have all of them; auclab report draws the values of every data set" in error
    assert sorted(path.name for path in tmp_path.iterdir()) == ["table.md", "values.csv"]


def test_runs_are_listed_and_chosen(call, store):
    _, text, _ = call("runs")
    assert text.count("ranksvm λ=0.01") == 4
    assert "FAILED" in text
    assert "8 runs;" in text
    assert "1 run;" in call("runs", "--experiment", "folds")[1]
    assert "3 runs;" in call("runs", "--where", "formulation=ranksvm", "tag.status=optimal")[1]
    assert "2 runs;" in call("runs", "--where", "split.seed=1,1.0")[1]
    assert "6 runs;" in call("runs", "--sweep", "last")[1]
    assert "2 runs;" in call("runs", "--last", 2)[1]
    assert "1 run;" in call("runs", "--status", "FAILED")[1]


def test_a_setting_without_a_value_in_any_run_is_not_offered_as_none():
    runs = pd.DataFrame({"dataset": ["my.csv"], "dataset.name": [None]})
    with pytest.raises(AuclabError, match=r"no run has 'dataset\.name'"):
        commands.where(runs, ["dataset.name=my.csv"])
    assert len(commands.where(runs, ["dataset.name=None"])) == 1


def test_a_choice_that_fits_nothing_is_said(call):
    for words, message in (
        (["--where", "dataset"], "write KEY=VALUE"),
        (["--where", "penalty=1"], "is it formulation.penalty?"),
        (["--where", "dataset=other"], "no run has this value; there are breast_cancer"),
        (["--sweep", "zzz"], "no sweep is called 'zzz'"),
        (["--filter", "what"], "cannot read the runs"),
    ):
        code, _, error = call("runs", *words)
        assert code == 1
        assert message in " ".join(error.split())
    code, _, error = call("compare", "--out", "table.doc")
    assert code == 1
    assert ".csv .md .tex" in " ".join(error.split())


def test_one_run_is_shown_with_its_certificate(call, store):
    runs = read_runs(store)
    first = runs.iloc[0]
    _, text, _ = call("show", first["run_id"][:10])
    assert first["run_id"] in text
    assert f"objective {first['objective']:.8g} · lower bound " in text
    assert f"{first['test/auc']:.4f}" in text
    assert "newton · optimal: the gap is within the tolerance" in text
    assert "formulation  ranksvm · penalty 0.01 · norm l2" in text
    assert "coefficients.csv" in text
    _, text, _ = call("show", "csvm λ=0.01 l2 · breast_cancer · seed 1 · newton")
    assert "csvm" in text
    folds = runs[runs["fold"] == "fold 0"].iloc[0]
    _, text, _ = call("show", folds["run_id"])
    assert "2 × optimal" in text
    assert f"{folds['test/bauc']:.4f}" in text


@pytest.mark.slow
def test_figures_are_drawn_beside_the_files_of_every_split(call, store):
    folds = read_runs(store)[-2:]
    assert folds["fold"].tolist() == ["fold 0", "fold 1"]
    code, text, _ = call("show", folds["run_id"].iloc[0], "--figures")
    assert code == 0
    assert "2 × optimal" in text
    for folder in folds["fold_folder"]:
        drawn = {path.name for path in folder.glob("*.png")}
        assert {"roc.png", "ranking_errors.png", "scores.png", "coefficients.png"} <= drawn


def test_a_failed_run_says_why(call, store):
    failed = read_runs(store, status="FAILED").iloc[0]
    _, text, _ = call("show", failed["run_id"])
    assert "test_size is 7" in text
    assert "traceback.txt" in text
    code, _, error = call("rerun", failed["run_id"])
    assert code == 1
    assert "is FAILED" in error


@pytest.mark.slow
def test_a_run_comes_out_the_same_again(call, store):
    for which in ("holdout", "fold 0"):
        runs = read_runs(store)
        run_id = runs[runs["fold"] == which]["run_id"].iloc[0]
        code, text, _ = call("rerun", run_id)
        assert code == 0, text
        assert "the numbers are the same" in text
    assert len(read_runs(store)) == len(runs)  # nothing was added


@pytest.mark.slow
def test_a_run_that_was_tampered_with_does_not(call, store, tmp_path):
    rows = read_run(store, read_runs(store)["run_id"].iloc[0])
    rows["test/auc"] += 0.001
    rows["tag.version.numpy"] = "1.0"
    rows["data_sha256"] = "0" * 64
    found = replay(rows)
    assert not found.same
    assert found.differences["metric"].tolist() == ["test/auc"]
    assert found.largest == pytest.approx(0.001)
    assert any(remark.startswith("numpy: 1.0 then") for remark in found.remarks)
    assert any("the data have changed" in remark for remark in found.remarks)
    copy = tmp_path / "files"
    shutil.copytree(rows["folder"].iloc[0], copy)
    rows["folder"] = copy
    text = (copy / "config.yaml").read_text(encoding="utf-8")
    (copy / "config.yaml").write_text(text.replace("penalty: 0.01", "penalty: 0.02"), encoding="utf-8")
    assert "objective" in replay(rows).differences["metric"].tolist()
    (copy / "config.yaml").write_text(text.replace("solver:", "solvers:"), encoding="utf-8")
    with pytest.raises(AuclabError, match=r"this version cannot run .*made with auclab"):
        replay(rows)
    (copy / "config.yaml").unlink()
    with pytest.raises(AuclabError, match=r"config\.yaml is missing"):
        replay(rows)


def test_there_is_no_page_without_a_store(capsys, tmp_path):
    with pytest.raises(SystemExit) as end:
        cli.main(["ui", "--store", str(tmp_path)])
    assert end.value.code == 1
    assert "no runs are kept" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
@pytest.mark.covering
@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize("words", [("runs",), ("compare",), ("compare", "--pairs"), ("show", "FOLDS"), ("show", "RUN")])
def test_a_narrow_terminal_loses_nothing_without_a_word(words, width, call, store, monkeypatch):
    """Every number of the wide screen is on the narrow one."""
    options = ["--where", "split=holdout"] if words[0] in ("runs", "compare") else []
    runs = read_runs(store)
    named = {"RUN": runs["run_id"].iloc[0], "FOLDS": runs["run_id"].iloc[-1]}
    words = [named.get(word, word) for word in words]
    wide = call(*words, *options)[1]
    monkeypatch.setattr(out, "width", width)
    narrow = call(*words, *options)[1]
    tables = [line for line in narrow.splitlines() if "─" in line]
    assert all(len(line) <= width for line in tables)
    number = r"0\.[5-9]\d{3}"
    assert re.findall(number, wide)
    assert not Counter(re.findall(number, wide)) - Counter(re.findall(number, narrow))


@pytest.mark.slow
def test_a_terminal_of_80_columns_shows_every_auc(store):
    lines, code = in_terminal(80, "-m", "auclab", "runs", "--store", store, cwd=store.parent)
    assert code == 0
    assert max(map(len, lines)) <= 80
    text = "\n".join(lines)
    runs = read_runs(store)
    for _, block in runs.groupby("run_id"):
        assert f"{block['test/auc'].mean():.4f}" in text


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        ("compare --metric baucc", "test/bauc"),
        ("runs --metric tset/auc", "test/auc"),
        ("report --metric test/baucc", "test/bauc"),
        ("runs --where datset=breast_cancer", "dataset"),
        ("runs --experiment fold", "folds"),
        ("show lst", "last"),
        ("compare --sweep lsat", "last"),
    ],
)
def test_a_misspelt_word_gets_the_one_that_is_meant(words, meant, call):
    code, _, error = call(*words.split())
    assert code == 1
    (line,) = error.splitlines()
    assert f"(did you mean {meant!r}?)" in line


def test_several_problems_have_lines_of_their_own_in_a_terminal(tmp_path):
    rows = "".join(f'C{k},"1,{k}",{k % 2}\n' for k in range(60))
    (tmp_path / "own.csv").write_text(f"id,spent,left\n{rows}", encoding="utf-8")
    lines, code = in_terminal(80, "-m", "auclab", "run", "dataset=file", "dataset.path=own.csv", cwd=tmp_path)
    shown = [line for line in lines if line.strip()]
    assert code == 1
    assert re.match(r"error: \d problems:$", shown[0])
    assert any(line.startswith("  (2) ") for line in shown)
    assert any(line.startswith("  auclab inspect own.csv") for line in shown)
