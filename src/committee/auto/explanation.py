"""What `explain` returns: of the committee, and of predictions for single rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from committee.auto.findings.effects import Effect
from committee.auto.findings.importances import ColumnImportances
from committee.base.arrays import Floats

_MOST_COLUMNS, _MOST_ROWS = 10, 5  # that are printed


@dataclass(frozen=True, eq=False)
class Explanation:
    """Which columns a committee relies on, and how its predictions depend on them.

    Attributes
    ----------
    metric : str
        What importances are losses of.
    importances : ColumnImportances
        Loss of score where a column is shuffled, with standard errors.
    effects : tuple of Effect
        How the mean prediction changes with the most important columns.
    """

    metric: str
    importances: ColumnImportances
    effects: tuple[Effect, ...]

    def __repr__(self) -> str:
        """Return the importances, and how the prediction (of the last class) depends on them."""
        found = self.importances
        order = np.argsort(-found.mean, kind="stable")[:_MOST_COLUMNS].tolist()
        wide = max([len(found.names[place]) for place in order], default=0)
        lines = [f"loss of {self.metric} where a column is shuffled"]
        for place in order:
            error = found.standard_error[place]
            lines.append(f"{found.names[place]:{wide}}  {found.mean[place]:.4g} ± {error:.2g}")
        if self.effects:
            lines += ["", "mean prediction by value", *map(_line, self.effects)]
        return "\n".join(lines)

    def to_frame(self) -> Any:
        """Return the importances as a pandas data frame, the most important column first."""
        import pandas as pd

        found = self.importances
        order = np.argsort(-found.mean, kind="stable")
        return pd.DataFrame(
            {"importance": found.mean[order], "standard_error": found.standard_error[order]},
            index=[found.names[place] for place in order.tolist()],
        )


def _line(effect: Effect) -> str:
    pairs = zip(effect.labels, effect.predicted[:, -1].tolist(), strict=True)
    return f"{effect.name}: " + ", ".join(f"{label}: {value:.4g}" for label, value in pairs)


@dataclass(frozen=True, eq=False)
class RowExplanation:
    """What each column adds to the prediction of each row.

    Attributes
    ----------
    names : tuple of str
        Names of the columns.
    contributions : ndarray of float64
        Of shape (n_rows, n_columns) for numbers, (n_rows, n_columns, n_classes) for probabilities;
        zero for columns that are not used. With `base` they add up to `predictions`.
    base : float or ndarray of float64, shape (n_classes,)
        The prediction where nothing is known of a row.
    predictions : ndarray of float64, shape (n_rows,) or (n_rows, n_classes)
        What the committee predicts.
    classes : tuple or None
        The labels; None for numbers.
    methods : dict
        How each member was explained: "exact" for Shapley values of trees, "sampled" for means
        over random orders of the columns, and "equal shares" for a member that reads the
        table in a form of its own, whose prediction is dealt out equally.
    """

    names: tuple[str, ...]
    contributions: Floats
    base: Any
    predictions: Floats
    classes: tuple[Any, ...] | None
    methods: Mapping[str, str]

    def __repr__(self) -> str:
        """Return the largest contributions of the first rows, to the class that is likeliest."""
        lines = []
        for row in range(min(len(self.contributions), _MOST_ROWS)):
            own, base, value, label = self._of_row(row)
            lines.append(f"row {row}: {label}{value:.4g} = {base:.4g} in general")
            order = np.argsort(-np.abs(own), kind="stable")[:_MOST_COLUMNS].tolist()
            shown = [place for place in order if own[place] != 0]
            wide = max([len(self.names[place]) for place in shown], default=0)
            lines += [
                f"  {own[place]:+.4g}  {self.names[place]:{wide}}".rstrip() for place in shown
            ]
        if len(self.contributions) > _MOST_ROWS:
            lines.append(f"... {len(self.contributions)} rows")
        return "\n".join(lines)

    def _of_row(self, row: int) -> tuple[NDArray[Any], float, float, str]:
        if self.classes is None:
            return self.contributions[row], float(self.base), float(self.predictions[row]), ""
        best = int(self.predictions[row].argmax())
        label = f"probability of {self.classes[best]!r} "
        own = self.contributions[row, :, best]
        return own, float(self.base[best]), float(self.predictions[row, best]), label

    def to_frame(self) -> Any:
        """Return a pandas data frame with a row for each row and column (and class)."""
        import pandas as pd

        n_rows = len(self.contributions)
        if self.classes is None:
            index = pd.MultiIndex.from_product([range(n_rows), self.names], names=["row", "column"])
        else:
            index = pd.MultiIndex.from_product(
                [range(n_rows), self.names, self.classes], names=["row", "column", "class"]
            )
        return pd.DataFrame({"contribution": self.contributions.reshape(-1)}, index=index)
