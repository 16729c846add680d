"""Base class of the displays of a scorer: scores of a fitted estimator, and the picture in a notebook."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from inspect import signature
from io import BytesIO
from typing import Any, Self

from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from numpy.typing import ArrayLike
from sklearn.base import is_classifier
from sklearn.metrics import make_scorer

from auclab.displays.style import OWN_FIGURES
from auclab.metrics import ScoredPart
from auclab.types import AuclabError
from auclab.validation import finite_vector, positive_mask, weight_vector


@dataclass(kw_only=True, eq=False, repr=False)
class Display:
    """A figure that holds its numbers.

    `name`: the scorer in the legend. `pos_label`: label of the positive class; named in the figure if it is a string.
    `ax_`, `figure_`: axes and figure of the last `plot`.
    """

    name: str | None = None
    pos_label: Any = None
    ax_: Axes = field(init=False)
    figure_: Figure | SubFigure = field(init=False)

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        pos_label: Any = None,
        name: str | None = None,
        ax: Axes | None = None,
        **options: Any,
    ) -> Self:
        """Compute from labels and scores, and draw.

        Parameters
        ----------
        y_true, y_score, sample_weight, pos_label
            As in `auclab.metrics.bauc_score`.
        name : str, optional
            Name of the scorer in the legend.
        ax : matplotlib Axes, optional
            Axes to draw on; a new figure by default.
        **options
            What the display computes with, and the options of its `plot`.

        Raises
        ------
        AuclabError
            As in `auclab.metrics.bauc_score`, and for options out of range.
        """
        positive, score = positive_mask(y_true, pos_label), finite_vector("y_score", y_score, infinite=True)
        part = ScoredPart(positive, score, weight_vector(sample_weight, score.size))
        return cls.from_scored_part(part, pos_label=pos_label, name=name, ax=ax, **options)

    @classmethod
    def from_scored_part(cls, part: ScoredPart, **options: Any) -> Self:
        """`from_predictions` with scores that are sorted already, of displays that have it.

        Parameters
        ----------
        part : ScoredPart
            Labels and scores of one part of a split.
        **options
            `pos_label`, `name`, `ax` and the others of `from_predictions`.

        Raises
        ------
        AuclabError
            As in `from_predictions`.
        """
        return cls._plotted(part, **options)

    @classmethod
    def _plotted(
        cls, *given: Any, pos_label: Any = None, name: str | None = None, ax: Axes | None = None, **options: Any
    ) -> Self:
        """Draw the display of `given`; `options` are those of `_numbers` and of `plot`."""
        own = {key: options.pop(key) for key in signature(cls._numbers).parameters if key in options}
        made: Callable[..., Self] = cls
        return made(**cls._numbers(*given, **own), name=name, pos_label=pos_label).plot(ax, **options)

    @classmethod
    def _numbers(cls, *given: Any, **options: Any) -> dict[str, Any]:
        """The numbers of the display, with the options of `from_predictions` that change them."""
        raise NotImplementedError

    def plot(self, *ax: Any, **options: Any) -> Self:
        """Draw on `ax` or on a new figure; every display has its own options."""
        raise NotImplementedError

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        response_method: str = "auto",
        pos_label: Any = None,
        name: str | None = None,
        **options: Any,
    ) -> Self:
        """`from_predictions` with the scores that a fitted binary classifier gives to `X`.

        Parameters
        ----------
        estimator : classifier
            Fitted, or a pipeline that ends in one.
        X : array or sparse matrix of shape (n_samples, n_features)
        y : array of shape (n_samples,)
            True labels.
        response_method : {"auto", "decision_function", "predict_proba"}
            Which scores. ``"auto"`` takes `decision_function` where there is one, as `auclab.estimators.bauc_scorer`
            does: buffered AUC depends on the scale of the scores, and probabilities are squeezed at both ends.
        pos_label : optional
            The positive class, ``classes_[1]`` by default.
        name : str, optional
            Name in the legend, the class of the estimator by default.
        **options
            Further arguments of `from_predictions`, such as `sample_weight` and `ax`.

        Raises
        ------
        AuclabError
            Not a fitted binary classifier; what `from_predictions` raises.
        """
        scorer, pos_label = scorer_of(estimator, response_method, pos_label)
        y_score = scorer(estimator, X, y)
        name = type(estimator).__name__ if name is None else name
        return cls.from_predictions(y, y_score, pos_label=pos_label, name=name, **options)

    def _drawn(self, ax: Axes) -> Self:
        """Set `ax_` and `figure_`."""
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _repr_png_(self) -> bytes | None:
        """Picture for a notebook; None in a figure of the caller, which the notebook shows itself."""
        if self.figure_ not in OWN_FIGURES or not isinstance(self.figure_, Figure):
            return None
        buffer = BytesIO()
        self.figure_.savefig(buffer, format="png")
        return buffer.getvalue()


def check_bins(bins: int) -> None:
    """Refuse a number of bins below 1."""
    if bins < 1:
        raise AuclabError(f"bins must be at least 1, got {bins}")


def scorer_of(estimator: Any, response_method: str, pos_label: Any) -> tuple[Callable[..., Any], Any]:
    """The function of estimator, X and y that gives the scores, and the label of the positive class."""
    classes: Any = getattr(estimator, "classes_", ())
    if not is_classifier(estimator) or len(classes) != 2:
        raise AuclabError(f"{type(estimator).__name__} is not a fitted binary classifier; fit it to two classes first")
    methods = ("decision_function", "predict_proba") if response_method == "auto" else response_method
    pos_label = classes[1] if pos_label is None else pos_label
    return make_scorer(_scores, response_method=methods, pos_label=pos_label), pos_label


def _scores(y_true: ArrayLike, y_score: ArrayLike, *, pos_label: Any) -> ArrayLike:
    """Score function that hands back the scores: `make_scorer` computes them as for every scikit-learn scorer."""
    return y_score
