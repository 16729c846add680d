"""A study as a sweep: one tracked run per seed, skipped when it finished before, and the results file from their rows.

``python run.py -m experiment=<paper>_<study> scale=full [hydra/launcher=processes hydra.launcher.workers=2]``

A job's rows are the file ``rows.csv`` of its run, those of claims its metrics. The scale, the seed and the code decide
them, so a seed is computed again when the code of the study or of auclab has changed; ``rerun=false`` takes it as it is
and ``rerun=true`` computes everything.
"""

from __future__ import annotations

import csv
import hashlib
import inspect
import math
import os
import re
import shlex
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import cache
from importlib import import_module
from pathlib import Path
from statistics import fmean, stdev
from types import ModuleType
from typing import Any

from hydra.experimental.callback import Callback
from omegaconf import DictConfig, OmegaConf
from rich.markup import escape

from auclab._core.base import AuclabError
from auclab.runs.config.compose import flatten
from auclab.runs.config.settings import typed
from auclab.runs.screen.console import out
from auclab.runs.sweeps.jobs import Job, SweepRecord, attempt, parse_rerun
from auclab.runs.sweeps.sweep import report_remaining_jobs
from auclab.runs.tracking.address import SWEEP_VARIABLE, TrackingConfig, in_sweep
from auclab.runs.tracking.environment import CODE_TAG, HASH_TAG, SETTINGS_TAG, code_version, fingerprint
from auclab.runs.tracking.record import Draft, read_records, recording
from auclab.runs.tracking.sync import computing, sync_run
from experiments.study import FOLDER, SCALES, VALUE, Row, count_seeds, read, rows_of, write
from experiments.verdicts import HEAD, counted, judge

ROWS_FILE, VERDICTS_FILE = "rows.csv", "verdicts.csv"
#: Settings of a study that can be overridden; the study fixes all others.
SETTINGS = ("experiment", "study", "scale", "seed", "variant", "results_dir", "rerun")


def seeds(study: str, scale: str) -> str:
    """The seeds of a scale in the syntax of Hydra's overrides.

    Raises
    ------
    AuclabError
        An unknown scale.
    """
    if scale not in SCALES:
        raise AuclabError(f"scale is {scale!r}; choose one of {', '.join(SCALES)}")
    count = count_seeds(study, scale)
    return f"range({count})" if count > 1 else "0"


def run_study(config: DictConfig, job: Any) -> None:
    """One seed of a study as a job of a sweep, or by itself (``hydra.mode=RUN``), which is never skipped."""
    from auclab.runs.screen.console import plain_errors

    folder = Path(job.runtime.output_dir)
    if in_sweep():
        attempt(folder, Path(job.sweep.dir), job.job.override_dirname, lambda: _make(config, job, folder))
        return
    with plain_errors(lambda line: SystemExit(1)):
        study = _make(config, job, folder)
        with computing(folder, typed(config.tracking, TrackingConfig)) as pending:
            with study.record(SweepRecord(folder, "")) as run:
                study.work(run)
            record = sync_run(pending) or run.record
        out.print(f"[green]✓[/green] {escape(study.name)}  [dim]{record.line}[/dim]", soft_wrap=True)
        _show(study_of(config), read(record.files_folder / ROWS_FILE)[2])


def _make(config: DictConfig, job: Any, folder: Path) -> Job:
    overrides = list(job.overrides.task)
    unknown = [each for each in overrides if not each.startswith("tracking") and each.partition("=")[0] not in SETTINGS]
    if unknown:
        raise AuclabError(f"{unknown[0]} has no effect on a study; {', '.join(SETTINGS)} and tracking have")
    everything: dict[str, Any] = OmegaConf.to_container(config, resolve=True)  # type: ignore[assignment]
    settings = {key: everything[key] for key in ("study", "scale", "seed", "tracking", "rerun")}
    study, scale, seed = str(settings["study"]), str(settings["scale"]), int(settings["seed"])
    paper, name = study.split(".")[-2:]
    several = f" · seed {seed}" if count_seeds(study, scale) > 1 else ""
    title = f"{paper} {name} · {scale}{several}"
    command = shlex.join(["python", "run.py", *overrides, "hydra.mode=RUN"])
    tracking = typed(config.tracking, TrackingConfig)
    code = _code(study)  # now: at the end of a long job the files may differ from those that were loaded

    def record(sweep: SweepRecord) -> AbstractContextManager[Draft]:
        tags = {SETTINGS_TAG: fingerprint(settings), CODE_TAG: code, "study": study, "command": command}
        return recording(
            folder,
            name=title,
            tracking=tracking if tracking.name == "mlflow" else None,
            params=flatten(settings, {}),
            tags=tags,
            sweep=sweep.id or None,
            parent=sweep.parent,
        )

    def work(run: Draft) -> None:
        _work(settings, command, run)

    return Job(title, settings, parse_rerun(settings["rerun"]), code, lambda: "", record, work)


@cache
def _code(study: str) -> str:
    """The code of auclab, and a hash of the study and of the modules of experiments/ that it uses."""
    found: dict[str, str] = {}

    def visit(module: ModuleType) -> None:
        if module.__name__ not in found:
            found[module.__name__] = inspect.getsource(module)
            for value in list(vars(module).values()):
                home = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None)
                if str(home).startswith("experiments.") and str(home) != Row.__module__:
                    visit(import_module(str(home)))

    visit(import_module(study))
    digest = hashlib.sha256("".join(found[key] for key in sorted(found)).encode()).hexdigest()
    return f"{code_version()}, study {digest[:16]}"


def _work(settings: Mapping[str, Any], command: str, run: Draft) -> None:
    """Compute the rows of one seed into its run."""
    begin = time.perf_counter()
    rows = rows_of(settings["study"], settings["seed"], settings["scale"])
    seconds = time.perf_counter() - begin
    write(run.staging / ROWS_FILE, rows, command=command)
    claims = [row for row in rows if not row.claim_id.startswith(VALUE)]
    metrics = {_metric_name(*key): fmean(values) for key, values in _values(claims).items()}
    judged = judge(str(settings["study"]).split(".")[-2], claims)
    with (run.staging / VERDICTS_FILE).open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([HEAD, *(each.cells for each in judged)])
    kinds = [each.verdict.kind for each in judged]
    metrics |= {f"verdicts/{kind.replace(',', '')}": float(kinds.count(kind)) for kind in set(kinds)}
    run.keep(
        metrics=metrics | {"seconds": seconds, "rows": float(len(rows))},
        tags={HASH_TAG: fingerprint(settings), "verdicts": counted(judged)},
        line=f"{len(rows)} rows  {seconds:.1f} s  {counted(judged)}",
    )


def _values(rows: Iterable[Row]) -> dict[tuple[str, str], list[float]]:
    found: dict[tuple[str, str], list[float]] = {}
    for row in rows:
        found.setdefault((row.claim_id, row.variant), []).append(row.value)
    return found


def _metric_name(claim_id: str, variant: str) -> str:
    """With the letters that MLflow takes.

    Examples
    --------
    >>> _metric_name("figure3.auc.n=40", "as_published")
    'as_published/figure3.auc.n:40'
    """
    return re.sub(r"[^\w\-./: ]", ":", f"{variant}/{claim_id}" if variant else claim_id)


class ResultsCallback(Callback):
    """Collects the rows at the end of a sweep."""

    def on_multirun_end(self, config: DictConfig, **kwargs: Any) -> None:
        """Show means and write results; skipped if the sweep was interrupted."""
        from auclab.runs.screen.console import plain_errors

        with plain_errors(lambda line: SystemExit(1)):  # Hydra would make a warning of an exception
            gather(config)


def gather(config: DictConfig) -> None:
    """Rows of all seeds of a finished sweep: shown, and written unless at smoke scale or for one variant only.

    They are written to the folder of the sweep, or to `results_dir`, so that no stored result changes unasked.

    Results of more seeds are not overwritten by those of a subset, but compared with them.
    """
    from auclab.runs.screen.console import err, out

    report_remaining_jobs()
    rows, origins, missing = _stored_rows(Path(config.hydra.sweep.dir).absolute(), config)
    _show(study_of(config), list(_of_variant(rows, str(config.variant))))
    if missing:
        err.print(f"[red]{missing} of {missing + len(origins)} jobs gave no rows[/red]", soft_wrap=True)
    if config.scale == "smoke" or config.variant != "all" or not rows:
        return
    paper, name = str(config.study).split(".")[-2:]
    overrides = [f"experiment={config.hydra.runtime.choices.experiment}", f"scale={config.scale}"]
    overrides += [each for each in config.hydra.overrides.task if each.startswith("seed=")]
    kept_here = FOLDER / paper / "results" / f"{name}.csv"
    target = Path(config.hydra.sweep.dir if config.results_dir is None else config.results_dir) / f"{name}.csv"
    kept = read(target)[2] if target.exists() else []
    if {row.seed for row in rows} < {row.seed for row in kept}:
        out.print(f"{os.path.relpath(target)} has more seeds and stays: {_agreement(kept, rows)}", soft_wrap=True)
        return
    origin = _common_origin(origins) + (f"; {missing} of {missing + len(origins)} jobs missing" if missing else "")
    write(target, rows, command=shlex.join(["python", "run.py", "-m", *overrides]), origin=origin)
    out.print(f"written: {os.path.relpath(target)}, {len(rows)} rows of {len(origins)} jobs", soft_wrap=True)
    if config.results_dir is None and kept_here.exists():
        stored = os.path.relpath(kept_here)
        out.print(f"against {stored}: {_agreement(read(kept_here)[2], rows)}", soft_wrap=True)
        out.print(f"results_dir={os.path.relpath(kept_here.parent)} replaces it", soft_wrap=True)


def _agreement(kept: Iterable[Row], rows: Iterable[Row]) -> str:
    """Difference of values from the stored ones of the same claim, variant and seed.

    Examples
    --------
    >>> _agreement([Row("a", 0.5, 0), Row("a", 0.7, 1), Row("b", 1.0, 1)], [Row("a", 0.75, 1), Row("b", 1.0, 1)])
    '1 of 2 values are the same, the largest difference is 0.05'
    """
    before = {(row.claim_id, row.variant, row.seed): row.value for row in kept}
    pairs = [(before.get((row.claim_id, row.variant, row.seed), math.nan), row.value) for row in rows]
    same = sum(old == new for old, new in pairs)
    largest = max((abs(old - new) for old, new in pairs), default=0.0)
    return f"{same} of {len(pairs)} values are the same, the largest difference is {largest:.2g}"


def _stored_rows(folder: Path, config: DictConfig) -> tuple[list[Row], list[str], int]:
    """Rows by seed, where each job was made, and how many jobs have none."""
    found = []
    jobs = [record for record in read_records(folder) if record.sweep == os.environ.get(SWEEP_VARIABLE)]
    for job in jobs:
        if job.status in ("FINISHED", "SKIPPED"):
            seed = int(OmegaConf.load(job.folder / ".hydra" / "config.yaml").seed)
            path = job.files_folder / ROWS_FILE
            own = read(path) if path.exists() or job.run_id is None else _of_run(job.run_id, config)
            found.append((seed, own))
    found.sort(key=lambda item: item[0])
    rows = [row for _, (_, _, own) in found for row in own]
    return rows, [origin for _, (_, origin, _) in found], len(jobs) - len(found)


def _of_run(run_id: str, config: DictConfig) -> tuple[str, str, list[Row]]:
    """Command, origin and rows of a run, read from its artifacts."""
    from auclab.runs.compare.runs import open_reader
    from auclab.runs.tracking.address import Address

    client = open_reader(Address.of_settings(typed(config.tracking, TrackingConfig)))
    with tempfile.TemporaryDirectory() as folder:
        return read(Path(client.download_artifacts(run_id, ROWS_FILE, folder)))


def _common_origin(origins: Sequence[str]) -> str:
    """The origins of jobs in one line; seeds stored earlier may be of several commits.

    Examples
    --------
    >>> _common_origin(["commit aa; Python 3", "commit bb; Python 3", "commit aa; Python 3"])
    'commit aa, bb; Python 3'
    """
    parts = [origin.removeprefix("commit ").partition("; ") for origin in origins]
    commits, rest = (dict.fromkeys(part[index] for part in parts) for index in (0, 2))
    return f"commit {', '.join(commits)}; {' | '.join(rest)}"


def _of_variant(rows: Sequence[Row], variant: str) -> Iterator[Row]:
    variants = {row.variant for row in rows}
    if variant != "all" and variant not in variants:
        raise AuclabError(f"no row is of variant {variant!r}; there are {', '.join(sorted(variants - {''})) or 'none'}")
    return (row for row in rows if variant == "all" or row.variant in (variant, ""))


def study_of(config: DictConfig) -> str:
    """The folder of the paper of a study."""
    return str(config.study).split(".")[-2]


def _show(paper: str, rows: Sequence[Row]) -> None:
    """A line per claim of the paper with its verdict, and one per other value and variant: mean and standard error."""
    from auclab.runs.screen.console import out, print_table

    claims = [row for row in rows if not row.claim_id.startswith(VALUE)]
    judged = judge(paper, claims)
    if judged:
        print_table(HEAD, [each.cells for each in judged], left=(0, 4))
        out.print(f"verdicts: {counted(judged)}", soft_wrap=True)
    known = {each.claim.claim_id for each in judged}
    for (claim_id, variant), values in _values(row for row in claims if row.claim_id not in known).items():
        error = f" ± {stdev(values) / len(values) ** 0.5:.1g} ({len(values)} values)" if len(values) > 1 else ""
        out.print(f"{claim_id:40} {variant:14} {fmean(values):.8g}{error}", markup=False, soft_wrap=True)
