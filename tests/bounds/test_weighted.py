"""Weighted-AUC bounds: constants, the deterministic lemmas they rest on, coverage, and the impossibility example."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

import reference_bounds as reference
from auclab._core.base import AuclabError
from auclab.bounds import balance_event, fixed_scorer_auc_bound, uniform_weighted_auc_bound, weighted_auc_bound
from auclab.bounds.weighted import Ramp
from auclab.metrics import weighted_auc

ONE = {"weight_sup": 1.0, "weight_lipschitz": 0.0, "weight_integral": 1.0}


def test_numbers_of_the_formula_sheet():
    """W ≡ 1, 500 positives, 1000 negatives, δ = 0.05 (derivations 9.2)."""
    sizes = {"n_pos": 500, "n_neg": 1000, "delta": 0.05}
    widths = {m: weighted_auc_bound(m, **ONE, **sizes) for m in ("mcdiarmid", "dkw", "published", "corrected")}
    assert widths["mcdiarmid"].half_width == pytest.approx(0.074, abs=5e-4)
    assert widths["dkw"].half_width == pytest.approx(0.113, abs=5e-4)
    assert widths["published"].half_width == pytest.approx(3.10, abs=5e-3)
    # (L + 3‖W‖) in place of (L + 9‖W‖)
    assert widths["corrected"].half_width == pytest.approx(widths["published"].half_width / 3, rel=1e-12)
    assert not widths["mcdiarmid"].vacuous
    assert widths["published"].vacuous
    assert "not proved" in " ".join(widths["published"].assumptions)
    assert "not proved" not in " ".join(widths["corrected"].assumptions)
    for bound in widths.values():
        assert math.isnan(bound.lower)
        assert bound.slack == bound.half_width
        assert (type(bound.half_width), type(bound.vacuous)) == (float, bool)


def test_constant_weight_is_the_auc():
    """W ≡ 1: "mcdiarmid" is the bound of Agarwal et al. 8.5, and so is "max_rank"."""
    for method in ("mcdiarmid", "max_rank"):
        bound = weighted_auc_bound(method, **ONE, n_pos=70, n_neg=900, delta=0.02)
        again = fixed_scorer_auc_bound(0.8, n_pos=70, n_neg=900, rho=0.02)
        assert bound.half_width == pytest.approx(again.half_width, rel=1e-14)


def test_by_hand():
    """‖W‖ = 2, L = 4, ∫W = 1, 100 positives, 400 negatives, δ = 2e⁻²: ln(2/δ)/2 = 1."""
    about = {"weight_sup": 2.0, "weight_lipschitz": 4.0, "weight_integral": 1.0, "n_pos": 100, "n_neg": 400}
    delta = 2 * math.exp(-2)
    widths = {m: weighted_auc_bound(m, **about, delta=delta).half_width for m in ("dkw", "mcdiarmid", "max_rank")}
    per_class = math.log(4 / delta) / 2
    assert widths["dkw"] == pytest.approx(2 * math.sqrt(per_class / 400) + math.sqrt(per_class / 100), rel=1e-14)
    assert widths["mcdiarmid"] == pytest.approx(math.sqrt(1 / 100 + 4 / 400) + 4 / 3200, rel=1e-14)
    assert widths["max_rank"] == pytest.approx(math.sqrt(4 / 100 + 36 / 400) + 4 * (1 / 40 + 1 / 400), rel=1e-14)


def test_a_jump_costs_the_averaged_functional_a_bias_and_the_other_everything():
    about = {"weight_sup": 1.0, "weight_lipschitz": math.inf, "weight_integral": 0.5, "n_pos": 100, "n_neg": 100}
    bias = weighted_auc_bound("mcdiarmid", **about, delta=0.1).half_width
    smooth = weighted_auc_bound("mcdiarmid", **(about | {"weight_lipschitz": 0.0}), delta=0.1).half_width
    assert bias - smooth == pytest.approx(1 / 20, rel=1e-12)
    assert math.isfinite(weighted_auc_bound("dkw", **about, delta=0.1).half_width)
    for method in ("max_rank", "published", "corrected"):
        bound = weighted_auc_bound(method, **about, delta=0.1)
        assert bound.half_width == math.inf
        assert bound.vacuous


def test_event():
    """m̲ > √(2 ln(4/δ)/m), and outside of it the statements with drawn labels say nothing."""
    m, delta = 1000, 0.05
    edge = math.sqrt(2 * math.log(4 / delta) / m) * m
    inside, outside = math.floor(edge) + 1, math.floor(edge)
    assert balance_event(n_pos=inside, n_neg=m - inside, delta=delta)
    assert not balance_event(n_pos=m - outside, n_neg=outside, delta=delta)
    for method in ("published", "corrected"):
        sizes = {"n_pos": outside, "n_neg": m - outside, "delta": delta}
        bound = weighted_auc_bound(method, **ONE, **sizes)
        assert bound.half_width == math.inf
        assert bound.vacuous
        assert any("not observed" in words for words in bound.assumptions)
        about = {"weight_sup": 1.0, "weight_lipschitz": 1.0, "ell_lipschitz": 1.0, "gaussian_complexity": 1.0}
        assert uniform_weighted_auc_bound(**about, **sizes, method=method).half_width == math.inf
    assert weighted_auc_bound("dkw", **ONE, n_pos=outside, n_neg=m - outside, delta=delta).half_width < 1


def test_event_halves_the_frequency_rarely():
    """Under A_δ, μ(y) ≥ μ̂(y)/2 fails with probability δ/2 at most: exact binomial sums."""
    n, delta = 60, 0.1
    least = math.sqrt(2 * math.log(4 / delta) / n)
    for mu in np.linspace(0.01, 0.49, 25):
        k = np.arange(n + 1)
        bad = (k / n > least) & (1 - k / n > least) & (mu < k / n / 2)
        assert binom.pmf(k[bad], n, mu).sum() <= delta / 2


def ramp_functions(low, width, height):
    """A weight with a ramp, its integral, its Lipschitz constant."""

    def weight(s):
        return height * np.clip((np.asarray(s) - low) / width, 0.0, 1.0)

    def integral(s):
        over = np.clip(np.asarray(s) - low, 0.0, None)
        return height * np.where(over < width, over**2 / (2 * width), over - width / 2)

    return weight, integral, height / width


LAW = st.lists(st.integers(0, 5), min_size=6, max_size=6).filter(any).map(lambda w: np.array(w) / sum(w))


@given(p0=LAW, p1=LAW, q0=LAW, q1=LAW, low=st.floats(0, 0.9), width=st.floats(0.01, 1), tau=st.floats(0.1, 3))
def test_functionals_are_lipschitz_in_the_laws(p0, p1, q0, q1, low, width, tau):
    """|f_S(P) − f_S(Q)| ≤ ‖W‖ d₀ + W₁ d₁ and |f_R(P) − f_R(Q)| ≤ ‖W‖ d₁ + (‖W‖ + 2L) d₀, atoms and all."""
    points = np.arange(6.0)
    weight, integral, lipschitz = ramp_functions(low, width, 2.0)
    sup, total = float(weight(1.0)), float(integral(1.0))

    def ell(t):
        return min(max(t / tau, 0.0), 1.0)

    def d(p, q):
        return np.abs(np.cumsum(p) - np.cumsum(q)).max()

    averaged = [reference.averaged_auc(points, points, *laws, integral, ell) for laws in ((p1, p0), (q1, q0))]
    assert abs(averaged[0] - averaged[1]) <= sup * d(p0, q0) + total * d(p1, q1) + 1e-12
    max_rank = [reference.max_rank_auc(points, points, *laws, weight, ell) for laws in ((p1, p0), (q1, q0))]
    assert abs(max_rank[0] - max_rank[1]) <= sup * d(p1, q1) + (sup + 2 * lipschitz) * d(p0, q0) + 1e-12


@given(seed=st.integers(0, 10_000), low=st.floats(0, 0.9), width=st.floats(0.01, 1))
def test_one_observation_moves_the_estimate_as_little_as_mcdiarmid_needs(seed, low, width):
    """One positive: ∫W/m₊ (f_S), ‖W‖/m₊ (f_R); one negative: ‖W‖/m₋ (f_S), (‖W‖ + L)/m₋ (f_R)."""
    rng = np.random.default_rng(seed)
    pos, neg = rng.integers(0, 6, 4).astype(float), rng.integers(0, 6, 5).astype(float)
    weight, integral, lipschitz = ramp_functions(low, width, 1.0)
    sup, total = float(weight(1.0)), float(integral(1.0))

    def values(pos, neg):
        shares = np.full(len(pos), 1 / len(pos)), np.full(len(neg), 1 / len(neg))
        step = lambda t: float(t > 0)  # noqa: E731
        return (
            reference.averaged_auc(pos, neg, *shares, integral, step),
            reference.max_rank_auc(pos, neg, *shares, weight, step),
        )

    before = values(pos, neg)
    other = float(rng.integers(0, 6))
    after = values(np.append(pos[1:], other), neg)
    assert abs(after[0] - before[0]) <= total / 4 + 1e-12
    assert abs(after[1] - before[1]) <= sup / 4 + 1e-12
    after = values(pos, np.append(neg[1:], other))
    assert abs(after[0] - before[0]) <= sup / 5 + 1e-12
    assert abs(after[1] - before[1]) <= (sup + lipschitz) / 5 + 1e-12


def test_bias_of_the_averaged_functional():
    """|E Φ(F̂₀) − Φ(F₀)| ≤ min(L/(8m), ‖W‖/(2√m)): exact binomial sums."""
    for m in (1, 2, 5, 30):
        k = np.arange(m + 1)
        for low, width in ((0.0, 1.0), (0.3, 0.2), (0.5, 1e-6)):
            _, integral, lipschitz = ramp_functions(low, width, 1.0)
            for f in np.linspace(0, 1, 21):
                bias = abs(binom.pmf(k, m, f) @ integral(k / m) - integral(f))
                assert bias <= min(lipschitz / (8 * m), 1 / (2 * math.sqrt(m))) + 1e-12


def impossible(n_neg):
    """E f̂_R = E[(k/m₋) 1{k ≥ m₋/2}], k ~ Bin(m₋, ½): the negatives at a count W(k/m₋), those at b have no
    positive above."""
    k = np.arange(n_neg + 1)
    return float(binom.pmf(k, n_neg, 0.5) @ (k / n_neg * (2 * k >= n_neg)))


@pytest.mark.parametrize(("n_neg", "value"), [(10, 0.3730), (100, 0.2898), (10_000, 0.25399)])
def test_impossibility_by_exact_sums(n_neg, value):
    """Maurer & Pontil Prop. 1, derivations 9.3: negatives at a or b, all positives between, W = 1 on [½, 1]."""
    assert impossible(n_neg) == pytest.approx(value, abs=5e-5)


def test_impossibility_in_the_limit_and_for_odd_numbers():
    assert abs(impossible(10**6) - 0.25) < 5e-4
    assert abs(impossible(10**6 + 1) - 0.25) < 5e-4


def test_impossibility_by_simulation_and_the_averaged_functional_has_no_such_defect():
    """f_R = ½ though its estimate tends to ¼; f_S = 0 and its estimate tends to 0."""
    rng = np.random.default_rng(9)
    step = Ramp(0.5, 1.0, 0.0)
    labels, law = np.array([1, 0, 0]), np.array([0.0, -1.0, 1.0])
    arguments = {"weight": step.at, "breakpoints": step.breakpoints, "ties": "strict"}
    assert weighted_auc(labels, law, convention="max_rank", **arguments) == 0.5
    assert weighted_auc(labels, law, convention="average", **arguments) == 0.0
    n_neg, repeat = 400, 600
    y = np.repeat([1, 0], [3, n_neg])
    found = np.empty((repeat, 2))
    for row in found:
        scores = np.concatenate([np.zeros(3), rng.choice([-1.0, 1.0], n_neg)])
        row[:] = [weighted_auc(y, scores, convention=c, **arguments) for c in ("max_rank", "average")]
    error = found[:, 0].std() / math.sqrt(repeat)
    assert abs(found[:, 0].mean() - impossible(n_neg)) < 4 * error
    assert found[:, 0].mean() < 0.3
    # (k/m − ½)₊ of standard deviation ½/√m: mean ½ √(1/(2πm)) = 0.00997 at m = 400
    assert found[:, 1].mean() == pytest.approx(0.5 / math.sqrt(2 * math.pi * n_neg), rel=0.2)
    width = weighted_auc_bound(
        "mcdiarmid",
        weight_sup=1.0,
        weight_lipschitz=math.inf,
        weight_integral=0.5,
        n_pos=3,
        n_neg=n_neg,
        delta=0.05,
    ).half_width
    assert (found[:, 1] <= width).mean() >= 0.95


def test_uniform_by_hand():
    """‖W‖ = 2, L = 1, ℓ' = 3, G = 5, 100 and 400, δ = 2e⁻⁴: M = 0.06, J = 1500 · max{5/40000, 1/160000}."""
    bound = uniform_weighted_auc_bound(
        weight_sup=2.0,
        weight_lipschitz=1.0,
        ell_lipschitz=3.0,
        n_pos=100,
        n_neg=400,
        gaussian_complexity=5.0,
        delta=2 * math.exp(-4),
    )
    expected = math.sqrt(2 * math.pi) * (0.12 + 0.1875) * 5 + 0.02 * math.sqrt(2000) + 1 / 3200
    assert bound.half_width == pytest.approx(expected, rel=1e-13)


def test_uniform_published_and_corrected_by_hand():
    """Equal classes of 50,000: q = ½, so q_neg² q_pos = ⅛; ‖W‖ = L = ℓ' = 1, G = √m."""
    m, delta = 100_000, 0.05
    about = {"weight_sup": 1.0, "weight_lipschitz": 1.0, "ell_lipschitz": 1.0, "delta": delta}
    sizes = {"n_pos": m // 2, "n_neg": m // 2, "gaussian_complexity": math.sqrt(m)}
    first = 4 * math.sqrt(2 * math.pi) * 2 * 8 / math.sqrt(m)  # printed: twice that
    published = uniform_weighted_auc_bound(**about, **sizes, method="published").half_width
    assert published == pytest.approx(2 * first + 11 * 4 * math.sqrt(4 * math.log(16 * m / delta) / m), rel=1e-12)
    corrected = uniform_weighted_auc_bound(**about, **sizes, method="corrected").half_width
    log = math.log(4 / delta)
    second = 2 * (math.sqrt(log / m) + math.sqrt(math.pi / (2 * m))) * 4 + 2 * 4 * math.sqrt(log / (2 * m))
    assert corrected == pytest.approx(first + second, rel=1e-12)
    assert corrected < published


@pytest.mark.parametrize(
    ("method", "first", "second"),
    [("published", 2, 2), ("published", 1, 2), ("corrected", 1, 1)],
    ids=["Lemma 11 (iii) as printed", "L₁ and L₂ as printed", "erratum M7"],
)
def test_the_factor_of_the_complexity_follows_from_lemma_11(method, first, second):
    """Theorem 9, √(2π)(2M_L + J_L), with L₁ = first ‖W‖, L₂ = second (‖W‖ + L/c), c = q_neg/2, over q_neg q_pos.

    At ‖W‖ = 0 no smaller factor of (‖W‖ + L)/(q_neg² q_pos) would do.
    """
    about = {"ell_lipschitz": 1.0, "delta": 0.05, "method": method}
    for n_pos, sup, lipschitz in itertools.product((5000, 500_000, 995_000), (0.0, 1.0), (0.0, 3.0)):
        m, weight = 10**6, {"weight_sup": sup, "weight_lipschitz": lipschitz}
        widths = [
            uniform_weighted_auc_bound(n_pos=n_pos, n_neg=m - n_pos, gaussian_complexity=g, **about, **weight)
            for g in (1e9, 0.0)
        ]
        q_neg = 1 - n_pos / m
        slope, cross = first * sup / m, 2 * second * (sup + 2 * lipschitz / q_neg) / m
        needed = math.sqrt(2 * math.pi) * (2 * slope + cross) / (q_neg * n_pos / m) * 1e9
        found = widths[0].half_width - widths[1].half_width
        assert found >= needed * (1 - 1e-12)
        if sup == 0.0:
            assert found == pytest.approx(needed, rel=1e-9)


def test_seminorms_of_the_functional_over_a_line_with_both_labels():
    """M_L ≤ ‖W‖ℓ'/n and J_L ≤ 2ℓ'(‖W‖ + L/c)/n for classes 1/ℓ' apart, by changing one or two of six observations."""
    n, slope, steep, c = 6, 2.0, 3.0, 0.5
    rng = np.random.default_rng(0)

    def antiderivative(s):  # of W(s) = min(3s, 1), by hand
        return np.where(s < 1 / steep, steep * s**2 / 2, s - 1 / (2 * steep))

    def value(sample):
        pos, neg = (np.sort([x for x, y in sample if y == label]) for label in (1, 0))
        gains = [sum(min(max(slope * (p - t), 0.0), 1.0) for p in pos) / n for t in neg]
        return float(gains @ np.diff(c * antiderivative(np.arange(neg.size + 1) / n / c))) if neg.size else 0.0

    def apart(one, other):
        same = one[1] == other[1]
        return abs(one[0] - other[0]) if same else (1 - one[0]) + (1 - other[0]) + 1 / slope

    single, cross = [], []
    for _ in range(4000):
        *rest, y, y_new, z, z_new = [(float(rng.integers(9)) / 8, int(rng.integers(2))) for _ in range(n + 2)]
        if y != y_new:
            of_z, of_new = (value([*rest, y, each]) - value([*rest, y_new, each]) for each in (z, z_new))
            single.append(abs(of_z) * n / apart(y, y_new))
            cross.append(abs(of_z - of_new) * n**2 / apart(y, y_new))
    assert 0.5 * slope < max(single) <= slope * (1 + 1e-12)
    assert 0.25 * 2 * slope < max(cross) <= 2 * slope * (1 + steep / c) * (1 + 1e-12)


def test_uniform_with_nothing_to_learn_needs_no_lipschitz_constant():
    about = {"weight_sup": 1.0, "weight_lipschitz": 0.0, "n_pos": 10**6, "n_neg": 10**6, "delta": 0.05}
    assert uniform_weighted_auc_bound(ell_lipschitz=math.inf, gaussian_complexity=0.0, **about).half_width < 0.01
    assert uniform_weighted_auc_bound(ell_lipschitz=math.inf, gaussian_complexity=1.0, **about).vacuous


def test_uniform_sizes_of_32_bits():
    about = {"weight_sup": 1.0, "weight_lipschitz": 1.0, "ell_lipschitz": 1.0, "gaussian_complexity": 1.0}
    plain = uniform_weighted_auc_bound(n_pos=100_000, n_neg=90_000, delta=0.05, **about)
    small = uniform_weighted_auc_bound(n_pos=np.int32(100_000), n_neg=np.int32(90_000), delta=0.05, **about)
    assert small == plain or small.half_width == plain.half_width


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"method": "best"}, "dkw, mcdiarmid"),
        ({"delta": 0.0}, "delta"),
        ({"weight_sup": -1.0}, "weight_sup"),
        ({"weight_integral": 1.5}, "integral"),
        ({"weight_lipschitz": math.nan}, "weight_lipschitz"),
        ({"n_neg": 0}, "n_neg=0"),
    ],
)
def test_refuses(changes, words):
    arguments = {"method": "dkw", **ONE, "n_pos": 9, "n_neg": 9, "delta": 0.1} | changes
    with pytest.raises(AuclabError, match=words):
        weighted_auc_bound(arguments.pop("method"), **arguments)


@pytest.mark.parametrize("changes", [{"method": "x"}, {"gaussian_complexity": -1.0}, {"ell_lipschitz": -1.0}])
def test_uniform_refuses(changes):
    about = {"weight_sup": 1.0, "weight_lipschitz": 1.0, "ell_lipschitz": 1.0, "gaussian_complexity": 1.0}
    with pytest.raises(AuclabError, match=next(iter(changes))):
        uniform_weighted_auc_bound(**(about | {"n_pos": 9, "n_neg": 9, "delta": 0.1} | changes))
