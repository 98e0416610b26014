"""`StackingRegressor`: regressors, and a meta-learner fitted to their predictions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sklearn
from numpy.typing import NDArray
from scipy.sparse import diags, issparse
from sklearn.base import RegressorMixin
from sklearn.linear_model import RidgeCV
from sklearn.utils.fixes import parse_version

from committee.base.arrays import Floats
from committee.combining.combiner import OfRegressors
from committee.combining.convex_weights import ConvexRegressor
from committee.combining.stacking.leak_check import LeakCheck
from committee.combining.stacking.stacking_model import StackingModel, StackRules
from committee.members.output import Output
from committee.members.training import fit_estimator
from committee.tables.native_table import AnyTable

_KEPT = 0.1  # of the target, by the smallest penalty
_NOISE = 1e-12  # a smaller share of the largest value is rounding
# Before 1.9 `RidgeCV` loses digits by the square of the target's size: beyond 2^17 all of them.
_LOSES_DIGITS = parse_version(sklearn.__version__) < parse_version("1.9")
_LARGEST_EXPONENT = 10


@dataclass(frozen=True, eq=False)
class NumberRules(StackRules):
    """Rules of a stack of regressors."""

    def fit_final(self, final: Any, features: Any, y: NDArray[Any], params: dict[str, Any]) -> Any:
        unit = _unit(y, params.get("sample_weight")) if self.has_default_final else 1.0
        n_predicted = len(self.lists[-1])
        scaled = None if unit == 1.0 else _scaled(features, n_predicted, 1 / unit)
        if scaled is None:
            return fit_estimator(final, features, y, params, is_classifier=False)
        # The model of numbers in that unit, and then the same model of the numbers themselves.
        final.fit(scaled, y / unit, **params)
        final.coef_[n_predicted:] *= unit
        final.intercept_ *= unit
        final.best_score_ *= unit**2
        return final

    def final_values(self, final: Any, features: Any, n_classes: int) -> Floats:
        return np.asarray(final.predict(features), np.float64).reshape(-1, 1)

    def losses(self, values: Floats, y: NDArray[Any]) -> Floats:
        """Return squared errors."""
        return np.asarray((values[:, 0] - y) ** 2)

    def comparable(self, values: Floats) -> Floats:
        return values


def _unit(y: Floats, weights: Floats | None) -> float:
    """Return the power of two in which the default meta-learner is given the target.

    The penalties of `RidgeCV` are absolute. Where the smallest keeps less than a tenth of the
    target, which then is tiny, the unit is its size; else one, as in scikit-learn. Where it would
    lose the digits of a large target, the unit leaves it large enough to feel no penalty.
    """
    middle, half = 0.5 * y.max() + 0.5 * y.min(), 0.5 * y.max() - 0.5 * y.min()
    if half <= _NOISE * np.abs(y).max():
        return 1.0
    exponent = int(np.frexp(half)[1]) - 1
    if _LOSES_DIGITS and exponent > _LARGEST_EXPONENT:
        return float(np.ldexp(1.0, exponent - _LARGEST_EXPONENT))
    parts = np.ldexp(y - middle, -exponent) ** 2  # of a size that can be squared
    whole = math.fsum(parts if weights is None else parts * weights)
    if np.log2(whole) + 2 * exponent >= np.log2(_KEPT * min(RidgeCV().alphas)):
        return 1.0
    return float(np.ldexp(1.0, exponent))


def _scaled(features: Any, n_columns: int, factor: float) -> Any:
    """Return features of which the first columns are multiplied; None of data frames."""
    factors = np.ones(AnyTable(features).n_features)
    factors[:n_columns] = factor
    if issparse(features):
        return features @ diags(factors)
    return features * factors if isinstance(features, np.ndarray) else None


class StackingRegressor(RegressorMixin, OfRegressors, StackingModel):
    """Regressors, and a meta-learner fitted to their predictions on rows that they have not seen.

    Parameters
    ----------
    estimators : list of (str, regressor)
        The members: any regressors with scikit-learn's interface. "drop" leaves one out.
    final_estimator : regressor, "convex" or None, default=None
        The meta-learner. None is scikit-learn's `RidgeCV`, whose penalties are absolute: a target
        much smaller than one is shrunk, but for a tiny one the fit is scaled. "convex" is a
        weighted mean of the members, with weights that are not negative, add up to one and have
        the least squared error.
    cv : int, float, str, splitter, iterable or None, default=None
        Where the level-one data come from, that is what the meta-learner learns from:

        - None: five folds; an int: so many. Folds keep the shares of classes, where there are
          any, and with `groups` they keep groups together.
        - a float between 0 and 1: that share of the rows is held out, and predictions of members on
          them are used (blending). With `layers`, the share is dealt out among the levels above
          the first: 2 / 3 and two layers make three parts of one size.
        - "loo": each row is left out once.
        - "time": five parts in the order of time, each predicted by models of what was before.
        - "oob": out-of-bag rows, of members that have them, which are then fitted only once; the
          others use five folds.
        - "prefit": members are fitted already, on other rows than these.
        - a splitter of scikit-learn's, or a list of (train, test) rows. Rows that are tested
          several times get the mean prediction, rows that are never tested do not count.
    n_jobs : int or None, default=None
        Workers. None uses all cores for members of this library and one worker for others. The
        model is the same for any number, as far as members are.
    passthrough : bool, default=False
        Show the meta-learner, and members of later layers, the columns of X too.
    verbose : int, default=0
        1 prints progress on stderr, 2 each fit.
    layers : list of list of (str, regressor) or None, default=None
        More layers of members, each of which learns from the predictions of the layer before.
    refit : bool, default=True
        Fit the members to all rows in the end. False keeps the models of the folds, whose mean
        predicts.
    leak_check : bool or float, default=False
        Fit the stack also without a quarter of the rows (or this share), and compare its
        losses in the level-one data with those on these; see `leak_report_`. They are drawn, or
        are the last ones where `cv` goes forward in time.
    on_leak : {"warn", "fallback", "raise"}, default="warn"
        What to do if the check finds leakage: warn; warn and use the mean of the members, or the
        best of them, instead of a meta-learner; or raise ValueError.
    keep_level_one : bool, default=False
        Keep the level-one data as `level_one_`.
    random_state : int, RandomState, Generator or None, default=None
        Seed of held-out rows, and of members whose own random_state is None.

    Attributes
    ----------
    estimators_ : list of estimators
        The fitted members of the first layer, without those dropped.
    named_estimators_ : Bunch
        The same by name.
    layers_ : list of list of estimators
        The fitted members of all layers.
    final_estimator_ : estimator
        The fitted meta-learner.
    stack_method_ : list of str
        The method of each member of the first layer that predicts: "predict".
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Column names; only if the table had names.
    leak_report_ : LeakReport
        What was found; only with `leak_check`.
    level_one_ : array or table
        What the meta-learner was fitted to; only with `keep_level_one`.
    level_one_rows_ : ndarray of int
        The rows of X that these are.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LinearRegression
    >>> from committee import RandomForestRegressor, StackingRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 3))
    >>> y = 3 * X[:, 0] + np.sin(3 * X[:, 1]) + rng.normal(0, 0.1, 300)
    >>> members = [("line", LinearRegression()), ("forest", RandomForestRegressor(random_state=0))]
    >>> stack = StackingRegressor(members, final_estimator="convex").fit(X, y)
    >>> bool((stack.final_estimator_.weights_ > 0.1).all())
    True
    """

    _leak_check_class = LeakCheck
    _rules_class = NumberRules

    def __init__(
        self,
        estimators: Any,
        final_estimator: Any = None,
        *,
        cv: Any = None,
        n_jobs: int | None = None,
        passthrough: bool = False,
        verbose: int = 0,
        layers: Any = None,
        refit: bool = True,
        leak_check: bool | float = False,
        on_leak: str = "warn",
        keep_level_one: bool = False,
        random_state: Any = None,
    ) -> None:
        self.estimators = estimators
        self.final_estimator = final_estimator
        self.cv = cv
        self.n_jobs = n_jobs
        self.passthrough = passthrough
        self.verbose = verbose
        self.layers = layers
        self.refit = refit
        self.leak_check = leak_check
        self.on_leak = on_leak
        self.keep_level_one = keep_level_one
        self.random_state = random_state

    def predict(self, X: Any, **predict_params: Any) -> Any:
        """Predict numbers.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Rows with the columns of `fit`; reordered columns are matched by name.
        **predict_params : dict
            Arguments for `predict` of the meta-learner.

        Returns
        -------
        y : ndarray of float64, shape (n_rows,)
            Predictions.
        """
        return self._predict_final("predict", X, **predict_params)

    # ---- for the base class ----

    def _linear_final(self) -> Any:
        return RidgeCV()

    def _convex_final(self, outputs: Sequence[Output], weights: list[float] | None) -> Any:
        return ConvexRegressor(len(outputs), weights)
