"""What to do about the members of a committee, in words: who hurts, who is too good, who is alike.

Each rule looks at `MemberErrors` and asks for a difference that is large and beyond chance. The
limits are named below; `tests/test_diagnose.py` plants each case.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from committee.evaluation.member_errors import MemberErrors

_CHANCE = 0.01  # that a difference counts where there is none, for all members together
_LEAK_RATIO = 10.0  # between the errors of members that know the answer and of the next
_LEAK_SHARE = 0.02  # of the error of a constant that members who know the answer make at most
_STRONG = 0.02  # share of the committee's error by which a single member is better
_HARM = 0.01  # share of the error that goes away with a member
_SAME = 0.001  # share of the errors of two members that their mean takes away
_ALIKE = 0.03  # share of the average member's error that the mean of all takes away
_LEAST_ROWS = 20  # on fewer, members are the same by chance
_CLONES_OF_MANY = 0.05  # share of many members that may be the same by chance
_MANY = 20
_NAMED = 5


@dataclass(frozen=True)
class Advice:
    """Something that stands out, and what to do about it.

    Attributes
    ----------
    kind : str
        What it is about, as code can ask for it.
    text : str
        In words.
    members : tuple of str
        Whom it is about; empty for all.
    """

    kind: str
    text: str
    members: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.text


def member_advice(
    errors: MemberErrors, names: Sequence[str], measure: str, combined_by: str = "mean"
) -> tuple[Advice, ...]:
    """Return what stands out in the errors of members, the most serious first.

    Parameters
    ----------
    errors : MemberErrors
        Their errors on rows that they have not seen.
    names : sequence of str
        The members.
    measure : str
        What the errors are: "squared error" or "Brier score".
    combined_by : {"mean", "rule", "steps"}, default="mean"
        How the committee predicts. By another rule than a mean nobody is said to hurt it, and
        steps of boosting may be repeated.

    Examples
    --------
    >>> from committee.evaluation.member_errors import MemberTally
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.normal(size=(500, 1))
    >>> twin = truth + rng.normal(size=(500, 1))
    >>> tally = MemberTally(np.full(3, 1 / 3), 1)
    >>> tally.add(np.stack([twin, truth + rng.normal(size=(500, 1)), twin]), truth, np.ones(500))
    >>> print(*member_advice(tally.result(), ["a", "b", "c"], "squared error"))
    a and c predict the same: they count as one member with their weights added up. Keep one of them, or make them differ in data, features or settings.
    """  # noqa: E501
    if len(errors) < 2:
        return ()
    known = suspects(errors)
    if len(known):
        return (_leak(errors, names, measure, known),)
    found = _strong(errors, names, measure)
    if combined_by == "mean" and not found:
        found = _hurting(errors, names, measure)
    if combined_by == "steps":
        return found
    return (*found, *_clones(errors, names), *_alike(errors, measure))


def suspects(errors: MemberErrors) -> NDArray[np.int64]:
    """Return the members that seem to know the answer: next to no error, and others far more."""
    found = errors.errors
    order = np.argsort(found, kind="stable")
    low, high = found[order[:-1]], found[order[1:]]
    is_gap = (high > 0) & (high >= _LEAK_RATIO * low) & (low <= _LEAK_SHARE * errors.constant_error)
    is_gap[max(1, len(found) // 3) :] = False  # most members cannot be suspects
    return np.sort(order[: np.flatnonzero(is_gap).max(initial=-1) + 1])


def clone_groups(errors: MemberErrors) -> list[NDArray[np.int64]]:
    """Return groups of members that predict the same, but for next to nothing."""
    if errors.n_rows < _LEAST_ROWS:
        return []
    scale = errors.errors[:, np.newaxis] + errors.errors
    # The mean of two takes a quarter of their squared distance off the mean of their errors.
    is_same = (errors.distances <= 2 * _SAME * scale) & (scale > 0)
    left = np.ones(len(errors), bool)
    groups = []
    for first in range(len(errors)):
        if left[first]:
            group = np.flatnonzero(is_same[first] & left | (np.arange(len(errors)) == first))
            left[group] = False
            groups += [group] if len(group) > 1 else []
    n_spare = sum(len(group) - 1 for group in groups)
    is_chance = len(errors) > _MANY and n_spare <= _CLONES_OF_MANY * len(errors)
    return [] if is_chance else groups


def _clear(n_members: int) -> float:
    """Return how many standard errors are beyond chance, where the largest of many is looked at."""
    return float(-ndtri(_CHANCE / n_members))


def _leak(
    errors: MemberErrors, names: Sequence[str], measure: str, known: NDArray[np.int64]
) -> Advice:
    found = errors.errors
    others = np.delete(found, known)
    who = [names[place] for place in known]
    verb, have = ("makes", "it has") if len(who) == 1 else ("make", "they have")
    text = _sentence(
        f"{_listed(who)} {verb} next to no error ({measure} {found[known].max():.3g}, the best of "
        f"the others {others.min():.3g}). That is too good to be true, unless the truth has just "
        f"this form: look whether {have} been fitted to these rows, or whether a column knows the "
        "answer."
    )
    return Advice("leak", text, tuple(who))


def _strong(errors: MemberErrors, names: Sequence[str], measure: str) -> tuple[Advice, ...]:
    best = int(np.argmin(errors.errors))
    gap, error = -errors.excess[best], errors.excess_error[best]
    own = errors.committee_error
    if not (gap > _clear(len(names)) * error and gap > _STRONG * own):
        return ()
    text = _sentence(
        f"{_listed([names[best]])} alone ({measure} {errors.errors[best]:.3g}) is better than all "
        f"together ({own:.3g}): the others pull it down. Give it more weight, let the weights be "
        "learned or stack the members, or use it alone."
    )
    return (Advice("strong", text, (names[best],)),)


def _hurting(errors: MemberErrors, names: Sequence[str], measure: str) -> tuple[Advice, ...]:
    is_so = errors.harm > _clear(len(names)) * errors.harm_error
    is_so &= errors.harm > _HARM * errors.combined_error
    places = np.flatnonzero(is_so)
    if not len(places):
        return ()
    places = places[np.argsort(-errors.harm[places], kind="stable")]
    who, worst = [names[int(place)] for place in places], int(places[0])
    without = errors.combined_error - errors.harm[worst]
    text = (
        f"Without {_listed([names[worst]])} the {measure} of the mean would fall from "
        f"{errors.combined_error:.3g} to {without:.3g}."
    )
    if len(who) > 1:
        verb = "hurts" if len(who) == 2 else "hurt"
        text += f" {_sentence(_listed(who[1:]))} {verb} too."
    return (Advice("hurts", f"{text} Leave out who hurts, one after the other.", tuple(who)),)


def _clones(errors: MemberErrors, names: Sequence[str]) -> tuple[Advice, ...]:
    groups = clone_groups(errors)
    if not groups:
        return ()
    who = tuple(names[place] for group in groups for place in group)
    if len(who) == len(names) and len(groups) == 1:
        text = f"All {len(who)} members predict the same: one of them does as well."
    else:
        largest = max(groups, key=len)
        text = _sentence(f"{_listed([names[place] for place in largest])} predict the same")
        if len(groups) > 1:
            text += f", and so do the members of {len(groups) - 1} more groups"
        text += ": they count as one member with their weights added up."
    fix = "Keep one of them, or make them differ in data, features or settings."
    return (Advice("clones", f"{text} {fix}", who),)


def _alike(errors: MemberErrors, measure: str) -> tuple[Advice, ...]:
    groups = clone_groups(errors)
    are_clones = len(groups) == 1 and len(groups[0]) == len(errors)
    if are_clones or errors.gain >= _ALIKE or errors.mean_error <= 0:
        return ()
    text = (
        f"The members err much alike: combining them takes away only {100 * errors.gain:.1f} % of "
        f"the average member's {measure}. Other learners, other columns, or smaller samples of "
        "rows and features make them differ."
    )
    return (Advice("alike", text),)


def _listed(names: Sequence[str]) -> str:
    """Return names in a sentence, the first few of many; members without one have numbers.

    Examples
    --------
    >>> _listed(["a", "b", "c"]), _listed(["a"]), _listed(["3", "5"])
    ('a, b and c', 'a', 'members 3 and 5')
    """
    if names[0].isdigit():
        return f"member{'s' * (len(names) > 1)} {_plainly_listed(names)}"
    return _plainly_listed(names)


def _plainly_listed(names: Sequence[str]) -> str:
    if len(names) == 1:
        return names[0]
    if len(names) > _NAMED:
        return f"{', '.join(names[:_NAMED])} and {len(names) - _NAMED} more"
    return f"{', '.join(names[:-1])} and {names[-1]}"


def _sentence(text: str) -> str:
    """Return a text with a capital where it begins with words of ours; names stay as they are."""
    return text.replace("member", "Member", 1) if text.startswith("member") else text
