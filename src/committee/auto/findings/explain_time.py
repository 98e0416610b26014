"""How long it will take to explain a committee, from a small part of the work."""

from __future__ import annotations

import time
from collections.abc import Sequence

from committee.auto.findings import effects, importances
from committee.auto.findings.column_summary import ColumnSummary
from committee.auto.findings.errors import ErrorFindings
from committee.auto.findings.findings import MOST_COLUMNS, MOST_EFFECTS
from committee.auto.findings.groups import Groups
from committee.auto.findings.scores import ScoreFindings
from committee.auto.findings.unseen import Unseen, variants
from committee.tables.source import Source

# Rows, predictions and cells that are tried at most.
_TRIED_ROWS, _TRIED_PREDICTIONS, _TRIED_CELLS = 50, 1000, 2**21
_GROUPS = 11  # groups at most of a column whose effects are measured


def seconds_to_explain(source: Source, uses: Sequence[str], unseen: Unseen) -> float:
    """Return about how long importances and findings will take.

    Parameters
    ----------
    source : Source
        The table.
    uses : sequence of str
        What each column is used as.
    unseen : Unseen
        A committee on rows that its models have not seen.
    """
    begin = time.monotonic()
    rows = unseen.rows[unseen.tests[0][:_TRIED_ROWS]]
    n_blocks = min(_TRIED_PREDICTIONS, _TRIED_CELLS // source.n_features) // len(rows)
    n_blocks = max(n_blocks, 1)
    unchanged = (-1, rows)  # no column changed
    unseen.predict(variants(source, rows, [unchanged] * n_blocks), 0)
    each = (time.monotonic() - begin) / (len(rows) * n_blocks)
    n_used, n_parts = sum(use != "dropped" for use in uses), len(unseen.tests)
    n_folds, n_columns, n_rows = importances.sample_sizes(source, n_used, n_parts)
    predicted = n_folds * (n_columns + 1) * n_rows
    n_groups = min(n_used, MOST_EFFECTS) * _GROUPS
    n_folds, n_rows = effects.sample_sizes(source, n_groups, n_parts)
    predicted += n_folds * n_groups * n_rows
    begin = time.monotonic()
    ScoreFindings.of(unseen)
    ErrorFindings.of(unseen)
    scoring = time.monotonic() - begin
    begin = time.monotonic()
    place = next(place for place, use in enumerate(uses) if use != "dropped")
    column = source.column(place).take(unseen.rows[unseen.some_rows])
    weights = unseen.weights[unseen.some_rows]
    ColumnSummary.of("", uses[place], column, weights)
    Groups.of(column, weights)
    columns = (time.monotonic() - begin) * min(len(uses), MOST_COLUMNS)
    return predicted * each + 2 * scoring + columns
