"""The solvers of the registry: what each is able to do, and what its documentation says."""

import inspect

import pytest

from auclab import AuclabError, ExactAUC, PartialAUC
from auclab.formulations.constraints import ColumnConstraints
from auclab.solvers.registry import SOLVERS, check_capable, load_solver


@pytest.mark.parametrize("name", SOLVERS)
def test_every_option_of_a_solver_is_documented(name):
    solve = load_solver(name)
    documentation = inspect.getdoc(solve) or ""
    names = {
        option.strip()
        for line in documentation.partition("Parameters\n")[2].splitlines()
        if " : " in line and not line.startswith(" ")
        for option in line.split(" : ")[0].split(",")
    }
    assert set(inspect.signature(solve).parameters) <= names


def test_newton_says_that_it_refuses_counts_of_pairs():
    assert "partial AUC" in inspect.getdoc(load_solver("newton"))
    check_capable("newton", PartialAUC(0.5))
    with pytest.raises(AuclabError, match=r"solver=newton cannot solve .*: counting pairs .*; use solver=highs"):
        check_capable("newton", ExactAUC())


@pytest.mark.parametrize("name", SOLVERS)
def test_where_no_solver_is_able_the_message_says_what_to_change(name):
    few = ColumnConstraints.of(3, max_features=2)
    with pytest.raises(AuclabError, match="no solver takes partial_auc with max_features: leave max_features out"):
        check_capable(name, PartialAUC(0.5), few)
