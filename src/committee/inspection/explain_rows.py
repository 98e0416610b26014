"""`explain_rows`: what each column adds to predictions, whatever the model."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from committee.bagging.bagging_model import BaggingModel
from committee.base.arrays import Floats, Rows
from committee.base.params import check_int, check_seed
from committee.combining.selection.selection_model import SelectionModel
from committee.combining.voting.voting_model import VotingModel
from committee.inspection.ensemble_members import EnsembleMembers, members_of
from committee.inspection.parts import Parts, exact_parts
from committee.inspection.row_explanation import RowExplanation, cells_of
from committee.inspection.sampled_parts import Predicting, sampled_parts
from committee.tables.native_table import AnyTable

_SCORE = "decision_function"


def explain_rows(
    model: Any, X: Any, *, background: Any = None, n_samples: int = 20, random_state: Any = 0
) -> RowExplanation:
    """Explain predictions for some rows: what each column adds to them.

    Parameters
    ----------
    model : fitted estimator
        Any with one output, of this library or with scikit-learn's interface.
    X : table of shape (n_rows, n_features), dict or Series
        Rows with the columns of `fit`. One row may also be a dict or a pandas Series by names.
    background : table or None, default=None
        Rows such as those of `fit`, of the same kind as `X`, from which columns are set in models
        that know no contributions of their own: a hundred rows drawn at random will do. None takes
        the rows of `X`. Committees in one line remember common values, and do not look at it.
    n_samples : int, default=20
        Orders in which columns are set, each forward and backward, for such models.
    random_state : int, RandomState or None, default=0
        Sets these orders.

    Returns
    -------
    explanation : RowExplanation
        `contributions` of each column, which add up to `predictions` with `base`; how they were
        found in `methods`. `print` shows the largest, `to_frame()` all, `to_shap()` gives them to
        the pictures of shap.

    Notes
    -----
    Contributions are Shapley values: the difference between a prediction and the mean one, shared
    out among the columns. Trees, forests, boosting and AdaBoost of this library know them exactly
    (see `predict_contributions`); so do votes, bagging and ensemble selection that predict the mean
    of such members. In all other models, such as stacks, columns are set one after the
    other from those of a background row to those of the row, and the mean change is the
    contribution. They are about the model, not about what would happen if a column were changed.

    Examples
    --------
    >>> from committee import RandomForestClassifier, StackingClassifier, explain_rows
    >>> from committee.datasets import load_penguins
    >>> X, y = load_penguins()
    >>> members = [("forest", RandomForestClassifier(10, random_state=0))]
    >>> model = StackingClassifier(members, random_state=0).fit(X, y)
    >>> found = explain_rows(model, X.head(1), background=X.sample(30, random_state=0))
    >>> found.contributions.shape, found.methods
    ((1, 7, 3), {'StackingClassifier': 'sampled'})
    >>> bool(np.allclose(found.base + found.contributions.sum(axis=1), model.predict_proba(X[:1])))
    True
    """
    n_samples = check_int("n_samples", n_samples, 1)
    seed = check_seed(random_state)
    check_is_fitted(model)
    if hasattr(model, "_explain_rows"):  # a committee in one line
        explained: RowExplanation = model._explain_rows(X, n_samples, seed)
        return explained
    classes = _classes_of(model)
    table = open_rows(model, X)
    others = None if background is None else open_rows(model, background)
    found = _Explained(model, classes, table, others, n_samples, seed)
    parts, quantity, methods = found.parts()
    is_single = parts.of_columns.shape[2] == 1
    names = table.names or tuple(f"x{place}" for place in range(table.n_features))
    return RowExplanation(
        names,
        parts.of_columns[:, :, 0] if is_single else parts.of_columns,
        float(parts.base[0]) if is_single else parts.base,
        parts.total[:, 0] if is_single else parts.total,
        classes,
        quantity,
        methods,
        cells_of(table.opened()),
    )


def _classes_of(model: Any) -> tuple[Any, ...] | None:
    classes = getattr(model, "classes_", None) if is_classifier(model) else None
    if isinstance(classes, list) or getattr(model, "n_outputs_", 1) > 1:
        raise ValueError("model must have one output to be explained; it has several")
    return None if classes is None else tuple(np.asarray(classes).tolist())


def open_rows(model: Any, X: Any) -> AnyTable:
    """Return rows to explain, with the columns of `fit`."""
    names = getattr(model, "feature_names_in_", None)
    known = None if names is None else tuple(names)
    n_features = getattr(model, "n_features_in_", None)
    if n_features is None:
        n_features = AnyTable(X, may_be_empty=True).n_features
    table = AnyTable.of_batch(X, known, n_features, type(model).__name__)
    if table.n_rows == 0:
        raise ValueError("X must have at least one row to be explained; got none")
    return table


@dataclass(frozen=True, eq=False)
class _Explained:
    """Rows of a model that are explained; for parameters see `explain_rows`."""

    model: Any
    classes: tuple[Any, ...] | None
    table: AnyTable
    background: AnyTable | None
    n_samples: int
    seed: int

    def parts(self) -> tuple[Parts, str, dict[str, str]]:
        """Return the parts, what they add up to, and how the members were explained."""
        title = type(self.model).__name__
        exact = self._own()
        if exact is not None:
            return exact, self._quantity(exact), {title: "exact"}
        members = members_of(self.model) if _is_mean(self.model) else None
        if members is not None and any(map(_knows_parts, members.members)):
            return self._mean(members)
        sampled = self._sampled(self._predicted)
        return sampled, self._quantity(sampled), {title: "sampled"}

    # ---- the three ways ----

    def _own(self) -> Parts | None:
        if not _knows_parts(self.model):
            return None
        return Parts.of_contributions(self.model.predict_contributions(self._shown))

    def _mean(self, members: EnsembleMembers) -> tuple[Parts, str, dict[str, str]]:
        """Return the weighted mean of the parts of the members."""
        base: Any = 0.0
        of_columns: Any = 0.0
        methods = {}
        for number, (name, weight) in enumerate(zip(members.names, members.weights, strict=True)):
            columns = members.columns_of(number, self.table.n_features)
            member, output = members.members[number], members.output(number)
            parts = exact_parts(member, output, members.shown(number, self.table))
            methods[name] = "sampled" if parts is None else "exact"
            if parts is None:
                parts, columns = self._sampled(partial(_by_member, members, number)), None
            base = base + weight * parts.base
            of_columns = of_columns + weight * self._placed(parts.of_columns, columns)
        quantity = "prediction" if self.classes is None else "probability"
        return Parts(base, of_columns), quantity, methods

    def _placed(self, of_columns: Floats, columns: Rows | None) -> Floats:
        """Return contributions of some columns among those of all; some may come twice."""
        if columns is None:
            return of_columns
        n_rows, _, n_values = of_columns.shape
        result = np.zeros((n_rows, self.table.n_features, n_values))
        for place, column in enumerate(columns.tolist()):
            result[:, column] += of_columns[:, place]
        return result

    def _sampled(self, predict: Predicting) -> Parts:
        others = self.table if self.background is None else self.background
        if self.background is None and others.n_rows == 1:
            raise ValueError(
                f"background must be given to explain a single row of {type(self.model).__name__}: "
                "rows such as those of fit, from which its columns are set"
            )
        return sampled_parts(predict, self.table, others, self.n_samples, self.seed)

    # ---- predictions ----

    @property
    def _shown(self) -> Any:
        return self.table.shown_to(self.model)

    def _predicted(self, X: Any) -> Floats:
        method = "predict"
        if self.classes is not None:
            method = "predict_proba" if hasattr(self.model, "predict_proba") else _SCORE
        return _as_columns(getattr(self.model, method)(X))

    def _quantity(self, parts: Parts) -> str:
        """Return what the parts add up to."""
        method, quantity = "predict", "prediction"
        if self.classes is not None:
            method, quantity = "predict_proba", "probability"
        if not hasattr(self.model, method):
            return "score"
        predicted = _as_columns(getattr(self.model, method)(self._shown))
        return quantity if parts.add_up_to(predicted) else "score"


def _knows_parts(model: Any) -> bool:
    return hasattr(model, "predict_contributions")


def _by_member(members: EnsembleMembers, number: int, X: Any) -> Floats:
    return members.predict(number, AnyTable(X))[0]


def _as_columns(values: Any) -> Floats:
    found = np.asarray(values, np.float64)
    return found[:, np.newaxis] if found.ndim == 1 else found


def _is_mean(model: Any) -> bool:
    """Whether a model predicts the weighted mean of the numbers or probabilities of its members."""
    if isinstance(model, VotingModel):
        return model.combine == "mean" and getattr(model, "voting", "soft") == "soft"
    if isinstance(model, BaggingModel):
        return not (model._counts_votes or model._uses_median())
    return isinstance(model, SelectionModel)
