"""Time of sixty jobs of one second: one after the other, on two processes and on two Dask workers.

    python benchmarks/launcher_speed.py [--jobs 60] [--workers 2] [--work sleep|compute]

A job sleeps for a second, or multiplies matrices until it has used a second of processor time: the first shows what
a launcher costs, the second what is left of that where the cores are shared with others. Everything but the work of
the job is as in ``run.py``: composition, output folders, status files, lines. Prints seconds, start included.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import hydra
from omegaconf import DictConfig

from auclab.runs.config.settings import register_schema
from auclab.runs.sweeps.jobs import SweepRecord
from auclab.runs.sweeps.sweep import sweep_scope
from auclab.runs.tracking.record import RunRecord

LAUNCHERS = {
    "basic": [],
    "processes": ["hydra/launcher=processes", "hydra.launcher.workers={workers}"],
    "dask": ["hydra/launcher=dask", "hydra.launcher.workers={workers}"],
}


@hydra.main(version_base="1.3", config_path="../conf", config_name="config")
def job(config: DictConfig) -> None:
    """One second of work."""
    if os.environ["BENCHMARK_WORK"] == "sleep":
        time.sleep(1.0)
    else:
        import numpy as np

        matrix = np.random.default_rng(config.split.seed).normal(size=(300, 300))
        begin = time.process_time()
        while time.process_time() < begin + 1.0:
            matrix = matrix @ matrix / np.linalg.norm(matrix @ matrix)
    own = hydra.core.hydra_config.HydraConfig.get()
    sweep = SweepRecord.read(Path(own.sweep.dir))
    RunRecord(Path(own.runtime.output_dir), f"job {config.split.seed}", sweep=sweep.id).keep(status="FINISHED")


def main() -> None:
    """Run the three launchers in turn."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--jobs", type=int, default=60)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--work", choices=["sleep", "compute"], default="sleep")
    options = parser.parse_args()
    basic: float | None = None
    for name, overrides in LAUNCHERS.items():
        load = os.getloadavg()[0]
        begin = time.perf_counter()
        answer = subprocess.run(
            [
                *(sys.executable, __file__, "-m", "tracking=none", f"split.seed=range({options.jobs})"),
                *(override.format(workers=options.workers) for override in overrides),
            ],
            cwd=tempfile.mkdtemp(prefix="launchers-"), capture_output=True, text=True,
            env=os.environ | {"BENCHMARK_WORK": options.work},
        )  # fmt: skip
        seconds = time.perf_counter() - begin
        basic = basic or seconds
        last = (answer.stdout.strip().splitlines() or answer.stderr.strip().splitlines())[-1]
        print(f"{name:7} {seconds:6.1f} s  {seconds / basic:.2f} × basic  load before {load:.1f}  {last}", flush=True)


if __name__ == "__main__":
    if len(sys.argv) > 1 and sys.argv[1] == "-m":
        register_schema()
        with sweep_scope():
            job()
    else:
        main()
