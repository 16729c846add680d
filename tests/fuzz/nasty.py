"""Small samples and programs that are hard for floating point, from a seed or as Hypothesis strategies.

Both come from one definition: a case is drawn from a source of choices, which is a NumPy generator or Hypothesis.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from auclab import CSVM, ECSVM, BufferedAUC, ExactAUC, GeneralizedBufferedAUC, PartialAUC, RankSVM
from auclab._core.base import NORMS


class Source(Protocol):
    """Where the choices come from."""

    def integer(self, low: int, high: int) -> int:
        """An integer, both ends included."""

    def generator(self) -> np.random.Generator:
        """A generator for normal numbers."""


class Seeded:
    """Choices from a seed."""

    def __init__(self, *seed: int) -> None:
        self.numbers = np.random.default_rng(seed)

    def integer(self, low: int, high: int) -> int:
        return int(self.numbers.integers(low, high + 1))

    def generator(self) -> np.random.Generator:
        return self.numbers


class Drawn:
    """Choices of Hypothesis, which makes them small where a case fails."""

    def __init__(self, draw: Any) -> None:
        self.draw = draw

    def integer(self, low: int, high: int) -> int:
        from hypothesis import strategies as st

        return int(self.draw(st.integers(low, high)))

    def generator(self) -> np.random.Generator:
        return np.random.default_rng(self.integer(0, 2**16))


def pick(source: Source, options: Sequence[Any]) -> Any:
    """One of the options; the first is the simplest."""
    return options[source.integer(0, len(options) - 1)]


@dataclass(frozen=True)
class Case:
    """A sample, its weights and a program."""

    X: np.ndarray
    y: np.ndarray
    weight: np.ndarray | None
    kind: type
    parameters: dict[str, Any]
    words: str = field(compare=False)

    @property
    def program(self) -> Any:
        """The program; raises AuclabError where its parameters are out of range."""
        return self.kind(**self.parameters)

    @property
    def program_code(self) -> str:
        """The call that makes the program."""
        return f"{self.kind.__name__}({', '.join(f'{name}={value!r}' for name, value in self.parameters.items())})"

    def code(self) -> str:
        """The case as code to paste."""
        rows = ",\n    ".join(repr(row) for row in self.X.tolist())
        weight = "None" if self.weight is None else repr(self.weight.tolist())
        return (
            f"# {self.words}\nX = [\n    {rows},\n]\ny = {self.y.astype(int).tolist()}\nw = {weight}\n"
            f"program = {self.program_code}\nsolution = auclab.solve(program, X, y, sample_weight=w)"
        )

    def __repr__(self) -> str:
        return self.code()


#: What a column may be made of; ordinary ones several times.
COLUMNS = (
    "normal", "normal", "integers", "margin_1e-9", "margin_1e-12", "scale_1e-8", "scale_1e9", "offset_1e8",
    "offset_1e8", "constant", "copy", "collinear", "almost_copy", "one_hot", "binary", "subnormal", "scale_1e-150",
    "scale_1e150", "mixed_scales",
)  # fmt: skip
#: Columns that are in the worst cases alone.
OUTSIDE = ("scale_1e300", "scale_1e-300")
SHAPES = ("plain", "plain", "plain", "duplicates", "separable", "just_separable", "all_equal", "equal_means")
WEIGHTS = ("none", "none", "none", "zeros", "ratio_1e9", "integers", "uniform", "one_heavy")
#: Ordinary ones twice; those below 1e-150 may be refused, but may not break anything.
NASTY_PENALTIES = (
    0.1, 0.02, 1e-3, 0.1, 0.02, 1e-3, 1.0, 10.0, 1e3, 1e-6, 1e-9, 1e-6, 1e-9, 1e-12, 1e-30, 1e-100, 1e-140, 1e-200,
    1e-300, 5e-324,
)  # fmt: skip
NASTY_THRESHOLDS = (0.1, 1e-3, 0.1, 1e-3, 1.0, 10.0, 1e-6, 1e-9, 1e-6, 1e-9, 1e-12, 1e3, 1e-30, 1e-100, 1e-300, 5e-324)
PROGRAMS = (
    "bauc", "generalized_bauc", "ranksvm", "csvm", "ecsvm", "partial_auc", "bauc", "csvm_0", "shifted", "exact_auc",
)  # fmt: skip
KINDS = ("nasty", "random")


def case_of(source: Source, kind: str) -> Case:
    """A case of one of the `KINDS`."""
    return _nasty(source) if kind == "nasty" else _random(source)


def seeded_case(seed: int, kind: str) -> Case:
    """The case of a seed."""
    return case_of(Seeded(seed, KINDS.index(kind)), kind)


def cases(kind: str) -> Any:
    """A Hypothesis strategy of cases."""
    from hypothesis import strategies as st

    return st.composite(lambda draw: case_of(Drawn(draw), kind))()


def _random(source: Source) -> Case:
    """Ordinary numbers: normal features, weights within three orders, usual parameters."""
    numbers = source.generator()
    n = source.integer(1, 5)
    n_pos, n_neg = source.integer(1, 15), source.integer(3, 15)
    y = np.repeat([1.0, 0.0], [n_pos, n_neg])
    X = numbers.normal(size=(y.size, n)) + np.outer(y, pick(source, (0.3, 0.1, 0.6)) * numbers.normal(size=n))
    rounding = pick(source, ("none", "integers", "tenths"))
    if rounding != "none":
        X = np.round(X, 0 if rounding == "integers" else 1)
    scale = 10.0 ** source.integer(-3, 3)
    X = X * scale
    extra = pick(source, ("none", "none", "constant", "copy", "sum"))
    if extra != "none":
        X = np.c_[X, {"constant": np.full(y.size, 7.0), "copy": X[:, 0], "sum": X.sum(axis=1)}[extra]]
    weighting = pick(source, ("none", "none", "uniform", "integers", "zeros"))
    weight = weights_of(source, weighting, y)
    program = _program(source, (0.02, 0.1, 1.0, 1e-3, 1e-2, 10.0), (0.1, 0.01, 1.0), X, y)
    return Case(X, y, weight, *program, f"random {y.size}×{X.shape[1]}, {rounding}, ×{scale:g}, {extra}, {weighting}")


def _nasty(source: Source) -> Case:
    """The numbers at which floating point gives in."""
    most = pick(source, (4, 8, 15))
    n_pos = pick(source, (1, 2, source.integer(1, most), source.integer(1, most)))
    n_neg = pick(source, (1, 2, source.integer(1, most), source.integer(1, most)))
    n = pick(source, (1, 1, 2, 2, 3, 4, 5))
    y = np.repeat([1.0, 0.0], [n_pos, n_neg])
    kinds = [pick(source, COLUMNS) for _ in range(n)]
    if source.integer(0, 19) == 0:
        kinds[source.integer(0, n - 1)] = pick(source, OUTSIDE)
    X = np.empty((y.size, 0))
    for name in kinds:
        X = np.c_[X, column(source, name, y, X)]
    shape = pick(source, SHAPES)
    X = shaped(source, shape, X, y)
    weighting = pick(source, WEIGHTS)
    weight = weights_of(source, weighting, y)
    program = _program(source, NASTY_PENALTIES, NASTY_THRESHOLDS, X, y)
    return Case(X, y, weight, *program, f"nasty {y.size}×{n}, {'+'.join(kinds)}, {shape}, {weighting}")


def column(source: Source, name: str, y: np.ndarray, before: np.ndarray) -> np.ndarray:
    """A column of one kind."""
    size, numbers = y.size, source.generator()
    lead = pick(source, (1.0, 0.3, 0.0, -1.0)) * y
    normal = numbers.normal(size=size) + lead
    grid = np.array([source.integer(-3, 3) for _ in range(size)], float) if size <= 8 else np.rint(2 * normal)
    if name in ("copy", "collinear", "almost_copy") and before.shape[1] == 0:
        name = "normal"
    if name.startswith("margin_"):
        step = float(name.removeprefix("margin_"))
        pool = (1.0, 1.0 + step, step, 0.0, 1.0 - step, -step, 1.0 + 2 * step, 2.0, -1.0)
        return np.array([pool[source.integer(0, len(pool) - 1)] for _ in range(size)])
    if name in ("copy", "collinear", "almost_copy"):
        first = before[:, source.integer(0, before.shape[1] - 1)]
        if name == "copy":
            return first
        other = before[:, source.integer(0, before.shape[1] - 1)]
        if name == "collinear":
            return 2.0 * other - 3.0 * first
        return first * (1.0 + 1e-12 * numbers.integers(-1, 2, size=size))
    return {
        "normal": lambda: normal,
        "integers": lambda: grid,
        "scale_1e-8": lambda: 1e-8 * normal,
        "scale_1e9": lambda: 1e9 * normal,
        "offset_1e8": lambda: pick(source, (1e8, -1e8, 1e6)) + pick(source, (normal, grid)),
        "constant": lambda: np.full(size, pick(source, (7.0, 0.0, 0.1, 1e8, 1e-300, -1e150))),
        "one_hot": lambda: (numbers.integers(0, 3, size=size) == 0).astype(float),
        "binary": lambda: (grid > 0).astype(float),
        "subnormal": lambda: 5e-324 * np.rint(pick(source, (1.0, 100.0, 1e6)) * normal),
        "scale_1e-150": lambda: 1e-150 * normal,
        "scale_1e150": lambda: 1e150 * np.clip(normal, -0.9, 0.9),
        "scale_1e300": lambda: 1e300 * normal,
        "scale_1e-300": lambda: 1e-300 * normal,
        "mixed_scales": lambda: grid * 10.0 ** numbers.integers(-9, 10, size=size),
    }[name]()


def shaped(source: Source, shape: str, X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The rows of the classes brought into a relation."""
    X, positive = X.copy(), y == 1
    if shape == "duplicates":
        X[~positive] = X[positive][[source.integer(0, int(positive.sum()) - 1) for _ in range(int((~positive).sum()))]]
        if source.integer(0, 1):
            X[0] = X[0] + 1.0
    elif shape == "separable":
        span = np.ptp(X[:, 0]) or 1.0
        with np.errstate(over="ignore"):
            moved = np.where(positive, X[:, 0] + 1.5 * span, X[:, 0])
        X[:, 0] = moved if np.isfinite(moved).all() else X[:, 0]
    elif shape == "just_separable":
        # One positive is above the negatives by a hair.
        low, high = X[positive, 0], X[~positive, 0]
        top = high.max()
        X[positive, 0] = np.where(low > top, low, top + abs(low - top))
        X[np.flatnonzero(positive)[0], 0] = np.nextafter(top, np.inf) if source.integer(0, 1) else top * (1 + 1e-9)
    elif shape == "all_equal":
        X[:] = X[0]
    elif shape == "equal_means" and positive.sum() == (~positive).sum():
        X[~positive] = X[positive][::-1]
    return X if np.isfinite(X).all() else np.nan_to_num(X, posinf=1e300, neginf=-1e300)


def weights_of(source: Source, name: str, y: np.ndarray) -> np.ndarray | None:
    """Sample weights of one kind; both classes have some."""
    size, numbers = y.size, source.generator()
    if name == "none":
        return None
    weight = {
        "zeros": lambda: numbers.integers(0, 2, size=size).astype(float),
        "ratio_1e9": lambda: 10.0 ** numbers.integers(-9, 1, size=size),
        "integers": lambda: numbers.integers(0, 4, size=size).astype(float),
        "uniform": lambda: numbers.uniform(0.001, 1.0, size=size),
        "one_heavy": lambda: np.where(np.arange(size) == numbers.integers(size), 1e9, 1.0),
    }[name]()
    for label in (0.0, 1.0):
        if not weight[y == label].any():
            weight[np.flatnonzero(y == label)[0]] = 1.0
    return weight


def _program(
    source: Source, penalties: Sequence[float], thresholds: Sequence[float], X: np.ndarray, y: np.ndarray
) -> tuple[type, dict[str, Any]]:
    """A program and its parameters; now and then λ or z is in units of the data."""
    name = pick(source, PROGRAMS)
    if name == "exact_auc" and y.sum() * (1 - y).sum() > 60:
        name = "bauc"
    norm, squared = pick(source, NORMS), bool(source.integer(0, 1))
    with np.errstate(all="ignore"):
        distance = float(np.abs(X[y == 1].mean(axis=0) - X[y == 0].mean(axis=0)).max())
    unit = distance if source.integer(0, 1) and 0 < distance < 1e100 else 1.0
    penalty = min(max(pick(source, penalties) * unit, 5e-324), 1e250)
    threshold = min(max(pick(source, thresholds) * unit, 5e-324), 1e250)
    share = pick(source, (0.5, 0.3, 0.1, 1.0, 0.01, 1.0 / 3.0))
    penalised = {"penalty": penalty, "norm": norm, "squared": squared}
    free = {**penalised, "penalty": 0.0}
    coin = source.integer(0, 1)
    made: dict[str, tuple[type, dict[str, Any]]] = {
        "bauc": (BufferedAUC, {}),
        "generalized_bauc": (GeneralizedBufferedAUC, {"threshold": -threshold, "norm": norm}),
        "ranksvm": (RankSVM, penalised),
        "csvm": (CSVM, penalised),
        "csvm_0": (CSVM, {"penalty": 0.0}),
        "ecsvm": (ECSVM, {"threshold": -threshold, "norm": norm}),
        "partial_auc": (PartialAUC, {"max_fpr": share, **(penalised if coin else free)}),
        "shifted": (GeneralizedBufferedAUC if coin else ECSVM, {"threshold": threshold, "norm": norm}),
        "exact_auc": (ExactAUC, {}),
    }
    return made[name]
