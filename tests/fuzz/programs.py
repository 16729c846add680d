"""Solve fuzzed programs with every solver and let exact arithmetic say what the answers are worth.

    python -m tests.fuzz.programs --seed 0 --count 2000 --kind nasty --out nasty.csv
    python -m tests.fuzz.programs --kind nasty --case 17

Every program is solved in a worker process that is killed and replaced when a solve takes longer than the limit. A row
of the file is one solve; a file that exists is continued. The summary at the end reads the whole file.

What was found is made small and kept as a regression test (`test_found.py`, `found.json`) by

    python -m tests.fuzz.programs --kind nasty --case 17 --shrink --keep "margins of 1e-9"
"""

from __future__ import annotations

import argparse
import csv
import json
import multiprocessing
import os
import sys
import threading
import time
import traceback
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from .nasty import KINDS, Case, seeded_case
from .simplex import NotSolvedError
from .verdicts import DEFECTS, Answer, Verdict, judge, unjudged

SOLVERS = (
    *("auto", "highs:full", "highs:dual", "highs:aggregated"),
    *("newton", "interior", "cutting_plane", "clarabel", "scs"),
)
TOLERANCE = 1e-6
#: Seconds that every solve is given: one that takes longer does not keep its limit.
TIME_LIMIT = 6.0
#: The cases that were found.
FOUND = Path(__file__).with_name("found.json")
#: A solve may take this many times its limit of processor seconds in wall-clock seconds, on a busy machine.
BUSY = 6.0
COLUMNS = (
    "kind", "seed", "case", "solver", "status", "objective", "bound", "norm_bound", "exact_low", "exact_high",
    "verdict", "defects", "bound_excess", "optimum_excess", "objective_error", "seconds", "message",
)  # fmt: skip
#: What a solver says that does not take the program at all.
_UNABLE = ("cannot solve", "has no encoding", "takes no encoding", "has no option")


def answer(case: Case, solver: str) -> Answer:
    """What a solver says about a case, in this process."""
    from auclab import solve
    from auclab._core.base import AuclabError

    name, _, encoding = solver.partition(":")
    options = {"encoding": encoding} if encoding else {}
    begin = time.process_time()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            solution = solve(
                case.program,
                case.X,
                case.y,
                sample_weight=case.weight,
                solver=name,
                tolerance=TOLERANCE,
                time_limit=TIME_LIMIT,
                **options,
            )
        except AuclabError as error:
            end = "unable" if any(words in str(error) for words in _UNABLE) else "refused"
            return Answer(solver, end, seconds=time.process_time() - begin, message=str(error))
        except Exception as error:  # noqa: BLE001 - whatever it is, it is the finding
            where = traceback.extract_tb(error.__traceback__)[-1]
            ours = [frame for frame in traceback.extract_tb(error.__traceback__) if "/auclab/" in frame.filename]
            place = " < ".join(f"{Path(f.filename).name}:{f.lineno} {f.name}" for f in reversed(ours[-3:]))
            message = f"{type(error).__name__}: {error} ({place or where})"
            return Answer(solver, "crash", seconds=time.process_time() - begin, message=message)
    said = "; ".join(dict.fromkeys(f"{w.category.__name__}: {w.message}" for w in caught))
    return Answer(
        solver,
        "solved",
        str(solution.status),
        float(solution.objective),
        float(solution.lower_bound),
        float(solution.certificate.norm_bound),
        tuple(map(float, solution.coef)),
        float(solution.intercept),
        time.process_time() - begin,
        said,
    )


def spread_of(case: Case) -> list[float]:
    """The unit of every feature; ones where the sample is refused."""
    from auclab._core.base import AuclabError
    from auclab.samples.as_sample import as_sample

    try:
        return list(map(float, as_sample(case.X, case.y, case.weight).spread))
    except AuclabError:
        return [1.0] * case.X.shape[1]


def verdicts(case: Case, answers: list[Answer], seconds: float = 20.0) -> list[Verdict]:
    """A verdict for every answer."""
    return judge(case, answers, spread_of(case), TOLERANCE, seconds)


def _work(pipe: Any) -> None:
    """The loop of a worker: (what, kind, seed, more) comes, what was asked for goes back."""
    os.environ["OMP_NUM_THREADS"] = "1"
    while True:
        task, kind, seed, more = pipe.recv()
        case = seeded_case(seed, kind)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                pipe.send(answer(case, more) if task == "solve" else verdicts(case, more))
            except (NotSolvedError, OverflowError):
                pipe.send(None)


class Worker:
    """A process that solves, and that is replaced when it does not come back."""

    def __init__(self, warm: tuple[str, ...] = SOLVERS) -> None:
        self.process: Any = None
        self.warm = warm
        self.start()

    def start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=_work, args=(theirs,), daemon=True)
        self.process.start()
        theirs.close()
        # Imports and compiled loops are not part of the first case.
        for solver in self.warm:
            self.ask(("solve", "random", 0, solver), 300.0)

    def ask(self, task: tuple[Any, ...], limit: float) -> Any:
        """The answer, or None if it took more than `limit` processor seconds (or `BUSY` times as many of the wall)."""
        begin, used = time.monotonic(), self._processor_seconds()
        self.pipe.send(task)
        while not self.pipe.poll(0.05):
            alive = self.process.is_alive()
            late = time.monotonic() - begin > BUSY * limit or self._processor_seconds() - used > limit
            if late or not alive:
                return None
        try:
            return self.pipe.recv()
        except (EOFError, ConnectionResetError):
            return None

    def replace(self) -> None:
        self.stop()
        self.start()

    def stop(self) -> None:
        self.process.kill()
        self.process.join()
        self.pipe.close()

    def _processor_seconds(self) -> float:
        import psutil

        try:
            times = psutil.Process(self.process.pid).cpu_times()
        except psutil.NoSuchProcess:
            return 0.0
        return float(times.user + times.system)


_local = threading.local()
_workers: list[Worker] = []


def _worker(solvers: tuple[str, ...]) -> Worker:
    """The worker of this thread."""
    if not hasattr(_local, "worker"):
        _local.worker = Worker(solvers)
        _workers.append(_local.worker)
    return _local.worker  # type: ignore[no-any-return]


def run_case(kind: str, seed: int, solvers: tuple[str, ...], limit: float) -> list[dict[str, Any]]:
    """The rows of a case."""
    worker, answers = _worker(solvers), []
    for solver in solvers:
        reply = worker.ask(("solve", kind, seed, solver), limit)
        if reply is None:
            alive = worker.process.is_alive()
            worker.replace()
            message = "" if alive else "the process died"
            reply = Answer(solver, "hang" if alive else "crash", seconds=limit, message=message)
        answers.append(reply)
    given = worker.ask(("judge", kind, seed, answers), 120.0)
    if given is None:
        worker.replace()
        given = [unjudged(a) for a in answers]
    case = seeded_case(seed, kind)
    words = f"{case.words}, {case.program_code}"
    return [_row(kind, seed, words, a, v) for a, v in zip(answers, given, strict=True)]


def _row(kind: str, seed: int, words: str, a: Answer, v: Verdict) -> dict[str, Any]:
    return {
        "kind": kind, "seed": seed, "case": words, "solver": a.solver, "status": a.status or a.end,
        "objective": a.objective, "bound": a.bound, "norm_bound": a.norm_bound, "exact_low": v.low,
        "exact_high": v.high, "verdict": v.word, "defects": " ".join(v.defects), "bound_excess": v.bound_excess,
        "optimum_excess": v.optimum_excess, "objective_error": v.objective_error, "seconds": round(a.seconds, 3),
        "message": a.message[:500].replace("\n", " "),
    }  # fmt: skip


def summary(rows: list[dict[str, str]]) -> str:
    """Tables of verdicts and of statuses by solver, and what auto missed."""
    solvers = list(dict.fromkeys(row["solver"] for row in rows))
    lines = []
    defects = [(d, row["solver"]) for row in rows for d in row["defects"].split()]
    by_case: dict[tuple[str, str], dict[str, dict[str, str]]] = defaultdict(dict)
    for row in rows:
        by_case[row["kind"], row["seed"]][row["solver"]] = row
    lines.append(f"{len(by_case)} programs, {sum(row['verdict'] != 'UNABLE' for row in rows)} solves")
    lines += _table("defect", list(DEFECTS), Counter(defects), solvers)
    statuses = sorted({row["status"] for row in rows})
    lines += _table("status", statuses, Counter((row["status"], row["solver"]) for row in rows), solvers)
    for name in DEFECTS:
        hit = sorted({(r["kind"], int(r["seed"])) for r in rows if name in r["defects"].split()})
        if hit:
            lines.append(f"{name}: {len(hit)} programs: {_seeds(hit)}")

    def ended(row: dict[str, str], *words: str) -> bool:
        return row["status"] in words and not set(row["defects"].split()) & {"FALSE_OPTIMUM", "FALSE_BOUND"}

    missed, none = [], []
    for key, found in by_case.items():
        others = [s for s, row in found.items() if s != "auto" and ended(row, "optimal")]
        auto = found.get("auto")
        if auto is not None and others and not ended(auto, "optimal") and auto["status"] != "refused":
            missed.append((key[0], int(key[1])))
        convex = all(row["status"] not in ("local", "refused") for row in found.values())
        if convex and not any(ended(row, "optimal") for row in found.values()):
            none.append((key[0], int(key[1])))
    lines.append(f"auto not optimal where another was: {len(missed)} programs: {_seeds(sorted(missed))}")
    lines.append(f"none optimal: {len(none)} programs: {_seeds(sorted(none))}")
    unjudged = sorted({(r["kind"], int(r["seed"])) for r in rows if r["verdict"] == "UNJUDGED"})
    if unjudged:
        lines.append(f"no verdict: {len(unjudged)} programs: {_seeds(unjudged)}")
    above = [float(row["bound_excess"]) for row in rows if float(row["bound_excess"]) > 0]
    lines.append(f"bounds above the optimum by any amount: {len(above)}, largest {max(above, default=0.0):.2g}")
    worst = max((float(row["objective_error"]) for row in rows if float(row["objective_error"]) >= 0), default=0.0)
    lines.append(f"largest relative error of an objective: {worst:.2g}")
    wide = sum(float(r["exact_high"]) - float(r["exact_low"]) > 1e-7 * max(float(r["exact_high"]), 1e-3) for r in rows)
    open_ = sum(r["exact_low"] == "nan" and r["exact_high"] != "nan" for r in rows)
    lines.append(f"solves judged on an enclosure wider than 1e-7: {wide}, on known points alone: {open_}")
    return "\n".join(lines)


def _seeds(found: list[tuple[str, int]]) -> str:
    return ", ".join(f"{kind} {seed}" for kind, seed in found[:40]) + (", …" if len(found) > 40 else "")


def _table(name: str, words: list[str], counts: Counter[tuple[str, str]], solvers: list[str]) -> list[str]:
    width = max(len(word) for word in [name, *words]) + 2
    head = name.ljust(width) + "".join(s.rjust(max(9, len(s) + 2)) for s in solvers)
    return [
        "",
        head,
        *(w.ljust(width) + "".join(str(counts[w, s]).rjust(max(9, len(s) + 2)) for s in solvers) for w in words),
        "",
    ]


def show(case: Case, solvers: tuple[str, ...]) -> None:
    """One case: its code, and what every solver says, in this process."""
    print(case.code())
    answers = [answer(case, solver) for solver in solvers]
    found = verdicts(case, answers)
    for a, v in zip(answers, found, strict=True):
        if a.end == "solved":
            print(
                f"{a.solver:17} {a.status:15} objective {a.objective!r} bound {a.bound!r} for ‖w‖ ≤ {a.norm_bound:g}: "
                f"{' '.join(v.defects) or 'right'}\n{'':17} w {list(a.coef)} b {a.intercept!r}"
            )
        else:
            print(f"{a.solver:17} {a.end}: {a.message}")
    print(f"exact optimum in [{found[0].low!r}, {found[0].high!r}]")


def shrunk(case: Case, solvers: tuple[str, ...]) -> Case:
    """A smaller case with one of the defects of this: fewer rows and columns, no weights, fewer digits."""

    def defects(smaller: Case) -> set[tuple[str, str]]:
        try:
            answers = [answer(smaller, solver) for solver in solvers]
            found = verdicts(smaller, answers)
        except (NotSolvedError, ArithmeticError):
            return set()
        return {(a.solver, d) for a, v in zip(answers, found, strict=True) for d in v.defects}

    wanted = defects(case)
    if not wanted:
        return case
    improved = True
    while improved:
        improved = False
        for smaller in _smaller(case):
            if defects(smaller) & wanted:
                case, improved = smaller, True
                break
    return case


def _smaller(case: Case) -> Iterator[Case]:
    """Cases that are a step smaller."""
    if case.weight is not None:
        yield replace(case, weight=None)
    for j in range(case.X.shape[1] if case.X.shape[1] > 1 else 0):
        yield replace(case, X=np.delete(case.X, j, axis=1))
    for k in range(case.y.size):
        y = np.delete(case.y, k)
        weight = None if case.weight is None else np.delete(case.weight, k)
        if 0 < y.sum() < y.size and (weight is None or (weight[y == 1].any() and weight[y == 0].any())):
            yield replace(case, X=np.delete(case.X, k, axis=0), y=y, weight=weight)
    for digits in (1, 3):
        short = np.array([[float(f"{a:.{digits}g}") for a in row] for row in case.X])
        if (short != case.X).any():
            yield replace(case, X=short)
        for row in range(case.y.size):
            X = case.X.copy()
            X[row] = short[row]
            if (X != case.X).any():
                yield replace(case, X=X)


def keep(case: Case, name: str) -> None:
    """Append a case to the regression tests."""
    kept = json.loads(FOUND.read_text(encoding="utf-8")) if FOUND.exists() else []
    kept = [entry for entry in kept if entry["name"] != name]
    weight = None if case.weight is None else case.weight.tolist()
    entry = {
        "name": name, "program": case.kind.__name__, "parameters": case.parameters,
        "X": case.X.tolist(), "y": case.y.astype(int).tolist(), "weight": weight,
    }  # fmt: skip
    lines = ",\n".join(json.dumps(each) for each in [*kept, entry])
    FOUND.write_text(f"[\n{lines}\n]\n", encoding="utf-8")


def found_cases(path: Path = FOUND) -> list[Case]:
    """The cases that were found and kept; `words` is their name."""
    import auclab

    return [
        Case(
            np.array(entry["X"]),
            np.array(entry["y"], float),
            None if entry["weight"] is None else np.array(entry["weight"]),
            getattr(auclab, entry["program"]),
            entry["parameters"],
            entry["name"],
        )
        for entry in json.loads(path.read_text(encoding="utf-8"))
    ]


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seed", type=int, default=0, help="first seed")
    parser.add_argument("--count", type=int, default=100, help="number of seeds")
    parser.add_argument("--kind", choices=[*KINDS, "all"], default="all")
    parser.add_argument("--solvers", nargs="+", default=list(SOLVERS))
    parser.add_argument("--limit", type=float, default=10.0, help="processor seconds a solve")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("fuzz.csv"))
    parser.add_argument("--case", type=int, help="print one case and solve it here")
    parser.add_argument("--shrink", action="store_true", help="make the case of --case as small as its defect allows")
    parser.add_argument("--keep", metavar="NAME", help="append the case of --case to the regression tests")
    parser.add_argument("--only-summary", action="store_true", help="read the file, solve nothing")
    chosen = parser.parse_args()
    kinds = KINDS if chosen.kind == "all" else (chosen.kind,)
    solvers = tuple(chosen.solvers)
    if chosen.case is not None:
        for kind in kinds:
            case = seeded_case(chosen.case, kind)
            case = shrunk(case, solvers) if chosen.shrink else case
            show(case, solvers)
            if chosen.keep:
                keep(case, chosen.keep)
        return
    done = set()
    if chosen.out.exists():
        with chosen.out.open(newline="") as file:
            done = {(row["kind"], int(row["seed"])) for row in csv.DictReader(file)}
    tasks = [
        (kind, seed)
        for seed in range(chosen.seed, chosen.seed + chosen.count)
        for kind in kinds
        if (kind, seed) not in done and not chosen.only_summary
    ]
    if tasks:
        _run(tasks, solvers, chosen.limit, chosen.jobs, chosen.out)
    with chosen.out.open(newline="") as file:
        print(summary(list(csv.DictReader(file))))


def _run(tasks: list[tuple[str, int]], solvers: tuple[str, ...], limit: float, jobs: int, out: Path) -> None:
    """Solve the cases and append their rows."""
    os.nice(10)
    new = not out.exists()
    begin, lock, count = time.monotonic(), threading.Lock(), 0
    with out.open("a", newline="", encoding="utf-8") as file, ThreadPoolExecutor(jobs) as pool:
        writer = csv.DictWriter(file, COLUMNS)
        if new:
            writer.writeheader()

        def one(task: tuple[str, int]) -> None:
            nonlocal count
            rows = run_case(*task, solvers, limit)
            with lock:
                writer.writerows(rows)
                file.flush()
                count += 1
                bad = [f"{r['solver']} {r['defects']}" for r in rows if r["defects"]]
                if bad or count % 50 == 0:
                    took = f"{count}/{len(tasks)} {time.monotonic() - begin:.0f} s"
                    print(f"{took} {task[0]} {task[1]}: {', '.join(bad) or 'right'}", file=sys.stderr, flush=True)

        try:
            list(pool.map(one, tasks))
        finally:
            for worker in _workers:
                worker.stop()


if __name__ == "__main__":
    main()
