"""``auclab check RUN``: check the certificate of a stored run, a line per claim."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from auclab._core.base import AuclabError
from auclab._core.words import visible
from auclab.certificates.checker.program import Program
from auclab.runs.checking.claims import Claim, Verdict, against_data, consistency
from auclab.runs.checking.stored import Split, Training, configured_program, prepare_training, read_splits

#: Memory that a check takes for every row, whose numbers are Python's integers (measured: 380).
BYTES_A_ROW = 400
#: Rows whose kernel values are computed in integers: 9 million take half a gigabyte.
MOST_KERNEL_ROWS = 3_000


@dataclass(frozen=True)
class Check:
    """The claims of one split, and remarks on what stood in the way."""

    split: Split
    claims: tuple[Claim, ...]
    remarks: tuple[str, ...] = ()


def check_folder(
    folder: Path, *, stored: Mapping[int, Mapping[str, Any]] | None = None, allow: Sequence[str] = ()
) -> list[Check]:
    """Check every split of a run.

    `folder`: the files of the run. `stored`: numbers of the tracking store by the number of the split; they have to
    agree with the files. `allow`: what the stored configuration may name besides what ``conf/`` names
    (`auclab.runs.stored.configuration`).
    """
    splits = read_splits(folder)
    for split in splits:
        Program.from_stored(split.certificate["program"])  # before anything of the configuration is built
    configured = None
    remarks: tuple[str, ...] = ()
    try:
        configured = configured_program(folder, allow)
    except AuclabError as error:
        remarks = (f"config.yaml could not be used: {error}",)
    checks = []
    trainings = iter(prepare_training(folder, [split.number for split in splits], allow))
    training: Training | None = None
    for split in splits:
        claims = consistency(split, configured)
        if stored is not None and split.number in stored:
            claims.append(_agrees(split, stored[split.number]))
        if not remarks:
            try:
                training = next(trainings)
            except (AuclabError, OSError) as error:
                reason = " ".join(str(error).split())
                remarks = (f"the training part could not be prepared again: {reason}",)
        n_pairs = 0 if split.pairs is None else split.pairs.upper.size
        if remarks or training is None:
            claims += _unchecked("the training part is missing")
        elif too_much := _too_much(len(training.rows) + n_pairs, split.kernel is not None):
            claims += _unchecked(too_much)
        else:
            claims += against_data(split, training)
        checks.append(Check(split, tuple(claims), remarks))
    return checks


def _unchecked(reason: str) -> list[Claim]:
    """The claims that need the data, where these cannot be used."""
    return [Claim(name, "", reason, Verdict.UNCHECKED) for name in ("objective", "lower bound", "status")]


def _too_much(n_rows: int, with_kernel: bool) -> str:
    """Why the rows (with stored pairs) are too many to be checked here; empty where they fit the free memory."""
    if with_kernel and n_rows > MOST_KERNEL_ROWS:
        return f"{n_rows:,} rows have {n_rows**2:,} kernel values, and those of {MOST_KERNEL_ROWS:,} rows are computed"
    needed, free = 1e-9 * BYTES_A_ROW * n_rows, 1e-9 * psutil.virtual_memory().available
    if needed <= free:
        return ""
    return f"{n_rows:,} rows in rational numbers need {needed:.0f} GB of memory, and {free:.1f} GB are free"


def _agrees(split: Split, stored: Mapping[str, Any]) -> Claim:
    """The certificate against the numbers of the tracking store."""
    names = [name for name in ("objective", "lower_bound", "gap") if isinstance(stored.get(name), float)]
    differing = [
        f"{name} {stored[name]:.12g}"
        for name in names
        if stored[name] == stored[name] and stored[name] != split.number_of(name)
    ]
    status = stored.get("tag.status")
    if isinstance(status, str) and status != split.certificate.get("status"):
        differing.append(f"status {status}")
    found = f"the store: {', '.join(differing)}" if differing else "the same in the store"
    return Claim("store", "objective, bound, gap, status", found, Verdict.REFUTED if differing else Verdict.CONFIRMED)


def exit_code(checks: Sequence[Check]) -> int:
    """0: everything claimed is confirmed; 1: something is refuted or not proved; 2: something could not be checked."""
    verdicts = {claim.verdict for check in checks for claim in check.claims}
    return 1 if {Verdict.REFUTED, Verdict.UNPROVED} & verdicts else 2 if Verdict.UNCHECKED in verdicts else 0


def check_run(run: str, store: str = "mlruns", allow: Sequence[str] = ()) -> int:
    """Check a run, print a line per claim, and return the exit code.

    `run`: a folder with the files of a run, or a run of the store: its id, the first letters of it, its name, or
    ``last``. `store`: what ``tracking.dir`` or ``tracking.uri`` was. `allow`: what the stored configuration may name
    besides what ``conf/`` names.
    """
    began = time.perf_counter()
    checks = []
    try:
        folder, stored, name = _find(run, store, allow)
        checks = check_folder(folder, stored=stored, allow=allow)
    except AuclabError as error:
        print(visible(f"cannot be checked: {error}"))
        return 2
    for check in checks:
        _show(name, check, len(checks) > 1)
    code = exit_code(checks)
    ends = {
        0: "confirmed: everything that is claimed",
        1: "REFUTED or NOT PROVED: see the lines above",
        2: "not everything could be checked; nothing that was is wrong",
    }
    print(f"{ends[code]}   ({time.perf_counter() - began:.1f} s)")
    return code


def _find(run: str, store: str, allow: Sequence[str]) -> tuple[Path, dict[int, dict[str, Any]] | None, str]:
    """The folder of the run, its numbers in the store, and its name."""
    folder = Path(run)
    if (folder / "config.yaml").exists() or (folder / "certificate.json").exists():
        return folder, None, run
    from auclab.runs.compare.runs import fetch_files, read_run
    from auclab.runs.screen.console import reading

    with reading(store):
        rows = read_run(store, run, allow=allow)
    fetch_files(rows, store, allow=allow)
    first = rows.iloc[0]
    base = Path(first["folder"])
    stored = {}
    for _, row in rows.iterrows():
        name = Path(row["fold_folder"]).name
        stored[int(name[5:]) if Path(row["fold_folder"]) != base else 0] = {str(key): row[key] for key in rows.columns}
    return base, stored, f"{first['run']} ({str(first['run_id'])[:8]})"


def _show(name: str, check: Check, several: bool) -> None:
    from auclab.runs.screen.console import print_table

    print(visible(f"{name}{f' · fold_{check.split.number}' if several else ''}"))
    lines = [[claim.name, claim.claimed, claim.found, str(claim.verdict)] for claim in check.claims]
    print_table(["claim", "claimed", "proved or found", "verdict"], lines, left=(0, 1, 2, 3))
    for remark in check.remarks:
        print(f"  {visible(remark)}")
