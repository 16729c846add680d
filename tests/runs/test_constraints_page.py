"""The examples of docs/constraints.md run, and print what the page says."""

import contextlib
import io
import re
from pathlib import Path

import pytest
import yaml

from auclab.datasets import load
from auclab.runs.config.settings import KEYS, resolve_constraints
from auclab.runs.split.constrained import constraints_of

TEXT = (Path(__file__).parents[2] / "docs" / "constraints.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def credit():
    return load("german_credit")


@pytest.mark.needs_tables("german_credit.csv")
def test_python(credit):
    blocks = re.findall(r"```python\n(.*?)```\s+(?:```text\n(.*?)```)?", TEXT, re.DOTALL)
    names: dict = {}
    for code, expected in blocks:
        with contextlib.redirect_stdout(io.StringIO()) as out:
            exec(code, names)
        assert out.getvalue() == expected
    assert len(blocks) == 2


@pytest.mark.needs_tables("german_credit.csv")
def test_the_file_of_rules(credit, tmp_path):
    (block,) = re.findall(r"```yaml\n(.*?)```", TEXT, re.DOTALL)
    path = tmp_path / "rules.yaml"
    path.write_text(block, encoding="utf-8")
    rules = resolve_constraints({"file": str(path)})
    constraints_of(rules, credit, {}).check()
    assert set(rules) == set(yaml.safe_load(block))


def test_every_key_is_explained():
    table = TEXT.partition("| key |")[2].partition("\n\n")[0]
    assert all(f"`{key}`" in table for key in KEYS)


@pytest.mark.needs_tables("german_credit.csv")
def test_the_screen_of_the_page(credit):
    from auclab.runs.experiment import solve_splits
    from composed import composed

    overrides = ["dataset=german_credit", "formulation=ranksvm", "formulation.squared=true", "tracking=none"]
    overrides += ["constraints.nonnegative=[duration_months,credit_amount]", "constraints.nonpositive=[age]"]
    overrides += ["constraints.lower={installment_rate: 0.3}", "constraints.excluded=[foreign_worker]"]
    overrides += ["decision.probability=none", "bounds=none"]
    result = solve_splits(composed(overrides))
    assert result.folds[0].constraints.statement in " ".join(TEXT.split())
