"""What each feature adds to a prediction: Shapley values of trees and of sums of trees."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from committee.base.arrays import Floats

if TYPE_CHECKING:
    from committee import _core


class ContributionsMixin:
    """Adds `predict_contributions` to an estimator whose trees know their contributions."""

    @abstractmethod
    def _read(self, X: Any) -> _core.Table:
        """Return a table with the columns of `fit`."""

    @abstractmethod
    def _class_labels(self) -> list[NDArray[Any]] | None:
        """Class labels of each output, None for regression."""

    @abstractmethod
    def _contributions(self, table: _core.Table) -> Floats:
        """Return contributions and, last, the mean: n_rows x (n_features + 1) x n_values."""

    def predict_contributions(self, X: Any) -> Floats | list[Floats]:
        """Return what each feature adds to the prediction of each row.

        These are Shapley values (SHAP values, by the path-dependent TreeSHAP): the difference
        between the prediction and the mean prediction, shared out fairly among the features. They
        are about the model and its prediction, not what would happen if a feature were changed.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Rows with the columns of `fit`; reordered columns are matched by name.

        Returns
        -------
        contributions : ndarray of float64, or a list of these
            Of shape (n_rows, n_features + 1) for regression, with a third axis for several
            outputs; (n_rows, n_features + 1, n_classes) for classification, also with two classes,
            and a list of these for several outputs. The last entry of the second axis is the mean
            prediction for the training rows, as the trees have drawn them. The sum over this axis
            is the prediction: `predict` for regression, `predict_proba` for classification.

        Notes
        -----
        With some features known, a tree predicts as follows: at a split of a known feature the row
        goes its way; at others it goes all ways, in proportion to the weight of the training
        rows. A feature without a split gets exactly zero. Features that hold the same share what
        they add. Time grows with the number of nodes.

        Examples
        --------
        >>> from committee import DecisionTreeRegressor
        >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [10.0, 10.0, 14.0, 20.0]
        >>> model = DecisionTreeRegressor().fit(X, y)
        >>> parts = model.predict_contributions([[1, 1]])
        >>> parts.round(6).tolist()  # the first feature, the second one, the mean
        [[4.25, 2.25, 13.5]]
        >>> parts.sum(axis=1).round(6).tolist()
        [20.0]
        """
        values = self._contributions(self._read(X))
        labels = self._class_labels()
        if labels is None:
            return values[:, :, 0] if values.shape[2] == 1 else values
        if len(labels) == 1:
            return values
        ends = np.cumsum([len(each) for each in labels])[:-1]
        return [np.ascontiguousarray(part) for part in np.split(values, ends, axis=2)]
