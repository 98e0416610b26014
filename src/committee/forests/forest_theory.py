"""The theory of forests applied to a fitted forest: `variance_decomposition`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from committee.base.arrays import Floats
from committee.base.params import check_choice, check_int, check_seed
from committee.base.sampling import member_seed
from committee.forests.training_table import TrainingTable
from committee.forests.variance import ErrorTally, VarianceDecomposition, between_and_within
from committee.tables.native_table import AnyTable

# Rows that the variance of trees is averaged over, at most.
_STUDIED_ROWS = 1000


class ForestTheory(TrainingTable):
    """Correlation and variance of the trees of a fitted forest."""

    def variance_decomposition(
        self,
        X: Any,
        y: Any,
        *,
        of: str = "variance",
        sample_weight: Any = None,
        n_splits: int = 5,
        n_trees: int = 20,
        random_state: Any = 0,
    ) -> VarianceDecomposition:
        r"""Estimate the correlation and the variance of the trees.

        The mean of B trees with variance s2 and pairwise correlation rho has the variance
        ``rho * s2 + (1 - rho) / B * s2``.

        Parameters
        ----------
        X, y : table and target
            Those of `fit`, with the rows in the same order.
        of : {"variance", "errors"}, default="variance"
            "variance": s2 and rho of the predictions of trees for a row when the training table
            is drawn anew, as the theory defines them. Trees of one forest share their table and
            cannot show this. So small forests like this one are grown on independent parts of
            the table: the rows are split in two parts of 40 % and a rest, `n_splits` times; both
            parts grow `n_trees` trees, which predict the rest (at most 1,000 rows of it).
            "errors": no trees are grown. The errors of this very forest's trees on out-of-bag
            rows take the place of predictions (Breiman 2001, section 11): s2 is the mean squared
            error of a tree, rho the correlation of the errors of two trees, and the formula gives
            the error of a forest of B trees; `limit` is what more trees could reach at best.
        sample_weight : array-like of shape (n_rows,) or None, default=None
            Weights of the rows.
        n_splits : int, default=5
            How often the rows are split.
        n_trees : int, default=20
            Trees grown on each part.
        random_state : int, RandomState, Generator or None, default=0
            Seed of the splits and of these trees.

        Returns
        -------
        result : VarianceDecomposition
            `rho`, `tree_variance`, `forest_variance` (the formula with the trees of this forest),
            `limit`, `at(n_trees)`, and `measured`.

        Notes
        -----
        Variances are summed over the classes (of probabilities) or outputs and averaged over rows.
        With ``of="variance"`` the parts have 40 % of the rows, and a forest of the whole table
        varies less; rho is nearly the same. Per row, the variance of trees from the same part
        estimates ``(1 - rho) * s2``; half the squared difference of the two means, less
        ``(1 - rho) * s2 / n_trees``, estimates ``rho * s2``, both without bias. The ratio of the
        averages is rho, which can fall slightly below zero when it is small.

        Examples
        --------
        >>> import numpy as np
        >>> from committee import RandomForestRegressor
        >>> rng = np.random.default_rng(0)
        >>> X = rng.normal(size=(300, 4))
        >>> y = X.sum(axis=1) + rng.normal(size=300)
        >>> model = RandomForestRegressor(random_state=0).fit(X, y)
        >>> found = model.variance_decomposition(X, y)
        >>> 0 < found.rho < 1 and found.limit < found.forest_variance < found.tree_variance
        True
        """
        check_choice("of", of, ("variance", "errors"))
        self._check_fitted()
        if of == "errors":
            return self._error_decomposition(X, y, sample_weight)
        table = AnyTable(X)
        self._values_of(y, table.n_rows)  # its checks
        weights = self._row_weights(sample_weight, table.n_rows)
        n_splits = check_int("n_splits", n_splits, 1)
        n_trees = check_int("n_trees", n_trees, 2)
        seed = check_seed(random_state)
        rng = np.random.default_rng(seed)
        present = np.flatnonzero(weights)
        if len(present) < 10:
            raise ValueError(f"variance_decomposition needs 10 rows or more; got {len(present)}")
        parts = []
        for split in range(n_splits):
            order = rng.permutation(present)
            half = int(0.4 * len(order))
            rest = table.take(np.sort(order[2 * half :][:_STUDIED_ROWS]), None)
            pair = []
            for k, part in enumerate((order[:half], order[half : 2 * half])):
                own_seed = member_seed(seed, 2 * split + k)
                rows = np.sort(part)
                pair.append(self._small_forest(table, y, rows, sample_weight, n_trees, own_seed))
            predicted = [each._predict_each(rest, self._class_labels()) for each in pair]
            parts.append(between_and_within(np.stack(predicted)))
        between, within = np.mean(parts, axis=0)
        total = float(between + within)
        rho = float(between) / total if total > 0 else np.nan
        measured = float(between + within / n_trees)
        return VarianceDecomposition(rho, total, self._forest.n_trees, measured, n_trees, of)

    def _small_forest(
        self,
        table: AnyTable,
        y: Any,
        rows: NDArray[np.int64],
        sample_weight: Any,
        n_trees: int,
        seed: int,
    ) -> Any:
        """Grow a forest like this one on some rows."""
        known = clone(self).get_params(deep=False)
        changes: dict[str, Any] = {"n_estimators": n_trees, "random_state": seed}
        for name in ("oob_score", "warm_start", "early_stopping", "uncertainty"):
            if name in known:
                changes[name] = False
        if isinstance(known.get("max_samples"), int):  # a number of rows of the whole table
            changes["max_samples"] = max(1, int(0.4 * known["max_samples"]))
        small = clone(self).set_params(**changes)
        weights = None if sample_weight is None else np.asarray(sample_weight)[rows]
        return small.fit(table.take(rows, None), _taken(y, rows), sample_weight=weights)

    def _predict_each(self, X: Any, labels: list[NDArray[Any]] | None) -> Floats:
        """Return the predictions of each tree, with a column for each of these labels."""
        predicted = self._forest.predict_each(self._read(X), n_threads=self._threads())
        own = self._class_labels()
        if labels is None or own is None:
            return predicted
        columns: list[int] = []
        begin = 0
        for known, mine in zip(labels, own, strict=True):
            place = {label: code for code, label in enumerate(known.tolist())}
            columns += [begin + place[label] for label in mine.tolist()]
            begin += len(known)
        aligned = np.zeros((*predicted.shape[:2], begin))
        aligned[:, :, columns] = predicted
        return aligned

    def _error_decomposition(self, X: Any, y: Any, sample_weight: Any) -> VarianceDecomposition:
        table = self._read(X)
        sampler = self._training_sampler('variance_decomposition(of="errors")', table.n_rows)
        self._check_training("variance_decomposition", table, *self._engine_target(y, table.n_rows))
        target = self._values_of(y, table.n_rows)
        weights = self._row_weights(sample_weight, table.n_rows)
        tally = ErrorTally(*target.shape)
        n_trees, n_threads = self._forest.n_trees, self._threads()
        for tree in range(n_trees):
            predicted = self._forest.part(tree, tree + 1).predict(table, n_threads=n_threads)
            tally.add(predicted - target, sampler.counts(tree) == 0)
        alone, pairs, together = tally.means(weights)
        rho = pairs / alone if alone > 0 else np.nan
        share = float(np.mean([(sampler.counts(tree) == 0).mean() for tree in range(n_trees)]))
        n_voters = max(1, round(share * n_trees))
        return VarianceDecomposition(rho, alone, n_trees, together, n_voters, "errors")


def _taken(y: Any, rows: NDArray[np.int64]) -> Any:
    """Return some entries of a target of any kind."""
    if np.ndim(y) > 1 or hasattr(y, "columns"):
        return AnyTable(y).take(rows, None)
    return y.iloc[rows] if hasattr(y, "iloc") else np.asarray(y)[rows]
