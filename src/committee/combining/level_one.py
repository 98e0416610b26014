"""Opinions of members on rows that they have not seen, and the members that will predict."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.frozen import FrozenEstimator

from committee.base.params import is_int, is_real
from committee.base.progress import Progress
from committee.combining.level_one_plan import LevelOnePlan, Split
from committee.files.codec_classes import register
from committee.members.named_members import Named
from committee.members.output import Voice
from committee.members.parallel import is_own
from committee.members.team import Floats, Rows, Task, Team
from committee.tables.native_table import reads_tables


@dataclass(frozen=True, eq=False)
class LevelOne:
    """What came out of fitting one layer of members.

    Parameters
    ----------
    members : list of estimators
        Fitted, to predict with.
    voices : list of Voice
        How each is asked.
    opinions : list of ndarray of float64, shape (n_rows, n_columns)
        What members that had not seen a row said about it, the mean where several did; NaN where
        none did. Empty if nobody asked for them.
    covered : ndarray of bool, shape (n_rows,)
        Rows that every member has an opinion on.
    """

    members: list[Any]
    voices: list[Voice]
    opinions: list[Floats]
    covered: NDArray[np.bool_]


@register("FoldMean")
class FoldMean(BaseEstimator):
    """The mean of the models that were fitted to the folds, in place of one fitted to all rows.

    Parameters
    ----------
    voice : Voice
        How the models are asked.
    estimators : list of estimators
        The fitted models.
    """

    def __init__(self, voice: Voice, estimators: list[Any]) -> None:
        self.voice = voice
        self.estimators = estimators

    @property
    def _reads_tables(self) -> bool:
        return all(reads_tables(each) for each in self.estimators)

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def _validate_loaded(self) -> None:
        """Check that the parts of a loaded model fit each other."""
        if type(self.voice) is not Voice or type(self.estimators) is not list:
            raise ValueError("models of folds need a voice")
        check_answers(self.estimators, [self.voice] * max(len(self.estimators), 1))

    def _mean(self, X: Any) -> Floats:
        parts = [self.voice.ask(each, X) for each in self.estimators]
        return np.asarray(sum(parts[1:], start=parts[0]) / len(parts))

    def predict_proba(self, X: Any) -> Floats:
        """Return the mean of the probabilities, in the order of all classes."""
        return self._mean(X)

    def decision_function(self, X: Any) -> Floats:
        """Return the mean of the scores."""
        return self._mean(X)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the mean of the numbers, or the class code with the largest mean."""
        mean = self._mean(X)
        if self.voice.n_labels:
            return np.asarray(mean >= 0.5, np.int64)
        if not self.voice.n_classes:
            return np.asarray(mean[:, 0])
        if mean.shape[1] == 1:
            return np.asarray(mean[:, 0] > 0, np.int64)
        return np.asarray(mean.argmax(axis=1))


def check_answers(members: Any, voices: Any) -> None:
    """Raise unless there is a voice for each loaded member, which can be asked so."""
    if type(members) is not list or type(voices) is not list or not members:
        raise ValueError("there are no members")
    if len(members) != len(voices) or not all(type(each) is Voice for each in voices):
        raise ValueError("members and voices do not fit each other")
    for member, voice in zip(members, voices, strict=True):
        if not callable(getattr(member, voice.method, None)):
            raise ValueError(f"a member has no {voice.method}")


def count_fits(pairs: Named, plan: LevelOnePlan, n_splits: int, n_rows: int, *, refit: bool) -> int:
    """Return how many fits a layer takes that is asked for opinions."""
    if plan.source == "prefit":
        return 0
    is_once = [plan.source == "oob" and _has_oob(each, n_rows) for _, each in pairs]
    return sum(1 if once else n_splits + refit for once in is_once)


def fit_layer(
    team: Team,
    pairs: Named,
    voices: Sequence[Voice],
    plan: LevelOnePlan,
    splits: Sequence[Split],
    *,
    refit: bool,
    wants_opinions: bool,
    progress: Progress,
    fits_whole: bool = True,
) -> LevelOne:
    """Fit a layer of members, and gather what those say who have not seen a row.

    Parameters
    ----------
    team : Team
        The rows.
    pairs : list of (name, estimator)
        The members.
    voices : sequence of Voice
        How each is asked.
    plan : LevelOnePlan
        Whether opinions come from splits, out-of-bag rows or fitted members.
    splits : sequence of (train, test)
        The splits of this layer.
    refit : bool
        Fit the members to all rows in the end; otherwise models of the splits are averaged.
    wants_opinions : bool
        Without, members are fitted to all rows and nothing else.
    progress : Progress
        Told how many fits are done.
    fits_whole : bool, default=True
        Without, members that would be fitted once more, to all rows, are None: whoever looks at
        the opinions first decides which of them are worth a fit.

    Returns
    -------
    layer : LevelOne
        Members and opinions.
    """
    if plan.source == "prefit":
        return _ask_fitted(team, pairs, voices, wants_opinions)
    wants_oob = wants_opinions and plan.source == "oob"
    has_oob = [wants_oob and _has_oob(each, len(team.y)) for _, each in pairs]
    tasks: list[Task] = []
    owners: list[int] = []
    for number, ((name, estimator), voice) in enumerate(zip(pairs, voices, strict=True)):
        own = []
        if has_oob[number]:
            own.append(Task(name, number, clone(estimator).set_params(oob_score=True)))
        else:
            if fits_whole and (refit or not wants_opinions):
                own.append(Task(name, number, estimator))
            if wants_opinions:
                own += [
                    Task(name, number, estimator, train, test, voice, keeps=not refit)
                    for train, test in splits
                ]
        tasks += own
        owners += [number] * len(own)
    with warnings.catch_warnings():
        if any(has_oob):  # rows without an out-of-bag opinion are left out here
            warnings.filterwarnings("ignore", message="(?s).*(out-of-bag|OOB)")
        results = team.run(tasks, progress)
    members: list[Any] = []
    opinions: list[Floats] = []
    voices = list(voices)
    for number, (_, estimator) in enumerate(pairs):
        mine = [
            (task, result)
            for owner, task, result in zip(owners, tasks, results, strict=True)
            if owner == number
        ]
        voice = voices[number]
        if has_oob[number]:
            member = mine[0][1][0]
            opinions.append(_on_all_rows(_oob_opinion(member, voice), team))
            members.append(member.set_params(oob_score=estimator.get_params()["oob_score"]))
            continue
        whole = [result[0] for task, result in mine if task.train is None]
        folds = [(task.test, result) for task, result in mine if task.train is not None]
        if wants_opinions:
            opinions.append(_mean_opinion(len(team.y), folds))
        if whole or refit:
            members.append(whole[0] if whole else None)
        else:
            members.append(FoldMean(voice, [member for _, (member, _) in folds]))
            voices[number] = replace(voice, labels=None)
    return LevelOne(members, voices, opinions, _covered(opinions, len(team.y)))


def _ask_fitted(
    team: Team, pairs: Named, voices: Sequence[Voice], wants_opinions: bool
) -> LevelOne:
    members = [estimator for _, estimator in pairs]
    opinions = []
    if wants_opinions:
        opinions = [team.ask(each, v, None) for each, v in zip(members, voices, strict=True)]
    return LevelOne(members, list(voices), opinions, _covered(opinions, len(team.y)))


def _covered(opinions: Sequence[Floats], n_rows: int) -> NDArray[np.bool_]:
    covered = np.ones(n_rows, bool)
    for each in opinions:
        covered &= ~np.isnan(each).any(axis=1)
    return covered


def _mean_opinion(n_rows: int, folds: Sequence[tuple[Rows | None, tuple[Any, Any]]]) -> Floats:
    """Return the mean over the models that were asked about a row; NaN where none was."""
    width = folds[0][1][1].shape[1]
    total, counts = np.zeros((n_rows, width)), np.zeros(n_rows)
    for test, (_, opinion) in folds:
        total[test] += opinion
        counts[test] += 1
    with np.errstate(invalid="ignore"):
        return np.asarray(total / counts[:, np.newaxis])


# --- out-of-bag rows ----------------------------------------------------------------------------


def _has_oob(estimator: Any, n_rows: int) -> bool:
    """Whether a member leaves rows out that it can be asked about after one fit."""
    if isinstance(estimator, FrozenEstimator) or not hasattr(estimator, "get_params"):
        return False
    params = estimator.get_params(deep=False)
    if "oob_score" not in params or params.get("bootstrap", False) or not is_own(estimator):
        return "oob_score" in params and bool(params.get("bootstrap", False))
    drawn = params.get("max_samples")  # without replacement
    return (is_int(drawn) and drawn < n_rows) or (is_real(drawn) and 0 < drawn < 1)


def _on_all_rows(opinion: Floats, team: Team) -> Floats:
    """Return an opinion on the rows of a team; a member may have been fitted to those present."""
    if team.weights is None or len(opinion) == len(team.y):
        return opinion
    values = np.full((len(team.y), opinion.shape[1]), np.nan)
    values[team.weights > 0] = opinion
    return values


def _oob_opinion(member: Any, voice: Voice) -> Floats:
    if not voice.n_classes:
        return np.asarray(member.oob_prediction_, np.float64).reshape(-1, 1)
    shares = np.array(member.oob_decision_function_, np.float64)
    shares[shares.sum(axis=1) == 0] = np.nan  # scikit-learn's mark of a row without opinion
    codes = voice.codes_of(member)
    values = np.where(np.isnan(shares[:, :1]), np.nan, np.zeros((len(shares), voice.n_classes)))
    values[:, codes] = shares
    if voice.method == "predict":
        votes = np.eye(voice.n_classes)[np.nan_to_num(values).argmax(axis=1)]
        return np.where(np.isnan(values[:, :1]), np.nan, votes)
    return values
