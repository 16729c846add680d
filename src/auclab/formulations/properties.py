"""What solvers and certificates rest on of a loss, a norm or a regulariser, at points drawn at random.

Those of a user are checked at a few points wherever a program meets its rows, for a bound that rests on a wrong dual
would be called proved; `auclab.testing` checks all of it at many points.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from weakref import ref

import numpy as np
from numpy.typing import ArrayLike

from auclab._core.base import Array, AuclabError
from auclab.losses import Loss
from auclab.regularisers import Norm, Regulariser, VectorNorm

#: Relative error that values may have.
ROUNDING = 1e-9
#: Normal vectors of each property before a solve.
_FEW = 12
#: Columns that have a unit vector.
_MOST_UNITS = 200
#: What was checked, by identity and number of columns: a path or a search states many programs with the same pieces.
_checked: dict[tuple[int, int], ref[object]] = {}


def check_own_pieces(loss: Loss, term: Regulariser, n_features: int) -> None:
    """Raise `AuclabError` where a user's loss or regulariser lacks what bounds rest on."""
    if _is_own(loss):
        _check_table(loss)
    # The methods of a loss follow from its table, which is checked, unless a subclass has its own.
    methods = ("value", "slope", "conjugate", "smoothed")
    where = f" of w with {n_features} columns"
    if any(getattr(type(loss), name) is not getattr(Loss, name) for name in methods) and _is_new(loss, 0):
        with _checking(loss, 0):
            check_loss_properties(loss, n_points=_FEW)
    if n_features and _is_new(term.norm, n_features):
        with _checking(term.norm, n_features, where):
            check_dual(term.norm, directions(n_features, _FEW))
    if n_features and _is_new(term, n_features):
        with _checking(term, n_features, where):
            check_bounds(term, directions(n_features, _FEW))


def _check_table(loss: Loss) -> None:
    """The table is what `pieces` gives now, and that of the hinge where a loss says that it is one."""
    now = [np.asarray(part, dtype=float).ravel() for part in loss.pieces()]
    if not all(map(np.array_equal, now, (loss.table.breakpoints, loss.table.coefficients.ravel()))):
        raise AuclabError(
            f"{loss!r} has a table that pieces() does not give: a loss must not change; make it a frozen "
            "dataclass, and a new one for another parameter"
        )
    if loss.is_hinge and not (now[0].tolist(), now[1].tolist()) == ([0.0], [0.0, 1.0, 0.0]):
        raise AuclabError(f"{loss!r} says is_hinge, and its table is not that of max(0, a): leave is_hinge out")


def _is_own(piece: object) -> bool:
    """Whether a piece is the user's."""
    return type(piece).__module__.partition(".")[0] != "auclab"


def _is_new(piece: object, n_features: int) -> bool:
    """Whether a piece is the user's, and was not checked before for this number of columns."""
    if not _is_own(piece):
        return False
    found = _checked.get((id(piece), n_features))
    return found is None or found() is not piece


@contextmanager
def _checking(piece: object, n_features: int, where: str = "") -> Iterator[None]:
    """Remember a piece that passes; what it raises becomes an error that names it."""
    try:
        yield
    except AuclabError:
        raise
    except Exception as error:  # the code of a user may raise anything
        raise AuclabError(f"{type(piece).__name__} raised {type(error).__name__}{where}: {error}") from error
    with suppress(TypeError):  # a class with slots may have no weak references
        _checked[id(piece), n_features] = ref(piece)


def directions(n_features: int, n_vectors: int, seed: int = 0) -> Array:
    """Unit vectors, signs on 2, 4, … and all columns, ones, and `n_vectors` normal ones; shape (n, n_features).

    Their lengths are over six orders of magnitude.
    """
    rng = np.random.default_rng(seed)
    units = np.zeros((min(n_features, _MOST_UNITS), n_features))
    units[np.arange(len(units)), np.linspace(0, n_features - 1, len(units)).astype(int)] = 1.0
    sizes = [2**k for k in range(1, n_features.bit_length()) if 2**k < n_features]
    signs = rng.choice([-1.0, 1.0], size=(len(sizes) + 1, n_features))
    for row, size in zip(signs, sizes, strict=False):
        row[rng.permutation(n_features)[size:]] = 0.0
    vectors = np.vstack([units, signs, np.ones(n_features), rng.normal(size=(n_vectors, n_features))])
    return np.asarray(vectors * rng.permutation(np.geomspace(1e-3, 1e3, len(vectors)))[:, None])


def check_dual(norm: VectorNorm, vectors: Array) -> None:
    """``‖−2w‖ = 2‖w‖`` and ``g·w ≤ ‖g‖_* ‖w‖`` for all g and w among the vectors: what every lower bound rests on."""
    lengths, duals = (np.array([float(of(w)) for w in vectors]) for of in (norm, norm.dual))
    require(norm, "‖w‖ ≥ 0", np.minimum(lengths, 0.0), where=vectors)
    require(norm, "‖g‖_* ≥ 0", np.minimum(duals, 0.0), where=vectors)
    doubled = np.array([norm(-2.0 * w) for w in vectors])
    require(norm, "‖−2w‖ = 2‖w‖", (doubled - 2.0 * lengths) / np.maximum(lengths, 1e-300), where=vectors)
    longest = duals[:, None] * lengths[None, :]
    excess = np.maximum(vectors @ vectors.T - longest, 0.0) / np.maximum(longest, 1e-300)
    require(norm, "g·w ≤ ‖g‖_* ‖w‖", excess.max(axis=1), where=vectors)
    if norm.is_absolute:
        moduli = np.array([norm(abs(w)) for w in vectors])
        of_moduli = (moduli - lengths) / np.maximum(lengths, 1e-300)
        require(norm, "‖w‖ is that of the moduli (is_absolute)", of_moduli, where=vectors)


def check_norm_properties(norm: VectorNorm, vectors: Array, seed: int = 0) -> None:
    """All axioms of a norm, its subgradient, and its restriction to a part of the columns where it has one."""
    check_dual(norm, vectors)
    lengths, others = np.array([norm(w) for w in vectors]), np.random.default_rng(seed).permutation(vectors)
    require(norm, "‖0‖ = 0", np.array([norm(np.zeros(vectors.shape[1]))]))
    require(norm, "‖w‖ > 0", (lengths <= 0).astype(float), where=vectors)
    sums = np.array([norm(v + w) for v, w in zip(vectors, others, strict=True)])
    parts = lengths + np.array([norm(w) for w in others])
    require(norm, "‖v + w‖ ≤ ‖v‖ + ‖w‖", np.maximum(sums / parts - 1.0, 0.0), where=vectors)
    subgradients = [np.asarray(norm.subgradient(w)) for w in vectors]
    reached = np.array([s @ w for s, w in zip(subgradients, vectors, strict=True)])
    require(norm, "s·w = ‖w‖", reached / lengths - 1.0, where=vectors)
    require(norm, "‖s‖_* ≤ 1", np.maximum([norm.dual(s) - 1.0 for s in subgradients], 0.0), where=vectors)
    columns = np.arange(0, vectors.shape[1], 2)
    if type(norm).restricted is VectorNorm.restricted:
        return
    inside = np.zeros_like(vectors)
    inside[:, columns] = vectors[:, columns]
    whole, narrowed = np.array([norm(w) for w in inside]), norm.restricted(columns)
    part = np.array([narrowed(w) for w in inside[:, columns]])
    require(norm, "restricted(columns) is ‖w‖ where the others are 0", part - whole, whole, inside)


def check_bounds(term: Regulariser, vectors: Array) -> None:
    """``R(w) = φ(‖w‖) + ρ Σ w_k²``, and what `dual_value` proves is at most ``τ(total − g·w) + R(w)`` for every w."""
    lengths = [term.norm(w) for w in vectors]
    values = np.array([float(term.value(w)) for w in vectors])
    sizes = np.array([term.of_size(t) + term.ridge * float(w @ w) for t, w in zip(lengths, vectors, strict=True)])
    require(term, "R(w) = φ(‖w‖) + ρ Σ w_k²", (values - sizes) / np.maximum(abs(sizes), 1e-300), where=vectors)
    # By how much τ·total − R*(τg) is above τ(total − g·w) + R(w) for the worst w, at every g.
    found = []
    for g in vectors:
        # For an absolute norm g stands for its moduli.
        value, scale = term.dual_value(abs(g) if term.norm.is_absolute else g, 0.0, 1.0)
        terms = 1.0 + scale * abs(vectors @ g) + values
        found.append(float(np.max((value - (scale * (1.0 - vectors @ g) + values)) / terms)))
    require(term, "what dual_value proves", np.maximum(found, 0.0), where=vectors)


def check_regulariser_properties(piece: Regulariser | VectorNorm, n_features: int, n_vectors: int, seed: int) -> None:
    """Those of its norm and of its bound; a norm is checked as λ‖w‖ too."""
    term = Norm(piece, 0.05) if isinstance(piece, VectorNorm) else piece
    term.norm.check(n_features)
    vectors = directions(n_features, n_vectors, seed)
    check_norm_properties(term.norm, vectors, seed)
    check_bounds(term, vectors)


def check_loss_properties(loss: Loss, *, n_points: int, seed: int = 0) -> None:
    """Value, slope, conjugate and smoothing of a loss are those of its table, and the slope is a subgradient."""
    breakpoints = loss.table.breakpoints  # checked: continuous, convex, non-decreasing
    rng = np.random.default_rng(seed)
    span = 2.0 + float(np.ptp(breakpoints))
    points = np.sort(np.r_[breakpoints, rng.uniform(breakpoints[0] - span, breakpoints[-1] + span, n_points)])
    value, slope = np.asarray(loss.value(points)), np.asarray(loss.slope(points))
    table = loss.table.at(points, loss.table.coefficients)
    require(loss, "value(a) is that of its pieces", value - table, value, points)
    require(loss, "0 below the first breakpoint", value[points < breakpoints[0]], value, points)
    require(loss, "slope(a) ≥ 0", np.minimum(slope, 0.0), slope, points)
    # The linear function at each a is below ℓ at every b.
    below = value[:, None] + slope[:, None] * (points[None, :] - points[:, None]) - value[None, :]
    require(loss, "ℓ(b) ≥ ℓ(a) + ℓ'(a)(b − a)", np.maximum(below, 0.0).max(axis=1), value, points)
    conjugate = np.asarray(loss.conjugate(slope))
    # Fenchel and Young: αa − ℓ(a) ≤ ℓ*(α), with equality where α is the slope at a.
    require(loss, "ℓ*(ℓ'(a)) = a ℓ'(a) − ℓ(a)", conjugate - (slope * points - value), value, points)
    largest = (slope[:, None] * points[None, :] - value[None, :]).max(axis=1)
    require(loss, "ℓ*(α) ≥ α a − ℓ(a)", np.maximum(largest - conjugate, 0.0), value, points)
    smooth = loss.smoothed(1e-3)
    smoothed = smooth.at(points, smooth.coefficients)
    require(loss, "ℓ_h ≥ ℓ", np.minimum(smoothed - value, 0.0), value, points)
    require(loss, "ℓ_h → ℓ", 1e-6 * (smoothed - value), value, points)


def require(piece: object, what: str, error: ArrayLike, scale: ArrayLike = 1.0, where: ArrayLike = ()) -> None:
    """`AuclabError` where an error is not 0 up to rounding, relative to the largest value."""
    errors, size = np.abs(np.atleast_1d(error)), float(np.max(np.abs(np.asarray(scale)), initial=1.0))
    if errors.size and not errors.max() <= ROUNDING * size:
        places = np.asarray(where)
        at = ""
        if len(places) == errors.size:
            worst = places[int(errors.argmax())]
            at = f" at {np.array2string(worst, precision=3, threshold=6) if worst.ndim else worst}"
        raise AuclabError(f"{piece!r}: {what} does not hold{at}, by {errors.max():.3g}")
