"""Random programs over pairs within groups, of grades and of censored times, judged pair by pair.

    python -m tests.fuzz.ranked --count 1000 --out ranked.csv
    python -m tests.fuzz.ranked --kind nasty --case 17

Nothing here is of the package but the program and its parameters: pairs are two loops, and values are sums over them
in extended precision, at the points that CVXPY and every solver found. A bound above one of these values is false, and
so is an optimum that is above one by more than the tolerance. Ordinary programs have to be proved, too.
"""

from __future__ import annotations

import argparse
import csv
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import cvxpy as cp
import numpy as np
import scipy.sparse as sp

from auclab import AuclabError, Constraints, solve
from auclab.formulations import Composed
from auclab.losses import LOSSES
from auclab.regularisers import ElasticNet, GroupLasso, Norm, Regulariser

from .nasty import COLUMNS, SHAPES, WEIGHTS, Seeded, Source, column, pick, shaped, weights_of

KINDS = ("ordinary", "nasty")
PAIRS = ("groups", "grades", "groups of grades", "times", "strata of times")
SOLVERS = ("auto", "cutting_plane", "clarabel", "highs")
TOLERANCE = 1e-6
#: Seconds that a solve is given, and processor seconds that none may take.
LIMIT = 60.0
#: Parts of ``max(value, 1e-3)``: what a bound, an optimum beyond the tolerance, and an objective may be off.
BOUND_SLACK, OPTIMUM_SLACK, OBJECTIVE_SLACK = 1e-12, 1.01, 1e-9
#: Rounding of a margin in extended and in working precision, in parts of the largest products that it is summed of.
EXTENDED, WORKING = 1e-17, 1e-13
#: Rounding of sums of squared scores, which cancel, in parts of the largest square (found: 4e-17).
SQUARES = 1e-15
ORDERS = {"l1": 1, "l2": 2, "linf": np.inf}
#: Columns of another scale than 1, or far from 0: rounding of their products is charged to a bound.
FAR = ("scale_1e", "offset_1e8", "mixed_scales")
SHOWN = ("solver", "status", "gap", "above", "bound_excess", "defects", "message")
DEFECTS = ("CRASH", "SLOW", "REFUSED", "FALSE_BOUND", "FALSE_OPTIMUM", "WRONG_OBJECTIVE", "INFEASIBLE", "UNPROVED")


def group_terms(regulariser: GroupLasso, w: Any, length: Any) -> Any:
    """``Σ_G √abs(G) ‖w_G‖₂``."""
    labels = np.array(regulariser.groups)
    members = [np.flatnonzero(labels == label) for label in dict.fromkeys(regulariser.groups)]
    return sum(np.sqrt(each.size) * length(w[each], 2) for each in members)


def of_norm(name: str, power: int) -> tuple[Any, Any]:
    """A norm or its square: how it is made, and its cost."""
    return (
        lambda weight, n, source: Norm(name, weight, power == 2),
        lambda regulariser, w, length: regulariser.weight * length(w, ORDERS[name]) ** power,
    )


#: By name: from a weight, a number of columns and a source of choices to a regulariser; and its cost from w and a
#: function for lengths, which is CVXPY's or one of numbers.
REGULARISERS = {f"{name}{'²' * (power - 1)}": of_norm(name, power) for name in ORDERS for power in (1, 2)} | {
    "elastic net": (
        lambda weight, n, source: ElasticNet(weight, weight * 10.0 ** source.integer(-2, 2)),
        lambda regulariser, w, length: regulariser.l1 * length(w, 1) + regulariser.l2 * length(w, 2) ** 2,
    ),
    "group lasso": (
        lambda weight, n, source: GroupLasso([source.integer(0, 2) for _ in range(n)], weight),
        lambda regulariser, w, length: regulariser.weight * group_terms(regulariser, w, length),
    ),
    "buffer": (lambda weight, n, source: Norm(pick(source, tuple(ORDERS)), 0.0), lambda regulariser, w, length: 0.0),
    "none": (lambda weight, n, source: Norm("l2", 0.0), lambda regulariser, w, length: 0.0),
}


@dataclass(frozen=True)
class RankedCase:
    """A sample, what says which rows are compared, and a program."""

    X: np.ndarray
    y: np.ndarray
    given: dict[str, Any]
    loss: str
    regulariser: Regulariser
    threshold: float
    nonnegative: bool
    is_sparse: bool
    #: Names of what was chosen.
    options: dict[str, str] = field(compare=False)

    @property
    def program(self) -> Composed:
        """The program."""
        return Composed("pairs", LOSSES[self.loss], self.regulariser, self.threshold)

    def code(self) -> str:
        """The case as code to paste."""
        given = {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in self.given.items()}
        return (
            f"# {self.options}\nX = np.array({self.X.tolist()})\ny = {self.y.tolist()}\ngiven = {given}\n"
            f"program = Composed('pairs', {self.loss!r}, {self.regulariser!r}, {self.threshold!r})"
        )


def pairs_of(case: RankedCase) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The upper rows, the lower rows and the weights of the pairs that count, by their definition."""
    m = case.y.size
    groups = case.given.get("groups", np.zeros(m, int))
    event, weight = case.given.get("event"), case.given.get("sample_weight", np.ones(m))
    found = [
        (i, j)
        for i in range(m)
        for j in range(m)
        if weight[i] > 0
        and weight[j] > 0
        and groups[i] == groups[j]
        and (case.y[i] > case.y[j] if event is None else bool(event[i]) and case.y[i] < case.y[j])
    ]
    upper, lower = np.array(found, dtype=int).reshape(-1, 2).T
    share = weight[upper].astype(np.longdouble) * weight[lower]
    if case.given.get("group_weights") == "groups":
        for label in set(groups[upper].tolist()):
            share[groups[upper] == label] /= share[groups[upper] == label].sum()
    return upper, lower, share / share.sum()


def ranked_case(seed: int, kind: str) -> RankedCase:
    """The case of a seed; at least one pair counts."""
    for again in range(1000):
        case = _drawn(Seeded(seed, KINDS.index(kind), again), kind, seed)
        if pairs_of(case)[0].size:
            return case
    raise AssertionError("no pair in a thousand cases")


def _drawn(source: Source, kind: str, seed: int) -> RankedCase:
    """Pairs, loss and regulariser in turn, all else at random."""
    numbers, nasty = source.generator(), kind == "nasty"
    compared, rest = PAIRS[seed % len(PAIRS)], seed // len(PAIRS)
    loss = tuple(LOSSES)[rest % len(LOSSES)]
    name = tuple(REGULARISERS)[rest // len(LOSSES) % len(REGULARISERS)]
    m, n = source.integer(4, 20), source.integer(1, 4)
    label = numbers.integers(0, 2, m).astype(float)
    columns = [pick(source, COLUMNS) if nasty else "normal" for _ in range(n)]
    X = np.empty((m, 0))
    for each in columns:
        X = np.c_[X, column(source, each, label, X)]
    shape = pick(source, SHAPES) if nasty and 0 < label.sum() < m else "plain"
    X = shaped(source, shape, X, label)
    scale = 10.0 ** (0 if nasty else source.integer(-3, 3))
    X = X * scale if nasty else np.round(X, source.integer(0, 2)) * scale
    extra = pick(source, ("none", "none", "constant", "copy")) if not nasty else "none"
    X = X if extra == "none" else np.c_[X, np.full(m, 7.0) if extra == "constant" else X[:, 0]]
    y = label if compared == "groups" else np.rint(numbers.normal(size=m) + label)
    weighting = pick(source, WEIGHTS if nasty else ("none", "none", "uniform", "integers", "zeros"))
    given: dict[str, Any] = {}
    if weighting != "none":
        given["sample_weight"] = weights_of(source, weighting, np.r_[1.0, 0.0, label[2:]])
    if compared in ("groups", "groups of grades", "strata of times"):
        given |= {"groups": numbers.integers(0, 4, m), "group_weights": pick(source, ("pairs", "groups"))}
    if "times" in compared:
        given["event"] = numbers.integers(0, 3, m) > 0
        y = np.exp2(y)
    elif compared == "grades":
        given["ordered"] = True
    penalty = float(10.0 ** (source.integer(-8, 3) if nasty else 0.5 * source.integer(-7, 1) + np.log10(scale)))
    build, _ = REGULARISERS[name]
    options = {
        "pairs": compared, "loss": loss, "regulariser": name, "weights": weighting, "shape": shape, "extra": extra,
        "group weights": given.get("group_weights", "none"), "columns": "+".join(columns), "scale": f"{scale:g}",
    }  # fmt: skip
    return RankedCase(
        X, y, given, loss, build(penalty, X.shape[1], source), -penalty if name == "buffer" else 0.0,
        nonnegative=source.integer(0, 5) == 0, is_sparse=bool(source.integer(0, 1)), options=options,
    )  # fmt: skip


class Judge:
    """The values of points, and the best of them."""

    def __init__(self, case: RankedCase):
        upper, lower, self.share = pairs_of(case)
        rows = case.X.astype(np.longdouble)
        self.case, self.differences, self.points = case, rows[upper] - rows[lower], [np.zeros(case.X.shape[1])]
        self.cost = REGULARISERS[case.options["regulariser"]][1]

    def value(self, w: np.ndarray) -> tuple[float, float]:
        """The objective of w, and the largest sum of moduli of a margin."""
        w, case = w.astype(np.longdouble), self.case
        shift = 1.0 - (case.threshold * self.norm(w) if case.threshold else 0.0)
        error = np.maximum(shift - self.differences @ w, 0.0)
        loss = self.share @ (error if case.loss == "hinge" else error * error)
        return float(loss + self.cost(case.regulariser, w, length_of)), float((abs(self.differences) @ abs(w)).max())

    def norm(self, w: np.ndarray) -> Any:
        """In the norm of the program."""
        return length_of(w, ORDERS[self.case.regulariser.norm.name])

    def add(self, w: np.ndarray) -> None:
        """A point of which the value is an upper bound of the optimum."""
        if np.isfinite(w).all() and not (self.case.nonnegative and w[0] < 0):
            self.points.append(np.asarray(w))

    def add_minimum_by_cvxpy(self) -> None:
        """The minimiser of the sum over all pairs, in columns of unit scale; nothing where Clarabel fails."""
        case, scale = self.case, np.asarray(abs(self.differences).max(axis=0), float)
        inverse = np.array([1.0 / each if 1e-300 < each < 1e300 else 1.0 for each in scale])
        v = cp.Variable(scale.size)
        w = cp.multiply(inverse, v)
        shift = 1.0 - (case.threshold * cp.norm(w, ORDERS[case.regulariser.norm.name]) if case.threshold else 0.0)
        error = cp.pos(shift - np.asarray(self.differences * inverse, float) @ v)
        mean = self.share.astype(float) @ (error if case.loss == "hinge" else cp.square(error))
        cost = self.cost(case.regulariser, w, cp.norm)
        try:
            problem = cp.Problem(cp.Minimize(mean + cost), [v[0] >= 0] if case.nonnegative else [])
            problem.solve(solver="CLARABEL", tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11)
        except (cp.SolverError, ValueError, ArithmeticError):
            return
        if v.value is not None:
            found = np.where(case.nonnegative & (np.arange(v.size) == 0), np.maximum(v.value, 0.0), v.value)
            self.add(inverse * found)

    def least(self, radius: float, own: np.ndarray, length: Any) -> tuple[float, float]:
        """The least known value at a length of at most `radius`, and the reach there: on the way from `own`."""
        if radius == np.inf:
            return min(self.value(point) for point in self.points)
        inside, found = float(length(own)), []
        for point in self.points:
            size = float(length(point))
            part = 1.0 if size <= radius else max(0.0, (radius - inside) / float(length(point - own)))
            found.append(self.value(own + part * (point - own)))
        return min(found)


def length_of(w: np.ndarray, order: float) -> Any:
    """``‖w‖`` without overflow."""
    most = abs(w).max(initial=0.0)
    if order == np.inf or most == 0:
        return most
    return abs(w).sum() if order == 1 else most * (((w / most) ** 2).sum()) ** 0.5


def run_case(case: RankedCase, solvers: Sequence[str]) -> list[dict[str, Any]]:
    """A row for each solver, with its defects."""
    judge, answers = Judge(case), []
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        judge.add_minimum_by_cvxpy()
    for solver in solvers:
        begin, end, found = time.process_time(), "solved", None
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                found = solve(
                    case.program, sp.csr_array(case.X) if case.is_sparse else case.X, case.y, solver=solver,
                    tolerance=TOLERANCE, time_limit=LIMIT,
                    constraints=Constraints(nonnegative=[0]) if case.nonnegative else None, **case.given,
                )  # fmt: skip
            judge.add(found.coef)
        except AuclabError as error:
            end = f"refused: {error}"
        except Exception:  # noqa: BLE001 - whatever it is, it is the finding
            end = f"crash: {traceback.format_exc(limit=-3)}"
        answers.append((solver, end, found, time.process_time() - begin))
    return [_judged(judge, *each) for each in answers]


def _judged(judge: Judge, solver: str, end: str, found: Any, seconds: float) -> dict[str, Any]:
    case = judge.case
    row: dict[str, Any] = {
        **case.options, "solver": solver, "status": end.split(":")[0], "gap": np.nan, "above": np.nan,
        "bound_excess": np.nan, "seconds": round(seconds, 3), "message": end[:500].replace("\n", " "),
    }  # fmt: skip
    if found is None:
        return row | {"defects": "CRASH" if row["status"] == "crash" else ""}
    with np.errstate(all="ignore"):
        exact, reach = judge.value(found.coef)
        least, far = judge.least(np.inf, found.coef, judge.norm)
        radius, below = found.certificate.norm_bound, least
        if radius < np.inf:
            spread = 1.0 if found.spread is None else found.spread
            length = judge.norm if found.spread is None else lambda w: length_of(w * spread, 2)
            below, far = judge.least(radius * (1.0 - 1e-12), found.coef, length)
    unit = max(below, 1e-3)
    rounding = WORKING * reach if case.loss == "hinge" else SQUARES * reach * reach
    proved = found.status in ("optimal", "optimal_within")
    defects = {
        "SLOW": seconds > LIMIT,
        "FALSE_BOUND": found.lower_bound > below + BOUND_SLACK * unit + EXTENDED * far,
        "FALSE_OPTIMUM": proved and exact > below + OPTIMUM_SLACK * TOLERANCE * unit + EXTENDED * far,
        "WRONG_OBJECTIVE": abs(found.objective - exact) > OBJECTIVE_SLACK * max(exact, 1e-3) + rounding,
        "INFEASIBLE": case.nonnegative and found.coef[0] < 0,
    }
    return row | {
        "status": str(found.status), "gap": found.gap, "above": (exact - least) / max(least, 1e-3),
        "bound_excess": (found.lower_bound - below) / unit,
        "defects": " ".join(name for name, is_so in defects.items() if is_so),
    }  # fmt: skip


def rows_of(seed: int, kind: str, solvers: Sequence[str] = ()) -> list[dict[str, Any]]:
    """The rows of a seed: auto, and one other solver in turn.

    No ordinary program is refused, and auto proves each, as it does nasty ones without columns of another scale.
    """
    case = ranked_case(seed, kind)
    is_linear = case.loss == "hinge" and case.options["regulariser"] in ("none", "buffer", "l1", "linf")
    others = ("cutting_plane", "clarabel", "highs" if is_linear and case.regulariser.norm.name != "l2" else "clarabel")
    rows = run_case(case, solvers or ("auto", others[seed // len(PAIRS) % 3]))
    is_even = kind == "ordinary" or not any(name in case.options["columns"] for name in FAR)
    for row in rows:
        if row["status"] == "refused" and kind == "ordinary":
            row["defects"] = "REFUSED"
        elif is_even and row["solver"] == "auto" and row["status"] != "refused" and "optimal" not in row["status"]:
            row["defects"] = f"{row['defects']} UNPROVED".strip()
    return [{"kind": kind, "seed": seed} | row for row in rows]


def summary(rows: Sequence[dict[str, Any]]) -> str:
    """Solves, how many were proved, and defects: by option."""
    programs = len({(row["kind"], row["seed"]) for row in rows})
    lines = [f"{programs} programs, {len(rows)} solves; solves, proved, refused, defects of each option:"]
    for option in ("kind", "solver", "pairs", "loss", "regulariser", "weights", "group weights", "extra", "shape"):
        for value in dict.fromkeys(row[option] for row in rows):
            chosen = [row for row in rows if row[option] == value]
            proved = sum(row["status"].startswith("optimal") for row in chosen)
            refused = sum(row["status"] == "refused" for row in chosen)
            found = Counter(word for row in chosen for word in row["defects"].split())
            words = ", ".join(f"{count} {word}" for word, count in found.items()) or "0"
            lines.append(f"  {option:13} {value:16} {len(chosen):5} {proved:5} {refused:5}  {words}")
    for kinds in Counter((row["kind"], row["solver"], row["status"]) for row in rows).most_common():
        lines.append(f"  {kinds[1]:5} × {' '.join(kinds[0])}")
    lines += [f"  {row['kind']} {row['seed']} {row['solver']}: {row['defects']}" for row in rows if row["defects"]]
    return "\n".join(lines)


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seed", type=int, default=0, help="first seed")
    parser.add_argument("--count", type=int, default=100, help="number of programs")
    parser.add_argument("--kind", choices=[*KINDS, "all"], default="all")
    parser.add_argument("--out", type=Path, default=Path("ranked.csv"))
    parser.add_argument("--case", type=int, help="print one case and solve it by every solver")
    chosen = parser.parse_args()
    kinds = KINDS if chosen.kind == "all" else (chosen.kind,)
    if chosen.case is not None:
        for kind in kinds:
            print(ranked_case(chosen.case, kind).code())
            for row in rows_of(chosen.case, kind, SOLVERS):
                print({name: row[name] for name in SHOWN})
        return
    rows = []
    with chosen.out.open("w", newline="", encoding="utf-8") as file:
        for number in range(chosen.count):
            for row in rows_of(chosen.seed + number // len(kinds), kinds[number % len(kinds)]):
                if not rows:
                    writer = csv.DictWriter(file, list(row))
                    writer.writeheader()
                rows.append(row)
                writer.writerow(row)
            file.flush()
    print(summary(rows))


if __name__ == "__main__":
    main()
