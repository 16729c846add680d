"""What all displays of a scorer share: the way from an estimator to its scores, and the picture in a notebook."""

from __future__ import annotations

from io import BytesIO
from typing import Any, Self

from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from numpy.typing import ArrayLike
from sklearn.utils._response import _get_response_values_binary

from auclab.displays.style import OWN_FIGURES


class Display:
    """A figure that holds its numbers.

    Attributes
    ----------
    ax_, figure_
        Where the last `plot` drew.
    """

    ax_: Axes
    figure_: Figure | SubFigure

    @classmethod
    def from_predictions(cls, *predictions: Any, **options: Any) -> Self:
        """Compute from labels and scores and draw; each display has its own."""
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
            All else that `from_predictions` takes, such as `sample_weight` and `ax`.

        Raises
        ------
        ValueError
            Not a binary classifier, or not fitted (scikit-learn's words); what `from_predictions` raises.
        """
        methods = ["decision_function", "predict_proba"] if response_method == "auto" else response_method
        y_score, pos_label = _get_response_values_binary(estimator, X, methods, pos_label=pos_label)
        name = type(estimator).__name__ if name is None else name
        return cls.from_predictions(y, y_score, pos_label=pos_label, name=name, **options)

    def _drawn(self, ax: Axes) -> Self:
        """Remember where the display drew."""
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _repr_png_(self) -> bytes | None:
        """The picture for a notebook, unless it is part of somebody else's figure, which shows itself."""
        if self.figure_ not in OWN_FIGURES or not isinstance(self.figure_, Figure):
            return None
        buffer = BytesIO()
        self.figure_.savefig(buffer, format="png")
        return buffer.getvalue()
