"""The base class of all estimators."""

from __future__ import annotations

from functools import cache

from sklearn.base import BaseEstimator


class Estimator(BaseEstimator):
    """scikit-learn's base class, whose parameter names are looked up once for each class."""

    @classmethod
    @cache  # an ensemble copies its template for each member; looking them up takes longest
    def _get_param_names(cls) -> list[str]:
        names: list[str] = super()._get_param_names()
        return names
