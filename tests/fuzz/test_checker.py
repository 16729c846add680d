"""Every stored number and word of a run, changed one at a time: the checker notices, or it is listed as no claim.

Two changes of every field by default; `AUCLAB_FUZZ=100` is for the nightly run.
"""

import copy
import json
import os
from pathlib import Path

import numpy as np
import pytest

from auclab._core.base import AuclabError
from auclab.runs.checking.command import check_folder, exit_code
from composed import run_here
from tampered_runs import small_table

COUNT = max(2, int(os.environ.get("AUCLAB_FUZZ", "20")) // 10)
#: Fields of ``certificate.json`` that claim nothing which is proved, and what `violation` and `norm_bound` allow.
NO_CLAIMS = ("seconds", "iterations", "optimum", "notes", "advice", "solver", "formulation", "dual_residual", "steps")
ALSO = {
    ("kernel", "rounding"),
    ("data", "rows"),
    ("data", "features"),
    ("program", "class"),
    ("constraints", "statement"),
    ("violation",),
}
#: A norm without weight has no square.
UNUSED = {"buffered": ("program", "squared"), "balanced": ("program", "squared")}
#: The metrics are those of `auclab rerun`.
CLAIMED_METRICS = {"objective", "lower_bound", "gap", "absolute_gap"}
SETTINGS = {
    "penalised": ["formulation=ranksvm"],
    "buffered": ["formulation=generalized_bauc", "formulation.norm=l1"],
    "weighted": ["formulation=csvm", "class_weight={negative: 1, positive: 5}"],
    "balanced": ["formulation=ecsvm", "class_weight=balanced"],
    "constrained": ["formulation=ranksvm", "+constraints.nonnegative=[a]"],
    "kernel": ["formulation=csvm", "kernel=rbf", "class_weight=balanced"],
}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    place = tmp_path_factory.mktemp("tampered")
    data = small_table(place)
    for name, overrides in SETTINGS.items():
        run_here(place / name, *data, *overrides)
    return place


def leaves(content, path=()):
    """Paths of all values, and the values."""
    items = content.items() if isinstance(content, dict) else enumerate(content) if isinstance(content, list) else None
    if items is None:
        yield path, content
        return
    for key, value in items:
        yield from leaves(value, (*path, key))


def changed(value, rng):
    """Another value of the same kind."""
    if isinstance(value, bool) or value is None:
        return not value
    if isinstance(value, str):
        return value + "x" if rng.random() < 0.5 else value[:-1]
    size = float(rng.choice([1e-7, 1e-3, 1.0, 1e9])) * float(rng.choice([-1.0, 1.0]))
    return value * (1 + size) if value else size


def is_claim(path, value):
    """Whether a field of ``certificate.json`` is to be noticed."""
    no_claim = path[0] in NO_CLAIMS or path in ALSO or path[:2] == ("kernel", "stages")
    return value is not None and value != "inf" and not no_claim


def code(folder: Path) -> int:
    """The exit code of a check; 2 where the run cannot be read."""
    try:
        return exit_code(check_folder(folder))
    except AuclabError:
        return 2


@pytest.mark.parametrize("name", SETTINGS)
def test_a_run_is_confirmed(made, name):
    assert code(made / name) == 0


@pytest.mark.slow
@pytest.mark.covering
@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.parametrize("file", ["certificate.json", "metrics.json"])
def test_what_is_changed_is_noticed(made, name, file):
    """But for multipliers of constraints: changed a little, they prove as much within the slack."""
    folder, rng = made / name, np.random.default_rng(len(name))
    original = (folder / file).read_text(encoding="utf-8")
    content, unseen = json.loads(original), []
    for path, value in leaves(content):
        claimed = is_claim(path, value) if file == "certificate.json" else path[0] in CLAIMED_METRICS
        if not claimed or path == UNUSED.get(name) or path[:2] == ("constraints", "multipliers"):
            continue
        for _ in range(COUNT):
            other = copy.deepcopy(content)
            inner = other
            for key in path[:-1]:
                inner = inner[key]
            inner[path[-1]] = changed(value, rng)
            if inner[path[-1]] == value:
                continue
            (folder / file).write_text(json.dumps(other), encoding="utf-8")
            if code(folder) == 0:
                unseen.append((path, value, inner[path[-1]]))
    (folder / file).write_text(original, encoding="utf-8")
    assert not unseen


@pytest.mark.parametrize("name", SETTINGS)
def test_a_bound_just_above_the_objective_is_noticed(made, name):
    """By 1e-10 of it, which is within the slack of what the multipliers prove."""
    folder = made / name
    texts = {file: (folder / file).read_text(encoding="utf-8") for file in ("certificate.json", "metrics.json")}
    certificate, metrics = (json.loads(text) for text in texts.values())
    certificate["lower_bound"] = certificate["objective"] * (1 + 1e-10)
    certificate["absolute_gap"] = certificate["objective"] - certificate["lower_bound"]
    certificate["gap"] = certificate["absolute_gap"] / max(certificate["objective"], 1e-3)
    metrics |= {key: certificate[key] for key in CLAIMED_METRICS}
    for file, edited in zip(texts, (certificate, metrics), strict=True):
        (folder / file).write_text(json.dumps(edited), encoding="utf-8")
    found = code(folder)
    for file, text in texts.items():
        (folder / file).write_text(text, encoding="utf-8")
    assert found == 1
