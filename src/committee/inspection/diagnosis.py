"""What `diagnose` finds: numbers about a fitted ensemble, and what to do about them."""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import wrap
from typing import Any

import numpy as np
from numpy.typing import NDArray

from committee.base.arrays import Floats
from committee.evaluation.calibration import Calibration
from committee.evaluation.member_advice import Advice
from committee.evaluation.member_errors import MemberErrors
from committee.inspection.diversity import Diversity
from committee.inspection.growth import Growth
from committee.inspection.vote_strength import VoteStrength

_WIDTH = 88  # letters in a line of advice


@dataclass(frozen=True)
class Combined:
    """The error of one way of combining members, predicted or measured.

    Attributes
    ----------
    what : str
        Of what.
    squared_error : float
        Squared error, or Brier score of classes; NaN where it is not known.
    error_rate : float
        Share of wrong classes; NaN for numbers and where it is not known.
    """

    what: str
    squared_error: float
    error_rate: float


@dataclass(frozen=True, eq=False, repr=False)
class Diagnosis:
    """How a fitted ensemble works on some rows; see `diagnose`.

    Attributes
    ----------
    ensemble : str
        Its class.
    n_members : int
        Members, or rounds, that it has.
    names : tuple of str
        The members that were looked at; empty for gradient boosting, whose steps have no
        predictions of their own.
    n_rows : int
        Rows that were looked at.
    rows : ndarray of int64
        Their places in the given table.
    measure : {"squared error", "Brier score"}
        What squared errors are called.
    combining : tuple of Combined
        What theory predicts of combining such members, and what was measured.
    growth : Growth or None
        Error against the number of members or rounds; None for stacks and the like, and where
        members are of several kinds.
    diversity : Diversity or None
        Measures of pairs of members.
    errors : MemberErrors or None
        Squared errors of members, and what follows for means of them.
    votes : VoteStrength or None
        Strength and correlation of the members of a classifier.
    margins : ndarray of float64 or None
        For each looked-at row, the probability of its class less the largest of another, or the
        same of shares of votes where the ensemble counts votes; None for numbers.
    calibration : Calibration or None
        Whether the probabilities of the ensemble come true; None where it has none.
    spread_ratio : float
        For numbers, by how much members differ, as a share of the error of the ensemble: about
        one where their spread tells how wrong it may be. NaN for classes.
    advice : tuple of Advice
        What stands out, the most serious first: each has a `kind`, a `text` and `members`.
    """

    ensemble: str
    n_members: int
    names: tuple[str, ...]
    n_rows: int
    rows: NDArray[np.int64]
    measure: str
    combining: tuple[Combined, ...]
    growth: Growth | None
    diversity: Diversity | None
    errors: MemberErrors | None
    votes: VoteStrength | None
    margins: Floats | None
    calibration: Calibration | None
    spread_ratio: float
    advice: tuple[Advice, ...]

    def to_frame(self) -> Any:
        """Return a pandas data frame of the members that were looked at.

        The columns are those of `Diversity.to_frame`, and by how much the error of each is above
        that of the ensemble (`excess`), and that of the mean above the mean without it (`harm`).
        """
        if self.diversity is None or self.errors is None:
            raise ValueError(
                f"the steps of {self.ensemble} have no predictions of their own to make a table of"
            )
        frame = self.diversity.to_frame()
        return frame.assign(excess=self.errors.excess, harm=self.errors.harm)

    def __repr__(self) -> str:
        unit = "round" if self.errors is None else "member"
        size = f"{self.n_members} {unit}{'s' * (self.n_members != 1)}"
        if self._is_sampled:
            size += f" ({len(self.names)} of them were looked at)"
        lines = [f"Diagnosis of {self.ensemble} with {size}, by {self.n_rows} rows"]
        lines += [*self._table(), *self._facts(), "Advice"]
        for text in [each.text for each in self.advice] or ["Nothing stands out."]:
            lines += wrap(text, _WIDTH, initial_indent="- ", subsequent_indent="  ")
        return "\n".join(lines)

    @property
    def _is_sampled(self) -> bool:
        return bool(self.names) and len(self.names) < self.n_members

    def _table(self) -> list[str]:
        has_rates = any(not np.isnan(each.error_rate) for each in self.combining)
        width = max(len(each.what) for each in self.combining)
        head = f"  {'':{width}}  {'error rate':>11}" if has_rates else f"  {'':{width}}"
        lines = [f"{head}  {self.measure:>13}"]
        for each in self.combining:
            rate = f"  {_number(each.error_rate):>11}" if has_rates else ""
            line = f"  {each.what:{width}}{rate}  {_number(each.squared_error):>13}"
            lines.append(line.rstrip())
        return lines

    def _facts(self) -> list[str]:
        facts = []
        if self.errors is not None and len(self.names) > 1:
            what = "correlation of being right" if self.votes else "correlation of errors"
            assert self.diversity is not None
            facts.append(
                f"{what} {_number(self.diversity.means['correlation'])}; the members are worth "
                f"{_number(self.errors.worth)} uncorrelated ones"
            )
        if self.votes is not None:
            facts.append(
                f"strength {_number(self.votes.strength)}, correlation "
                f"{_number(self.votes.correlation)}: error rate at most "
                f"{_number(self.votes.bound)} (Breiman)"
            )
        if self.calibration is not None:
            facts.append(
                f"sure by {_number(self.calibration.confidence)} on average, right on "
                f"{_number(self.calibration.accuracy)} of the rows"
            )
        return [f"  {fact}" for fact in facts]


def _number(value: float) -> str:
    return "-" if np.isnan(value) else f"{value:.3g}"
