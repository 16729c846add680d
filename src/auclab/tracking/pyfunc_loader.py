"""MLflow's entry to a stored model, whose folder has a copy of this file and one of `auclab.export.scorer`."""

from __future__ import annotations

from pathlib import Path

try:
    from auclab_scorer import Scorer  # type: ignore[import-not-found]  # the copy, which needs no auclab
except ImportError:
    from auclab.export.scorer import Scorer


def _load_pyfunc(path: str) -> Scorer:
    """The scorer in `path`, the ``scorer.json`` of a model."""
    scorer = Scorer.read(path)
    if scorer.is_formula:
        return scorer
    try:
        from auclab.tracking.model import load_model
    except ImportError as error:
        raise ImportError(
            f"{scorer.what} is not a formula over the columns, so that this model needs auclab in the environment "
            f"({error}); install it from its source: pip install PATH_OF_AUCLAB"
        ) from error
    return Scorer(scorer.description, load_model(Path(path).parent))
