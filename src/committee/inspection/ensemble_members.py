"""The members of any fitted ensemble: names, weights and predictions, and ensembles of fewer.

Members of forests and of AdaBoost predict labels, those of bagging, votes and stacks class codes;
some are fitted to a part of the columns. `EnsembleMembers` holds which. The ensembles of this
library can leave members out (`_picked`); those of scikit-learn and others like them are a list of
members and a few lists beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier, is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.utils import Bunch

from committee.base.arrays import Floats
from committee.base.products import weighted_sum
from committee.combining.combiner import CommitteeModel
from committee.evaluation.oob import OOB_ATTRIBUTES
from committee.members.output import Output, fitted_output
from committee.members.training import is_own
from committee.tables.native_table import AnyTable

_VOTES = ("predict",)
_SHARES = ("predict_proba", "predict")


@dataclass(frozen=True, eq=False)
class EnsembleMembers:
    """The members of a fitted ensemble.

    Parameters
    ----------
    names : tuple of str
        Names, or places from "0".
    members : sequence of estimators
        Fitted members.
    weights : ndarray of float64
        With a sum of one.
    labels : ndarray or None
        Labels of the classes that members know; None for regressors.
    predicts_labels : sequence of bool
        Whether each member predicts labels; else codes.
    methods : tuple of str
        Methods of which the first that a member has predicts.
    columns : sequence of ndarray or None
        The columns that each member was fitted to; None for all.
    """

    names: tuple[str, ...]
    members: Sequence[Any]
    weights: Floats
    labels: NDArray[Any] | None
    predicts_labels: Sequence[bool]
    methods: tuple[str, ...]
    columns: Sequence[NDArray[np.int64]] | None

    def __len__(self) -> int:
        return len(self.names)

    def predict(self, number: int, table: AnyTable) -> tuple[Floats, NDArray[np.intp] | None]:
        """Return the prediction of a member, and the code of the class that it predicts."""
        member, output, X = self.members[number], self.output(number), self.shown(number, table)
        prediction = output.predict(member, X)
        if self.labels is None:
            return prediction, None
        if output.method == "predict" or is_own(member):
            return prediction, prediction.argmax(axis=1)
        # Others may predict another class than the likeliest, as SVC does.
        votes = replace(output, method="predict").predict(member, X)
        return prediction, votes.argmax(axis=1)

    def output(self, number: int) -> Output:
        """Return what a member predicts."""
        if self.labels is None:
            return Output("predict", 0)
        own = self.labels if self.predicts_labels[number] else None
        return replace(
            fitted_output(self.members[number], self.methods, len(self.labels)), labels=own
        )

    def shown(self, number: int, table: AnyTable) -> Any:
        """Return a table with the columns of a member, in the form that suits it."""
        return _suitable(self.members[number], table, self.columns_of(number, table.n_features))

    def predict_all(self, table: AnyTable) -> list[tuple[Floats, NDArray[np.intp] | None]]:
        """Return the prediction of each member, and the codes of the classes that it predicts."""
        return [self.predict(number, table) for number in range(len(self))]

    def part(self, numbers: NDArray[np.int64]) -> EnsembleMembers:
        """Return some of the members; their weights add up to one again."""
        weights = self.weights[numbers]
        return replace(
            self,
            names=tuple(self.names[number] for number in numbers),
            members=[self.members[number] for number in numbers],
            weights=weights / weights.sum(),
            predicts_labels=[self.predicts_labels[k] for k in numbers if self.predicts_labels],
            columns=None if self.columns is None else [self.columns[k] for k in numbers],
        )

    def columns_of(self, number: int, n_features: int) -> NDArray[np.int64] | None:
        """Return the columns that a member reads; None for all."""
        member = self.members[number]
        if self.columns is None:
            return None
        columns = np.asarray(self.columns[number], np.int64)
        # Trees of a forest draw from all columns and read all of them.
        sees_all = len(columns) != getattr(member, "n_features_in_", len(columns))
        if sees_all or np.array_equal(columns, np.arange(n_features)):
            return None
        return columns


@dataclass(frozen=True, eq=False)
class JointMembers(EnsembleMembers):
    """Members whose predictions their committee knows best, and makes for all at once.

    Parameters
    ----------
    committee : fitted committee
        With `_each_prediction`.
    numbers : ndarray of int64
        Which of its members these are.
    """

    committee: Any
    numbers: NDArray[np.int64]

    def predict(self, number: int, table: AnyTable) -> tuple[Floats, NDArray[np.intp] | None]:
        """Return the prediction of a member, and the code of the class that it predicts."""
        return self.predict_all(table)[number]

    def predict_all(self, table: AnyTable) -> list[tuple[Floats, NDArray[np.intp] | None]]:
        """Return the prediction of each member, and the codes of the classes that it predicts."""
        predicted = self.committee._each_prediction(table.native)[self.numbers]
        if self.labels is None:
            return [(each, None) for each in predicted]
        return [(each, each.argmax(axis=1)) for each in predicted]

    def part(self, numbers: NDArray[np.int64]) -> EnsembleMembers:
        """Return some of the members; their weights add up to one again."""
        return replace(super().part(numbers), numbers=self.numbers[numbers])  # type: ignore[call-arg]


def members_of(committee: Any) -> EnsembleMembers:
    """Return the members of a fitted committee, or of a list of fitted estimators.

    Parameters
    ----------
    committee : fitted estimator with `estimators_`, or list
        A list holds fitted estimators, or pairs of names and estimators.

    Returns
    -------
    members : EnsembleMembers
        The members.

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> members = [DummyClassifier().fit([[0], [1]], ["no", "yes"]) for _ in range(2)]
    >>> found = members_of(members)
    >>> found.names, found.weights.tolist(), found.labels.tolist()
    (('0', '1'), [0.5, 0.5], ['no', 'yes'])
    """
    if isinstance(committee, list | tuple):
        return _of_list(committee)
    if hasattr(committee, "member_names_"):  # of this library's committee in one line
        return _of_joint(committee)
    members = _list_of(committee)
    names = _names_of(committee, len(members))
    weights = _weights_of(committee, len(members))
    columns = getattr(committee, "estimators_features_", None)
    if _is_classifier(committee):
        labels = np.asarray(committee.classes_)
        methods = _VOTES if _counts_votes(committee) else _SHARES
        predict = _predict_labels(committee, members, labels)
        return EnsembleMembers(names, members, weights, labels, predict, methods, columns)
    return EnsembleMembers(names, members, weights, None, (), _VOTES, columns)


def _of_joint(committee: Any) -> JointMembers:
    names = tuple(committee.member_names_)
    labels = np.asarray(committee.classes_) if _is_classifier(committee) else None
    methods = _VOTES if labels is None else _SHARES
    return JointMembers(
        names,
        committee.members_,
        committee._member_weights,
        labels,
        (),
        methods,
        None,
        committee,
        np.arange(len(names)),
    )


def _of_list(given: Sequence[Any]) -> EnsembleMembers:
    if not given:
        raise ValueError(
            "committee must be a fitted committee or a list of fitted estimators; got []"
        )
    pairs = [
        each if isinstance(each, tuple) and len(each) == 2 else (str(place), each)
        for place, each in enumerate(given)
    ]
    members = [member for _, member in pairs]
    names = tuple(str(name) for name, _ in pairs)
    for name, member in pairs:
        if not hasattr(member, "predict"):
            raise TypeError(
                "committee must be a fitted committee or a list of fitted estimators; got the "
                f"entry {member!r} ({name})"
            )
    weights = np.full(len(members), 1.0 / len(members))
    kinds = {_is_classifier(member) for member in members}
    if len(kinds) > 1:
        raise ValueError("committee must hold classifiers or regressors; got a list with both")
    if not kinds.pop():
        return EnsembleMembers(names, members, weights, None, (), _VOTES, None)
    lacking = [name for name, member in pairs if not hasattr(member, "classes_")]
    if lacking:
        raise NotFittedError(f"members must be fitted and have classes_; got {lacking} without")
    labels = np.unique(np.concatenate([np.asarray(member.classes_) for member in members]))
    return EnsembleMembers(names, members, weights, labels, [True] * len(members), _SHARES, None)


def _list_of(committee: Any) -> Sequence[Any]:
    kind = type(committee).__name__
    if isinstance(committee, type) or not hasattr(committee, "predict"):
        raise TypeError(
            "committee must be a fitted committee or a list of fitted estimators; got "
            f"{committee!r}"
        )
    if is_sum_of_steps(committee):
        raise TypeError(
            f"the members of {kind} are steps of one sum, each of which corrects those before, and "
            "have no predictions of their own to compare; take forests, bagging, AdaBoost, votes, "
            "stacks or a list of fitted estimators"
        )
    members = getattr(committee, "estimators_", None)
    if members is None:
        is_fitted = any(name.endswith("_") and name[0] != "_" for name in vars(committee))
        if is_fitted:
            raise TypeError(
                f"committee must have members, a list `estimators_`; got a {kind} without. Give "
                "several fitted estimators as a list"
            )
        raise NotFittedError(f"This {kind} instance is not fitted yet. Call 'fit' first.")
    if getattr(committee, "n_outputs_", 1) != 1:
        raise ValueError(f"committee must have one output; got a {kind} of {committee.n_outputs_}")
    if isinstance(members, np.ndarray) and members.ndim > 1:
        raise TypeError(f"the members of {kind} have no predictions of their own to compare")
    return members  # type: ignore[no-any-return]


def is_sum_of_steps(ensemble: Any) -> bool:
    """Whether an ensemble is gradient boosting, whose steps predict nothing by themselves."""
    names = ("GradientBoosting", "HistGradientBoosting")
    return any(each.__name__.startswith(names) for each in type(ensemble).__mro__)


def n_rounds_of(model: Any) -> int:
    """Return the number of rounds of a sum of steps."""
    for name in ("n_estimators_", "n_iter_"):
        if hasattr(model, name):
            return int(getattr(model, name))
    return len(model.estimators_)


def _names_of(committee: Any, n_members: int) -> tuple[str, ...]:
    named = getattr(committee, "named_estimators_", None) or {}
    names = tuple(name for name, member in named.items() if not isinstance(member, str))
    return names if len(names) == n_members else tuple(str(place) for place in range(n_members))


def _weights_of(committee: Any, n_members: int) -> Floats:
    candidates = [
        getattr(committee, "_member_weights", None),
        getattr(committee, "estimator_weights_", None),
        getattr(committee, "_weights_not_none", None),  # of scikit-learn's votes
    ]
    for found in candidates:
        if found is None or isinstance(found, str):
            continue
        weights = np.asarray(found, np.float64)
        if weights.ndim != 1:
            continue
        if len(weights) >= n_members and not weights[n_members:].any():
            weights = weights[:n_members]
            if not weights.sum() > 0:
                raise ValueError(
                    f"the weights of the members must have a positive sum; got {weights}"
                )
            return np.asarray(weights / weights.sum())
    return np.full(n_members, 1.0 / n_members)


def _counts_votes(committee: Any) -> bool:
    """Whether a committee adds up the classes that members vote for, and no probabilities."""
    rule = getattr(committee, "voting", None)
    if rule is not None:
        return rule not in ("soft", "confidence")
    is_adaboost = type(committee).__name__ == "AdaBoostClassifier"
    return is_adaboost and getattr(committee, "variant", "discrete") == "discrete"


def _predict_labels(committee: Any, members: Sequence[Any], labels: NDArray[Any]) -> Sequence[bool]:
    """Whether the classes that each member knows are something else than codes 0, 1, ..."""
    if isinstance(committee, CommitteeModel):
        return [output.labels is not None for output in committee._member_outputs]
    codes = set(range(len(labels)))
    if set(labels.tolist()) <= codes:
        return [False] * len(members)  # labels are codes
    is_any = any(
        not set(np.asarray(getattr(member, "classes_", ())).ravel().tolist()) <= codes
        for member in members
    )
    return [is_any] * len(members)


def _is_classifier(estimator: Any) -> bool:
    try:
        if is_classifier(estimator):
            return True
        if is_regressor(estimator):
            return False
    except Exception:  # not every estimator has tags
        pass
    return hasattr(estimator, "classes_")


def _suitable(member: Any, table: AnyTable, columns: NDArray[np.int64] | None) -> Any:
    X = table.shown_to(member, columns)
    # scikit-learn's ensembles fit their members to arrays, whatever table they are fitted to.
    is_array_only = (
        type(member).__module__.startswith("sklearn.")
        and hasattr(member, "n_features_in_")
        and not hasattr(member, "feature_names_in_")
    )
    if is_array_only and hasattr(X, "columns") and table.names is not None:
        return np.asarray(X)
    return X


def class_labels(ensemble: Any) -> list[NDArray[Any]]:
    """Return the labels of each output; nothing for a regressor."""
    if not is_classifier(ensemble):
        return []
    labels = ensemble.classes_
    return [np.asarray(each) for each in labels] if isinstance(labels, list) else [labels]


def member_predictions(ensemble: Any, X: Any) -> tuple[Floats, Floats]:
    """Return the prediction of each member of an ensemble, and the weights of the members.

    Parameters
    ----------
    ensemble : fitted estimator
        With `estimators_`.
    X : table
        Rows.

    Returns
    -------
    predicted : ndarray of float64, shape (n_members, n_rows, n_values)
        Probabilities, votes or numbers.
    weights : ndarray of float64, shape (n_members,)
        Their weights in the mean.
    """
    if hasattr(ensemble, "_each_prediction"):  # forests, bagging and voting of this library
        predicted = ensemble._each_prediction(X)
        weights = getattr(ensemble, "_member_weights", None)
        return predicted, np.ones(len(predicted)) if weights is None else weights
    if not isinstance(ensemble.estimators_, list | tuple) or len(class_labels(ensemble)) > 1:
        raise _no_average(ensemble)
    members, table = members_of(ensemble), AnyTable(X)
    each = [members.predict(number, table)[0] for number in range(len(members))]
    return np.stack(each), members.weights


def check_average(ensemble: Any, X: Any, predicted: Floats, weights: Floats) -> None:
    """Raise unless the ensemble predicts the weighted mean of its members."""
    mean = weighted_sum(weights / weights.sum(), predicted)
    labels = class_labels(ensemble)
    if len(labels) == 1 and not hasattr(ensemble, "predict_proba"):
        is_same = np.mean(ensemble.predict(X) == labels[0][mean.argmax(axis=1)]) > 0.99
    else:
        own = ensemble.predict_proba(X) if labels else ensemble.predict(X)
        own = np.hstack(own) if isinstance(own, list) else np.asarray(own)
        is_same = np.allclose(mean, own.reshape(mean.shape), rtol=1e-4, atol=1e-6)
    if not is_same:
        raise _no_average(ensemble)


def _no_average(ensemble: Any) -> TypeError:
    return TypeError(
        "ensemble must predict the mean of what its members predict, or count their votes: a "
        f"forest, bagging or voting; what {type(ensemble).__name__} predicts is something else"
    )


def picked(ensemble: Any, numbers: NDArray[np.int64]) -> Any:
    """Return an ensemble of the same class, fitted, that has only some of the members."""
    if hasattr(ensemble, "_picked"):
        return ensemble._picked(numbers)
    small = copy(ensemble)
    for name in OOB_ATTRIBUTES:
        small.__dict__.pop(name, None)
    for name in ("estimators_", "estimators_features_", "_seeds"):
        if name in small.__dict__ and small.__dict__[name] is not None:
            values = small.__dict__[name]
            chosen = [values[number] for number in numbers]
            small.__dict__[name] = np.asarray(chosen) if isinstance(values, np.ndarray) else chosen
    params = ensemble.get_params(deep=False)
    if "n_estimators" in params:
        small.set_params(n_estimators=len(numbers))
    if "warm_start" in params:
        small.set_params(warm_start=False)
    if "estimators" in params:
        _drop_named(small, ensemble, numbers)
    return small


def _drop_named(small: Any, ensemble: Any, numbers: NDArray[np.int64]) -> None:
    """Leave named members out, as scikit-learn's voting has it."""
    names = [name for name, member in ensemble.estimators if not isinstance(member, str)]
    kept = {names[number]: ensemble.estimators_[number] for number in numbers}
    small.estimators = [
        (name, member if name in kept else "drop") for name, member in ensemble.estimators
    ]
    small.named_estimators_ = Bunch(
        **{name: kept.get(name, "drop") for name, _ in ensemble.estimators}
    )
