"""Classifiers that do not take every set of classes: codes without gaps, and a single class.

Some of the rows may lack a class: a fold of a rare one does. Most classifiers take the codes that
are left; XGBoost's, for one, do not if the class was in the middle.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.metaestimators import available_if


def fit_codes(member: Any, X: Any, y: NDArray[Any], params: Mapping[str, Any]) -> Any:
    """Fit a classifier to class codes, which may have gaps.

    Parameters
    ----------
    member : classifier
        What is fitted.
    X : table
        Rows.
    y : ndarray of int
        Their class codes.
    params : mapping
        More arguments of `fit`.

    Returns
    -------
    member : classifier
        The same, or if it refuses gaps a `Renumbered` copy that was fitted without them.
    """
    try:
        member.fit(X, y, **params)
    except (LookupError, ValueError):
        codes, places = np.unique(y, return_inverse=True)
        if len(codes) == codes[-1] + 1:
            raise
        other = _with_codes(member, codes)
        try:
            other.fit(X, places, **params)
        except Exception:
            other = None  # the codes were not to blame
        if other is None:
            raise
        return Renumbered(other, codes)
    return member


def one_class_error(who: str, labels: NDArray[Any] | None, error: Exception) -> ValueError | None:
    """Return what to say where an estimator refused a target of a single class."""
    if labels is None or len(labels) != 1 or not isinstance(error, ValueError):
        return None
    label = labels.tolist()[0]
    return ValueError(f"y has 1 class, {label!r}, and {who} could not be fitted to it: {error}")


def _with_codes(member: Any, codes: NDArray[Any]) -> Any:
    """Return a copy whose class weights are those of the new numbers of the classes."""
    place = {code: number for number, code in enumerate(codes.tolist())}
    changes = {
        name: {place[code]: weight for code, weight in value.items() if code in place}
        for name, value in member.get_params(deep=True).items()
        if name.endswith("class_weight") and isinstance(value, Mapping)
    }
    return clone(member).set_params(**changes)


def _has(method: str) -> Any:
    return available_if(lambda model: hasattr(model.estimator, method))


class Renumbered(ClassifierMixin, BaseEstimator):
    """A fitted classifier that knows its classes as 0, 1, ..., whatever their codes are.

    Parameters
    ----------
    estimator : classifier
        Fitted to the numbers of the classes.
    codes : ndarray of int
        The code of each number.

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
        """The codes of the classes that were there."""
        return self.codes

    @_has("predict_proba")  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Any:
        """Return probabilities, in the order of `classes_`."""
        return self.estimator.predict_proba(X)

    @_has("decision_function")  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Any:
        """Return scores, in the order of `classes_`."""
        return self.estimator.decision_function(X)

    def predict(self, X: Any, **params: Any) -> NDArray[Any]:
        """Return class codes."""
        numbers = np.asarray(self.estimator.predict(X, **params))
        return np.asarray(self.codes[numbers.astype(np.intp)])
