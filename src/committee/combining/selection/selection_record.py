"""`Selection`: which members an ensemble selection has taken, and what that is worth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from committee.combining.selection.candidate_scores import Floats, Judge, Opinions
from committee.combining.selection.greedy_selection import (
    Path,
    SelectionRules,
    best_of,
    cross_fitted,
    mean_weights,
)
from committee.files.codec_classes import register


@register("Selection")
@dataclass(frozen=True, eq=False, repr=False)
class Selection:
    """The members and their weights, each step of the selection, and two curves.

    The rows that chose a committee think too well of it. So scores come in pairs: *promised* by
    the rows that chose, and *found* on rows that had no say: the selection is repeated without
    each of five parts of the rows, and judged on that part.

    Attributes
    ----------
    names : tuple of str
        The members.
    metric : str
        What a score is; the greater the better.
    own_scores : ndarray of float64, shape (n_members,)
        The score of each member alone, on rows that it has not seen. Nothing was chosen, so there
        is nothing to promise.
    weights : ndarray of float64, shape (n_members,)
        Share of each member in the committee.
    promised, found : float
        Score of the committee.
    best_found : float
        Score of taking the one member that the other rows like best, on rows that had no say.
    mean_score : float
        Score of the equal mean of all members.
    promised_curve, found_curve : ndarray of float64, shape (n_rounds,)
        Score of the committee after each round.
    bag, member, score, is_kept : ndarray, one entry a step
        The bag that a step belongs to, the member that joined, the score of that bag so far (as
        promised), and whether the step counts: each bag goes back to its best step.
    """

    names: tuple[str, ...]
    metric: str
    own_scores: Floats
    weights: Floats
    promised: float
    found: float
    best_found: float
    mean_score: float
    promised_curve: Floats
    found_curve: Floats
    bag: NDArray[np.int64]
    member: NDArray[np.int64]
    score: Floats
    is_kept: NDArray[np.bool_]

    def to_frame(self) -> Any:
        """Return a pandas data frame with a row for each member: its own score and its weight."""
        import pandas as pd

        columns = {"score": self.own_scores, "weight": self.weights}
        frame = pd.DataFrame(columns, index=pd.Index(self.names, name="member"))
        return frame.sort_values(["weight", "score"], ascending=False, kind="stable")

    def steps(self) -> Any:
        """Return a pandas data frame with a row for each step: who joined, the score so far."""
        import pandas as pd

        n_rounds = len(self.promised_curve)
        return pd.DataFrame(
            {
                "bag": self.bag,
                "step": np.arange(len(self.bag)) % n_rounds + 1,
                "member": np.array(self.names, dtype=object)[self.member],
                "promised": self.score,
                "is_kept": self.is_kept,
            }
        )

    def curve(self) -> Any:
        """Return a pandas data frame with a row for each round: the score promised and found."""
        import pandas as pd

        index = pd.RangeIndex(1, len(self.promised_curve) + 1, name="n_rounds")
        columns = {"promised": self.promised_curve, "found": self.found_curve}
        return pd.DataFrame(columns, index=index)

    def __repr__(self) -> str:
        n_taken = int((self.weights > 0).sum())
        return (
            f"Selection({n_taken} of {len(self.names)} members; {self.metric} "
            f"{self.promised:.4g} promised, {self.found:.4g} found; best member "
            f"{self.best_found:.4g}, mean of all {self.mean_score:.4g})"
        )

    def _validate_loaded(self) -> None:
        n_members, n_rounds = len(self.names), len(self.promised_curve)
        for each in (self.own_scores, self.weights):
            if not isinstance(each, np.ndarray) or each.shape != (n_members,):
                raise ValueError("there is not one number a member")
        if self.found_curve.shape != (n_rounds,) or self.promised_curve.shape != (n_rounds,):
            raise ValueError("the curves differ in length")
        if len({len(each) for each in (self.bag, self.member, self.score, self.is_kept)}) != 1:
            raise ValueError("the columns of the steps differ in length")
        if len(self.member) and not 0 <= self.member.min() <= self.member.max() < n_members:
            raise ValueError("a step names no member")


def select(
    names: tuple[str, ...], opinions: Opinions, rules: SelectionRules, metric: str, groups: Any
) -> Selection:
    """Select members by what they said about rows that they have not seen.

    Parameters
    ----------
    names : tuple of str
        The members.
    opinions : Opinions
        What they said.
    rules : SelectionRules
        How to select.
    metric : str
        What a score is called.
    groups : array-like or None
        Rows of a group have a say together, or none of them.

    Returns
    -------
    selection : Selection
        Weights, steps and curves.
    """
    judge = opinions.judge()
    paths = rules.paths(judge)
    weights = _committees(judge, paths, rules)
    promised = [judge.of(each) for each in weights]

    def trial(choosing: Opinions, judging: Opinions) -> Floats:
        other, unseen = choosing.judge(), judging.judge()
        chosen = _committees(other, rules.paths(other), rules)
        return np.array([unseen.of(each) for each in chosen])

    found = cross_fitted(opinions, trial, rules.seed, groups)
    if found is None:
        found = np.full(len(weights), np.nan)
    is_kept = [np.arange(rules.n_rounds) < path.n_best for path in paths]
    return Selection(
        names,
        metric,
        judge.alone(),
        weights[0],
        promised[0],
        float(found[0]),
        float(found[1]),
        judge.of(np.ones(len(names))),
        np.array(promised[2:]),
        found[2:],
        np.repeat(np.arange(rules.n_bags), rules.n_rounds),
        np.concatenate([path.members for path in paths]),
        np.concatenate([path.scores for path in paths]),
        np.concatenate(is_kept),
    )


def _committees(judge: Judge, paths: Sequence[Path], rules: SelectionRules) -> Floats:
    """Return the weights of the selected committee, of the best member, and after each round."""
    best = np.zeros(judge.n_members)
    best[best_of(judge.alone())] = 1.0
    rounds = [mean_weights(paths, judge.n_members, k + 1) for k in range(rules.n_rounds)]
    return np.array([mean_weights(paths, judge.n_members), best, *rounds])
