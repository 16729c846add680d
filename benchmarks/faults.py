"""Faults of the machine under the commands of auclab: what was lost, and what the reader saw.

    python benchmarks/faults.py [--only NAME …] [--source FOLDER --label 0.2.0] [--results FILE]

Each fault is a real one: a small file system that is full or read-only (mounted in memory; needs root), a process that
holds a lock, bytes that are overwritten, a server or a worker that is killed with ``kill -9``, a clock that is moved
(libfaketime). The command runs beside it as a reader would type it; afterwards the fault is taken away, `auclab push`
and the same command follow, and what is missing in the store or on the disk counts as lost. ``--source`` measures the
checkout in another folder. The results go to docs/reliability/faults.json, from which docs/reliability.py fills in
the table of docs/reliability.md.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import measured
from fault_cases import clock, database, disks, files, servers, sweeps
from fault_cases.workspace import Fault, Workspace

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "docs" / "reliability" / "faults.json"

FAULTS: tuple[Callable[[Workspace], Fault], ...] = (
    disks.disk_full_store,
    disks.disk_full_figures,
    disks.disk_full_job,
    disks.disk_full_output,
    disks.disk_full_output_later,
    disks.disk_full_both,
    disks.disk_full_sweep,
    disks.read_only_store,
    disks.read_only_list,
    disks.read_only_output,
    database.held_minute,
    database.held_minute_sweep,
    database.held_long,
    database.held_lock,
    database.corrupt_header,
    database.corrupt_pages,
    servers.server_killed,
    servers.server_stopped,
    clock.clock_back,
    clock.clock_ahead,
    files.staging_deleted,
    files.artifacts_deleted,
    sweeps.two_sweeps,
    sweeps.kill_client_basic,
    sweeps.kill_client_processes,
    sweeps.kill_worker_processes,
    sweeps.kill_client_dask,
    sweeps.kill_worker_dask,
)


def main() -> None:
    """Read the options, make the faults, write the results."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    names = [each.__name__ for each in FAULTS]
    parser.add_argument("--only", nargs="+", choices=names, default=names, metavar="NAME")
    parser.add_argument("--source", type=Path, default=ROOT, help="another checkout to measure")
    parser.add_argument("--label", default="now", help="name of what is measured, in the results")
    parser.add_argument("--results", type=Path, default=RESULTS)
    options = parser.parse_args()
    every = json.loads(options.results.read_text(encoding="utf-8")) if options.results.exists() else {}
    results = every.setdefault(options.label, {})
    for fault in FAULTS:
        if fault.__name__ not in options.only:
            continue
        workspace = Workspace(options.source.absolute())
        try:
            found = fault(workspace)
        except (AssertionError, TimeoutError, OSError, subprocess.SubprocessError) as error:
            print(f"{fault.__name__}: could not be made: {error!r}", flush=True)
            continue
        finally:
            shutil.rmtree(workspace.folder, ignore_errors=True)
        found.name, found.did = fault.__name__, str(fault.__doc__)
        found.origin = measured.origin() if options.source == ROOT else ""
        said = "-" if found.said_after is None else f"{found.said_after:.1f}"
        print(
            f"{found.name:24} exit {found.exit_code:3}  {found.seconds:6.1f} s  said after {said} s  lost: {found.lost}"
        )
        for line in found.saw:
            print(f"{'':24} {line[:300]}", flush=True)
        results[found.name] = asdict(found)
        every[options.label] = results = {name: results[name] for name in names if name in results}
        options.results.write_text(json.dumps(every, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    raise SystemExit(any(results[name]["lost"] != "nothing" for name in options.only if name in results))


if __name__ == "__main__":
    main()
