"""Small estimators of scikit-learn of each class that model files hold, and data to fit them to."""

import numpy as np
import pandas as pd
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import (
    ColumnTransformer,
    TransformedTargetRegressor,
    make_column_selector,
    make_column_transformer,
)
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.feature_selection import (
    SelectKBest,
    SelectPercentile,
    VarianceThreshold,
    f_regression,
)
from sklearn.frozen import FrozenEstimator
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import (
    BayesianRidge,
    ElasticNet,
    ElasticNetCV,
    GammaRegressor,
    HuberRegressor,
    Lasso,
    LassoCV,
    LinearRegression,
    LogisticRegression,
    PoissonRegressor,
    Ridge,
    RidgeClassifier,
    RidgeClassifierCV,
    RidgeCV,
    SGDClassifier,
    SGDRegressor,
)
from sklearn.naive_bayes import BernoulliNB, GaussianNB, MultinomialNB
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import (
    Binarizer,
    KBinsDiscretizer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
    TargetEncoder,
)
from sklearn.svm import LinearSVC, LinearSVR

_RNG = np.random.default_rng(0)
NUMBERS = _RNG.normal(size=(40, 3))
GAPS = np.where(NUMBERS > 1, np.nan, NUMBERS)
LEVELS = pd.DataFrame({"a": list("xyzx") * 10, "b": list("uvuuuuwu") * 5}).astype(object)
FRAME = pd.DataFrame(NUMBERS, columns=list("abc")).assign(d=LEVELS["a"])
TEXT = pd.Series(["red green blue", "green old"] * 20, name="text")
BINARY = (NUMBERS[:, 0] > 0).astype(int)
CLASSES = np.array(["hi", "lo", "mid"])[np.digitize(NUMBERS[:, 0], [-0.5, 0.5])]
TARGET = NUMBERS[:, 0] + NUMBERS[:, 1] ** 2


def selected(dtype):
    return make_column_selector(dtype_include=dtype)


def zoo():
    """Estimators that are not fitted, with rows and a target, by name."""
    numbers = {
        "scaler": StandardScaler(),
        "scaler without mean": StandardScaler(with_mean=False),
        "min max": MinMaxScaler(),
        "max abs": MaxAbsScaler(),
        "robust": RobustScaler(),
        "normalizer": Normalizer(),
        "binarizer": Binarizer(),
        "power": PowerTransformer(),
        "quantiles": QuantileTransformer(n_quantiles=5),
        "bins": KBinsDiscretizer(3),
        "bins as numbers": KBinsDiscretizer(3, encode="ordinal"),
        "polynomials": PolynomialFeatures(),
        "variance": VarianceThreshold(),
        "best": SelectKBest(f_regression, k=2),
        "percentile": SelectPercentile(f_regression),
        "pca": PCA(2, whiten=True),
        "svd": TruncatedSVD(2),
        "union": make_union(StandardScaler(), PCA(1)),
        "pandas": StandardScaler().set_output(transform="pandas"),
        "linear": LinearRegression(),
        "ridge": Ridge(),
        "ridge cv": RidgeCV(),
        "lasso": Lasso(0.1),
        "lasso cv": LassoCV(),
        "elastic net": ElasticNet(0.1),
        "elastic net cv": ElasticNetCV(),
        "bayesian": BayesianRidge(),
        "huber": HuberRegressor(),
        "sgd": SGDRegressor(),
        "svr": LinearSVR(loss="squared_epsilon_insensitive"),
        "dummy": DummyRegressor(),
        "pipeline": make_pipeline(SimpleImputer(), StandardScaler(), Ridge()),
        "target": TransformedTargetRegressor(Ridge(), transformer=StandardScaler()),
        "frozen": FrozenEstimator(Ridge().fit(NUMBERS, TARGET)),
    }
    classifiers = {
        "logistic": LogisticRegression(),
        "ridge classifier": RidgeClassifier(),
        "ridge classifier cv": RidgeClassifierCV(),
        "sgd classifier": SGDClassifier(loss="log_loss"),
        "svc": LinearSVC(),
        "bayes": GaussianNB(),
        "bernoulli": BernoulliNB(),
        "discriminant": LinearDiscriminantAnalysis(),
        "dummy classifier": DummyClassifier(),
        "sigmoid": CalibratedClassifierCV(LogisticRegression(), cv=2),
        "isotonic calibration": CalibratedClassifierCV(GaussianNB(), cv=2, method="isotonic"),
    }
    levels = {
        "one hot": OneHotEncoder(),
        "one hot without first": OneHotEncoder(drop="first", sparse_output=False, dtype=np.float32),
        "one hot of frequent": OneHotEncoder(handle_unknown="infrequent_if_exist", min_frequency=8),
        "ordinal": OrdinalEncoder(dtype=int),
        "ordinal of frequent": OrdinalEncoder(max_categories=2),
        "target encoder": TargetEncoder(),
        "most frequent": SimpleImputer(strategy="most_frequent"),
    }
    encoder = OneHotEncoder(handle_unknown="ignore")
    columns = {
        "columns": make_column_transformer(
            (StandardScaler(), ["a", "b"]), (encoder, selected([object, "string"]))
        ),
        "columns by slice": ColumnTransformer(
            [("n", StandardScaler(), slice(0, 2)), ("o", encoder, [False, False, False, True])]
        ),
        "columns by name": ColumnTransformer(
            [
                ("n", StandardScaler(), slice("a", "b")),
                ("none", MinMaxScaler(), []),
                ("gone", "drop", [3]),
            ]
        ),
        "columns passed": ColumnTransformer(
            [("n", StandardScaler(), [0]), ("p", "passthrough", [1]), ("gone", "drop", "d")],
            remainder=MinMaxScaler(),
        ),
        "remainder": ColumnTransformer([("o", OrdinalEncoder(), [3])], remainder="passthrough"),
    }
    return {
        **{name: (model, NUMBERS, TARGET) for name, model in numbers.items()},
        **{name: (model, NUMBERS, CLASSES) for name, model in classifiers.items()},
        **{name: (model, LEVELS, BINARY) for name, model in levels.items()},
        **{name: (model, FRAME, BINARY) for name, model in columns.items()},
        "binary": (LogisticRegression(), NUMBERS, BINARY),
        "several outputs": (LinearRegression(), NUMBERS, np.column_stack([TARGET, -TARGET])),
        "multinomial": (MultinomialNB(), abs(NUMBERS), CLASSES),
        "poisson": (PoissonRegressor(), NUMBERS, abs(TARGET)),
        "gamma": (GammaRegressor(), NUMBERS, abs(TARGET)),
        "isotonic": (IsotonicRegression(out_of_bounds="clip"), NUMBERS[:, 0], TARGET),
        "target encoder of classes": (TargetEncoder(), LEVELS, CLASSES),
        "imputer": (SimpleImputer(add_indicator=True), GAPS, TARGET),
        "indicator": (MissingIndicator(), GAPS, TARGET),
        "words": (CountVectorizer(), TEXT, BINARY),
        "tfidf": (make_pipeline(TfidfVectorizer(), LogisticRegression()), TEXT, BINARY),
    }
