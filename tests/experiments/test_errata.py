"""Every erratum has a counterexample: the correction is right by definition, and the print in its place is not."""

import doctest
import math
import re
from dataclasses import replace

import pytest
from experiments.errata import counterexample as counterexample_module
from experiments.errata import page

from composed import REPOSITORY
from experiments import scoreboard

ERRATA = {erratum.id: erratum for erratum in page.errata()}
EXAMPLES = page.counterexamples()


def test_every_erratum_has_a_counterexample():
    assert sorted(EXAMPLES) == sorted(ERRATA)
    assert len(ERRATA) >= 55
    assert {erratum.severity for erratum in ERRATA.values()} == {"A", "B", "C"}


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_print_in_the_place_of_the_correction_fails(name):
    found = EXAMPLES[name]()
    assert found.allows(found.corrected), f"{found.corrected} is not right, {found.truth} is"
    swapped = replace(found, printed=found.corrected, corrected=found.printed)
    assert not swapped.allows(swapped.corrected), "the print gives the same: no counterexample"


@pytest.mark.parametrize("name", EXAMPLES)
def test_numbers_of_the_file_are_those_that_are_computed(name):
    found, row = EXAMPLES[name](), ERRATA[name]
    assert row.printed_value == pytest.approx(found.printed, rel=1e-5, abs=1e-8, nan_ok=True)
    assert row.corrected_value == pytest.approx(found.corrected, rel=1e-5, abs=1e-8)


@pytest.mark.parametrize("paper", page.TITLES)
def test_claims_of_errata_exist(paper):
    known = {claim.claim_id for claim in scoreboard.claims(paper)}
    rows = [erratum for erratum in ERRATA.values() if erratum.paper == paper]
    assert rows
    assert {claim for erratum in rows for claim in erratum.claims.split()} <= known


@pytest.mark.parametrize("name", page.pages())
def test_a_page_is_the_one_that_the_file_gives(name):
    assert (page.DOCS / name).read_text(encoding="utf-8") == page.pages()[name]


def test_derivations_that_the_pages_link_to_exist():
    heads = {
        f"{path.name}#{line[3:].lower().replace(' ', '-')}"
        for path in page.DOCS.glob("derivations*.md")
        for line in path.read_text(encoding="utf-8").splitlines()
        if line.startswith("## ")
    }
    assert {page.SECTIONS[erratum.derivation] for erratum in ERRATA.values() if erratum.derivation} <= heads


def test_what_docstrings_cite_can_be_opened():
    derivations = "\n".join(path.read_text(encoding="utf-8") for path in page.DOCS.glob("derivations*.md"))
    sections = set(re.findall(r"^## (\d+) ", derivations, re.MULTILINE))
    sections |= set(re.findall(r"\*\*(\d+\.\d)", derivations))
    pages = [path for folder in ("src", "experiments") for path in (REPOSITORY / folder).rglob("*.py")]
    texts = {path: path.read_text(encoding="utf-8") for path in pages}
    cited = {section for text in texts.values() for section in re.findall(r"[Dd]erivations (\d+(?:\.\d)?)", text)}
    assert len(cited) > 15
    assert cited <= sections
    errata = {name for text in texts.values() for name in re.findall(r"\b[Ee]rrat(?:um|a) ([NVRMC]\d+)", text)}
    assert errata
    assert errata <= set(ERRATA)
    # the sheet that readers do not have
    assert [path.name for path, text in texts.items() if re.search(r"\b[Ff]ormulas \d", text)] == []


def test_a_bound_and_a_value_that_is_not_defined():
    bound = counterexample_module.Counterexample(printed=math.nan, corrected=2.0, truth=1.0, relation="at least")
    assert bound.allows(1.0)
    assert not bound.allows(0.5)
    assert not bound.allows(bound.printed)


@pytest.mark.parametrize("module", [counterexample_module, *page.MODULES], ids=lambda module: module.__name__)
def test_docstrings_run(module):
    assert doctest.testmod(module).failed == 0
