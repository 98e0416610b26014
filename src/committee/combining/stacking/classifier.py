"""`StackingClassifier`: classifiers, and a meta-learner fitted to their predictions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, is_regressor
from sklearn.linear_model import LogisticRegression
from sklearn.utils.metaestimators import available_if

from committee.base.arrays import Floats
from committee.base.params import check_choice, is_false, reads_one_fit
from committee.combining.combiner import OfClassifiers
from committee.combining.convex_weights import ConvexClassifier
from committee.combining.level_one import Named
from committee.combining.stacking.label_sets import (
    first_shares,
    named_label_sets,
    read_label_sets,
    refuse_label_sets,
)
from committee.combining.stacking.leak_check import LeakCheck
from committee.combining.stacking.stacking_model import StackingModel, StackRules
from committee.members.output import METHODS, Output, OutputRule, fitted_output
from committee.members.training import TrainingData, fit_estimator

_METHODS = ("auto", "predict_proba", "decision_function", "predict", "log_odds")


@dataclass(frozen=True, eq=False)
class ClassRules(StackRules):
    """Rules of a stack of classifiers."""

    def fit_final(self, final: Any, features: Any, y: NDArray[Any], params: dict[str, Any]) -> Any:
        return fit_estimator(final, features, y, params, is_classifier=y.ndim == 1)

    def final_values(self, final: Any, features: Any, n_classes: int) -> Floats:
        return fitted_output(final, ("predict_proba", "predict"), n_classes).predict(
            final, features
        )

    def losses(self, values: Floats, y: NDArray[Any]) -> Floats:
        """Return the squared distance from the truth: bounded, and of votes as of probabilities."""
        values = self.comparable(values)
        n_classes = max(values.shape[1], int(y.max()) + 1)
        wide = np.zeros((len(values), n_classes))
        wide[:, : values.shape[1]] = values
        return np.asarray(((wide - np.eye(n_classes)[y]) ** 2).sum(axis=1))

    def comparable(self, values: Floats) -> Floats:
        """Return probabilities; scores become votes."""
        if values.min() >= 0 and np.abs(values.sum(axis=1) - 1).max() < 1e-6:
            return values
        codes = values[:, 0] > 0 if values.shape[1] == 1 else values.argmax(axis=1)
        return np.asarray(np.eye(max(values.shape[1], 2))[codes.astype(np.intp)])


def _final_has(method: str) -> Any:
    """Return a decorator for methods that exist where the meta-learner has them."""

    def check(model: Any) -> bool:
        final = getattr(model, "final_estimator_", None)
        if final is None:
            final = model.final_estimator
            if final is None:
                final = model._linear_final()
            elif isinstance(final, str):
                final = model._convex_final([], None)
        getattr(final, method)  # the error names what is missing
        return True

    return available_if(check)


class StackingClassifier(ClassifierMixin, OfClassifiers, StackingModel):
    """Classifiers, and a meta-learner fitted to their predictions on rows that they have not seen.

    Parameters
    ----------
    estimators : list of (str, estimator)
        The members: any classifiers with scikit-learn's interface, fitted to class codes.
        Regressors are fitted to the codes as numbers, which suits classes that have an order.
        "drop" leaves one out.
    final_estimator : classifier, "convex" or None, default=None
        The meta-learner. None is scikit-learn's `LogisticRegression` (with ten times as many steps
        for log-odds); several labels a row need another one. "convex" is a mixture of the
        probabilities of the members, with weights that are not negative, add up to one and have
        the least log loss.
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
    stack_method : str, default="auto"
        How members predict: "predict_proba", "decision_function" or "predict"; "auto" takes the
        first of these that a member has. "log_odds" gives the meta-learner log(p / (1 - p)) of the
        probabilities, drawn in to between 0.01 and 0.99: the scale on which logistic regression
        adds up.
    n_jobs : int or None, default=None
        Workers. None uses all cores for members of this library and one worker for others. The
        model is the same for any number, as far as members are.
    passthrough : bool, default=False
        Show the meta-learner, and members of later layers, the columns of X too.
    verbose : int, default=0
        1 prints progress on stderr, 2 each fit.
    layers : list of list of (str, classifier) or None, default=None
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
    classes_ : ndarray or list of ndarray
        Class labels; of several labels a row the values of each.
    estimators_ : list of estimators
        The fitted members of the first layer, without those dropped.
    named_estimators_ : Bunch
        The same by name.
    layers_ : list of list of estimators
        The fitted members of all layers.
    final_estimator_ : estimator
        The fitted meta-learner.
    stack_method_ : list of str
        The method of each member of the first layer that predicts.
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
    >>> from committee import GradientBoostingClassifier, RandomForestClassifier
    >>> from committee import StackingClassifier
    >>> from committee.datasets import load_penguins
    >>> X, y = load_penguins()
    >>> members = [
    ...     ("forest", RandomForestClassifier(random_state=0)),
    ...     ("boosting", GradientBoostingClassifier(n_estimators=50, random_state=0)),
    ... ]
    >>> stack = StackingClassifier(members).fit(X, y)
    >>> stack.score(X, y) > 0.95
    True
    """

    classes_: NDArray[Any]

    _other_kinds = ("regressor",)
    _leak_check_class = LeakCheck
    _rules_class = ClassRules
    _label_columns_are_zeros = True  # of `predict_proba`, as scikit-learn has it

    def __init__(
        self,
        estimators: Any,
        final_estimator: Any = None,
        *,
        cv: Any = None,
        stack_method: str = "auto",
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
        self.stack_method = stack_method
        self.n_jobs = n_jobs
        self.passthrough = passthrough
        self.verbose = verbose
        self.layers = layers
        self.refit = refit
        self.leak_check = leak_check
        self.on_leak = on_leak
        self.keep_level_one = keep_level_one
        self.random_state = random_state

    def predict(self, X: Any, **predict_params: Any) -> NDArray[Any]:
        """Predict classes.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Rows with the columns of `fit`; reordered columns are matched by name.
        **predict_params : dict
            Arguments for `predict` of the meta-learner.

        Returns
        -------
        y : ndarray of shape (n_rows,) or (n_rows, n_labels)
            Class labels.
        """
        codes = self._predict_final("predict", X, **predict_params)
        if isinstance(self.classes_, list):
            return named_label_sets(codes, self.classes_)
        return np.asarray(self.classes_[np.asarray(codes).astype(np.intp)])

    @_final_has("predict_proba")  # type: ignore[untyped-decorator]
    @reads_one_fit
    def predict_proba(self, X: Any) -> Floats:
        """Return the probabilities of the classes.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Rows with the columns of `fit`.

        Returns
        -------
        p : ndarray of float64, shape (n_rows, n_classes)
            One column a class, in the order of `classes_`. If rows have several labels, one column
            a label: the probability of its first value, usually of not having it, as in
            scikit-learn.
        """
        predicted = self._predict_final("predict_proba", X)
        if isinstance(self.classes_, list):
            return first_shares(self.final_estimator_, predicted, len(self.classes_))
        values = np.asarray(predicted, np.float64)
        known = np.asarray(self.final_estimator_.classes_).astype(np.intp)
        if len(known) == len(self.classes_):
            return values
        shares = np.zeros((len(values), len(self.classes_)))  # level-one data lacked a class
        shares[:, known] = values
        return shares

    @_final_has("decision_function")  # type: ignore[untyped-decorator]
    @reads_one_fit
    def decision_function(self, X: Any) -> Floats:
        """Return the decision function of the meta-learner.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Rows with the columns of `fit`.

        Returns
        -------
        scores : ndarray of float64, shape (n_rows,) or (n_rows, n_classes)
            One score for two classes, else one for each.
        """
        return np.asarray(self._predict_final("decision_function", X))

    # ---- for the base class ----

    def _check_switches(self) -> None:
        super()._check_switches()
        check_choice("stack_method", self.stack_method, _METHODS)

    @property
    def _as_log_odds(self) -> bool:
        """Whether the meta-learner is to be given log-odds instead of probabilities."""
        return bool(self.stack_method == "log_odds")

    @property
    def _output_methods(self) -> tuple[str, ...]:
        if self._as_log_odds:
            return ("predict_proba",)
        return METHODS if self.stack_method == "auto" else (self.stack_method,)

    @property
    def _output_rule(self) -> OutputRule:
        return OutputRule(self._output_methods, self._is_prefit, self._as_log_odds)

    def _read_target(self, y: Any, pairs: Named) -> tuple[NDArray[Any], Any]:
        sets = None if getattr(y, "ndim", 2) == 1 else read_label_sets(y)
        return super()._read_target(y, pairs) if sets is None else sets

    def _check_target(self, data: TrainingData) -> None:
        named = [pair for pairs in self._checked_lists() for pair in pairs]
        self._check_regressors([name for name, each in named if is_regressor(each)], data)
        if data.values is not None:
            if self.final_estimator is None:
                raise ValueError(
                    "final_estimator must be given for a y with several labels, such as "
                    "RandomForestClassifier(); logistic regression, the default, takes one label"
                )
            refuse_label_sets(
                {
                    'final_estimator="convex"': isinstance(self.final_estimator, str),
                    "leak_check": not is_false(self.leak_check),
                    'cv="oob"': isinstance(self.cv, str) and self.cv == "oob",
                }
            )

    def _check_regressors(self, names: list[str], data: TrainingData) -> None:
        """Raise if members that predict numbers are to do what probabilities are needed for."""
        refused = {
            'final_estimator="convex"': isinstance(self.final_estimator, str),
            "leak_check": not is_false(self.leak_check),
            "a y with several labels": data.values is not None,
        }
        for what, is_on in refused.items():
            if names and is_on:
                raise ValueError(f"{what} needs classifiers as members; {names} are regressors")

    def _linear_final(self) -> Any:
        # Wider columns take more steps than the default grants.
        return LogisticRegression(max_iter=1000) if self._as_log_odds else LogisticRegression()

    def _convex_final(self, outputs: Sequence[Output], weights: list[float] | None) -> Any:
        n_classes = outputs[0].n_classes if outputs else 0
        return ConvexClassifier(n_classes, [output.form for output in outputs], weights)
