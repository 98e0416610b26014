"""Uncertainty of forests: spread, quantiles and intervals of regressors, sets of classifiers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from committee.base.arrays import Floats
from committee.base.params import check_bool, check_choice, check_int, check_real, check_seed
from committee.evaluation import conformal as _conformal
from committee.forests.leaf_weights import LeafMembers, leaf_matrix, leaf_spreads, quantiles_of_rows
from committee.forests.training_table import TrainingTable


@dataclass(frozen=True, eq=False)
class _Calibration:
    """Training rows with an out-of-bag prediction."""

    rows: NDArray[np.int64]
    targets: NDArray[Any]  # n_rows x n_outputs: numbers, or codes of classes
    values: Floats  # n_rows x n_values


class _Remembered(TrainingTable):
    """A forest that may have kept what its training rows were like."""

    _train: Any

    def _memory(self, caller: str) -> Any:
        self._check_fitted()
        if self._train is None:
            raise ValueError(
                f"{caller} needs what the trees say about their training rows; fit with "
                "uncertainty=True"
            )
        return self._train

    def _calibration(self, caller: str, max_rows: int | None = None) -> _Calibration:
        """Return the rows to calibrate with: of positive weight, out of the bag of some tree."""
        memory = self._memory(caller)
        if memory.oob_values is None:
            raise ValueError(
                f"{caller} needs out-of-bag rows, but every tree has learnt from all rows, or the "
                "forest was pruned; fit with bootstrap=True or a lower max_samples"
            )
        known = ~np.isnan(memory.oob_values[:, 0])
        if memory.weights is not None:
            known &= memory.weights > 0
        rows = np.flatnonzero(known)
        if max_rows is not None and len(rows) > max_rows:
            # Always the same rows: equal calls give equal results.
            rows = np.sort(np.random.default_rng(0).choice(rows, max_rows, replace=False))
        targets = memory.reals if memory.classes is None else memory.classes
        return _Calibration(rows, targets[rows], memory.oob_values[rows])

    def _out_of_bag_of(self, rows: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return whether each of these rows is out of the bag of each tree."""
        sampler = self._sampler()
        assert sampler is not None
        trees = range(self._forest.n_trees)
        return np.column_stack([sampler.counts(tree)[rows] == 0 for tree in trees])


class RegressorUncertainty(_Remembered):
    """Spread, quantiles and intervals of the predictions of a forest of numbers."""

    criterion: str
    bootstrap: bool

    def predict_std(self, X: Any, *, of: str = "target") -> Floats:
        """Return a standard deviation for each row.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Rows with the columns of `fit`.
        of : {"target", "trees"}, default="target"
            "target": of the target at x as the forest sees it. By the law of total variance the
            variance is the mean over the trees of the variance in the leaf, plus the variance
            of the leaf means over the trees. It grows with the noise of y, and needs leaves of
            several rows (``min_samples_leaf=5``, say) to estimate it well.
            "trees": of the predictions of the trees alone, the second part. It is large where a
            single tree depends on its draws, which is not how far the forest is off.

        Returns
        -------
        std : ndarray of float64, shape (n_rows,) or (n_rows, n_outputs)
            In the units of y.

        Notes
        -----
        With a criterion other than the squared error, or several outputs, the variances in the
        leaves are known only after a fit with ``uncertainty=True``. For bounds that hold with a
        given probability use `predict_interval`.

        Examples
        --------
        >>> from committee import RandomForestRegressor
        >>> X, y = [[0.0]] * 50 + [[1.0]] * 50, [0.0, 2.0] * 25 + [5.0] * 50
        >>> model = RandomForestRegressor(random_state=0).fit(X, y)
        >>> model.predict_std([[0.0], [1.0]]).round(1).tolist()
        [1.0, 0.0]
        """
        check_choice("of", of, ("target", "trees"))
        table = self._read(X)
        n_trees, n_threads = self._forest.n_trees, self._threads()
        mean = np.zeros((table.n_rows, self.n_outputs_))
        squares, inside = np.zeros_like(mean), np.zeros_like(mean)
        spreads = self._leaf_spreads() if of == "target" else None
        for tree in range(n_trees):
            part = self._forest.part(tree, tree + 1)
            predicted = part.predict(table, n_threads=n_threads)
            off = predicted - mean
            mean += off / (tree + 1)
            squares += off * (predicted - mean)
            if spreads is not None:
                leaves = part.apply(table, leaf_numbers=True, n_threads=n_threads)[:, 0]
                inside += spreads[tree][leaves]
        return self._shaped(np.sqrt((squares + inside) / n_trees))

    def predict_quantiles(
        self, X: Any, quantiles: float | Sequence[float] = (0.05, 0.5, 0.95)
    ) -> Floats:
        """Return quantiles of the target at each row.

        A quantile forest: the training rows that share leaves with the row, weighted as in the
        prediction of the mean (Meinshausen 2006). Needs ``uncertainty=True`` at fit.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Rows with the columns of `fit`.
        quantiles : float or sequence of float, default=(0.05, 0.5, 0.95)
            In [0, 1].

        Returns
        -------
        values : ndarray of float64, shape (n_rows, n_quantiles)
            The smallest training target that, with all smaller ones, has at least that share of
            the weight. Without the last axis for a single float; (n_rows, n_outputs, n_quantiles)
            for several outputs.

        Examples
        --------
        >>> from committee import RandomForestRegressor
        >>> X, y = [[0.0]] * 50 + [[1.0]] * 50, [0.0, 2.0] * 25 + [5.0] * 50
        >>> model = RandomForestRegressor(uncertainty=True, random_state=0).fit(X, y)
        >>> model.predict_quantiles([[0.0], [1.0]], [0.1, 0.9]).tolist()
        [[0.0, 2.0], [5.0, 5.0]]
        """
        wanted = np.atleast_1d(np.asarray(quantiles, np.float64))
        if wanted.ndim != 1 or len(wanted) == 0 or not ((wanted >= 0) & (wanted <= 1)).all():
            raise ValueError(f"quantiles must be numbers in [0, 1]; got {quantiles!r}")
        values = self._quantiles(X, wanted, "predict_quantiles")
        if np.ndim(quantiles) == 0:
            values = values[..., 0]
            return self._shaped(values)
        return values[:, 0] if self.n_outputs_ == 1 else values

    def predict_interval(
        self, X: Any, coverage: float = 0.9, *, method: str = "jackknife+", max_rows: int = 2000
    ) -> Floats:
        """Return bounds that hold the target of a new row with a given probability.

        Needs ``uncertainty=True`` at fit, and trees that leave rows out.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Rows with the columns of `fit`.
        coverage : float, default=0.9
            In (0, 1): how many of such intervals shall hold their target.
        method : {"jackknife+", "oob", "quantile"}, default="jackknife+"
            "jackknife+": jackknife+-after-bootstrap. Each training row has an ensemble of its own,
            the trees that have not drawn it; their predictions for the new row, moved by their
            errors, give the bounds. The probability is at least ``2 * coverage - 1`` for any
            data and about `coverage` in practice. Intervals are about equally wide everywhere.
            "oob": the prediction plus quantiles of the out-of-bag errors, half of what is missing
            to one on each side. Cheapest, and skewed where errors are.
            "quantile": quantiles of the forest, made wider or narrower everywhere by what the
            out-of-bag rows ask for. Wide where y is noisy and narrow where it is not; take leaves
            of several rows, ``min_samples_leaf=5`` or more.
        max_rows : int, default=2000
            "jackknife+" and "quantile" use at most so many training rows, a random choice that is
            always the same. Time and memory grow with it; the probability holds with any number.

        Returns
        -------
        bounds : ndarray of float64, shape (n_rows, 2) or (n_rows, n_outputs, 2)
            Lower and upper bounds; infinite if there are too few rows for the coverage. With
            several outputs each has the coverage on its own.

        Notes
        -----
        The probability is over training tables and new rows together, from one source: it is an
        average over rows, not a promise for each kind of row. Rows of positive weight count once.

        Examples
        --------
        >>> from committee import RandomForestRegressor
        >>> X, y = [[0.0]] * 50 + [[1.0]] * 50, [0.0, 2.0] * 25 + [5.0] * 50
        >>> model = RandomForestRegressor(uncertainty=True, random_state=0).fit(X, y)
        >>> model.predict_interval([[0.0], [1.0]], 0.8, method="quantile").tolist()
        [[0.0, 2.0], [5.0, 5.0]]
        """
        coverage = check_real("coverage", coverage, 0.0, 1.0, include_low=False, include_high=False)
        check_choice("method", method, ("jackknife+", "oob", "quantile"))
        max_rows = check_int("max_rows", max_rows, 1)
        caller = "predict_interval"
        table_rows = self._calibration(caller, None if method == "oob" else max_rows)
        if method == "quantile":
            bounds = self._quantile_bounds(X, coverage, table_rows)
        else:
            bounds = self._residual_bounds(X, coverage, table_rows, method)
        return bounds[:, 0] if self.n_outputs_ == 1 else bounds

    def _residual_bounds(self, X: Any, coverage: float, known: _Calibration, method: str) -> Floats:
        table = self._read(X)
        errors = known.targets - known.values
        bounds = np.empty((table.n_rows, self.n_outputs_, 2))
        if method == "oob":
            means = self._forest.predict(table, n_threads=self._threads()) / self._forest.n_trees
            for output in range(self.n_outputs_):
                below, above = _conformal.residual_bounds(errors[:, output], coverage)
                bounds[:, output, 0] = means[:, output] + below
                bounds[:, output, 1] = means[:, output] + above
            return bounds
        each = self._forest.predict_each(table, n_threads=self._threads())
        is_out = self._out_of_bag_of(known.rows)
        for output in range(self.n_outputs_):
            sizes = np.abs(errors[:, output])
            low, high = _conformal.jackknife_plus(each[:, :, output], is_out, sizes, coverage)
            bounds[:, output, 0], bounds[:, output, 1] = low, high
        return bounds

    def _quantile_bounds(self, X: Any, coverage: float, known: _Calibration) -> Floats:
        sides = np.array([(1 - coverage) / 2, (1 + coverage) / 2])
        bounds = self._quantiles(X, sides, "predict_interval")
        memory = self._memory("predict_interval")
        members = self._members().shares(len(memory.leaves), self._leaf_weights())
        reached = leaf_matrix(memory.leaves[known.rows], self._first_leaves())
        reached.data = reached.data * self._out_of_bag_of(known.rows).ravel()
        reached.eliminate_zeros()
        for output in range(self.n_outputs_):
            y = memory.reals[:, output]
            low, high = quantiles_of_rows(reached, members, y, sides).T
            width = _conformal.widening(low, high, known.targets[:, output], coverage)
            bounds[:, output] += [-width, width]
        # Narrowed intervals may cross where they were very short.
        middle = bounds.mean(axis=2)
        bounds[:, :, 0] = np.minimum(bounds[:, :, 0], middle)
        bounds[:, :, 1] = np.maximum(bounds[:, :, 1], middle)
        return bounds

    def _quantiles(self, X: Any, quantiles: Floats, caller: str) -> Floats:
        """Return quantiles, of shape (n_rows, n_outputs, n_quantiles)."""
        table = self._read(X)
        memory = self._memory(caller)
        members = self._members()
        outputs = [
            self._forest.predict_quantiles(
                table,
                (members.offsets, members.rows, members.counts),
                np.ascontiguousarray(memory.reals[:, output]),
                quantiles,
                weights=self._leaf_weights(),
                n_threads=self._threads(),
            )
            for output in range(self.n_outputs_)
        ]
        return np.stack(outputs, axis=1)

    def _members(self) -> LeafMembers:
        """Return the training rows of each leaf."""
        memory, sampler = self._train, self._sampler()
        counts = None if sampler is None else sampler.counts
        return LeafMembers.find(memory.leaves, self._first_leaves(), counts, memory.weights)

    def _leaf_weights(self) -> Floats | None:
        """Return weights of rows in leaves; in bootstrap samples weights are numbers of draws."""
        return None if self.bootstrap else self._train.weights

    def _leaf_spreads(self) -> list[Floats]:
        """Return the variances of y in the leaves of each tree, of shape (n_leaves, n_outputs)."""
        n_trees = self._forest.n_trees
        if self._train is None:
            if self.n_outputs_ > 1 or self.criterion not in ("squared_error", "friedman_mse"):
                self._memory(
                    f'predict_std(of="target") with criterion={self.criterion!r} and '
                    f"{self.n_outputs_} output(s)"
                )
            spreads = []
            for tree in range(n_trees):
                arrays = self._forest.tree(tree).arrays()
                is_leaf = arrays["first_child"] == 0
                spreads.append(arrays["impurity"][is_leaf][:, None])
            return spreads
        shares = self._members().shares(len(self._train.leaves), self._leaf_weights())
        reals = self._train.reals
        all_leaves = np.column_stack([leaf_spreads(shares, column) for column in reals.T])
        return np.split(all_leaves, self._first_leaves()[1:-1])

    def _shaped(self, values: Floats) -> Floats:
        return values[:, 0] if self.n_outputs_ == 1 else values


class ClassifierUncertainty(_Remembered):
    """Sets of classes with a promised coverage."""

    if TYPE_CHECKING:

        @property
        def _is_hard(self) -> bool: ...

    def predict_set(
        self,
        X: Any,
        coverage: float = 0.9,
        *,
        method: str = "lac",
        by_class: bool = False,
        allow_empty: bool = False,
        random_state: Any = 0,
    ) -> NDArray[np.bool_]:
        """Return sets of classes that hold the true class with a given probability.

        Conformal prediction with out-of-bag probabilities of the training rows in the place of a
        calibration set. Needs ``uncertainty=True`` at fit, and trees that leave rows out.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Rows with the columns of `fit`.
        coverage : float, default=0.9
            In (0, 1): how many of such sets shall hold the true class.
        method : {"lac", "aps"}, default="lac"
            "lac": all classes above a limit of probability. The smallest sets on average; hard
            rows are covered less often than easy ones. "aps": the likeliest classes until their
            probabilities add up to a limit, with a random part of the last one. Larger sets, and
            a coverage that is more even over rows.
        by_class : bool, default=False
            Whether the rows of each class shall be covered that often, rare classes too. A class
            with too few rows for that is in every set.
        allow_empty : bool, default=False
            Whether a set may be empty, where no class is likely enough. Otherwise the
            likeliest class is put in, so that the coverage is never too low but may be higher.
        random_state : int, RandomState, Generator or None, default=0
            Seed of the random parts of "aps".

        Returns
        -------
        sets : ndarray of bool, shape (n_rows, n_classes)
            Whether each class, in the order of `classes_`, is in the set. The labels of a row
            are ``model.classes_[sets[row]]``.

        Notes
        -----
        The probability is over training tables and new rows together, from one source. Rows of
        positive weight count once. Out-of-bag probabilities are means over about a third of the
        trees and so a little less sure than those of all, which makes sets slightly larger than
        needed; in large forests the difference vanishes.

        References
        ----------
        M. Sadinle, J. Lei and L. Wasserman (2019), Least ambiguous set-valued classifiers with
        bounded error levels, Journal of the American Statistical Association 114.

        Y. Romano, M. Sesia and E. Candès (2020), Classification with valid and adaptive coverage,
        Advances in Neural Information Processing Systems 33.

        Examples
        --------
        >>> from committee import RandomForestClassifier
        >>> from committee.datasets import load_penguins
        >>> X, y = load_penguins()
        >>> model = RandomForestClassifier(uncertainty=True, random_state=0).fit(X, y)
        >>> sets = model.predict_set(X.head(1), coverage=0.95)
        >>> model.classes_[sets[0]].tolist()
        ['Adelie']
        """
        coverage = check_real("coverage", coverage, 0.0, 1.0, include_low=False, include_high=False)
        check_choice("method", method, ("lac", "aps"))
        check_bool("by_class", by_class)
        check_bool("allow_empty", allow_empty)
        self._check_fitted()
        if self.n_outputs_ > 1:
            raise ValueError(f"predict_set needs one output; this forest has {self.n_outputs_}")
        known = self._calibration("predict_set")
        codes = known.targets[:, 0]
        rng = np.random.default_rng(check_seed(random_state))
        scores = _conformal.label_scores(known.values, method, rng.random(len(codes)))
        own = scores[np.arange(len(codes)), codes]
        n_classes = known.values.shape[1]
        limits = _conformal.class_limits(own, codes, n_classes, coverage, by_class)
        table = self._read(X)
        shares = self._forest.predict(table, hard=self._is_hard, n_threads=self._threads())
        shares /= self._forest.n_trees
        sets = _conformal.label_scores(shares, method, rng.random(len(shares))) <= limits + 1e-12
        if not allow_empty:
            empty = ~sets.any(axis=1)
            sets[empty, shares[empty].argmax(axis=1)] = True
        return sets
