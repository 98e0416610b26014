"""AdaBoost of scikit-learn on raw tables, prepared as well as it can be."""

from __future__ import annotations

from typing import Any

from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import AdaBoostClassifier, AdaBoostRegressor
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder


def _prepared(model: Any) -> Pipeline:
    """Encode and fill before the model, which refuses text and missing values.

    A stump asks one question: a level of its own column can be asked for, a number of a level
    cannot. Rare levels share a column. Missing numbers become the median, and are marked.
    """
    text = ["category", "object", "string"]
    encoder = OneHotEncoder(handle_unknown="infrequent_if_exist", max_categories=30)
    columns = make_column_transformer(
        (encoder, make_column_selector(dtype_include=text)),
        (
            SimpleImputer(strategy="median", add_indicator=True),
            make_column_selector(dtype_exclude=text),
        ),
        sparse_threshold=0.0,
    )
    return make_pipeline(columns, model)


def prepared_classifier(**params: Any) -> Pipeline:
    """Return an AdaBoostClassifier for raw tables."""
    return _prepared(AdaBoostClassifier(**params))


def prepared_regressor(**params: Any) -> Pipeline:
    """Return an AdaBoostRegressor for raw tables."""
    return _prepared(AdaBoostRegressor(**params))
