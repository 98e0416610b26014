"""`FoldMean`: the models of the folds in place of one that is fitted to all rows."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.metaestimators import available_if

from committee.base.arrays import Floats
from committee.files.codec_classes import register
from committee.files.parts import FITTED, Part, instance, list_of
from committee.members.loaded_members import check_outputs
from committee.members.output import Output
from committee.tables.native_table import reads_tables


def _has(method: str) -> Any:
    return available_if(lambda model: model.output.method == method)


@register("FoldMean")
class FoldMean(BaseEstimator):
    """The mean of the models that were fitted to the folds.

    Parameters
    ----------
    output : Output
        What the models predict.
    estimators : list of estimators
        The fitted models.
    """

    _stored_names: ClassVar[dict[str, str]] = {"output": "voice"}
    _stored_parts: ClassVar[dict[str, Part]] = {
        "output": instance(Output),
        "estimators": list_of(FITTED, least=1),
    }

    def __init__(self, output: Output, estimators: list[Any]) -> None:
        self.output = output
        self.estimators = estimators

    @property
    def _reads_tables(self) -> bool:
        return all(reads_tables(each) for each in self.estimators)

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def _check_output(self, output: Output, n_features: int) -> None:
        """Raise ValueError unless the models of a loaded mean give such an output."""
        own = self.output
        if (own.method, own.n_classes, own.n_labels) != (
            output.method,
            output.n_classes,
            output.n_labels,
        ):
            raise ValueError("the models of the folds give another output")
        check_outputs(self.estimators, [own] * len(self.estimators), n_features)

    def _mean(self, X: Any) -> Floats:
        parts = [self.output.predict(each, X) for each in self.estimators]
        return np.asarray(sum(parts[1:], start=parts[0]) / len(parts))

    @_has("predict_proba")  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Floats:
        """Return the mean of the probabilities, in the order of all classes."""
        return self._mean(X)

    @_has("decision_function")  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Floats:
        """Return the mean of the scores."""
        return self._mean(X)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the mean of the numbers, or the class code with the largest mean."""
        mean = self._mean(X)
        if self.output.n_labels:
            return np.asarray(mean >= 0.5, np.int64)
        if not self.output.n_classes:
            return np.asarray(mean[:, 0])
        if mean.shape[1] == 1:
            return np.asarray(mean[:, 0] > 0, np.int64)
        return np.asarray(mean.argmax(axis=1))
