"""The choice of cases for the first tier."""

from itertools import product

from tiers import covering_choice


def chosen(cases, kept=(), **most):
    marks = covering_choice(cases, [i in kept for i in range(len(cases))], most)
    return [tuple(case.values()) for case, stays in zip(cases, marks, strict=True) if stays]


def test_every_value_of_every_parameter_is_among_few_cases():
    cases = [{"solver": solver, "seed": seed} for solver, seed in product("abc", range(4))]
    assert chosen(cases) == [("a", 0), ("a", 3), ("b", 1), ("c", 2)]
    assert chosen(cases, seed=1) == [("a", 0), ("b", 0), ("c", 0)]


def test_no_value_is_chosen_much_more_often_than_others():
    cases = [{"kind": kind, "solver": solver} for kind, solver in product(range(4), "ab")]
    assert chosen(cases) == [(0, "a"), (1, "b"), (2, "a"), (3, "b")]


def test_what_is_kept_anyway_counts():
    cases = [{"solver": solver, "seed": seed} for solver, seed in product("ab", range(2))]
    assert chosen(cases, kept=[0, 1]) == [("a", 0), ("a", 1), ("b", 0)]


def test_values_that_have_no_hash_are_told_apart():
    first, second = [1.0], [2.0]
    assert chosen([{"values": first}, {"values": second}, {"values": first}]) == [([1.0],), ([2.0],)]
