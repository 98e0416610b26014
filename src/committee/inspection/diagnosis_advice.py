"""What to do about an ensemble as a whole, in words: its size, its margins, its probabilities.

Advice about single members is in `evaluation/member_advice.py`. Each rule asks for a difference
that is large and beyond chance; `tests/test_diagnose.py` plants each case.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from committee.base.arrays import Floats
from committee.evaluation.calibration import Calibration
from committee.evaluation.member_advice import Advice
from committee.evaluation.member_errors import MemberErrors
from committee.inspection.growth import Growth

_CLEAR = 2.0  # standard errors of a difference that counts
_FEW_ROWS = 100
_NEAR = 0.01  # of the limit: members that come so near are enough
_FAR = 0.02  # of the limit: so far away, more members help
_MOST_FORECAST = 100  # times as many members: who needs more gains little from any number
_STEP = 0.01  # of the error: what rounds or another combination have to bring or cost
_GAP = 0.02  # between how sure a committee is and how often it is right
_SURE = -0.8  # margin of a row that is predicted wrong with hardly a doubt
_NARROW = 0.5  # spread of members, as a share of the error of the committee
_NAMED = 5


def about_rows(n_rows: int, *, seen: bool) -> list[Advice]:
    """Say what is wrong with the rows themselves."""
    found = []
    if seen:
        text = (
            "The ensemble was fitted to these rows: its members know them, and look better and "
            "more alike than on new rows. Take rows that were held out."
        )
        found.append(Advice("training_rows", text))
    if n_rows < _FEW_ROWS:
        text = f"These are only {n_rows} rows: small differences are chance."
        found.append(Advice("few_rows", text))
    return found


def about_size(errors: MemberErrors, n_members: int, measure: str) -> list[Advice]:
    """Say whether more members of the same kind would help, and how many."""
    now, limit = errors.at(n_members), errors.limit
    if not now > 0:
        return []
    if limit <= now / _MOST_FORECAST:
        text = (
            "More members help: the errors of these have next to nothing in common, and twice as "
            f"many halve the {measure} ({now:.3g})."
        )
        return [Advice("more_members", text)]
    enough = errors.members_for(_NEAR)
    if now > (1 + _FAR) * limit:
        text = (
            f"More members help: with {enough:.0f} in place of {n_members} the {measure} would "
            f"fall from {now:.3g} to {errors.at(int(enough)):.3g}. Infinitely many would reach "
            f"{limit:.3g}."
        )
        return [Advice("more_members", text)]
    text = (
        f"{n_members} members are enough: infinitely many of this kind would lower the {measure} "
        f"({now:.3g}) by {100 * max(now - limit, 0.0) / now:.1f} %."
    )
    if 2 * enough <= n_members:
        text += f" {enough:.0f} would do within {100 * _NEAR:.0f} % of that limit."
    text += " To gain more, members have to be better or differ more."
    return [Advice("enough_members", text)]


def about_rounds(growth: Growth) -> list[Advice]:
    """Say whether boosting should go on, or have stopped before."""
    last, n_rounds = float(growth.measured[-1]), int(growth.numbers[-1])
    first = int(0.8 * n_rounds)
    if growth.loss > _CLEAR * growth.loss_error and growth.loss > _STEP * abs(last):
        text = (
            f"Too many rounds: the {growth.measure} was {last - growth.loss:.3g} after "
            f"{growth.best} rounds and is {last:.3g} after {n_rounds}. Stop early, by rows that "
            "are held out, or learn more slowly."
        )
        return [Advice("fewer_rounds", text)]
    if growth.gain > _CLEAR * growth.gain_error and growth.gain > _STEP * abs(last):
        text = (
            f"More rounds help: from round {first} to {n_rounds} the {growth.measure} fell from "
            f"{last + growth.gain:.3g} to {last:.3g}, and it still falls. Take more rounds, or a "
            "larger learning rate."
        )
        return [Advice("more_rounds", text)]
    text = (
        f"{n_rounds} rounds are enough: the last fifth of them "
        f"{'lowered' if growth.gain >= 0 else 'raised'} the {growth.measure} by "
        f"{abs(growth.gain):.2g}, to {last:.3g}."
    )
    return [Advice("enough_rounds", text)]


def about_combining(errors: MemberErrors, measure: str) -> list[Advice]:
    """Say whether what combines the members does better than their plain mean would."""
    if not (errors.gap > _CLEAR * errors.gap_error and errors.gap > _STEP * errors.combined_error):
        return []
    text = (
        f"The plain mean of the members ({measure} {errors.combined_error:.3g}) is better than "
        f"what combines them here ({errors.committee_error:.3g}). Take the mean, or a simpler "
        "combination with fewer numbers to learn."
    )
    return [Advice("combination", text)]


def about_probabilities(found: Calibration) -> list[Advice]:
    """Say whether probabilities are too bold or too careful."""
    gap = found.confidence - found.accuracy
    if not (abs(gap) > _CLEAR * found.error and abs(gap) > _GAP):
        return []
    facts = (
        f"its probability of the class it predicts is {found.confidence:.3g} on average, and that "
        f"class is the true one in {found.accuracy:.3g} of the rows"
    )
    cure = (
        "Calibrate the probabilities with rows that it has not seen; dividing their logarithms by "
        f"{found.temperature:.2g} would do."
    )
    kind = "over_confident" if gap > 0 else "too_careful"
    words = "over-confident" if gap > 0 else "too careful"
    return [Advice(kind, f"The ensemble is {words}: {facts}. {cure}")]


def about_margins(margins: Floats, rows: NDArray[np.int64]) -> list[Advice]:
    """Name the rows that are wrong with hardly a doubt."""
    order = np.argsort(margins, kind="stable")
    sure = order[margins[order] < _SURE]
    if not len(sure):
        return []
    places = ", ".join(str(row) for row in rows[sure[:_NAMED]].tolist())
    if len(sure) == 1:
        text = (
            f"Row {places} is predicted wrong with hardly a doubt: look whether its label is right."
        )
        return [Advice("labels", text)]
    more = ", ..." if len(sure) > _NAMED else ""
    text = (
        f"{len(sure)} of {len(margins)} rows are predicted wrong with hardly a doubt (rows "
        f"{places}{more}): look whether their labels are right. `margins` finds all of them."
    )
    return [Advice("labels", text)]


def about_spread(ratio: float) -> list[Advice]:
    """Warn of intervals that are made of the predictions of members."""
    if not ratio < _NARROW:
        return []
    text = (
        f"The members differ by only {100 * ratio:.0f} % of the error of the ensemble: most of it "
        "is noise, or common to all, and the spread of members is no interval for the truth."
    )
    return [Advice("spread", text)]
