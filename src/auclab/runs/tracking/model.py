"""The fitted pipeline in skops format, its formula over the user's columns, and some rows as an example.

`load_model` reads only the pipeline, and trusts only the types that models of auclab need. What MLflow keeps of a model
is in `auclab.runs.tracking.logged_models`.
"""

from __future__ import annotations

import io
import json
import sys
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd

from auclab import losses, margins, regularisers
from auclab._core.base import AuclabError
from auclab.export.scorer import SCORER_FILE, Scorer

#: Files of a model, and bytes of its list of columns, at most.
MOST_FILES, SCHEMA_BYTES = 10_000, 100_000_000

MODEL_FILE, EXAMPLE_FILE = "model.skops", "example.parquet"
#: The module with the lists of types that skops trusts by itself.
_TRUSTED_TYPES = "skops.io._trusted_types"

#: Trees of scikit-learn, whose compiled code follows their node numbers unchecked: `_check_trees` does before.
_TREES = ("sklearn.tree._tree.Tree", "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor")

#: Types in models of auclab that skops does not trust by itself.
TRUSTED = frozenset(
    {
        "auclab.datasets.steps.CategoryImputer",
        "auclab.datasets.steps.ColumnScaler",
        "auclab.datasets.steps.DateFeatures",
        "auclab.datasets.steps.MedianImputer",
        "auclab.datasets.steps.MissingColumns",
        "auclab.datasets.preprocess.UnitBall",
        "auclab.datasets.preprocess.as_text",
        "auclab.datasets.preprocess.category_name",
        "auclab.datasets.steps.VaryingColumns",
        "auclab.datasets.steps.WordFeatures",
        "auclab.estimators.auc_classifier.AUCClassifier",
        "auclab.estimators.baselines.ScoredClassifier",
        "auclab.estimators.linear_ranker.AUCRanker",
        "auclab.estimators.polynomial_classifier.PolynomialAUCClassifier",
        "auclab.estimators.linear_ranker.SurvivalRanker",
        "auclab.formulations.programs.BufferedAUC",
        "auclab.formulations.constraints.ColumnConstraints",
        "auclab.formulations.constraints.Constraints",
        "auclab.formulations.programs.Composed",
        "auclab.formulations.programs.CSVM",
        "auclab.formulations.programs.ECSVM",
        "auclab.formulations.programs.ExactAUC",
        "auclab.formulations.programs.GeneralizedBufferedAUC",
        "auclab.formulations.programs.PartialAUC",
        "auclab.formulations.programs.RankSVM",
        "auclab.formulations.scorecard.Scorecard",
        "auclab.kernels.kernel.Laplacian",
        "auclab.kernels.kernel.Polynomial",
        "auclab.kernels.kernel.Precomputed",
        "auclab.kernels.kernel.RBF",
        "auclab.models.timings.Timings",
        "auclab.scorecards.items.Item",
        "auclab.scorecards.items.ItemEncoder",
        "auclab.solvers.kernel.solution.KernelSolution",
        "auclab.solvers.kernel.solution.Stage",
        "auclab.solvers.solution.Certificate",
        "auclab.solvers.solution.Solution",
        "auclab.solvers.solution.Step",
        "numpy.dtype",
        *_TREES,
        *(
            f"{piece.__module__}.{piece.__qualname__}"
            for package in (margins, losses, regularisers)
            for name in package.__all__
            if isinstance(piece := getattr(package, name), type)
        ),
    }
)
#: Largest unpacked size of a model, in bytes.
MOST_BYTES = 2_000_000_000


def save_model(model: Any, X: Any, folder: Path, *, scorer: Mapping[str, Any] | None = None) -> None:
    """Write `model` to `folder`, from which `load_model` and, with a `scorer`, `load_scorer` read it.

    Parameters
    ----------
    model : fitted scikit-learn pipeline
    X : DataFrame or CSR matrix of shape (n_samples, n_features)
        Some rows as input of the model, which MLflow shows as an example; those of a matrix are not kept.
    folder : Path
        Must not exist yet.
    scorer : mapping, optional
        The model as a formula over the columns of `X`: the contents of ``scorer.json``.

    See Also
    --------
    load_model : Reads it.
    load_scorer : Reads it as a formula.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from auclab.estimators import AUCClassifier
    >>> X, y = np.array([[0.0], [2.0], [1.0], [3.0]]), [0, 0, 1, 1]
    >>> model = make_pipeline(StandardScaler(), AUCClassifier("bauc")).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as place:
    ...     save_model(model, X, Path(place) / "model")
    ...     same = load_model(Path(place) / "model")
    >>> bool((same.decision_function(X) == model.decision_function(X)).all())
    True
    """
    folder.mkdir(parents=True)
    with _skops_for_saving() as skops_io:
        skops_io.dump(model, folder / MODEL_FILE)
    if scorer is not None:
        (folder / SCORER_FILE).write_text(json.dumps(scorer, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    if isinstance(X, pd.DataFrame):
        X.apply(_plain).to_parquet(folder / EXAMPLE_FILE, index=False)


def _plain(column: pd.Series[Any]) -> pd.Series[Any]:
    """A column in a type of NumPy, or as text, which are what MLflow has types for."""
    if isinstance(column.dtype, np.dtype) and column.dtype.kind in "iufbM":
        return column
    if column.dtype.kind in "iuf":  # pandas' own, which may have gaps
        return column.astype("float64" if column.dtype.kind == "f" or column.isna().any() else "int64")
    return column.astype(object).map(str, na_action="ignore").astype("str")


def load_model(folder: str | Path, *, allow: Sequence[str] = ()) -> Any:
    """The pipeline that a run has kept in its folder ``model``.

    Nothing is unpickled, and no other file next to the model is read, because it could name code to import or types to
    trust.

    Parameters
    ----------
    folder : path
        The folder ``model`` of a run, or of one of its splits.
    allow : sequence of str
        Types to trust in addition to `TRUSTED` and those of scikit-learn, such as ``my.module.Scaler``.

    Returns
    -------
    fitted scikit-learn pipeline

    Raises
    ------
    AuclabError
        No model, a link in its place, types that are not trusted, an archive that is damaged or unpacks to more than
        two gigabytes.

    See Also
    --------
    load_scorer : Its formula, where it has one.

    Examples
    --------
    >>> from auclab._core.base import AuclabError
    >>> try:
    ...     load_model("nowhere")
    ... except AuclabError as error:
    ...     print(error)
    nowhere/model.skops does not exist: give the folder model of a run
    """
    path = _file_of_model(Path(folder) / MODEL_FILE)
    import skops.io

    try:
        content = path.read_bytes()  # read once, so that the checked bytes are those loaded
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            _check_sizes(archive, path)
        present = skops.io.get_untrusted_types(data=content)
        if foreign := sorted(set(present) - TRUSTED - set(allow)):
            raise AuclabError(
                f"{path} has parts of the types {', '.join(foreign)}, which no model of auclab has; loading them would "
                f"run their code. If you trust whoever made this model, allow them: allow={foreign}, in a "
                "command --allow NAME"
            )
        model = skops.io.loads(content, trusted=present)
        if set(present) & set(_TREES):
            _check_trees(model, path)
        return model
    except AuclabError:
        raise
    except Exception as error:  # skops may raise any exception on a damaged archive
        what = " ".join(f"{type(error).__name__}: {error}".split())[:200]
        raise AuclabError(f"{path} cannot be read as a model ({what}); it is damaged, or of other versions") from error


def load_scorer(folder: str | Path, *, allow: Sequence[str] = ()) -> Scorer:
    """The scorer that a run has kept in its folder ``model``: scores, probabilities and labels of new rows.

    A formula is read as data, and no code of the folder is run; for a scorer without a formula, see `load_model`.

    Parameters
    ----------
    folder : path
        The folder ``model`` of a run, or of one of its splits.
    allow : sequence of str
        As `load_model` takes it.

    Returns
    -------
    Scorer

    Raises
    ------
    AuclabError
        No ``scorer.json``, a link in its place, or contents that are not a scorer.

    See Also
    --------
    auclab.export.scorer.Scorer.predict : Scores new rows with it.

    Examples
    --------
    >>> from auclab._core.base import AuclabError
    >>> try:
    ...     load_scorer("nowhere")
    ... except AuclabError as error:
    ...     print(error)
    nowhere/scorer.json does not exist: give the folder model of a run
    """
    path = _file_of_model(Path(folder) / SCORER_FILE)
    try:
        scorer = Scorer.read(path)
        return scorer if scorer.is_formula else Scorer(scorer.description, load_model(folder, allow=allow))
    except AuclabError:
        raise
    except (LookupError, TypeError, ValueError, AttributeError, RecursionError) as error:
        what = " ".join(f"{type(error).__name__}: {error}".split())[:200]
        raise AuclabError(f"{path} is damaged ({what}); its format is not that of auclab") from error


def _check_trees(model: Any, path: Path) -> None:
    """Refuse trees that point out of their nodes, to columns that are not there, or beyond their sets of categories."""
    parts = list(_parts_of(model[-1]))
    # Each part may claim a width of its own; the rows that are scored have that of one of them.
    width = min(part.n_features_in_ for part in parts if "n_features_in_" in getattr(part, "__dict__", ()))
    for part in parts:
        kind = f"{type(part).__module__}.{type(part).__qualname__}"
        if kind not in _TREES:
            continue
        if kind == _TREES[0]:
            nodes, names = part.__getstate__()["nodes"], ("left_child", "right_child", "feature")
            inner, in_sets = nodes["left_child"] != -1, True
        else:
            nodes, names = part.nodes, ("left", "right", "feature_idx")
            inner, n_sets = (
                nodes["is_leaf"] == 0,
                min(len(part.raw_left_cat_bitsets), len(part.binned_left_cat_bitsets)),
            )
            in_sets = bool((nodes["bitset_idx"][inner & (nodes["is_categorical"] != 0)] < n_sets).all())
        left, right, feature = (nodes[name].astype(np.int64)[inner] for name in names)
        own = np.arange(nodes.size)[inner]
        children = all(((own < child) & (child < nodes.size)).all() for child in (left, right))
        if not (in_sets and children and ((feature >= 0) & (feature < width)).all()):
            raise AuclabError(f"{path} has a tree whose nodes point out of it; the model is damaged")


def _parts_of(whole: Any) -> Iterator[Any]:
    """An object and all that it holds, each once."""
    found, seen = [whole], set()
    while found:
        part = found.pop()
        if id(part) in seen:
            continue
        seen.add(id(part))
        yield part
        if isinstance(part, list | tuple | dict):
            found += part.values() if isinstance(part, dict) else part
        elif isinstance(part, np.ndarray) and part.dtype == object:
            found += part.ravel().tolist()
        elif hasattr(part, "__dict__"):
            found += vars(part).values()


def _file_of_model(path: Path) -> Path:
    """The path of a file of a model; refuses links and implausible sizes."""
    if path.is_symlink():
        raise AuclabError(f"{path} is a link; models contain no links")
    if not path.is_file():
        raise AuclabError(f"{path} does not exist: give the folder model of a run")
    if path.stat().st_size > MOST_BYTES:
        raise AuclabError(f"{path} has more than {MOST_BYTES / 1e9:g} GB, which no model of auclab has")
    return path


def _check_sizes(archive: zipfile.ZipFile, path: Path) -> None:
    """Refuse an archive that unpacks to more than a model can have, also through repeated files."""
    sizes = {each.filename: _unpacked_size(archive, each) for each in archive.infolist()}
    limits = f"{MOST_BYTES / 1e9:g} GB or {MOST_FILES:,} files"
    too_much = f"{path} unpacks to more than {limits}, which no model of auclab does"
    if len(sizes) > MOST_FILES or sum(sizes.values()) > MOST_BYTES or sizes.get("schema.json", 0) > SCHEMA_BYTES:
        raise AuclabError(too_much)
    named, waiting = 0, [json.loads(archive.read("schema.json"))]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            named += sizes.get(part["file"], 0) if isinstance(part.get("file"), str) else 0
            waiting += part.values()
        elif isinstance(part, list):
            waiting += part
    if named > MOST_BYTES:
        raise AuclabError(too_much)


def _unpacked_size(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> int:
    """Bytes of a file; those of a sparse matrix, an archive of its own, with all that is in it."""
    if not member.filename.endswith(".npz") or member.file_size > MOST_BYTES:
        return member.file_size
    with zipfile.ZipFile(io.BytesIO(archive.read(member))) as inner:
        return member.file_size + sum(each.file_size for each in inner.infolist())


@contextmanager
def _skops_for_saving() -> Iterator[Any]:
    """``skops.io`` without the lists of types that it trusts when it loads a model.

    To build the lists it imports all of scikit-learn and scans NumPy and SciPy. Saving does not need them. Afterwards
    skops is removed from the imported modules, so that code that loads models in this process imports it in full. The
    next model that is saved finds these modules again.
    """
    if "skops.io" in sys.modules:
        yield sys.modules["skops.io"]
        return
    sys.modules.update(_saving_modules or {_TRUSTED_TYPES: _NoTypes(_TRUSTED_TYPES)})
    try:
        import skops.io

        # Unindented, which the C encoder of JSON can write: a tenth of the time.
        skops.io._persist.json = _CompactJson
        yield skops.io
    finally:
        for name in list(sys.modules):  # a copy: the thread that sends runs may import MLflow meanwhile
            if name.partition(".")[0] == "skops":
                _saving_modules[name] = sys.modules.pop(name)


_saving_modules: dict[str, ModuleType] = {}


class _CompactJson:
    """Replaces the module `json` when skops writes the schema of a model."""

    @staticmethod
    def dumps(state: Any, indent: int | None = None) -> str:
        """As `json.dumps`, without line breaks."""
        return json.dumps(state)


class _NoTypes(ModuleType):
    """Replaces skops' module of lists; it has only the built-in types."""

    PRIMITIVE_TYPE_NAMES = ("builtins.int", "builtins.float", "builtins.str", "builtins.bool")
    CONTAINER_TYPE_NAMES = ("builtins.list", "builtins.set", "builtins.map", "builtins.tuple")

    def __getattribute__(self, name: str) -> Any:
        if name.endswith(("_TYPE_NAMES", "_TYPES")):
            return list(vars(_NoTypes).get(name, ()))
        return super().__getattribute__(name)
