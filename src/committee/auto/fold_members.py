"""Members fitted to folds, and their predictions on the rows that they have not seen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from committee.auto.budget import leaves_cost
from committee.auto.folds import Split, Splits
from committee.auto.ledger import micro
from committee.auto.portfolio import FEATURES, Candidate
from committee.base.arrays import Floats, Rows
from committee.combining.fold_mean import FoldMean
from committee.members.output import Output
from committee.members.training import Template, TrainingData

_N_PARTS = 5  # parts of rows held out once, to see how scores vary
_SMALL_CELLS = 2**22  # tables of more cells are not copied, and fits have all threads


@dataclass(frozen=True, eq=False)
class FoldMember:
    """A candidate fitted to the folds.

    Attributes
    ----------
    candidate : Candidate
        What was fitted.
    models : list of estimators
        One for each fold.
    member : estimator
        Predicts by the mean of the models, by the last one where folds go forward in time.
    output : Output
        How its predictions are read.
    predictions : ndarray of float64, shape (n_rows, n_values)
        On each training row by models that have not seen it; NaN for rows in no fold.
    seconds : float
        What the fits took.
    anew : callable or None, default=None
        Given the numbers of folds, returns their models with what can be learnt from all rows, now
        that their folds are predicted: leaves of boosting. None where nothing can.
    """

    candidate: Candidate
    models: list[Any]
    member: Any
    output: Output
    predictions: Floats
    seconds: float
    anew: Callable[[Sequence[int]], list[Any]] | None = None

    @property
    def cost_anew(self) -> int:
        """Millionths of a unit of `on_all_rows`; 0 where it does nothing."""
        if self.anew is None:
            return 0
        models = self.member.estimators
        forests = models[0]._sum.forests
        leaves = np.concatenate([forest.leaf_counts() for forest in forests])
        return micro(len(models) * leaves_cost(len(self.predictions), leaves))

    def on_all_rows(self) -> Any:
        """Return what predicts new rows, with what can be learnt from all rows."""
        assert self.anew is not None
        n_models, n_kept = len(self.models), len(self.member.estimators)
        return FoldMean(self.output, self.anew(range(n_models - n_kept, n_models)))


@dataclass(frozen=True, eq=False)
class FoldData:
    """The training rows in the forms that members learn from, and their folds.

    Attributes
    ----------
    make : callable
        Returns the rows in a form: features, the matrix, the table.
    folds : Splits
        The rows of each fold.
    n_classes : int
        Number of classes; 0 for numbers.
    """

    make: Callable[[str], TrainingData]
    folds: Splits
    n_classes: int

    def form(self, reads: str) -> TrainingData:
        """Return the rows in a form, which is made when it is first asked for."""
        if reads not in self._made:
            self._made[reads] = self.make(reads)
        return self._made[reads]

    @cached_property
    def _made(self) -> dict[str, TrainingData]:
        return {}

    @property
    def splits(self) -> list[Split]:
        return self.folds.folds

    @property
    def is_mean(self) -> bool:
        """Whether a new row is predicted by the mean of models of which one predicts a row here."""
        return len(self.splits) > 1 and not self.folds.is_forward

    @cached_property
    def scored(self) -> Rows:
        """The rows in some fold, ascending: all, or those that were held out."""
        return np.sort(np.concatenate([test for _, test in self.splits]))

    @property
    def scored_parts(self) -> list[tuple[int, Rows]]:
        """Parts of the scored rows, several in any case: the number of the fold, and rows."""
        tests = [test for _, test in self.splits]
        n_parts = 1 if len(tests) > 1 else _N_PARTS
        return [(fold, part) for fold, test in enumerate(tests) for part in _deal(test, n_parts)]

    @property
    def n_rows(self) -> int:
        return len(self.form(FEATURES).y)

    @property
    def work(self) -> float:
        """What fits to all folds cost, in fits to all rows."""
        return sum(len(train) for train, _ in self.splits) / self.n_rows

    @property
    def is_small(self) -> bool:
        """Whether fits to several folds run side by side, and have copies of their rows."""
        table = self.form(FEATURES).table
        return bool(table.n_rows * table.n_features <= _SMALL_CELLS)

    def fold_rows(self, reads: str) -> list[tuple[Any, Any, Any]]:
        """Return the table, target and weights of the fit to each fold.

        They are copies of rows while the table is small. In a large one the rows of the fold have
        weight zero.
        """
        if reads not in self._fold_rows:
            self._fold_rows[reads] = [
                self._part(self.form(reads), train) for train, _ in self.splits
            ]
        return self._fold_rows[reads]

    @cached_property
    def _fold_rows(self) -> dict[str, list[tuple[Any, Any, Any]]]:
        return {}

    def _part(self, form: TrainingData, train: Rows) -> tuple[Any, Any, Any]:
        if self.is_small:
            part = form.shared.part(train)
            return part, form.y[train], part.weights
        weights = np.zeros(len(form.y))
        weights[train] = 1.0 if form.weights is None else form.weights[train]
        return form.shared, form.y, weights

    def template(self, candidate: Candidate, number: int) -> Template:
        """Return what the models of a candidate are copies of; its number decides the seed."""
        return self.form(candidate.reads).template(candidate.name, number, candidate.estimator)

    def output(self, candidate: Candidate) -> Output:
        """Return how the predictions of a candidate are read."""
        has_shares = self.n_classes and hasattr(candidate.estimator, "predict_proba")
        return Output("predict_proba" if has_shares else "predict", self.n_classes)

    def fold_member(
        self,
        candidate: Candidate,
        models: Sequence[Any],
        seconds: float,
        predicted: Sequence[Floats] | None = None,
    ) -> FoldMember:
        """Return the member of the models of all folds; `predicted` on unseen rows, if known."""
        output = self.output(candidate)
        if predicted is None:
            form, tests = self.form(candidate.reads), [test for _, test in self.splits]
            pairs = zip(models, tests, strict=True)
            predicted = [form.predict(model, output, test) for model, test in pairs]
        predictions = np.full((self.n_rows, self.n_classes or 1), np.nan)
        for part, (_, test) in zip(predicted, self.splits, strict=True):
            predictions[test] = part
        kept = list(models[-1:] if self.folds.is_forward else models)
        member = FoldMean(output, kept)
        return FoldMember(candidate, list(models), member, output, predictions, seconds)


def _deal(rows: Rows, n_parts: int) -> list[Rows]:
    return [rows[start::n_parts] for start in range(n_parts)]
