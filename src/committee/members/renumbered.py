"""Classifiers that take class codes without gaps only, such as XGBoost's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.metaestimators import available_if


def without_gaps(estimator: Any, X: Any, y: NDArray[Any], params: Mapping[str, Any]) -> Any:
    """Fit a copy of a classifier to class codes 0, 1, ... in place of labels or codes with gaps.

    Parameters
    ----------
    estimator : classifier
        It has refused the codes as they are.
    X : table
        Rows.
    y : ndarray
        Their class codes, or labels.
    params : mapping
        More arguments of `fit`.

    Returns
    -------
    estimator : Renumbered or None
        None if these are such codes already, or the copy fails as well.
    """
    codes, numbers = np.unique(y, return_inverse=True)
    if np.array_equal(codes, np.arange(len(codes))):
        return None
    copy = _with_codes(estimator, codes)
    try:
        copy.fit(X, numbers, **params)
    except Exception:  # the codes were not the reason
        return None
    return Renumbered(copy, codes)


def _with_codes(estimator: Any, codes: NDArray[Any]) -> Any:
    """Return a copy whose class weights are those of the new numbers of the classes."""
    place = {code: number for number, code in enumerate(codes.tolist())}
    changes = {
        name: {place[code]: weight for code, weight in value.items() if code in place}
        for name, value in estimator.get_params(deep=True).items()
        if name.endswith("class_weight") and isinstance(value, Mapping)
    }
    return clone(estimator).set_params(**changes)


def _has(method: str) -> Any:
    return available_if(lambda model: hasattr(model.estimator, method))


class Renumbered(ClassifierMixin, BaseEstimator):
    """A fitted classifier that knows its classes as 0, 1, ..., whatever their labels are.

    Parameters
    ----------
    estimator : classifier
        Fitted to the numbers of the classes.
    codes : ndarray
        The code, or the label, of each number.

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> inner = DummyClassifier().fit([[0], [1], [2]], [0, 1, 1])
    >>> Renumbered(inner, np.array([0, 2])).predict([[5]]).tolist()
    [2]
    """

    def __init__(self, estimator: Any, codes: NDArray[Any]) -> None:
        self.estimator = estimator
        self.codes = codes

    def __sklearn_is_fitted__(self) -> bool:
        return True

    @property
    def classes_(self) -> NDArray[Any]:
        """The codes, or the labels, of the classes that were there."""
        return self.codes

    @_has("predict_proba")  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Any:
        """Return probabilities, in the order of `classes_`."""
        return self.estimator.predict_proba(X)

    @_has("predict_log_proba")  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any) -> Any:
        """Return logarithms of probabilities, in the order of `classes_`."""
        return self.estimator.predict_log_proba(X)

    @_has("decision_function")  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Any:
        """Return scores, in the order of `classes_`."""
        return self.estimator.decision_function(X)

    def predict(self, X: Any, **params: Any) -> NDArray[Any]:
        """Return class codes."""
        numbers = np.asarray(self.estimator.predict(X, **params))
        return np.asarray(self.codes[numbers.astype(np.intp)])
