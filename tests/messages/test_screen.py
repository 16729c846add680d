"""Sentences of the screen that were false of a run once: a situation where each is shown, and one where it is not."""

import pytest

from auclab.runs.screen.result_screen import answer, labels, warnings
from auclab.runs.split.constrained import ActiveConstraint, SolvedConstraints
from messages.situations import checked

NARROW = "formulation=partial_auc formulation.max_fpr=0.02 dataset.n_neg=100"
CASES = {
    "a formulation whose optimum is w = 0": (
        "so it is for every λ, because λ_max = 0: try formulation=ranksvm",
        NARROW,
        "formulation=ranksvm formulation.penalty=1e3",
    ),
    "a class that outweighs the other": (
        "try class_weight=balanced",
        "formulation=csvm formulation.penalty=1e3",
        "formulation=csvm formulation.penalty=1e3 class_weight=balanced",
    ),
    "a penalty that is too large": (
        "λ = 1000 is too large",
        "formulation=ranksvm formulation.penalty=1e3",
        NARROW,
    ),
    "a constant scorer": (
        "the scorer is constant",
        "formulation=ranksvm formulation.penalty=1e3",
        "formulation=ranksvm formulation.penalty=0.01",
    ),
}


@pytest.mark.parametrize(("sentence", "shown_by", "not_by"), CASES.values(), ids=CASES)
def test_a_warning_is_shown_where_it_is_true(sentence, shown_by, not_by):
    assert any(sentence in text for text in warnings(checked(shown_by)))
    assert not any(sentence in text for text in warnings(checked(not_by)))


def test_that_constraints_change_nothing_is_said_of_convex_programs_alone():
    same = "without them the optimum is the same"
    assert same in SolvedConstraints(2, (), 0.0).statement
    assert same not in SolvedConstraints(2, (), 0.0, used=("age",)).statement
    assert same not in SolvedConstraints(2, (), 0.0, convex=False).statement
    assert same not in SolvedConstraints(2, (ActiveConstraint("debt ≥ 0", 0.2),), 0.0).statement


@pytest.mark.parametrize(
    ("settings", "shown"),
    [
        ("formulation=ranksvm", "λ = 0.01 not tuned (tune=penalty"),
        ("formulation=ranksvm formulation.penalty=0.02", "λ = 0.02 not tuned (tune=penalty"),
        ("formulation=ranksvm tune=penalty tune.values=[0.1,1]", "chosen by cross-validated AUC"),
        ("formulation=bauc", "bauc · 35 rows"),
    ],
)
def test_how_a_parameter_was_chosen(settings, shown):
    model = dict(answer(checked(settings)))["model"].plain
    assert shown in model
    assert "default" not in model  # a value that was typed may be equal to it


def test_rows_that_were_not_held_out_are_named():
    rows = dict(answer(checked("formulation=bauc split=none")))
    assert rows["test AUC"].plain == "not measured: split=holdout or split=kfold holds rows out"
    assert "not measured" not in dict(answer(checked("formulation=bauc")))["test AUC"].plain


def test_labels_of_a_constant_scorer_match_no_share():
    same = "the same for every row: the scorer is constant"
    assert labels(checked("formulation=ranksvm formulation.penalty=1e3")) == same
    assert "the share of predicted positives is" in labels(checked("formulation=ranksvm formulation.penalty=0.01"))
