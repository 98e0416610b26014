"""The members of any fitted committee: their names, their weights, and what they say about rows.

Members of forests and of AdaBoost speak of labels, those of bagging, votes and stacks of class
codes; some see a part of the columns. A panel knows, so that whoever asks need not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier, is_regressor
from sklearn.exceptions import NotFittedError

from committee.combining.combiner import CommitteeModel
from committee.combining.convex_weights import ConvexClassifier, ConvexRegressor
from committee.members.output import Voice
from committee.members.parallel import is_own
from committee.tables.native_table import AnyTable

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Panel:
    """The members of a committee.

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
    speaks_labels : sequence of bool
        Whether each member speaks of labels; else of codes.
    asks_shares : bool
        Whether members are asked for probabilities; else for the class they vote for.
    columns : sequence of ndarray or None
        The columns that each member sees; None for all.
    """

    names: tuple[str, ...]
    members: Sequence[Any]
    weights: Floats
    labels: NDArray[Any] | None
    speaks_labels: Sequence[bool]
    asks_shares: bool
    columns: Sequence[NDArray[np.int64]] | None

    def __len__(self) -> int:
        return len(self.names)

    def ask(self, number: int, table: AnyTable) -> tuple[Floats, NDArray[np.intp] | None]:
        """Return the opinion of a member, and the code of the class that it predicts."""
        member = self.members[number]
        X = _shown(member, table, self._columns_of(number, member, table.n_features))
        if self.labels is None:
            answer = np.asarray(member.predict(X), np.float64)
            return answer.reshape(len(answer), -1), None
        own = self.labels if self.speaks_labels[number] else None
        votes = Voice("predict", len(self.labels), own)
        if not (self.asks_shares and _has_shares(member)):
            opinion = votes.ask(member, X)
            return opinion, opinion.argmax(axis=1)
        opinion = Voice("predict_proba", len(self.labels), own).ask(member, X)
        # Others may predict another class than the likeliest, as SVC does.
        chosen = opinion if is_own(member) else votes.ask(member, X)
        return opinion, chosen.argmax(axis=1)

    def _columns_of(self, number: int, member: Any, n_features: int) -> NDArray[np.int64] | None:
        if self.columns is None:
            return None
        columns = np.asarray(self.columns[number], np.int64)
        # Trees of a forest draw from all columns and see all of them.
        sees_all = len(columns) != getattr(member, "n_features_in_", len(columns))
        if sees_all or np.array_equal(columns, np.arange(n_features)):
            return None
        return columns


def make_panel(committee: Any) -> Panel:
    """Return the members of a fitted committee, or of a list of fitted estimators.

    Parameters
    ----------
    committee : fitted estimator with `estimators_`, or list
        A list holds fitted estimators, or pairs of names and estimators.

    Returns
    -------
    panel : Panel
        The members.

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> members = [DummyClassifier().fit([[0], [1]], ["no", "yes"]) for _ in range(2)]
    >>> panel = make_panel(members)
    >>> panel.names, panel.weights.tolist(), panel.labels.tolist()
    (('0', '1'), [0.5, 0.5], ['no', 'yes'])
    """
    if isinstance(committee, list | tuple):
        return _panel_of_list(committee)
    members = _members_of(committee)
    names = _names_of(committee, len(members))
    weights = _weights_of(committee, len(members))
    columns = getattr(committee, "estimators_features_", None)
    if _is_classifier(committee):
        labels = np.asarray(committee.classes_)
        asks_shares = not _counts_votes(committee)
        speaks = _speak_labels(committee, members, labels)
        return Panel(names, members, weights, labels, speaks, asks_shares, columns)
    return Panel(names, members, weights, None, (), False, columns)


def _panel_of_list(given: Sequence[Any]) -> Panel:
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
        return Panel(names, members, weights, None, (), False, None)
    lacking = [name for name, member in pairs if not hasattr(member, "classes_")]
    if lacking:
        raise NotFittedError(f"members must be fitted and have classes_; got {lacking} without")
    labels = np.unique(np.concatenate([np.asarray(member.classes_) for member in members]))
    return Panel(names, members, weights, labels, [True] * len(members), True, None)


def _members_of(committee: Any) -> Sequence[Any]:
    kind = type(committee).__name__
    if isinstance(committee, type) or not hasattr(committee, "predict"):
        raise TypeError(
            "committee must be a fitted committee or a list of fitted estimators; got "
            f"{committee!r}"
        )
    if kind.startswith(("GradientBoosting", "HistGradientBoosting")):
        raise TypeError(
            f"the members of {kind} are steps of one sum, each of which corrects those before, and "
            "have no opinions of their own to compare; take forests, bagging, AdaBoost, votes, "
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
        raise TypeError(f"the members of {kind} have no opinions of their own to compare")
    return members  # type: ignore[no-any-return]


def _names_of(committee: Any, n_members: int) -> tuple[str, ...]:
    named = getattr(committee, "named_estimators_", None) or {}
    names = tuple(name for name, member in named.items() if not isinstance(member, str))
    return names if len(names) == n_members else tuple(str(place) for place in range(n_members))


def _weights_of(committee: Any, n_members: int) -> Floats:
    final = getattr(committee, "final_estimator_", None)
    if len(getattr(committee, "layers_", ())) > 1:  # it weighs the members of the last layer
        final = None
    candidates = [
        getattr(committee, "weights_", None),
        getattr(committee, "estimator_weights_", None),
        getattr(committee, "_weights_not_none", None),  # of scikit-learn's votes
        final.weights_ if isinstance(final, ConvexClassifier | ConvexRegressor) else None,
    ]
    for found in candidates:
        if found is None or isinstance(found, str):
            continue
        weights = np.asarray(found, np.float64)
        if weights.ndim != 1:
            continue
        if np.count_nonzero(weights) == n_members:  # models of a library that were chosen
            weights = weights[weights != 0]
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


def _speak_labels(committee: Any, members: Sequence[Any], labels: NDArray[Any]) -> Sequence[bool]:
    """Whether the classes that each member knows are something else than codes 0, 1, ..."""
    if isinstance(committee, CommitteeModel):  # which knows; fitted members are among others
        return [voice.labels is not None for voice in committee._member_voices]
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
    except Exception:  # tags are not everybody's
        pass
    return hasattr(estimator, "classes_")


def _has_shares(member: Any) -> bool:
    voice = getattr(member, "voice", None)  # models of folds tell what they are asked for
    is_asked = not isinstance(voice, Voice) or voice.method == "predict_proba"
    return is_asked and hasattr(member, "predict_proba")


def _shown(member: Any, table: AnyTable, columns: NDArray[np.int64] | None) -> Any:
    X = table.shown_to(member, columns)
    # scikit-learn's ensembles fit their members to arrays, whatever they were given.
    is_array_only = (
        type(member).__module__.startswith("sklearn.")
        and hasattr(member, "n_features_in_")
        and not hasattr(member, "feature_names_in_")
    )
    if is_array_only and hasattr(X, "columns") and table.names is not None:
        return np.asarray(X)
    return X
