"""Rows for trials of loaded estimators of scikit-learn, and checks that their attributes fit.

What scikit-learn would read without looking (a number of columns, a place in a list) is compared
with what it follows from. The rest shows when a few rows are transformed or predicted.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from committee.files.parts import FITTED

Array = npt.NDArray[Any]

# A trial with more cells takes too long for what it finds.
_MOST_CELLS = 2**22
_PLAIN = (str, bytes, int, float, np.generic, type(None))  # what a category is


def number_rows(model: Any) -> Array | None:
    n_features = getattr(model, "n_features_in_", 1)
    return np.zeros((3, n_features)) if 3 * n_features <= _MOST_CELLS else None


def category_rows(model: Any) -> Array | None:
    """Return rows in which each category of each column occurs."""
    levels = model.categories_
    n_rows = max((len(each) for each in levels), default=0)
    if not n_rows or n_rows * len(levels) > _MOST_CELLS:
        return None
    columns = [each[np.arange(n_rows) % len(each)] for each in levels]
    rows = np.empty((n_rows, len(levels)), dtype=object)
    for place, column in enumerate(columns):
        rows[:, place] = column
    return rows


def imputer_rows(model: Any) -> Array | None:
    if model._fit_dtype.kind != "O":
        return number_rows(model)
    return np.tile(np.asarray(model.statistics_, dtype=object), (3, 1))


def text_rows(model: Any) -> Array:
    return np.array(["a few words", "and more"], dtype=object)


def polynomial_rows(model: Any) -> Array | None:
    """Return no rows where the columns that are made of one row are too many."""
    n_outputs = model._num_combinations(
        n_features=model.n_features_in_,
        min_degree=model._min_degree,
        max_degree=model._max_degree,
        interaction_only=model.interaction_only,
        include_bias=model.include_bias,
    )
    if n_outputs != model.n_output_features_:
        raise ValueError("the degree does not fit the columns")
    return number_rows(model) if n_outputs <= _MOST_CELLS else None


# ---- checks ----


def check_linear(model: Any) -> None:
    coefficients, start = np.asarray(model.coef_), np.asarray(model.intercept_)
    n_rows = len(coefficients) if coefficients.ndim == 2 else 1
    if start.dtype.kind not in "fi" or start.ndim > 1 or start.size not in (1, n_rows):
        raise ValueError("intercept_ does not fit coef_")
    known = vars(model).get("classes_")
    if known is None:
        return
    n_classes = len(known)
    if n_classes < 2:
        raise ValueError("there is one class only")
    if n_rows != (1 if n_classes == 2 else n_classes) and not isinstance(known, list):
        raise ValueError("coef_ does not fit classes_")


def check_encoder(model: Any) -> None:
    """Compare what encoders derive from their categories; wrong numbers would leave a matrix."""
    for name in ("_infrequent_indices", "_default_to_infrequent_mappings"):
        if model._infrequent_enabled and not hasattr(model, name):
            raise ValueError(f"{name} is missing")
    for place, levels in enumerate(model.categories_):
        plain = [each for each in levels.tolist() if isinstance(each, _PLAIN)]
        if not len(levels) or len(set(plain)) != len(levels):
            raise ValueError("a column has no categories, or the same twice")
        if model._infrequent_enabled:
            _check_infrequent(model, place, len(levels))
        dropped = getattr(model, "_drop_idx_after_grouping", None)
        number = None if dropped is None else dropped[place]
        is_number = isinstance(number, int | np.integer) and not isinstance(number, bool)
        if number is not None and not (is_number and 0 <= number < len(levels)):
            raise ValueError("a dropped category is out of range")
    n_columns = getattr(model, "_n_features_outs", None)
    if n_columns is not None and n_columns != model._compute_n_features_outs():
        raise ValueError("the number of columns does not fit the categories")


def _check_infrequent(model: Any, place: int, n_levels: int) -> None:
    rare = model._infrequent_indices[place]
    mapping = model._default_to_infrequent_mappings[place]
    if (rare is None) != (mapping is None):
        raise ValueError("the infrequent categories do not fit each other")
    if rare is None:
        return
    is_rare = np.zeros(n_levels, bool)
    if not len(rare) or rare.min() < 0 or rare.max() >= n_levels:
        raise ValueError("an infrequent category is out of range")
    is_rare[rare] = True
    n_frequent = n_levels - int(is_rare.sum())
    expected = np.where(is_rare, n_frequent, np.cumsum(~is_rare) - 1)
    if len(set(rare.tolist())) != len(rare) or not np.array_equal(mapping, expected):
        raise ValueError("the infrequent categories do not fit each other")


def check_ordinal(model: Any) -> None:
    check_encoder(model)
    missing = model._missing_indices
    for place, index in missing.items():
        if type(place) is not int or not 0 <= place < model.n_features_in_:
            raise ValueError("missing values are of no column")
        if isinstance(index, bool) or not 0 <= int(index) < len(model.categories_[place]):
            raise ValueError("missing values have no category")


def check_vocabulary(model: Any) -> None:
    numbers = sorted(int(number) for number in model.vocabulary_.values())
    if numbers != list(range(len(numbers))) or not numbers:
        raise ValueError("the words are not numbered from 0")
    own = getattr(model, "_tfidf", None)
    if own is not None and getattr(own, "n_features_in_", len(numbers)) != len(numbers):
        raise ValueError("the weights do not fit the words")


def check_indicator(model: Any) -> None:
    if (model.features_ >= model.n_features_in_).any() or model._n_features != model.n_features_in_:
        raise ValueError("columns are out of range")


def check_imputer(model: Any) -> None:
    if not hasattr(model, "_fill_dtype"):  # scikit-learn 1.6 has one dtype for both
        model._fill_dtype = model._fit_dtype
    if model.add_indicator and model.indicator_ is None:
        raise ValueError("the indicator is missing")


def check_bins(model: Any) -> None:
    for edges, n_bins in zip(model.bin_edges_, model.n_bins_, strict=True):
        if not isinstance(edges, np.ndarray) or edges.ndim != 1 or edges.dtype.kind != "f":
            raise ValueError("edges of bins are not numbers")
        if len(edges) != n_bins + 1:
            raise ValueError("edges of bins do not fit their number")


def check_columns(model: Any) -> None:
    """Check that each transformer of a `ColumnTransformer` gets the columns it was fitted to."""
    places, n_features = model._transformer_to_input_indices, model.n_features_in_
    names = [name for name, _, _ in model.transformers_]
    if len(set(names)) != len(names):
        raise ValueError("two transformers have the same name")
    if model._remainder[0] != "remainder" or len(model._columns) != len(model.transformers):
        raise ValueError("the columns do not fit the transformers")
    known = getattr(model, "feature_names_in_", None)
    for name, transformer, columns in model.transformers_:
        if not all(type(place) is int and 0 <= place < n_features for place in places[name]):
            raise ValueError("a column is out of range")
        if _resolved(columns, known, n_features) != places[name]:
            raise ValueError("the columns do not fit their places")
        if isinstance(transformer, str) or not places[name]:
            continue
        if getattr(transformer, "n_features_in_", len(places[name])) != len(places[name]):
            raise ValueError("a transformer is fitted to another number of columns")
        if not FITTED.holds(transformer, {}) and hasattr(transformer, "n_features_in_"):
            raise ValueError("a transformer is not fitted")
    if not all(type(each) is slice for each in model.output_indices_.values()):
        raise ValueError("output_indices_ must hold slices")


def _resolved(columns: Any, names: Any, n_features: int) -> list[int]:
    """Return the places of columns that are given by names, places, a slice or a mask."""
    everything = np.arange(n_features)
    if isinstance(columns, str):
        columns = [columns]
    if isinstance(columns, slice):
        ends = [columns.start, columns.stop]
        if any(isinstance(end, str) for end in ends):
            known = list(names)
            start, stop = (known.index(end) if isinstance(end, str) else end for end in ends)
            columns = slice(start, None if stop is None else stop + 1, columns.step)
        return [int(place) for place in everything[columns]]
    if isinstance(columns, int):
        columns = [columns]
    if any(isinstance(each, str) for each in columns):
        known = list(names)
        return [known.index(each) for each in columns]
    is_mask = len(columns) > 0 and all(isinstance(each, bool | np.bool_) for each in columns)
    return [int(place) for place in everything[np.asarray(columns, bool if is_mask else int)]]


def check_glm(model: Any) -> None:
    check_linear(model)
    model._base_loss = model._get_loss()


def isotonic_rows(model: Any) -> Array:
    return np.zeros(3)


def check_isotonic(model: Any) -> None:
    if not len(model.X_thresholds_) or (np.diff(model.X_thresholds_) < 0).any():
        raise ValueError("the thresholds do not ascend")
    model._build_f(model.X_thresholds_, model.y_thresholds_)


def check_calibrated(model: Any) -> None:
    """Check that each classifier has a calibration for each of its scores."""
    for each in model.calibrated_classifiers_:
        if type(each).__name__ != "_CalibratedClassifier" or not FITTED.holds(each.estimator, {}):
            raise ValueError("a calibrated classifier is not fitted")
        n_scores = 1 if len(each.estimator.classes_) == 2 else len(each.estimator.classes_)
        if not np.array_equal(each.classes, model.classes_) or len(each.calibrators) != n_scores:
            raise ValueError("the calibrations do not fit the classes")
        if not set(each.estimator.classes_.tolist()) <= set(model.classes_.tolist()):
            raise ValueError("a calibrated classifier knows other classes")
        if not all(callable(getattr(one, "predict", None)) for one in each.calibrators):
            raise ValueError("a calibration is not fitted")


def check_transformed(model: Any) -> None:
    for part, method in ((model.regressor_, "predict"), (model.transformer_, "inverse_transform")):
        if not callable(getattr(part, method, None)):
            raise ValueError(f"a part has no {method}")
