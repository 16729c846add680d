"""docs/bounds.md: its example runs, its pictures are there and small, its numbers are those of the code."""

import re
from pathlib import Path

from auclab.bounds import pairwise_stability_bound, published_stability_bound

PAGE = Path(__file__).parents[2] / "docs" / "bounds.md"


def test_example_runs(capsys):
    (code,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    exec(compile(code, str(PAGE), "exec"), {})
    margin, stability, plan = capsys.readouterr().out.splitlines()
    assert 0 <= float(stability) < float(margin) < 1
    assert plan.startswith("SampleSize(n_pos=5764, n_neg=23056")


def test_pictures_are_there_and_small():
    names = re.findall(r"!\[[^\]]*\]\(([^)]+)\)", PAGE.read_text(encoding="utf-8"))
    assert len(names) == 4
    for name in names:
        assert 5_000 < (PAGE.parent / name).stat().st_size < 60_000


def test_quoted_numbers():
    text = PAGE.read_text(encoding="utf-8")
    sizes = {"penalty": 0.25, "n_pos": 2000, "n_neg": 80_000, "rho": 0.01}
    published = published_stability_bound(0.35, 0.5, radius_pos=0.75, radius_neg=0.75, **sizes).lower
    proved = pairwise_stability_bound(0.35, 0.5, diameter=1.5, **sizes).lower
    assert f"published bAUC ≥ −{-published:.2f}, proved bAUC ≥ {proved:.3f}" in text


def test_no_proved_bound_is_violated_in_the_table():
    rows = re.findall(r"^\| .* \| (yes|no) \| ([\d.]+) % \| ([\d.]+) % \|", PAGE.read_text(encoding="utf-8"), re.M)
    assert len(rows) >= 20
    assert all(float(low) <= 5 and float(high) <= 50 for proved, low, high in rows if proved == "yes")
