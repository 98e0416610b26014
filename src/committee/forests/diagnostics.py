"""What a forest offers besides predictions: importances, proximities, correlation of its trees.

The methods here belong to every forest estimator; `uncertainty.py` adds those of regressors
and classifiers. They hold no state: whatever they need is drawn again from the seed, or comes with
the training table, which the caller passes once more.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from committee.base.arrays import Floats
from committee.base.params import check_bool, check_choice, check_int, check_seed
from committee.base.sampling import member_seed, row_seed
from committee.base.work import resolve_threads
from committee.evaluation.importance import Importances, debiased_decreases, group_numbers
from committee.forests.forest_theory import ForestTheory
from committee.forests.leaf_weights import leaf_matrix
from committee.forests.proximity import oob_proximities, proximities
from committee.tables.target import read_weights
from committee.trees.tree_view import TreeView

# A dense matrix of more pairs does not fit the memory of most machines.
_MOST_CELLS = 2**31


class ForestDiagnostics(ForestTheory):
    """Importances, proximities and leaves of a fitted forest, of classes or numbers."""

    # ---- leaves ----

    def embed(self, X: Any) -> csr_matrix:
        """Return which leaves rows reach, as a sparse table of ones.

        Rows that many trees put in the same leaf are alike for the forest; a linear model on these
        columns often does better than the forest itself.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Rows with the columns of `fit`.

        Returns
        -------
        leaves : csr_matrix of float64, shape (n_rows, n_leaves)
            A column for each leaf of each tree; each row holds one 1 a tree.

        Examples
        --------
        >>> from committee import RandomForestClassifier
        >>> from committee.datasets import load_penguins
        >>> X, y = load_penguins()
        >>> model = RandomForestClassifier(random_state=0).fit(X, y)
        >>> model.embed(X.head(3)).sum(axis=1).ravel().tolist()
        [[100.0, 100.0, 100.0]]
        """
        table = self._read(X)
        leaves = self._forest.apply(table, leaf_numbers=True, n_threads=self._threads())
        return leaf_matrix(leaves, self._first_leaves())

    def proximity(
        self, X: Any, Y: Any = None, *, out_of_bag: bool = False, top_k: int | None = None
    ) -> Floats | csr_matrix:
        """Return the share of trees in which two rows reach the same leaf.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Rows with the columns of `fit`.
        Y : table or None, default=None
            Other rows to compare with; None compares the rows of X with each other.
        out_of_bag : bool, default=False
            Count only trees that have drawn neither of the two rows. X must be the training table,
            and Y None. Full-grown trees tear the rows apart that they learnt from, so that plain
            proximities of training rows are too small.
        top_k : int or None, default=None
            Keep only so many of the largest shares of each row, in a sparse matrix. For large
            tables: all pairs of 100,000 rows would take 80 GB.

        Returns
        -------
        shares : ndarray of float64 or csr_matrix, shape (n_rows, n_rows of Y)
            In [0, 1]. Out of bag NaN (or nothing, with `top_k`) for rows that are never out of bag
            together.

        Examples
        --------
        >>> from committee import RandomForestClassifier
        >>> from committee.datasets import load_penguins
        >>> X, y = load_penguins()
        >>> model = RandomForestClassifier(random_state=0).fit(X, y)
        >>> shares = model.proximity(X, out_of_bag=True)
        >>> bool(shares[0, 1] > shares[0, -1])  # another Adelie penguin, and a Chinstrap
        True
        """
        check_bool("out_of_bag", out_of_bag)
        top_k = check_int("top_k", top_k, 1, none=True)
        left = self.embed(X)
        n_cells = left.shape[0] * (left.shape[0] if Y is None else len(Y))
        if top_k is None and n_cells > _MOST_CELLS:
            raise ValueError(
                f"{left.shape[0]:,} rows have {n_cells:,} pairs, too many for a dense matrix; "
                "top_k=10 keeps the ten nearest of each row"
            )
        if not out_of_bag:
            return proximities(left, left if Y is None else self.embed(Y), top_k)
        if Y is not None:
            raise ValueError("Y must be None with out_of_bag=True: it compares training rows")
        sampler = self._training_sampler("out_of_bag=True", left.shape[0])
        return oob_proximities(left, self._out_of_bag(sampler), top_k)

    # ---- importances ----

    def permutation_importance(
        self,
        X: Any,
        y: Any,
        *,
        groups: Any = None,
        n_repeats: int = 1,
        loss: str | None = None,
        sample_weight: Any = None,
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> Importances:
        """Return how much worse trees predict when a feature is scrambled.

        Each tree is scored on its own out-of-bag rows, before and after the values of a feature
        are permuted among them. The importance is the mean over the trees of the increase of its
        loss.

        Parameters
        ----------
        X, y : table and target
            Those of `fit`, with the rows in the same order: the draws of each tree are made again
            to know which rows it has not seen.
        groups : list of lists, dict from names to lists, or None, default=None
            Features, by name or number, to permute together, with the same permutation. Of two
            features that hold the same information, each can stand in for the other and both seem
            useless; permuted together they show what they are worth. None: each feature on its own.
        n_repeats : int, default=1
            Permutations of each feature in each tree, of which the mean is taken. The trees are
            repetitions already.
        loss : {"error", "brier"} or None, default=None
            For classifiers the error rate (None means this) or the squared distance of the
            tree's probabilities from the truth. Regressors have the squared error.
        sample_weight : array-like of shape (n_rows,) or None, default=None
            Weights of the rows in the losses.
        random_state : int, RandomState, Generator or None, default=0
            Seed of the permutations.
        n_jobs : int or None, default=None
            Threads; None as in the forest. The result is the same for any number.

        Returns
        -------
        result : Importances
            `importances_mean`, `importances_std`, `importances` (tree by tree), and `score`, the
            mean divided by the standard deviation over the trees. Other packages divide by the
            standard error, see `Importances`.

        Notes
        -----
        A feature that trees do not need has an importance about zero, slightly negative as often
        as positive, however many values it has. With correlated features the importance answers a
        question about rows that cannot occur, and is no longer without bias: use `groups`.

        Examples
        --------
        >>> from committee import RandomForestClassifier
        >>> from committee.datasets import load_penguins
        >>> X, y = load_penguins()
        >>> model = RandomForestClassifier(random_state=0).fit(X, y)
        >>> sizes = ["flipper_length_mm", "body_mass_g"]
        >>> model.permutation_importance(X, y, groups={"size": sizes}).feature_names
        ('size',)
        >>> model.permutation_importance(X, y).ranking()[0]
        'bill_length_mm'
        """
        table = self._read(X)
        sampler = self._training_sampler("permutation_importance", table.n_rows)
        classes, reals = self._engine_target(y, table.n_rows)
        self._check_training("permutation_importance", table, classes, reals)
        is_class = classes is not None
        names = tuple(feature.name for feature in self.schema_.features)
        numbers, group_names = group_numbers(groups, len(names), names)
        n_repeats = check_int("n_repeats", n_repeats, 1)
        choices = ("error", "brier") if is_class else ("squared_error",)
        loss = check_choice("loss", loss, choices, none=True) or choices[0]
        seed = check_seed(random_state)
        total: Any = 0.0
        for repeat in range(n_repeats):
            increases, _, weight = self._forest.permute_features(
                table,
                sampler.plan,
                row_seed(sampler.seed),
                groups=numbers,
                n_groups=len(group_names),
                seed=member_seed(seed, repeat),
                loss=loss,
                classes=classes,
                reals=reals,
                weights=read_weights(sample_weight, table.n_rows),
                n_threads=self._threads() if n_jobs is None else resolve_threads(n_jobs),
            )
            total = total + np.where(weight[:, None] > 0, increases, np.nan)
        words = {"error": "error rate", "brier": "Brier score", "squared_error": "squared error"}
        kind = f"increase of the out-of-bag {words[loss]}"
        return Importances(np.ascontiguousarray((total / n_repeats).T), group_names, kind)

    def debiased_importance(self, X: Any, y: Any, *, sample_weight: Any = None) -> Importances:
        """Return the decrease of impurity by each feature, measured on out-of-bag rows.

        `feature_importances_` adds up the decreases of impurity on the very rows for which the
        splits were chosen. A feature with many values finds a split that suits these rows by
        chance, and looks important even if it is noise. Here each split is evaluated on rows that
        its tree has not drawn: the covariance between what its children predict and what their
        out-of-bag rows are. For a feature of noise this is zero on average (and negative half of
        the time), whatever its number of values.

        Parameters
        ----------
        X, y : table and target
            Those of `fit`, with the rows in the same order.
        sample_weight : array-like of shape (n_rows,) or None, default=None
            Weights of the rows.

        Returns
        -------
        result : Importances
            In units of the Gini impurity or of the variance of y, whatever the criterion, not
            scaled to a sum of one.

        Notes
        -----
        On the rows that a tree was grown on the same formula gives its decrease of Gini impurity
        or variance. Close relatives are the MDI-oob of Li et al. and the split-improvement of Zhou
        and Hooker; here the targets are taken relative to their out-of-bag mean in the node, which
        makes a split on noise zero on average exactly. Correlated features share their importance,
        as in `feature_importances_`.

        References
        ----------
        X. Li, Y. Wang, S. Basu, K. Kumbier and B. Yu (2019), A debiased MDI feature importance
        measure for random forests, Advances in Neural Information Processing Systems 32.

        Z. Zhou and G. Hooker (2021), Unbiased measurement of feature importance in tree-based
        methods, ACM Transactions on Knowledge Discovery from Data 15.

        Examples
        --------
        >>> from committee import RandomForestClassifier
        >>> from committee.datasets import load_penguins
        >>> X, y = load_penguins()
        >>> model = RandomForestClassifier(random_state=0).fit(X, y)
        >>> model.debiased_importance(X, y).ranking()[-1]
        'year'
        """
        table = self._read(X)
        sampler = self._training_sampler("debiased_importance", table.n_rows)
        self._check_training("debiased_importance", table, *self._engine_target(y, table.n_rows))
        targets = self._values_of(y, table.n_rows)
        weights = self._row_weights(sample_weight, table.n_rows)
        labels = self._class_labels()
        n_threads = self._threads()
        columns = []
        for tree in range(self._forest.n_trees):
            rows = np.flatnonzero((sampler.counts(tree) == 0) & (weights > 0))
            leaves = self._forest.part(tree, tree + 1).apply(table, n_threads=n_threads)[rows, 0]
            view = TreeView(self._forest.tree(tree), self.schema_, labels)
            columns.append(
                debiased_decreases(view, leaves, targets[rows], weights[rows], self.n_outputs_)
            )
        noun = "variance" if labels is None else "Gini impurity"
        names = tuple(feature.name for feature in self.schema_.features)
        return Importances(np.column_stack(columns), names, f"out-of-bag decrease of {noun}")
