"""What a notebook shows of a model, a solution, an estimate and comparisons: small tables with escaped text."""

import re
from dataclasses import replace

import pytest

import auclab
from auclab.inference import compare_scorers
from auclab.models import build

X, Y = [[0.0], [2.0], [1.0], [3.0]], [0, 0, 1, 1]


def rows_of(shown):
    """Names and values of a table."""
    return dict(re.findall(r"<tr><th>(.*?)</th><td>(.*?)</td></tr>", shown._repr_html_()))


def test_tables_have_the_numbers():
    assert rows_of(build("ranksvm", X, Y))["margins"] == "4"
    solution = auclab.solve("ranksvm", X, Y)
    found = rows_of(solution)
    assert found["status"] == "optimal"
    assert float(found["w[0]"]) == pytest.approx(solution.coef[0], rel=1e-5)
    assert rows_of(auclab.estimate(Y, [0.0, 2.0, 1.0, 3.0]))["value"] == "0.75"
    assert rows_of(compare_scorers(Y, [0.0, 2.0, 1.0, 3.0], [0.0, 1.0, 2.0, 3.0]))["difference"] == "-0.25"
    three = compare_scorers([1, 1, 0, 0], [[3, 2, 1, 0], [3, 1, 2, 0], [0, 1, 2, 3]])
    assert list(rows_of(three)) == ["values", "p, all the same", "0 − 1", "0 − 2", "1 − 2"]


def test_text_is_escaped():
    solution = replace(auclab.solve("ranksvm", X, Y), columns=("<script>",), notes=("a & b",))
    assert "<script>" not in solution._repr_html_()
    assert "<th>&lt;script&gt;</th>" in solution._repr_html_()
    assert solution._repr_html_().endswith("<p>a &amp; b</p>")
