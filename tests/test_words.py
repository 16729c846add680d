"""Words and constructions that this project does not use, with what it writes instead: none is in pages or modules."""

import re
from pathlib import Path

import pytest

from test_documents import PAGES, ROOT

pytestmark = pytest.mark.lint

#: A pattern, what to write, and a sentence that it finds.
BANNED = [
    (r"\btold\b|\btells apart\b", "state, distinguish, report", "the two scorers are not told apart"),
    (r"\bstrangers?\b", "untrusted input", "a store of a stranger"),
    (r"\blies? there\b", "in file order", "rows are read as they lie there"),
    (r"\basked for\b|\basked? of\b|\b(is|are) asked\b", "requested, required", "the gap that was asked for"),
    (r"\banswers? to\b", "has, implements", "every scorer answers to these names"),
    (r"\bobey", "is final, satisfies", "a limit that is to be obeyed"),
    (r"\bso many\b", "a number, with its name", "at most so many columns are used"),
    (r"\bless as many\b|\bas many as (are|you)\b", "the share, the number", "as many as are positive"),
    (r"\bputs another one\b", "replaces", "it puts another one in its place"),
    (r"\banother task\b|\bno better scorer\b", "changes the task", "makes another task and no better scorer"),
    (r"(^|\. )Nor (is|are|does|do|was|were)\b", "… is not", "It is fast. Nor does it need memory"),
    (r"\bdigits left\b", "lose all significant digits", "scores have no digits left"),
    (r"\bIn a moment,|\bquickly tried\b|\bnobody sets\b", "standard terms", "a clock that nobody sets"),
    (r"\bare others\b", "differ, have changed", "the data are others"),
    (r"\bis tried to be\b|\bis undone\b", "active verbs", "the solution is undone"),
    (r"\bhow many times as many\b", "growth factor", "how many times as many landmarks"),
    (r", less (the|its|those|what|as)\b|\bless (the|its) (mean|share|bias|error)\b", "minus", "the sum, less its mean"),
    (r"\bbut for (rounding|the|a|one|equations)\b", "except for, up to rounding", "feasible but for rounding"),
    (r"\bin the place of\b|\bas wholes\b", "in place of, whole groups", "over groups as wholes"),
    (r"\bof one's own\b|\blacks of\b", "custom, the component outside", "constraints of one's own"),
    (r"\bfor certain\b|\bmends?\b", "certainly, fixes", "the command that mends it"),
    (r"\bnot usual and\b|\bminimises no\b", "not supported", "it minimises no means of hinges"),
    (r"\ba word on the screen\b", "a status message", "it ends with a word on the screen"),
    (
        r"(?<!here )\b(is|are|was|were) no (number|formula|kernel|text|file|folder|run|setting|parameter|scorer)s?\b",
        "is not a …",
        "a cell that is no number",
    ),
    (r"\bis not there\b", "does not exist, is missing", "the file is not there"),
    (r"\bwithout a word\b", "silently", "it ends without a word"),
    (r"\bcomes? again\b(?! and)", "is repeated, is reproduced", "the numbers come again"),
    (r"\bask(s|ed)? for less\b", "lower the level", "ask for less in one of them"),
    (r"\bhas none of\b|\bno such one\b", "has no …", "a kernel has none of them"),
    (r"\bone a (row|core|pair|worker|block)\b", "one per …", "a thread, one a core"),
    (r"\b(do|does) not tell\b", "does not show, does not distinguish", "the rows do not tell"),
    (r"\bleads to no\b|\bthe very\b", "does not refer to, the same", "it leads to no setting"),
    (r"\bpair weighs\b|\bunusual labels\. ", "the weight of a pair", "a pair weighs the product"),
    (r"\banew\b|\bnobody has said\b", "again", "the bound is proved anew"),
    (r"\bbeside (a|an|the|it|its|them|that|those|others|one)\b", "compared with", "the bound beside the truth"),
    (
        r"(?<!here )\b(is|are|was|were) no (?!longer|better|worse|more|less|problem)\w",
        "is not a …",
        "a jump is no line",
    ),
    (r"\b(is|are|was|be) said\b|\bsaid (of|at once)\b", "reported, stated", "what is said of columns"),
    (r"\bgo(es)? on\b", "continues", "the search goes on"),
    (r"\bstands? (in|at|on|beside|between|anywhere)\b|\bas (it|they) stands?\b", "is in", "a reason stands in a row"),
]
FOLDERS = ("src", "docs/examples", "docs/tutorials", "experiments")
#: Texts of the scoreboards and of the errata; results files have numbers only.
CLAIMS = [ROOT / "experiments" / "errata.csv", *(ROOT / "experiments").glob("*/expected.csv")]
FILES = sorted(
    {*PAGES, *CLAIMS, *(ROOT / "experiments").glob("*/misses.csv"), *(ROOT / "conf").rglob("*.yaml")}
    | {path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")}
)


def found(pattern: str) -> list[str]:
    """Places with the line."""
    search = re.compile(pattern, re.MULTILINE).search
    places = []
    for path in FILES:
        text = TEXTS[path]
        if search(text):
            lines = enumerate(text.splitlines(), 1)
            places += [f"{path.relative_to(ROOT)}:{number}: {line.strip()}" for number, line in lines if search(line)]
    return places


TEXTS = {path: Path(path).read_text(encoding="utf-8") for path in FILES}


@pytest.mark.parametrize(("pattern", "better", "example"), BANNED, ids=[entry[2] for entry in BANNED])
def test_no_page_and_no_module_has_a_banned_word(pattern, better, example):
    assert re.search(pattern, example), "the pattern does not find its own example"
    assert found(pattern) == [], f"write: {better}"


def test_pages_and_modules_are_looked_at():
    assert len(FILES) > 700
    assert {"README.md", "CHANGELOG.md", "scoreboard.md", "errata.md", "errata.csv", "expected.csv", "misses.csv"} <= {
        path.name for path in FILES
    }
