"""Whether level-one data leaked: losses on them beside losses on rows kept apart from everything.

Level-one data are predictions on rows that the members should not have been fitted to. Where their
loss is clearly smaller than on rows that were kept apart from everything, the members have used
information that new rows do not have.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.special import ndtr, stdtrit

from committee.base.arrays import Floats
from committee.base.products import dot
from committee.evaluation.content_order import table_keys
from committee.files.codec_classes import register
from committee.files.parts import NOTHING, NUMBER, TEXT, Part, array, tuple_of
from committee.tables.native_table import AnyTable

# A gap of so many standard errors, and of such a share of the loss, is called leakage. None of 174
# stacks of real tables that could not leak had it (benchmarks/studies/leakage.py; with 2 standard
# errors none either). The share has not mattered there: gaps beyond 3 errors were all above 20 %.
# A standard error from few rows is uncertain itself, so that these need a larger gap: Student's t
# instead of the normal law.
_SURE = 3.0
_MATTERS = 0.1

# Fitted members may be better than their copies only because they learnt from more rows. Those
# that have seen the rows are as good as copies that have, up to this share of what that brings.
# There 92 % are caught that saw these rows, and 75 % that saw these and four times as many others;
# 0 of 87 are blamed that saw as many others, 3 of 87 that saw four times as many. Without this
# condition 1 and 16 are blamed, with half the way 0 and 7.
_LIKE_SEEN = 0.25


@register("LeakReport")
@dataclass(frozen=True, eq=False, repr=False)
class LeakReport:
    """Losses that the level-one data promise, and losses found on rows kept apart.

    Attributes
    ----------
    names : tuple of str
        The members of the last layer, then "stack".
    promised : ndarray of float64
        Mean loss in the level-one data.
    found : ndarray of float64
        Mean loss on rows that were kept apart.
    error : ndarray of float64
        Standard error of the difference.
    twins : float
        Share of the tested rows that have an identical row among those their models learn from.
    mean_loss : float
        Loss of the plain mean of the members on the rows kept apart.
    n_rows : float
        Number of rows behind the losses, promised or found, whichever are fewer.
    seen : ndarray of float64 or None
        Fitted members only: mean loss, on the same rows, of copies that have seen them.
    """

    names: tuple[str, ...]
    promised: Floats
    found: Floats
    error: Floats
    twins: float
    mean_loss: float
    n_rows: float
    seen: Floats | None = None

    _later_fields: ClassVar[tuple[str, ...]] = ("seen",)
    _stored_parts: ClassVar[dict[str, Part]] = {
        "names": tuple_of(TEXT, "names", least=2),
        "promised": array("f8", "names"),
        "found": array("f8", "names"),
        "error": array("f8", "names"),
        "twins": NUMBER,
        "mean_loss": NUMBER,
        "n_rows": NUMBER,
        "seen": NOTHING | array("f8", "names"),
    }

    @property
    def z(self) -> Floats:
        """Difference in standard errors; large where the level-one data promise too much."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.nan_to_num((self.found - self.promised) / self.error, nan=0.0)

    @property
    def suspects(self) -> tuple[str, ...]:
        """Members whose level-one data promise more than new rows hold, and the stack."""
        is_large = self.found - self.promised > _MATTERS * np.abs(self.found)
        sure = stdtrit(max(self.n_rows - 1, 1.0), ndtr(_SURE))
        is_suspect = (self.z > sure) & is_large
        if self.seen is not None:
            gain = self.found - self.seen
            is_suspect &= np.abs(self.promised - self.seen) < _LIKE_SEEN * gain
        return tuple(np.array(self.names)[is_suspect].tolist())

    @property
    def leaked(self) -> bool:
        """Whether the level-one data of a member, or those of the stack, promise too much."""
        return bool(self.suspects)

    @property
    def best_simple(self) -> str:
        """What does best without a meta-learner on the rows kept apart: "mean", or a member."""
        best = int(self.found[:-1].argmin())
        return self.names[best] if self.found[best] < self.mean_loss else "mean"

    @property
    def message(self) -> str:
        """The finding in words."""
        twins = ""
        if self.twins > 0.01:
            twins = (
                f"{self.twins:.0%} of the tested rows have an identical row among those their "
                "models learn from; give groups to keep them together"
            )
        if not self.leaked:
            # Rows kept apart are drawn from the same table, and have twins as well.
            more = f". But {twins} if new rows will have no such twins" if twins else ""
            return f"no sign of leakage: level-one data promise what new rows hold{more}"
        losses = []
        for name in self.suspects:
            place = self.names.index(name)
            losses.append(
                f"{name} (loss {self.promised[place]:.4g} promised, {self.found[place]:.4g} found)"
            )
        twins = f" {twins}." if twins else ""
        return (
            "the level-one data leaked: they promise more than rows hold that were kept apart, "
            f"in {', '.join(losses)}.{twins} Let members predict rows that they are not fitted "
            f'to (cv), or set on_leak="fallback", which takes {self.best_simple!r} instead of '
            "the meta-learner"
        )

    def to_frame(self) -> Any:
        """Return a pandas data frame, a row for each member and one for the stack."""
        import pandas as pd

        columns = {
            "promised": self.promised,
            "found": self.found,
            "error": self.error,
            "z": self.z,
        }
        return pd.DataFrame(columns, index=pd.Index(self.names, name="member"))

    def __repr__(self) -> str:
        verdict = f"leaked: {', '.join(self.suspects)}" if self.leaked else "no sign of leakage"
        promised, found = self.promised[-1], self.found[-1]
        return f"LeakReport({verdict}; stack {promised:.4g} promised, {found:.4g} found)"

    @property
    def simple_weights(self) -> list[float]:
        """Weights of the members in what does best without a meta-learner."""
        n_members = len(self.names) - 1
        if self.best_simple == "mean":
            return [1.0 / n_members] * n_members
        return [float(name == self.best_simple) for name in self.names[:-1]]


def compare(
    names: Sequence[str],
    promised: Sequence[Floats],
    found: Sequence[Floats],
    mean: Floats,
    weights: tuple[Floats | None, Floats | None],
    twins: float,
    seen: Sequence[Floats] | None = None,
) -> LeakReport:
    """Compare losses in the level-one data with losses on rows that were kept apart.

    Parameters
    ----------
    names : sequence of str
        The members; the stack follows.
    promised, found : sequence of ndarray of float64
        The losses of rows, of each member and then of the stack.
    mean : ndarray of float64
        The losses of the mean of the members on rows kept apart.
    weights : pair of ndarray of float64 or None
        Weights of the rows of `promised` and of `found`.
    twins : float
        See `LeakReport`.
    seen : sequence of ndarray of float64 or None
        The losses of copies that have seen the rows. All losses are then those of the same rows.

    Returns
    -------
    report : LeakReport
        The finding.
    """
    inside = [_mean_and_variance(each, weights[0]) for each in promised]
    outside = [_mean_and_variance(each, weights[1]) for each in found]
    errors = [np.sqrt(a[1] + b[1]) for a, b in zip(inside, outside, strict=True)]
    if seen is not None:  # rows are compared one by one: what is hard for both does not count
        gaps = [b - a for a, b in zip(promised, found, strict=True)]
        errors = [np.sqrt(_mean_and_variance(each, weights[1])[1]) for each in gaps]
    return LeakReport(
        (*names, "stack"),
        np.array([mean for mean, _ in inside]),
        np.array([mean for mean, _ in outside]),
        np.array(errors),
        twins,
        _mean_and_variance(mean, weights[1])[0],
        min(_n_rows(promised[0], weights[0]), _n_rows(found[0], weights[1])),
        None if seen is None else np.array([_mean_and_variance(s, weights[1])[0] for s in seen]),
    )


def _mean_and_variance(losses: Floats, weights: Floats | None) -> tuple[float, float]:
    """Return the mean of losses, and the variance of that mean."""
    share = np.full(len(losses), 1.0 / len(losses)) if weights is None else weights / weights.sum()
    mean = dot(share, losses)
    return mean, dot(share**2, (losses - mean) ** 2)


def _n_rows(losses: Floats, weights: Floats | None) -> float:
    """Return the number of rows, fewer where a few have most of the weight."""
    return float(len(losses) if weights is None else weights.sum() ** 2 / (weights**2).sum())


def twin_share(table: AnyTable, splits: Sequence[tuple[Any, Any]], rows: Any) -> float:
    """Return the share of tested rows with an identical row on the other side of their split.

    Parameters
    ----------
    table : AnyTable
        The rows of `splits`.
    splits : sequence of (train, test)
        Places among `rows`.
    rows : ndarray of int
        Rows of the table.

    Examples
    --------
    >>> table = AnyTable([[1.0], [1.0], [2.0], [3.0]])
    >>> splits = [(np.array([0, 2]), np.array([1, 3]))]
    >>> twin_share(table, splits, np.arange(4))
    0.5
    """
    try:
        keys = table_keys(table.native)[rows]
    except (TypeError, ValueError):  # a table that only the members can read
        return 0.0
    n_twins = sum(int(np.isin(keys[test], keys[train]).sum()) for train, test in splits)
    n_tested = sum(len(test) for _, test in splits)
    return float(n_twins / n_tested) if n_tested else 0.0
