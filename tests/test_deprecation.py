"""What goes in a later version warns, names that version, and is gone in time."""

import ast
import warnings
from pathlib import Path

import pytest
from packaging.version import Version

import auclab
from auclab.deprecation import deprecated, renamed_parameters

SOURCES = sorted((Path(__file__).parents[1] / "src").rglob("*.py"))
MARKS = {"deprecated", "renamed_parameters", "warn_changed_default"}


def uses(tree):
    """Calls of what marks names that go and defaults that changed, and such warnings that are written by hand."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name = getattr(node.func, "id", getattr(node.func, "attr", ""))
        named = {argument.id for argument in node.args if isinstance(argument, ast.Name)}
        by_hand = name == "warn" and named & {"FutureWarning", "DeprecationWarning", "PendingDeprecationWarning"}
        if name in MARKS or by_hand:
            yield name, {each.arg: getattr(each.value, "value", None) for each in node.keywords}


def overdue(name, options, version):
    """Whether a use names no version, or one that has come."""
    return name not in MARKS or Version(options["removed_in"]) <= Version(version)


def test_every_deprecation_names_a_version_to_come():
    """The release that should lack a name cannot be made while the name is there."""
    here = Version(auclab.__version__).base_version
    found = {
        f"{path.name}: {name}": overdue(name, options, here)
        for path in SOURCES
        if path.name != "deprecation.py"
        for name, options in uses(ast.parse(path.read_bytes()))
    }
    assert [use for use, late in found.items() if late] == []


@pytest.mark.parametrize(
    ("text", "late"),
    [
        ('@deprecated(since="0.1", removed_in="0.3", instead="x")\ndef f(): pass', True),
        ('@deprecated(since="0.1", removed_in="0.4", instead="x")\ndef f(): pass', False),
        ('warnings.warn("gone soon", FutureWarning, stacklevel=2)', True),
        ('warnings.warn("slow", RuntimeWarning)', None),
    ],
)
def test_the_look_finds_them(text, late):
    assert [overdue(*use, "0.3.0") for use in uses(ast.parse(text))] == ([] if late is None else [late])


def test_a_function_keeps_its_name_and_page():
    @deprecated(since="0.4", removed_in="0.6", instead="auclab.new")
    def old(a, b=2):
        """Add."""
        return a + b

    with pytest.warns(
        FutureWarning, match=r"^old is deprecated since auclab 0\.4 and will be removed in 0\.6; use "
    ) as told:
        assert old(1) == 3
    assert told[0].filename == __file__  # the line of the caller
    assert (old.__name__, old.__doc__) == ("old", "Add.")


def test_a_class_stays_a_class():
    @deprecated(since="0.4", removed_in="0.6", instead="New")
    class Old:
        def __init__(self, value):
            self.value = value

    with pytest.warns(FutureWarning, match="Old is deprecated") as told:
        assert Old(3).value == 3
    assert isinstance(Old, type)
    assert told[0].filename == __file__


def test_parameters_under_both_names_are_refused():
    @renamed_parameters(since="0.4", removed_in="0.6", lam="penalty")
    def solve(*, penalty):
        return penalty

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert solve(penalty=1) == 1
    with pytest.warns(FutureWarning, match=r"lam of solve .* removed in 0\.6; use penalty"):
        assert solve(lam=2) == 2
    with pytest.raises(ValueError, match="got lam and penalty, which are one parameter; give penalty"):
        solve(lam=1, penalty=2)


def test_a_version_that_is_not_later_is_refused():
    with pytest.raises(ValueError, match=r"removed_in is 0\.4, which must be later than since, 0\.10"):
        deprecated(since="0.10", removed_in="0.4", instead="x")
