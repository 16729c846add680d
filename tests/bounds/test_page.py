"""docs/bounds.md and docs/bound_validity.md: example, pictures, and numbers that are those of the code."""

import re
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom

from auclab.bounds import pairwise_stability_bound, published_stability_bound, weighted_auc_bound

PAGE = Path(__file__).parents[2] / "docs" / "bounds.md"
VALIDITY = PAGE.with_name("bound_validity.md")


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
    text = VALIDITY.read_text(encoding="utf-8")
    sizes = {"penalty": 0.25, "n_pos": 2000, "n_neg": 80_000, "rho": 0.01}
    published = published_stability_bound(0.35, 0.5, radius_pos=0.75, radius_neg=0.75, **sizes).lower
    proved = pairwise_stability_bound(0.35, 0.5, diameter=1.5, **sizes).lower
    assert f"published bound is bAUC ≥ −{-published:.2f}, the proved one bAUC ≥ {proved:.3f}" in text


def test_quoted_half_widths():
    options = {"weight_integral": 1.0, "weight_sup": 1.0, "weight_lipschitz": 0.0, "delta": 0.05}
    width = {
        method: weighted_auc_bound(method, n_pos=500, n_neg=1000, **options).half_width
        for method in ("mcdiarmid", "dkw", "published")
    }
    assert (
        f'half-widths are {width["mcdiarmid"]:.3f} ("mcdiarmid"), {width["dkw"]:.3f} ("dkw") and '
        f"{width['published']:.2f} (Theorem 2"
    ) in " ".join(VALIDITY.read_text(encoding="utf-8").split())


def test_quoted_means_of_a_weight_that_jumps():
    def mean(n):  # of the share k/n of negatives below, where it is ½ or more
        k = np.arange(n + 1)
        return float((binom.pmf(k, n, 0.5) * k / n)[k >= n / 2].sum())

    numbers = f"{mean(10):.4f}, {mean(100):.4f} and {mean(10_000):.5f}"
    assert f"the mean of its estimate is {numbers} for 10, 100 and 10⁴ negatives" in " ".join(
        VALIDITY.read_text(encoding="utf-8").split()
    )


@pytest.mark.parametrize("share", [0.25, 0.1, 0.01])
def test_the_proved_slack_is_never_the_larger_one_with_a_rare_class(share):
    for m, penalty, rho, a in product((40, 1000, 10**6), (0.01, 1.0, 100.0), (0.01, 0.5), (0.1, 1.0, 10.0)):
        n_pos = max(1, round(share * m))
        if n_pos > m / 4 or m * np.log(1 / rho) < 3.2:
            continue
        sizes = {"penalty": penalty, "n_pos": n_pos, "n_neg": m - n_pos, "rho": rho}
        published = published_stability_bound(0.3, a, radius_pos=0.5, radius_neg=0.5, **sizes).slack
        assert pairwise_stability_bound(0.3, a, diameter=1.0, **sizes).slack <= published


def test_no_proved_bound_is_violated_in_the_table():
    rows = re.findall(r"^\| .* \| (yes|no) \| ([\d.]+) % \| ([\d.]+) % \|", VALIDITY.read_text(encoding="utf-8"), re.M)
    assert len(rows) >= 20
    assert all(float(low) <= 5 and float(high) <= 50 for proved, low, high in rows if proved == "yes")
