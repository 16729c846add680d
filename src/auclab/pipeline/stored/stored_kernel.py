"""The stored facts of a kernel solve, read as untrusted input."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from auclab.pipeline.stored.stored_files import damaged, read_json
from auclab.pipeline.stored.visible import visible
from auclab.sizes import MOST_ENTRIES
from auclab.solvers.kernel.solution import Stage

#: The scorers for which a lower bound holds, by the stored word.
SPACES = {"whole": "every scorer of the space", "span": "the scorers in the span of the landmarks"}
_SYMBOLS = {"gamma": "γ", "degree": "degree", "coef0": "c₀"}


@dataclass(frozen=True)
class StoredKernel:
    """The kernel of a split and how its space was searched.

    `name`: as in the configuration. `parameters`: those of γ, degree and c₀ that the kernel has. `space`: the scorers
    for which the lower bound holds. `length`: ``‖h‖_H``.
    """

    name: str
    parameters: dict[str, float]
    space: str
    landmarks: int
    length: float
    stages: tuple[Stage, ...]

    @property
    def words(self) -> str:
        """The kernel with its parameters.

        Examples
        --------
        >>> StoredKernel("rbf", {"gamma": 0.5}, "whole", 20, 1.0, ()).words
        'rbf γ = 0.5'
        """
        return " ".join(
            [self.name, ", ".join(f"{_SYMBOLS[key]} = {value:g}" for key, value in self.parameters.items())]
        )


def described_kernels(kernels: Sequence[StoredKernel]) -> tuple[str, str, str]:
    """The kernels of several splits, the range of their landmarks, and the scorers for which the bounds hold."""
    counts, sizes = Counter(kernel.words for kernel in kernels), sorted(kernel.landmarks for kernel in kernels)
    words = "; ".join(name if len(counts) == 1 else f"{count} × {name}" for name, count in counts.items())
    landmarks = f"{sizes[0]:,}" if sizes[0] == sizes[-1] else f"{sizes[0]:,} to {sizes[-1]:,}"
    return words, landmarks, " or ".join(dict.fromkeys(SPACES[kernel.space] for kernel in kernels))


def read_kernel(folder: Path) -> StoredKernel | None:
    """The kernel in ``certificate.json`` of a split; None for a run without one."""
    content = read_json(folder, "certificate.json")
    if content is None or content.get("kernel") is None:
        return None
    with damaged(folder / "certificate.json"):
        kernel = content["kernel"]
        stages = tuple(
            Stage(int(stage["landmarks"]), *(float(stage[key]) for key in ("seconds", "objective", "lower_bound")))
            for stage in kernel["stages"][:MOST_ENTRIES]
        )
        if kernel["space"] not in SPACES:
            raise ValueError(f"the space {kernel['space']!r} is unknown")
        return StoredKernel(
            name=visible(str(kernel["name"])),
            parameters={key: float(kernel[key]) for key in _SYMBOLS if key in kernel},
            space=kernel["space"],
            landmarks=int(kernel["landmarks"]),
            length=float(kernel["length"]),
            stages=stages,
        )
