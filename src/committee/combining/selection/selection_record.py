"""`Selection`: which members an ensemble selection has taken, and what that is worth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from committee.base.arrays import Floats
from committee.combining.selection.candidate_scores import (
    CommitteeScorer,
    MemberPredictions,
)
from committee.combining.selection.greedy_selection import (
    Path,
    SelectionRules,
    best_of,
    cross_fitted,
    mean_weights,
)
from committee.files.codec_classes import register
from committee.files.parts import NUMBER, TEXT, Part, array, tuple_of


@register("Selection")
@dataclass(frozen=True, eq=False, repr=False)
class Selection:
    """The members and their weights, each step of the selection, and two curves.

    Scores on the rows that chose a committee are too good. So scores come in pairs: *promised* by
    the rows that chose, and *found* on other rows: the selection is repeated without each of five
    parts of the rows, and scored on that part.

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
        Score of the one member that is best on the rows that choose, on other rows.
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
        """Return a pandas data frame with a row for each step: member that joined, score so far."""
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

    _stored_parts: ClassVar[dict[str, Part]] = {
        "names": tuple_of(TEXT, "members", least=1),
        "metric": TEXT,
        "own_scores": array("f8", "members"),
        "weights": array("f8", "members"),
        "promised": NUMBER,
        "found": NUMBER,
        "best_found": NUMBER,
        "mean_score": NUMBER,
        "promised_curve": array("f8", "rounds"),
        "found_curve": array("f8", "rounds"),
        "bag": array("i8", "steps", low=0),
        "member": array("i8", "steps", low=0),
        "score": array("f8", "steps"),
        "is_kept": array("b", "steps"),
    }

    def _validate_loaded(self) -> None:
        if len(set(self.names)) != len(self.names):
            raise ValueError("two members have the same name")
        if (self.member >= len(self.names)).any():
            raise ValueError("a step names no member")


def select(
    names: tuple[str, ...],
    predictions: MemberPredictions,
    rules: SelectionRules,
    metric: str,
    groups: Any,
) -> Selection:
    """Select members by their predictions on rows that they have not seen.

    Parameters
    ----------
    names : tuple of str
        The members.
    predictions : MemberPredictions
        These predictions.
    rules : SelectionRules
        How to select.
    metric : str
        What a score is called.
    groups : array-like or None
        Rows of a group choose together, or none of them.

    Returns
    -------
    selection : Selection
        Weights, steps and curves.
    """
    scorer = predictions.scorer()
    paths = rules.paths(scorer)
    weights = _committees(scorer, paths, rules)
    promised = [scorer.of(each) for each in weights]

    def trial(choosing: MemberPredictions, others: MemberPredictions) -> Floats:
        other, unseen = choosing.scorer(), others.scorer()
        chosen = _committees(other, rules.paths(other), rules)
        return np.array([unseen.of(each) for each in chosen])

    found = cross_fitted(predictions, trial, rules.seed, groups)
    if found is None:
        found = np.full(len(weights), np.nan)
    is_kept = [np.arange(rules.n_rounds) < path.n_best for path in paths]
    return Selection(
        names,
        metric,
        scorer.alone(),
        weights[0],
        promised[0],
        float(found[0]),
        float(found[1]),
        scorer.of(np.ones(len(names))),
        np.array(promised[2:]),
        found[2:],
        np.repeat(np.arange(rules.n_bags), rules.n_rounds),
        np.concatenate([path.members for path in paths]),
        np.concatenate([path.scores for path in paths]),
        np.concatenate(is_kept),
    )


def _committees(scorer: CommitteeScorer, paths: Sequence[Path], rules: SelectionRules) -> Floats:
    """Return the weights of the selected committee, of the best member, and after each round."""
    best = np.zeros(scorer.n_members)
    best[best_of(scorer.alone())] = 1.0
    rounds = [mean_weights(paths, scorer.n_members, k + 1) for k in range(rules.n_rounds)]
    return np.array([mean_weights(paths, scorer.n_members), best, *rounds])
