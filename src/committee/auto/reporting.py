"""What a committee shows of itself: a report in a file, a summary in notebooks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from committee.auto.decision_rules import as_scored
from committee.auto.findings.fresh import Fresh
from committee.auto.findings.unseen import Unseen
from committee.base.params import Estimator
from committee.evaluation.scored_target import OobMetric, ScoredTarget
from committee.tables.native_table import AnyTable
from committee.tables.target import check_same_length


class Reporting(Estimator):
    """Base class of committees that write reports."""

    _default_scoring: str
    scoring: Any

    def _scoring_for(self, scoring: Any, target: ScoredTarget) -> Any:
        """Return the metric with what else it has to know about the target."""
        return scoring

    def report(self, path: str | Path, X: Any = None, y: Any = None, *, rows: bool = False) -> None:
        """Write a report to an HTML file that needs nothing else.

        It shows how good the committee is and how that is known, what was done to the columns,
        which models were tried, where predictions are wrong, which columns matter and how, what
        the search cost and how to repeat and use it. It has no row of a table unless `rows` asks
        for them.

        Parameters
        ----------
        path : str or Path
            The file, which is replaced.
        X : table or None, default=None
            Other rows, such as a test set: the report compares the score on them with the one that
            was expected.
        y : array-like or None, default=None
            Their targets. After `committee.train`, a table that has the target needs none.
        rows : bool, default=False
            Whether those of the rows that are predicted worst are listed.

        Examples
        --------
        >>> from committee import CommitteeClassifier
        >>> from committee.datasets import load_penguins
        >>> table, species = load_penguins(backend="pandas")
        >>> model = CommitteeClassifier(budget=0.5, random_state=0).fit(table[::2], species[::2])
        >>> import tempfile, pathlib
        >>> path = pathlib.Path(tempfile.mkdtemp(), "report.html")
        >>> model.report(path, table[1::2], species[1::2])
        >>> "As expected" in path.read_text() or "as expected" in path.read_text()
        True
        """
        from committee.report.page import write_report

        self._check_fitted()
        fresh = None
        if X is not None:
            fresh = self._fresh(X, y, with_rows=rows)
        elif y is not None or rows:
            raise ValueError("report needs X, the rows that y is of and that rows=True lists")
        write_report(self, path, fresh)

    def _fresh(self, X: Any, y: Any, *, with_rows: bool) -> Fresh:
        table: Any = AnyTable(X)
        if y is None:
            y = self._target_column(table)
        target = self._known_target(self._read_target(y, None))
        check_same_length(table.n_rows, target.n_rows)
        values = self._predict_values(X)
        given = self._default_scoring if self.scoring is None else self.scoring
        scoring = self._scoring_for(given, target)
        metric = OobMetric(target, scoring, "scoring")
        rows = np.arange(target.n_rows)
        decision = getattr(self, "decision_", None)
        unseen = Unseen(
            target,
            metric,
            rows,
            [rows],
            values,
            [],
            lambda *_: values,
            decided=None if decision is None else decision.codes(values),
            shown=lambda each: as_scored(decision, each, scoring),
        )
        if with_rows:
            return Fresh.with_rows(unseen, table.opened(), self.importances_.ranking())
        return Fresh.of(unseen)

    def _target_column(self, table: AnyTable) -> Any:
        name = getattr(self, "target_name_", None)
        if name is None or table.names is None or name not in table.names:
            raise ValueError("report needs y, the targets of the rows in X")
        column = table.opened().column(table.names.index(name))
        if column.missing().any():
            raise ValueError(f"the target {name!r} of X has missing values")
        if column.levels is None:
            return np.asarray(column.values)
        return np.array(column.levels, dtype=object)[column.values]

    def _known_target(self, target: ScoredTarget) -> ScoredTarget:
        """Return classes by the codes that the committee has for them."""
        if target.codes is None:
            return target
        known = {label: code for code, label in enumerate(self.classes_.tolist())}
        labels = target.classes[0].tolist()
        other = [label for label in labels if label not in known]
        if other:
            raise ValueError(f"y has classes that the committee does not know: {other[:5]}")
        codes = np.array([known[label] for label in labels], np.int32)
        return ScoredTarget(codes[target.codes], [self.classes_])

    # ---- notebooks ----

    def _repr_html_inner(self) -> str:
        """Show a fitted committee by its summary; scikit-learn calls this where it shows HTML."""
        return self._summary() or str(super()._repr_html_inner())

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        bundle: dict[str, Any] = super()._repr_mimebundle_(**kwargs)
        found = self._summary()
        return bundle | {"text/html": found} if found and "text/html" in bundle else bundle

    def _summary(self) -> str | None:
        from committee.report.summary import summary

        return summary(self) if self.__sklearn_is_fitted__() else None
