"""The classes of scikit-learn that a model file may hold: what is stored of them, and its checks.

A member of an ensemble often stands behind a pipeline: an imputer, a scaler, an encoder. Like the
estimators of committee these are stored by their parameters and their fitted attributes. `SKLEARN`
lists the classes; nothing else of scikit-learn can be stored or loaded.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

from committee.files.parts import (
    ANYTHING,
    FITTED,
    FLAG,
    NOTHING,
    TEXT,
    Part,
    array,
    labels,
    list_of,
    maybe,
    one_of,
    tuple_of,
    whole,
)
from committee.files.sklearn_stored import Stored
from committee.files.sklearn_trials import (
    category_rows,
    check_bins,
    check_calibrated,
    check_columns,
    check_encoder,
    check_glm,
    check_imputer,
    check_indicator,
    check_isotonic,
    check_linear,
    check_ordinal,
    check_transformed,
    check_vocabulary,
    imputer_rows,
    isotonic_rows,
    number_rows,
    polynomial_rows,
    text_rows,
)

_KEEPS_ROWS = ("KNNImputer", "SVC", "SVR", "NuSVC", "NuSVR", "GaussianProcessClassifier")


def refused(obj: Any) -> str | None:
    """Return why an estimator of scikit-learn is not stored, if it is not for lack of a reader."""
    cls = type(obj)
    if not cls.__module__.startswith("sklearn."):
        return None
    if cls.__name__ == "FunctionTransformer" and (obj.func, obj.inverse_func) != (None, None):
        return "it calls functions, and a file with code would not be safe to open"
    if "Neighbors" in cls.__name__ or cls.__name__ in _KEEPS_ROWS:
        return "it keeps rows that it was fitted to"
    return None


@cache
def sklearn_class(tag: str) -> type | None:
    """Return the class of a tag; None for one that files do not hold, or that is not installed."""
    known = SKLEARN.get(tag)
    return None if known is None else getattr(import_module(known.module), tag, None)


# ---- parts ----

# As many as the engine takes: names of columns are made of the number.
_FEATURES: dict[str, Part] = {"n_features_in_": whole(1, 2**24, "features")}
_ANY_NUMBER = Part(
    "a number",
    lambda value, sizes: isinstance(value, int | float | np.number) and not isinstance(value, bool),
)
_ROW = array("f", "features")
_ROW_OR_NOTHING = NOTHING | _ROW
_LINEAR: dict[str, Part] = _FEATURES | {
    "coef_": _ROW | array("f", None, "features"),
    "intercept_": _ANY_NUMBER | array("f", None),
}
_LEVELS: dict[str, Part] = _FEATURES | {
    "categories_": list_of(array("biufUSO", None), "features"),
    "_infrequent_enabled": FLAG,
    "_infrequent_indices": maybe(list_of(NOTHING | array("iu", None), "features")),
    "_default_to_infrequent_mappings": maybe(list_of(NOTHING | array("iu", None), "features")),
}
_BAYES: dict[str, Part] = _FEATURES | {
    "classes_": labels("classes"),
    "class_count_": array("f", "classes"),
}
_TABLE = array("f", "classes", "features")
_COUNTED: dict[str, Part] = _BAYES | {
    "feature_count_": _TABLE,
    "feature_log_prob_": _TABLE,
    "class_log_prior_": array("f", "classes"),
}
_VOCABULARY: dict[str, Part] = {
    "vocabulary_": Part("a dict of words", lambda value, sizes: type(value) is dict),
    "fixed_vocabulary_": FLAG,
}


def _steps(value: Any, sizes: Any) -> bool:
    """Whether a value is a list of (name, transformer or text, ...), the names distinct."""
    if type(value) is not list or not value:
        return False
    if not all(type(each) in (tuple, list) and len(each) in (2, 3) for each in value):
        return False
    names = [each[0] for each in value]
    is_named = all(type(name) is str for name in names) and len(set(names)) == len(names)
    return is_named and all(_is_step(each[1]) for each in value)


def _is_step(value: Any) -> bool:
    if value is None or isinstance(value, str):
        return value in (None, "passthrough", "drop")
    return hasattr(value, "fit") and not isinstance(value, type)


_STEPS = Part("a list of named steps", _steps)


def _linear(
    module: str = "sklearn.linear_model", parts: Mapping[str, Part] | None = None
) -> Stored:
    unstored = ("_loss_function_", "_store_cv_results")  # the second before scikit-learn 1.8
    return Stored(module, _LINEAR | dict(parts or {}), unstored, number_rows, check_linear)


def _scaler(**parts: Part) -> Stored:
    return Stored("sklearn.preprocessing", _FEATURES | parts, rows=number_rows)


def _splitter() -> Stored:
    return Stored("sklearn.model_selection")


_BINARIZER: dict[str, Part] = {"_label_binarizer": maybe(FITTED)}

SKLEARN: dict[str, Stored] = {
    # linear models
    "LinearRegression": _linear(),
    "LogisticRegression": _linear(),
    "Ridge": _linear(),
    "RidgeCV": _linear(),
    "LogisticRegressionCV": _linear(),
    "RidgeClassifier": _linear(parts=_BINARIZER),
    "RidgeClassifierCV": _linear(parts=_BINARIZER),
    "Lasso": _linear(),
    "LassoCV": _linear(),
    "ElasticNet": _linear(),
    "ElasticNetCV": _linear(),
    "BayesianRidge": _linear(),
    "HuberRegressor": _linear(),
    "SGDClassifier": _linear(parts={"_expanded_class_weight": maybe(ANYTHING)}),
    "SGDRegressor": _linear(),
    "LinearSVC": _linear("sklearn.svm"),
    "LinearSVR": _linear("sklearn.svm"),
    # other small models
    "GaussianNB": Stored(
        "sklearn.naive_bayes",
        _BAYES | {"theta_": _TABLE, "var_": _TABLE, "class_prior_": array("f", "classes")},
        rows=number_rows,
    ),
    "BernoulliNB": Stored("sklearn.naive_bayes", _COUNTED, rows=number_rows),
    "MultinomialNB": Stored("sklearn.naive_bayes", _COUNTED, rows=number_rows),
    "DummyClassifier": Stored(
        "sklearn.dummy",
        {
            "_strategy": TEXT,
            "n_outputs_": whole(1, 2**20),
            "sparse_output_": one_of(False),
            "class_prior_": array("f", "classes") | list_of(array("f", None)),
        },
        rows=number_rows,
    ),
    "DummyRegressor": Stored(
        "sklearn.dummy",
        {"constant_": array("f", 1, None), "n_outputs_": whole(1, 2**20)},
        rows=number_rows,
    ),
    "LinearDiscriminantAnalysis": Stored(
        "sklearn.discriminant_analysis",
        _LINEAR
        | {
            "classes_": labels("classes"),
            "xbar_": maybe(_ROW),
            "scalings_": maybe(array("f", "features", None)),
            "_max_components": whole(),
            "_n_features_out": maybe(whole()),
        },
        rows=number_rows,
        check=check_linear,
    ),
    "PoissonRegressor": Stored(
        "sklearn.linear_model", _LINEAR, ("_base_loss",), number_rows, check_glm
    ),
    "GammaRegressor": Stored(
        "sklearn.linear_model", _LINEAR, ("_base_loss",), number_rows, check_glm
    ),
    "TransformedTargetRegressor": Stored(
        "sklearn.compose",
        {"regressor_": FITTED, "transformer_": FITTED, "_training_dim": whole(1, 2)},
        check=check_transformed,
    ),
    "CalibratedClassifierCV": Stored(
        "sklearn.calibration",
        {"classes_": labels("classes"), "calibrated_classifiers_": list_of(ANYTHING, least=1)},
        check=check_calibrated,
    ),
    "_CalibratedClassifier": Stored("sklearn.calibration"),
    "_SigmoidCalibration": Stored("sklearn.calibration", {"a_": _ANY_NUMBER, "b_": _ANY_NUMBER}),
    "IsotonicRegression": Stored(
        "sklearn.isotonic",
        {
            "X_thresholds_": array("f", "thresholds", finite=True),
            "y_thresholds_": array("f", "thresholds", finite=True),
            "X_min_": _ANY_NUMBER,
            "X_max_": _ANY_NUMBER,
            "increasing_": ANYTHING,
        },
        ("f_",),
        isotonic_rows,
        check_isotonic,
    ),
    "FrozenEstimator": Stored("sklearn.frozen"),
    # numbers
    "StandardScaler": _scaler(mean_=_ROW_OR_NOTHING, var_=_ROW_OR_NOTHING, scale_=_ROW_OR_NOTHING),
    "MinMaxScaler": _scaler(min_=_ROW, scale_=_ROW),
    "MaxAbsScaler": _scaler(scale_=_ROW),
    "RobustScaler": _scaler(center_=_ROW_OR_NOTHING, scale_=_ROW_OR_NOTHING),
    "Normalizer": _scaler(),
    "Binarizer": _scaler(),
    "PowerTransformer": _scaler(lambdas_=_ROW, _scaler=maybe(FITTED)),
    "QuantileTransformer": _scaler(
        references_=array("f", "quantiles"),
        quantiles_=array("f", "quantiles", "features"),
        n_quantiles_=_ANY_NUMBER,
    ),
    "PolynomialFeatures": Stored(
        "sklearn.preprocessing",
        _FEATURES
        | {
            "n_output_features_": whole(1),
            "_min_degree": whole(0, 100),
            "_max_degree": whole(0, 100),
            "_n_out_full": whole(1),
        },
        rows=polynomial_rows,
    ),
    "KBinsDiscretizer": Stored(
        "sklearn.preprocessing",
        _FEATURES
        | {
            "bin_edges_": array("O", "features"),
            "n_bins_": array("i", "features", low=1),
            "_encoder": maybe(FITTED),
        },
        rows=number_rows,
        check=check_bins,
    ),
    # categories and missing values
    "SimpleImputer": Stored(
        "sklearn.impute",
        _FEATURES
        | {
            "statistics_": array("biufO", "features"),
            "indicator_": NOTHING | FITTED,
            "_fit_dtype": Part("a dtype", lambda value, sizes: isinstance(value, np.dtype)),
            "_fill_dtype": maybe(Part("a dtype", lambda v, sizes: isinstance(v, np.dtype))),
        },
        rows=imputer_rows,
        check=check_imputer,
    ),
    "MissingIndicator": Stored(
        "sklearn.impute",
        _FEATURES
        | {"features_": array("iu", None, low=0), "_n_features": whole(1), "_precomputed": FLAG},
        check=check_indicator,
    ),
    "OneHotEncoder": Stored(
        "sklearn.preprocessing",
        _LEVELS
        | {
            "_drop_idx_after_grouping": NOTHING | array("O", "features"),
            "drop_idx_": NOTHING | array("O", "features"),
            "_n_features_outs": list_of(whole(), "features"),
        },
        rows=category_rows,
        check=check_encoder,
    ),
    "OrdinalEncoder": Stored(
        "sklearn.preprocessing",
        _LEVELS | {"_missing_indices": Part("a dict", lambda value, sizes: type(value) is dict)},
        rows=category_rows,
        check=check_ordinal,
    ),
    "TargetEncoder": Stored(
        "sklearn.preprocessing",
        _LEVELS
        | {
            "classes_": NOTHING | labels("classes"),
            "target_type_": one_of("continuous", "binary", "multiclass"),
            "target_mean_": _ANY_NUMBER | array("f", "classes"),
            "encodings_": list_of(array("f", None), least=1),
        },
        rows=category_rows,
        check=check_encoder,
    ),
    "LabelBinarizer": Stored(
        "sklearn.preprocessing",
        {"classes_": labels("classes"), "y_type_": TEXT, "sparse_input_": FLAG},
    ),
    # columns
    "VarianceThreshold": Stored(
        "sklearn.feature_selection", _FEATURES | {"variances_": _ROW}, rows=number_rows
    ),
    "SelectKBest": Stored(
        "sklearn.feature_selection",
        _FEATURES | {"scores_": _ROW, "pvalues_": _ROW_OR_NOTHING},
        rows=number_rows,
    ),
    "SelectPercentile": Stored(
        "sklearn.feature_selection",
        _FEATURES | {"scores_": _ROW, "pvalues_": _ROW_OR_NOTHING},
        rows=number_rows,
    ),
    "PCA": Stored(
        "sklearn.decomposition",
        _FEATURES
        | {
            "components_": array("f", "components", "features"),
            "mean_": _ROW,
            "explained_variance_": array("f", "components"),
            "n_components_": _ANY_NUMBER,
            "_fit_svd_solver": TEXT,
        },
        rows=number_rows,
    ),
    "TruncatedSVD": Stored(
        "sklearn.decomposition",
        _FEATURES | {"components_": array("f", "components", "features")},
        rows=number_rows,
    ),
    # text
    "CountVectorizer": Stored(
        "sklearn.feature_extraction.text",
        _VOCABULARY,
        ("_stop_words_id",),
        text_rows,
        check_vocabulary,
    ),
    "TfidfVectorizer": Stored(
        "sklearn.feature_extraction.text",
        _VOCABULARY | {"_tfidf": FITTED},
        ("_stop_words_id",),
        text_rows,
        check_vocabulary,
    ),
    "TfidfTransformer": Stored(
        "sklearn.feature_extraction.text", _FEATURES | {"idf_": maybe(_ROW)}, rows=number_rows
    ),
    # made of others
    "Pipeline": Stored("sklearn.pipeline", {"steps": _STEPS}, ("memory",)),
    "FeatureUnion": Stored("sklearn.pipeline", {"transformer_list": _STEPS}),
    "ColumnTransformer": Stored(
        "sklearn.compose",
        _FEATURES
        | {
            "transformers": _STEPS,
            "transformers_": _STEPS,
            "_columns": list_of(ANYTHING),
            "_remainder": tuple_of(ANYTHING, 3),
            "_transformer_to_input_indices": Part("a dict", lambda v, sizes: type(v) is dict),
            "output_indices_": Part("a dict", lambda value, sizes: type(value) is dict),
            "sparse_output_": FLAG,
        },
        ("_transformers_feature_names_out",),
        check=check_columns,
    ),
    "FunctionTransformer": Stored("sklearn.preprocessing", {"func": NOTHING}),
    # what is no estimator: stored by the arguments of the constructor
    "make_column_selector": Stored("sklearn.compose"),
    "KFold": _splitter(),
    "StratifiedKFold": _splitter(),
    "GroupKFold": _splitter(),
    "StratifiedGroupKFold": _splitter(),
    "TimeSeriesSplit": _splitter(),
    "ShuffleSplit": _splitter(),
    "StratifiedShuffleSplit": _splitter(),
    "GroupShuffleSplit": _splitter(),
    "LeaveOneOut": _splitter(),
    "LeaveOneGroupOut": _splitter(),
}
