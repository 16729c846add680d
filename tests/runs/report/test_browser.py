"""The page in a real browser: it says nothing on the console, draws everything, sorts, chooses, prints."""

import json
import re

import pytest

from runs.report.browser import CHROMIUM, ask, run

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="neither chromium nor google-chrome is installed")

LOOK = """
const texts = (nodes) => [...nodes].map((node) => node.textContent.trim());
const figures = [...document.querySelectorAll("svg[role=img]")];
return {
  titles: figures.map((svg) => svg.querySelector("title").textContent),
  described: figures.every((svg) => svg.querySelector("desc").textContent.length > 20
    && svg.getAttribute("aria-labelledby").split(" ").every((id) => document.getElementById(id))),
  drawn: figures.every((svg) => [...svg.querySelectorAll("path, circle")].every((node) =>
    !/NaN|Infinity|undefined/.test(node.outerHTML)) && svg.getBBox().width > 100),
  curves: document.querySelectorAll("#roc-plot path.curve").length,
  dots: document.querySelectorAll("#bound-plot .dot").length,
  legend: texts(document.querySelectorAll("#legend li")),
  room: innerWidth, taken: document.documentElement.scrollWidth,
  theme: document.documentElement.dataset.theme,
  paper: getComputedStyle(document.body).backgroundColor,
};
"""

SORT = """
const table = document.getElementById("run-table");
const head = [...table.tHead.querySelectorAll("th")].find((each) => each.textContent === "test/auc");
const column = () => [...table.tBodies[0].rows].map((row) => row.cells[head.cellIndex].dataset.v);
head.querySelector("button").click();
const [up, first] = [column(), head.getAttribute("aria-sort")];
head.querySelector("button").click();
const [down, second] = [column(), head.getAttribute("aria-sort")];
const name = table.tHead.querySelector("th");
name.querySelector("button").click();
const sorted = table.querySelectorAll("[aria-sort]").length;
return { up, first, down, second, sorted, focusable: head.querySelector("button").tabIndex };
"""

CHOOSE = """
const box = () => [...document.querySelectorAll("input[name=draw]")];
const legend = () => document.querySelectorAll("#legend li").length;
const before = legend();
for (const each of box()) if (!each.checked && !each.disabled) each.click();
const [most, disabled] = [legend(), box().filter((each) => each.disabled).length];
const surface = () => document.querySelector("#surface path.face").getAttribute("d");
const start = surface();
const turn = document.getElementById("azimuth");
turn.value = 40; turn.dispatchEvent(new Event("input"));
const turned = surface() !== start;
for (const each of box()) if (each.checked) each.click();
const empty = [legend(), document.querySelectorAll("#roc-plot svg").length, document.getElementById("surface").hidden];
const cell = document.querySelector("button.cell");
cell.click();
const shown = (id) => [...document.querySelectorAll(`#${id} tbody tr:not([hidden])`)].map((row) => row.dataset.run);
const listed = [shown("run-table").join(" "), shown("command-table").join(" "), cell.dataset.runs];
document.getElementById("all").click();
const find = document.getElementById("find");
find.value = "newton λ=0.1"; find.dispatchEvent(new Event("input"));
const words = shown("run-table").length;
const select = document.getElementById("theme");
select.value = "dark"; select.dispatchEvent(new Event("change"));
return { before, most, disabled, turned, empty, listed, words, theme: document.documentElement.dataset.theme };
"""


def test_everything_is_drawn_and_nothing_is_said(page):
    answer, console = ask(page, LOOK)
    assert console == []
    data = json.loads(page.read_text(encoding="utf-8").partition('id="report-data">')[2].partition("</script>")[0])
    selected = [data["runs"][str(number)] for number in sorted(data["selected"])]
    names = [each["name"] for each in selected]
    splits = [each["curves"][0]["split"] for each in selected]
    expected = ["ROC and buffered ROC curves", "Relative gap over time", f"ROC surface of {names[0]}, {splits[0]}"]
    expected += [f"{what} of {name}" for name in names for what in ("Scores", "Ranking errors")]
    expected += ["Probabilities against outcomes", "Cost against the ratio of costs"]
    expected += ["Bounds over held-out values", *(f"{path['metric']} along {path['symbol']}" for path in data["paths"])]
    assert sorted(answer["titles"]) == sorted(expected)
    assert answer["described"]
    assert answer["drawn"]
    assert answer["curves"] == sum(1 + (curves["broc"] is not None) for each in selected for curves in each["curves"])
    assert answer["dots"] == sum(map(len, data["bounds"].values()))
    assert [text.partition(": ")[0] for text in answer["legend"]] == names


def test_a_table_is_sorted_by_number_both_ways(page):
    answer, console = ask(page, SORT)
    assert console == []
    numbers = [float(word) for word in answer["up"] if word]
    assert numbers == sorted(numbers)
    assert answer["up"][-1] == answer["down"][-1] == ""  # the run that failed has no number and is last both ways
    assert [float(word) for word in answer["down"] if word] == numbers[::-1]
    assert (answer["first"], answer["second"], answer["sorted"]) == ("ascending", "descending", 1)
    assert answer["focusable"] == 0


def test_runs_are_selected_found_and_turned(page):
    answer, console = ask(page, CHOOSE)
    assert console == []
    assert (answer["before"], answer["most"], answer["disabled"]) == (3, 6, 1)  # seven runs have curves
    assert answer["turned"]
    assert answer["empty"] == [0, 0, True]
    assert len(set(answer["listed"])) == 1
    assert answer["words"] == 2
    assert answer["theme"] == "dark"


def test_a_phone_needs_no_sideways_scrolling(page):
    answer, _ = ask(page, LOOK, options=["--window-size=360,800"])
    assert answer["taken"] <= answer["room"] <= 500


@pytest.mark.parametrize(("word", "setting"), [("dark", 0), ("light", 1)])
def test_the_system_says_light_or_dark(page, word, setting):
    answer, _ = ask(page, LOOK, options=[f"--blink-settings=preferredColorScheme={setting}"])
    assert answer["theme"] == word
    brightness = sum(map(int, re.findall(r"\d+", answer["paper"])))
    assert (brightness < 150) if word == "dark" else (brightness > 700)


def test_paper(page, tmp_path):
    file = tmp_path / "page.pdf"
    _, console = run(page, f"--print-to-pdf={file}")
    assert console == []
    assert file.read_bytes().startswith(b"%PDF")
