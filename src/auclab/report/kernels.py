"""Runs with a kernel: landmarks and certified gap of each, and a picture of the gaps of their stages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from auclab.pipeline.stored.stored_kernel import SPACES, StoredKernel, read_kernel
from auclab.pipeline.stored.visible import visible
from auclab.report.figures import MOST_SOLVES, Drawn, draw_stages


@dataclass(frozen=True)
class KernelLine:
    """A run: the kernel of every split, the range of their landmarks, the scorers for which the bounds hold.

    `gap` is the largest over the splits.
    """

    number: int
    name: str
    kernel: str
    fewest: int
    most: int
    gap: float
    space: str
    first: StoredKernel

    @property
    def landmarks(self) -> str:
        """One number, or the range over the splits."""
        return f"{self.fewest:,}" if self.fewest == self.most else f"{self.fewest:,} to {self.most:,}"


def kernel_lines(runs: pd.DataFrame, numbers: dict[str, int]) -> list[KernelLine]:
    """A line per run with a kernel, the oldest first.

    `runs`: finished runs, as `auclab.comparison.read_runs` gives them. `numbers`: of the runs on the page, by their
    ids.
    """
    lines = []
    for run_id, block in runs.groupby("run_id", sort=False):
        found = [kernel for folder in block["fold_folder"] if (kernel := read_kernel(Path(folder))) is not None]
        if not found:
            continue
        counts, sizes = Counter(kernel.words for kernel in found), [kernel.landmarks for kernel in found]
        words = "; ".join(name if len(counts) == 1 else f"{count} × {name}" for name, count in counts.items())
        spaces = " or ".join(dict.fromkeys(SPACES[kernel.space] for kernel in found))
        name, gap = visible(str(block["run"].iloc[0])), float(block["gap"].max())
        lines.append(KernelLine(numbers[str(run_id)], name, words, min(sizes), max(sizes), gap, spaces, found[0]))
    return lines


def draw_kernels(lines: Sequence[KernelLine]) -> Drawn | None:
    """The stages of the first splits of the last runs; None where no run has several."""
    several = [line for line in lines if len(line.first.stages) > 1][-MOST_SOLVES:]
    return draw_stages([(line.name, line.first.stages) for line in several]) if several else None
