"""Every part of the page as readers use it: phone, laptop and paper, light and dark, by keyboard, without a network."""

import pytest

from auclab._core.base import AuclabError
from auclab.runs import read_runs, write_report
from composed import run_here
from runs.report.browser import CHROMIUM
from runs.report.devtools import Browser

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="neither chromium nor google-chrome is installed")

#: What the page of the runs below has.
FIND = {
    "kernels": "#kernels table",
    "kernel-figure": "#kernels img",
    "scorecards": "#scorecards .auclab-card table",
    "coefficients": "#coefficients .scorer table",
    "paths": "#path-plots svg",
    "bounds": "#bound-plot svg",
    "calibration": "#calibration-plot svg",
    "costs": "#cost-plot svg",
    "differences": "#differences tbody tr",
    "worst": "#worst table",
}

#: Elements that reach past the window without lying in something that scrolls.
OUTSIDE = """
const reaches = (each) => each.getBoundingClientRect().right > document.documentElement.clientWidth + 1;
const cut = (each) => /auto|scroll|hidden/.test(getComputedStyle(each).overflowX);
const scrolls = (each) => each && (cut(each) || scrolls(each.parentElement));
const all = [...document.querySelectorAll("main *, header *")].filter((each) => !each.closest("svg") && reaches(each));
return { outside: all.filter((each) => !scrolls(each)).map((each) => each.outerHTML.slice(0, 80)),
  room: innerWidth, taken: document.scrollingElement.scrollWidth };
"""

#: Ratio of contrast (WCAG 2.2) of every visible text, the smallest first, and the text.
CONTRAST = """
const parse = (text) => text.match(/[\\d.]+/g).map(Number);
const luminance = ([r, g, b]) => [r, g, b].map((value) => value / 255)
  .map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4))
  .reduce((sum, value, k) => sum + [0.2126, 0.7152, 0.0722][k] * value, 0);
const ground = (node) => {
  for (let each = node; each; each = each.parentElement) {
    const colour = parse(getComputedStyle(each).backgroundColor);
    if (colour.length === 3 || colour[3] === 1) return colour;
  }
  return [255, 255, 255];
};
const found = [];
for (const node of document.querySelectorAll("body *")) {
  const own = [...node.childNodes].map((each) => (each.nodeType === 3 ? each.textContent.trim() : "")).join("");
  if (!own || !node.getClientRects().length || node.matches("script, style, title, desc, option, [disabled]")) continue;
  const style = getComputedStyle(node);
  const [a, b] = [luminance(parse(node.closest("svg") ? style.fill : style.color)), luminance(ground(node))];
  found.push([(Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), own.slice(0, 40), node.tagName]);
}
return found.sort((x, y) => x[0] - y[0]).slice(0, 3);
"""


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    place = tmp_path_factory.mktemp("read") / "mlruns"
    small = ("dataset=artificial", "dataset.n_pos=40", "dataset.n_neg=60", "dataset.n_features=3")
    number = 0

    def run(*overrides):
        nonlocal number
        number += 1
        settings = [f"tracking.dir={place}", "tracking=mlflow", *small, "metrics=[auc,bauc]", *overrides]
        run_here(place.parent / f"out{number}", *settings)

    ranksvm = "formulation=ranksvm"
    run(ranksvm, "formulation.penalty=0.1", "decision.probability=sigmoid", "decision.threshold=[cost,1,5]")
    run(ranksvm, "formulation.penalty=0.01", "decision.probability=isotonic")
    run("formulation=csvm", "formulation.penalty=0.01", "split=kfold", "split.n_folds=3")
    run(ranksvm, "formulation.penalty=0.1", "kernel=rbf")
    run("formulation=scorecard", "formulation.max_items=2")
    with pytest.raises(AuclabError, match="test_size is 777"):
        run("split.test_size=777")
    return write_report(read_runs(place, status=None), place.parent / "report.html", store_dir=place)


@pytest.fixture(scope="module")
def browser():
    with Browser() as opened:
        yield opened


def counts(browser):
    return {name: browser.ask(f"return document.querySelectorAll({css!r}).length") for name, css in FIND.items()}


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [390, 1366])
def test_everything_fits_and_can_be_read(browser, page, width, dark):
    browser.open(page, width=width, dark=dark)
    assert {name: number for name, number in counts(browser).items() if not number} == {}
    browser.ask("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    found = browser.ask(OUTSIDE)
    assert found["outside"] == []
    assert found["taken"] <= found["room"] == width
    least, *_ = browser.ask(CONTRAST)
    assert least[0] >= 4.5, least
    assert (browser.requests(), browser.said()) == ([], [])


def test_paper_has_all_parts_and_no_controls(browser, page):
    browser.open(page, width=794, dark=True, paper=True)
    browser.ask("dispatchEvent(new Event('beforeprint'))")
    found = browser.ask(
        """
        const shown = (each) => each.getClientRects().length > 0;
        const cut = (each) => getComputedStyle(each).overflowY !== "visible";
        const clipped = (each) => each.scrollHeight > each.clientHeight + 2 && cut(each);
        return { theme: document.documentElement.dataset.theme,
          controls: [...document.querySelectorAll("input, select, nav, .controls button")].filter(shown).length,
          closed: document.querySelectorAll("details:not([open])").length,
          clipped: [...document.querySelectorAll(".scrolled")].filter(clipped).length };
        """
    )
    assert found == {"theme": "light", "controls": 0, "closed": 0, "clipped": 0}
    assert all(counts(browser).values())
    least, *_ = browser.ask(CONTRAST)
    assert least[0] >= 4.5, least
    outside = browser.ask(OUTSIDE)
    assert outside["outside"] == []


def test_all_of_it_by_keyboard(browser, page):
    """Tab visits every control and every table that scrolls, each with a ring; arrows move the sliders."""
    browser.open(page, width=390)
    seen = []
    for _ in range(400):
        browser.press("Tab")
        here = browser.ask(
            """
            const each = document.activeElement;
            const style = getComputedStyle(each);
            const name = each.id || each.getAttribute("aria-label") || each.textContent.trim();
            const ring = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0;
            return each === document.body ? null : [name, ring];
            """
        )
        if here is None:
            break
        seen.append(here)
    assert here is None, "the focus does not leave the page"
    assert [name for name, ring in seen if not ring] == []
    names = [name for name, _ in seen]
    assert names[0] == "Skip to the tables"
    wanted = ["theme", "find", "surface-run", "azimuth", "elevation", "differences", "cost-ratio", "cost-share"]
    wanted += ["cost-reset", "cost-table", "Runs with a kernel", "Gap against landmarks.", "Commands"]
    places = [names.index(each) for each in wanted]
    assert places == sorted(places)
    unreachable = browser.ask(
        """
        const scrolls = (each) => /auto|scroll/.test(getComputedStyle(each).overflowX);
        const wide = (each) => each.scrollWidth > each.clientWidth + 1 && scrolls(each);
        return [...document.querySelectorAll("main *")].filter((each) => wide(each) && each.tabIndex < 0
          && !each.querySelector("a, button, input")).map((each) => each.outerHTML.slice(0, 80));
        """
    )
    assert unreachable == []


def test_sliders_boxes_and_details_by_keys(browser, page):
    browser.open(page)
    text = "return document.getElementById('cost-ratio-text').textContent"
    browser.ask("document.getElementById('cost-ratio').focus()")
    assert browser.ask(text) == "1 : 1"
    for _ in range(4):
        browser.press("ArrowRight")
    assert browser.ask(text) == "1.58 : 1"  # four steps of 0.05 in the logarithm
    assert browser.ask("return document.activeElement.getAttribute('aria-valuetext')") == "1.58 : 1"
    browser.press("Home")
    assert browser.ask(text) == "1 : 100"
    browser.ask("document.querySelector('input[name=draw]:checked').focus()")
    before = browser.ask("return document.querySelectorAll('#legend li').length")
    browser.press("Space")
    assert browser.ask("return document.querySelectorAll('#legend li').length") == before - 1
    browser.ask("document.querySelector('#coefficients summary').focus()")
    browser.press("Enter")
    assert browser.ask("return document.querySelector('#coefficients details').open") is False
