"""What `explain` returns of a committee as a whole."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from committee.auto.findings.effects import Effect
from committee.auto.findings.importances import ColumnImportances

_MOST_COLUMNS = 10  # that are printed


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
