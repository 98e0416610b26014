"""Training sets of one estimator after the other: drawn from one table, or made by a generator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from committee.base.arrays import Floats, Rows
from committee.base.params import check_choice, check_real
from committee.base.sampling import member_seed, plan_rows
from committee.tables.native_table import AnyTable
from committee.tables.target import check_same_length, read_classes, read_reals, read_weights


@dataclass(frozen=True, eq=False)
class Target:
    """A target as fits and tallies need it.

    Parameters
    ----------
    values : ndarray
        Codes of classes (n_rows,), or numbers (n_rows,) or (n_rows, n_outputs).
    labels : ndarray or None
        Labels of the codes; None for numbers.
    """

    values: NDArray[Any]
    labels: NDArray[Any] | None

    @classmethod
    def read(cls, y: Any, *, is_of_classes: bool) -> Target:
        """Read a target."""
        if not is_of_classes:
            values, is_1d = read_reals(y)
            return cls(values[:, 0] if is_1d else values, None)
        found = read_classes(y)
        if found.n_outputs > 1:
            raise ValueError(f"y should be a 1d array, got {found.n_outputs} columns instead")
        return cls(found.codes[:, 0].astype(np.intp), found.classes[0])

    @property
    def columns(self) -> Floats:
        """Numbers, n_rows x n_outputs."""
        return np.asarray(self.values.reshape(len(self.values), -1), np.float64)

    def part(self, rows: Rows) -> Target:
        """Return some rows; the labels stay."""
        return Target(self.values[rows], self.labels)

    def renamed(self, labels: NDArray[Any]) -> Target:
        """Return the same classes as codes of more labels."""
        if self.labels is None:
            return self
        place = {label: code for code, label in enumerate(labels.tolist())}
        codes = np.array([place[label] for label in self.labels.tolist()], np.intp)
        return Target(codes[self.values], labels)


def with_common_labels(targets: Sequence[Target]) -> list[Target]:
    """Return targets whose codes mean the same classes.

    Examples
    --------
    >>> first, second = (Target.read(y, is_of_classes=True) for y in (["a", "c"], ["b"]))
    >>> [each.values.tolist() for each in with_common_labels([first, second])]
    [[0, 2], [1]]
    """
    known = [target.labels for target in targets if target.labels is not None]
    if not known:
        return list(targets)
    labels = read_classes(np.concatenate(known)).classes[0]
    return [target.renamed(labels) for target in targets]


@dataclass(frozen=True, eq=False)
class RowsToPredict:
    """The rows that all fits predict.

    Parameters
    ----------
    table : AnyTable
        Their features.
    target : Target
        The truth, or what is known of it.
    weights : ndarray of float64 or None
        Their weights.
    """

    table: AnyTable
    target: Target
    weights: Floats | None


@dataclass(frozen=True, eq=False)
class DrawnSets:
    """Training sets that are rows of one table.

    Parameters
    ----------
    table : AnyTable
        The table.
    target : Target
        Of its rows.
    samples : list of ndarray of int
        The rows of each training set, a row drawn twice twice.
    """

    table: AnyTable
    target: Target
    samples: list[Rows]


@dataclass(frozen=True, eq=False)
class FreshSets:
    """Training sets that are tables of their own, each with its target."""

    pairs: list[tuple[AnyTable, Target]]


@dataclass(frozen=True)
class Draws:
    """How training sets are drawn; the parameters are those of `bias_variance`.

    Parameters
    ----------
    samples : {"bootstrap", "subsample"} or sequence of array-like of int
        The kind of draw, or the rows.
    sample_size : int, float or None
        Rows of a training set.
    n_rounds : int
        Training sets.
    test_size : float
        Share of rows that is held out.
    seed : int
        Of all draws.
    """

    samples: Any
    sample_size: Any
    n_rounds: int
    test_size: float
    seed: int

    def of_rows(self, n_rows: int, weights: Floats | None) -> list[Rows]:
        """Return the rows of each training set.

        Examples
        --------
        >>> Draws([[1, 1], [2, 0]], None, 2, 0.5, 0).of_rows(3, None)
        [array([1, 1]), array([2, 0])]
        """
        if not isinstance(self.samples, str):
            if self.sample_size is not None:
                raise ValueError("sample_size must be None where samples are given by row numbers")
            return [_given_rows(rows, n_rows, k) for k, rows in enumerate(self.samples)]
        is_bootstrap = self.samples == "bootstrap"
        size = self.sample_size
        if size is None and not is_bootstrap:
            size = max(1, n_rows // 2)
        elif isinstance(size, float):  # a share of rows, not of their weight
            size = max(1, int(check_real("sample_size", size, 0.0, include_low=False) * n_rows))
        try:
            plan = plan_rows(
                n_rows, self.seed, bootstrap=is_bootstrap, max_samples=size, weights=weights
            )
        except (TypeError, ValueError) as error:
            raise type(error)(str(error).replace("max_samples", "sample_size")) from None
        return [plan.rows(number) for number in range(self.n_rounds)]

    def held_out(self, n_rows: int) -> tuple[Rows, Rows]:
        """Return rows to draw training sets from, and rows to predict, both in order."""
        share = check_real(
            "test_size", self.test_size, 0.0, 1.0, include_low=False, include_high=False
        )
        if n_rows < 2:
            raise ValueError(f"X must have 2 rows or more to hold some out; got {n_rows}")
        n_test = min(max(1, round(share * n_rows)), n_rows - 1)
        order = np.random.default_rng(self.seed).permutation(n_rows)
        return np.sort(order[n_test:]), np.sort(order[:n_test])


def drawn_sets(
    X: Any, y: Any, test: Any, sample_weight: Any, draws: Draws, *, is_of_classes: bool
) -> tuple[RowsToPredict, DrawnSets]:
    """Return the test rows, and training sets drawn from a table.

    Parameters
    ----------
    X, y : table and target
        Rows to draw from.
    test : pair of table and target, or None
        Rows to predict; None holds out some.
    sample_weight : array-like or None
        Weights of the rows.
    draws : Draws
        How to draw.
    is_of_classes : bool
        Whether the target holds classes.
    """
    is_given = not isinstance(draws.samples, str)
    if is_given and (test is None or sample_weight is not None):
        raise ValueError(
            "samples by row numbers need test, the rows to predict, and no sample_weight"
        )
    if not is_given:
        check_choice("samples", draws.samples, ("bootstrap", "subsample"))
    table, target = AnyTable(X), Target.read(y, is_of_classes=is_of_classes)
    check_same_length(table.n_rows, len(target.values))
    weights = read_weights(sample_weight, table.n_rows)
    rows = np.arange(table.n_rows) if weights is None else np.flatnonzero(weights)
    if test is None:
        train, held = (rows[places] for places in draws.held_out(len(rows)))
        held_weights = None if weights is None else weights[held]
        test_rows = RowsToPredict(AnyTable(table.take(held, None)), target.part(held), held_weights)
    else:
        train, test_rows = rows, _given_test(test, table, is_of_classes)
        first, target = with_common_labels([test_rows.target, target])
        test_rows = RowsToPredict(test_rows.table, first, None)
    pool = table if len(train) == table.n_rows else AnyTable(table.take(train, None))
    samples = draws.of_rows(len(train), None if weights is None else weights[train])
    return test_rows, DrawnSets(pool, target.part(train), samples)


def fresh_sets(
    make: Callable[[np.random.Generator], Any],
    test: Any,
    n_rounds: int,
    seed: int,
    *,
    is_of_classes: bool,
) -> tuple[RowsToPredict, FreshSets]:
    """Return the test rows, and training sets made by a generator.

    Parameters
    ----------
    make : callable
        Returns a table and a target for a NumPy generator of random numbers.
    test : pair of table and target
        Rows to predict.
    n_rounds : int
        Training sets.
    seed : int
        Of the random numbers.
    is_of_classes : bool
        Whether targets hold classes.
    """
    tables, targets = [], []
    for number in range(n_rounds):
        made = make(np.random.default_rng(member_seed(seed, number)))
        if not isinstance(made, tuple) or len(made) != 2:
            raise TypeError(f"X must return a table and a target; it has returned {made!r}")
        table, target = AnyTable(made[0]), Target.read(made[1], is_of_classes=is_of_classes)
        check_same_length(table.n_rows, len(target.values))
        tables.append(table)
        targets.append(target)
    rows = _given_test(test, tables[0], is_of_classes)
    first, *targets = with_common_labels([rows.target, *targets])
    pairs = list(zip(tables, targets, strict=True))
    return RowsToPredict(rows.table, first, None), FreshSets(pairs)


def _given_test(test: Any, like: AnyTable, is_of_classes: bool) -> RowsToPredict:
    """Read test rows, whose columns are those of a training table."""
    if not isinstance(test, tuple | list) or len(test) != 2:
        raise TypeError(
            f"test must be a pair, (X_test, y_test), or None; got {type(test).__name__}"
        )
    table = AnyTable(test[0]).matched(like.names, like.n_features, "bias_variance")
    target = Target.read(test[1], is_of_classes=is_of_classes)
    check_same_length(table.n_rows, len(target.values))
    return RowsToPredict(table, target, None)


def _given_rows(rows: Any, n_rows: int, number: int) -> Rows:
    found = np.asarray(rows)
    if found.ndim != 1 or found.dtype.kind not in "iu" or len(found) == 0:
        raise ValueError(
            'samples must be "bootstrap", "subsample" or lists of row numbers; entry '
            f"{number} is {rows!r}"
        )
    wrong = found[(found < 0) | (found >= n_rows)]
    if len(wrong):
        raise ValueError(
            f"samples must hold row numbers in [0, {n_rows - 1}]; entry {number} holds {wrong[0]}"
        )
    return found.astype(np.int64)
