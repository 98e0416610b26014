"""`diagnose`: why a fitted ensemble is as good as it is, and what would make it better."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from committee.base.arrays import Floats
from committee.base.params import check_int, check_seed
from committee.evaluation.calibration import Calibration
from committee.evaluation.member_advice import Advice, member_advice
from committee.evaluation.member_errors import MemberErrors
from committee.inspection.diagnosis import Combined, Diagnosis
from committee.inspection.diagnosis_advice import (
    about_combining,
    about_margins,
    about_probabilities,
    about_rounds,
    about_rows,
    about_size,
    about_spread,
)
from committee.inspection.diversity import Diversity, DiversityTally
from committee.inspection.ensemble_members import (
    EnsembleMembers,
    class_labels,
    is_sum_of_steps,
    members_of,
)
from committee.inspection.growth import Growth, GrowthTally, growth_of_rounds, is_logged
from committee.inspection.studied_rows import StudiedRows
from committee.inspection.vote_strength import VoteStrength, VoteTally
from committee.theory.majority import majority_error
from committee.theory.margins import margins_of_codes

_LEAST_MEMBERS = 5  # fewer say little about how many there should be


def diagnose(
    model: Any,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    *,
    max_members: int = 100,
    max_rows: int = 20_000,
    random_state: Any = 0,
) -> Diagnosis:
    r"""Say why a fitted ensemble is as good as it is, and what would make it better.

    Parameters
    ----------
    model : fitted ensemble, or list of fitted estimators
        Forests, bagging, AdaBoost, gradient boosting, votes, stacks (their first layer),
        selections, dynamic selections and committees of this library, and ensembles of
        scikit-learn. A list holds fitted classifiers or fitted regressors, or pairs of names and
        these, and counts as a mean with equal weights.
    X : table of shape (n_rows, n_features)
        Rows that the ensemble has not been fitted to, or its members look better and more alike
        than they are. Forests, bagging, boosting and committees of this library notice where they
        can.
    y : array-like of shape (n_rows,)
        Class labels or numbers.
    sample_weight : array-like of shape (n_rows,) or None, default=None
        Weights of the rows; a row of weight zero is absent.
    max_members : int, default=100
        Of more members so many are drawn and looked at, which takes seconds. The error of the
        ensemble itself is always that of all of them.
    max_rows : int, default=20000
        Of more rows so many are drawn and looked at.
    random_state : int, RandomState, Generator or None, default=0
        Seed of these draws.

    Returns
    -------
    found : Diagnosis
        Printed, it is a table and the advice; `plot_diagnosis` draws it, and `to_frame` has a row
        for each member.

    Notes
    -----
    *What theory predicts.* Of n members with error rates like these, the majority would have the
    error of `theory.majority_error`: if their errors were independent, and with the correlation
    that was measured. (With more than two classes wrong votes are divided, and both are upper
    bounds.) Of squared errors, with V the mean error of a member and C the mean product of the
    errors of two, a mean of n members has :math:`C + (V - C) / n`: V / n if errors were
    uncorrelated, C in the limit. What was measured stands beside. C contains the noise in the
    target, which no member can know.

    *Strength* is the mean margin, and *correlation* that of the margins of members (Breiman 2001,
    section 2).

    *Advice.* Each has a `kind`: "training_rows", "few_rows", "leak" (a member that seems to know
    the answer), "strong" (a member that is better than all together), "hurts", "clones", "alike",
    "combination" (the plain mean would be better), "more_members", "enough_members",
    "more_rounds", "fewer_rounds", "enough_rounds", "over_confident", "too_careful", "labels" (rows
    that are wrong with hardly a doubt), "spread" (the spread of members is far below the error).
    Differences count where they are large and beyond chance.

    References
    ----------
    Breiman (2001), Random forests. Machine Learning 45, 5-32.

    Krogh and Vedelsby (1995), Neural network ensembles, cross validation, and active learning.
    Advances in Neural Information Processing Systems 7, 231-238.

    Examples
    --------
    >>> from committee import RandomForestClassifier, diagnose
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = RandomForestClassifier(50, random_state=0).fit(X[::2], y[::2])
    >>> found = diagnose(model, X[1::2], y[1::2])
    >>> [each.kind for each in found.advice]
    ['hurts', 'more_members', 'labels']
    >>> found.n_members, bool(found.votes.strength > 0.8)
    (50, True)
    """
    max_members = check_int("max_members", max_members, 2)
    max_rows = check_int("max_rows", max_rows, 10)
    rng = np.random.default_rng(check_seed(random_state))
    if is_sum_of_steps(model):
        rows = _rows_of(model, X, y, sample_weight).sample(max_rows, rng)
        return _diagnose_rounds(model, rows, seen=_was_fitted_to(model, X, y))
    members = members_of(model)
    rows = StudiedRows(X, y, sample_weight, members.labels)
    if members.labels is not None and rows.n_classes < 2:
        raise ValueError(f"y must hold two classes or more; got only {members.labels[0]!r}")
    n_members = len(members)
    if n_members > max_members:
        members = members.part(np.sort(rng.choice(n_members, max_members, replace=False)))
    study = _Study(model, members, n_members, rows.sample(max_rows, rng))
    return study.diagnosis(seen=_was_fitted_to(model, X, y))


def _was_fitted_to(model: Any, X: Any, y: Any) -> bool:
    return hasattr(model, "_was_fitted_to") and model._was_fitted_to(X, y)


class _Study:
    """Goes through the rows once, and adds up what each part of the diagnosis needs.

    Parameters
    ----------
    model : fitted ensemble or list
        What is diagnosed.
    members : EnsembleMembers
        Those that are looked at.
    n_members : int
        How many it has.
    rows : StudiedRows
        The rows.
    """

    def __init__(
        self, model: Any, members: EnsembleMembers, n_members: int, rows: StudiedRows
    ) -> None:
        self.model, self.members, self.n_members, self.rows = model, members, n_members, rows
        self.measure = "Brier score" if rows.n_classes else "squared error"
        pairs, growth = DiversityTally(members, rows.n_classes), GrowthTally(len(members))
        votes = VoteTally(members.weights)
        own, margins, wrong = [], [], 0.0
        for block in rows.blocks(model, members):
            pairs.add(block)
            growth.add(block)
            own.append(block.own)
            if block.codes is not None:
                margins.append(votes.add(block))
                mean = np.einsum("m,mrv->rv", members.weights, block.predictions)
                wrong += float(block.weights[mean.argmax(axis=1) != block.true_codes].sum())
        self._mean_wrong = wrong / float(rows.weights.sum())
        self.pairs: Diversity = pairs.result()
        self.errors: MemberErrors = pairs.errors()
        self.own = np.concatenate(own)
        self.votes: VoteStrength | None = votes.result() if rows.n_classes else None
        self._vote_margins = np.concatenate(margins) if margins else None
        self.growth = self._growth(growth)

    @property
    def combined_by(self) -> str:
        """How the ensemble predicts: by the mean of its members, another rule, or as a sum."""
        kind = type(self.model).__name__
        if kind.startswith("AdaBoost"):
            return "steps"
        is_mean = getattr(self.model, "combine", "mean") in (None, "mean", "average")
        return "mean" if is_mean and not kind.startswith(("Stacking", "Dynamic")) else "rule"

    @property
    def margins(self) -> Floats | None:
        """Margins of the ensemble: of its probabilities, or of votes where it counts these."""
        codes = self.rows.codes
        if codes is None or self.members.methods == ("predict",) or np.isnan(self.own).any():
            return self._vote_margins
        return margins_of_codes(self.own, codes)

    @property
    def calibration(self) -> Calibration | None:
        """Whether probabilities come true; None without."""
        return _calibration(self.model, self.own, self.rows)

    @property
    def spread_ratio(self) -> float:
        """How far members are from each other, as a share of the error of the ensemble."""
        n_members, error = len(self.members), self.errors.committee_error
        if self.rows.n_classes or n_members < 2 or not error > 0:
            return math.nan
        # A new member is as far from the mean of the others as the truth, if it is one of them.
        spread = float(self.errors.distances.sum()) / (2 * n_members * (n_members - 1))
        return float(np.sqrt(spread * (1 + 1 / n_members) / error))

    def _growth(self, tally: GrowthTally) -> Growth | None:
        if self.combined_by == "steps":
            return growth_of_rounds(self.model, self.rows)
        are_alike = len({type(member) for member in self.members.members}) == 1
        if self.combined_by == "mean" and len(self.members) > 1 and are_alike:
            return tally.result(self.errors, self.measure)
        return None

    def diagnosis(self, *, seen: bool) -> Diagnosis:
        """Return all of it."""
        seen = seen or (self.combined_by == "steps" and is_logged(self.model, self.growth))
        calibration, margins, spread = self.calibration, self.margins, self.spread_ratio
        advice = about_rows(self.errors.n_rows, seen=seen)
        if not seen:
            advice += self._advice_on_members()
            advice += _advice_on_answers(calibration, margins, self.rows)
            advice += about_spread(spread) if len(self.members) >= _LEAST_MEMBERS else []
        return Diagnosis(
            type(self.model).__name__,
            self.n_members,
            self.members.names,
            self.errors.n_rows,
            self.rows.numbers,
            self.measure,
            self._combining(),
            self.growth,
            self.pairs,
            self.errors,
            self.votes,
            margins,
            calibration,
            spread,
            tuple(advice),
        )

    def _advice_on_members(self) -> list[Advice]:
        names, by = self.members.names, self.combined_by
        advice = list(member_advice(self.errors, names, self.measure, by))
        if by == "rule":
            advice += about_combining(self.errors, self.measure)
        if self.growth is None or len(self.members) < _LEAST_MEMBERS:
            return advice
        if by == "steps":
            return advice + about_rounds(self.growth)
        return advice + about_size(self.errors, self.n_members, self.measure)

    def _combining(self) -> tuple[Combined, ...]:
        errors, pairs, n_members = self.errors, self.pairs, self.n_members
        wrong = None if pairs.accuracy is None else 1.0 - pairs.accuracy
        one = math.nan if wrong is None else float((self.members.weights * wrong).sum())
        best = math.nan if wrong is None else float(wrong.min())
        found = [
            Combined("a member, on average", errors.mean_error, one),
            Combined("the best member", float(errors.errors.min()), best),
        ]
        if len(errors) > 1:
            law = _Majority(wrong, pairs.means["correlation"], n_members)
            mean = float(errors.errors.mean())
            found += [
                Combined("if errors were independent", mean / n_members, law.independent),
                Combined("with the correlation found", errors.at(n_members), law.correlated),
                Combined("infinitely many like these", errors.limit, law.limit),
            ]
            rate = math.nan if self.votes is None else self.votes.majority_error
            if self.votes is not None and self.members.methods != ("predict",):
                found.append(Combined("measured: majority of members", math.nan, rate))
                rate = self._mean_wrong
            what = "majority" if self.members.methods == ("predict",) and self.votes else "mean"
            found.append(Combined(f"measured: {what} of members", errors.combined_error, rate))
        accuracy = pairs.committee_accuracy
        own = math.nan if accuracy is None else 1.0 - accuracy
        found.append(Combined("measured: the ensemble", errors.committee_error, own))
        return tuple(found)


class _Majority:
    """What theory says of the majority of members with such error rates."""

    def __init__(self, wrong: Floats | None, correlation: float, n_members: int) -> None:
        self.independent = self.correlated = self.limit = math.nan
        if wrong is None:
            return
        mean = float(wrong.mean())
        rho = 0.0 if math.isnan(correlation) else min(max(correlation, 0.0), 1.0)
        is_all = len(wrong) == n_members
        self.independent = majority_error(n_members, wrong.tolist() if is_all else mean)
        self.correlated = majority_error(n_members, mean, correlation=rho)
        self.limit = majority_error(math.inf, mean, correlation=rho)


def _diagnose_rounds(model: Any, rows: StudiedRows, *, seen: bool) -> Diagnosis:
    """Diagnose gradient boosting, of which there are only sums of steps."""
    growth = growth_of_rounds(model, rows)
    prediction = rows.own_prediction(model)
    assert prediction is not None
    own, codes = prediction
    truth, weights = rows.truth, rows.weights
    error = float(np.average(((own - truth) ** 2).sum(axis=1), weights=weights))
    measure = "Brier score" if rows.n_classes else "squared error"
    rate, margins, calibration = math.nan, None, None
    if codes is not None and rows.codes is not None:
        rate = float(np.average(codes != rows.codes, weights=weights))
        margins = margins_of_codes(own, rows.codes)
        calibration = _calibration(model, own, rows)
    advice = about_rows(len(rows.numbers), seen=seen)
    if not seen:
        advice += [*about_rounds(growth), *_advice_on_answers(calibration, margins, rows)]
    return Diagnosis(
        type(model).__name__,
        int(growth.numbers[-1]),
        (),
        len(rows.numbers),
        rows.numbers,
        measure,
        (Combined("measured: the ensemble", error, rate),),
        growth,
        None,
        None,
        None,
        margins,
        calibration,
        math.nan,
        tuple(advice),
    )


def _rows_of(model: Any, X: Any, y: Any, sample_weight: Any) -> StudiedRows:
    if getattr(model, "n_outputs_", 1) != 1:
        raise ValueError(f"model must have one output; got {model.n_outputs_}")
    labels = class_labels(model)
    rows = StudiedRows(X, y, sample_weight, labels[0] if labels else None)
    if labels and rows.n_classes < 2:
        raise ValueError(f"y must hold two classes or more; got only {labels[0][0]!r}")
    return rows


def _advice_on_answers(
    calibration: Calibration | None, margins: Floats | None, rows: StudiedRows
) -> list[Advice]:
    advice = [] if calibration is None else about_probabilities(calibration)
    return advice + ([] if margins is None else about_margins(margins, rows.numbers))


def _calibration(model: Any, own: Floats, rows: StudiedRows) -> Calibration | None:
    codes: NDArray[np.intp] | None = rows.codes
    if codes is None or isinstance(model, list | tuple) or np.isnan(own).any():
        return None
    return Calibration.measure(own, codes, rows.weights, str(rows.labels[1]))
