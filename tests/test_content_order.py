"""Held-out parts and draws depend on what rows hold: not on their order, nor on how they count."""

import numpy as np
import pandas as pd
import pytest

from committee.evaluation.content_order import ContentOrder, row_keys, table_keys, with_columns
from committee.tables.table import read_table

KINDS = ["numbers", "classes", "groups"]


class Table:
    """Rows with weights, and how many repetitions of each distinct row some counts hold."""

    def __init__(self, cells, target, weight, group=None):
        self.cells, self.target, self.weight, self.group = cells, target, weight, group

    @classmethod
    def drawn(cls, rng, kind, n_rows=60, n_values=40):
        cells = rng.integers(0, n_values, n_rows)  # some rows are equal
        target = rng.integers(0, 3, n_rows)
        weight = rng.integers(0, 4, n_rows)
        return cls(cells, target, weight, cells % 7 if kind == "groups" else None)

    def repeated(self, rng):
        """The same table without weights, its rows in another order."""
        rows = rng.permutation(np.repeat(np.arange(len(self.cells)), self.weight))
        group = None if self.group is None else self.group[rows]
        return Table(self.cells[rows], self.target[rows], np.ones(len(rows), int), group)

    def order(self, kind, seed=0):
        keys = table_keys(self.cells[:, None].astype(float), seed)
        target = with_columns(keys, self.target[:, None].astype(float))
        classes = self.target.astype(np.int32) if kind == "classes" else None
        return ContentOrder(keys, self.weight, target, classes, self.group)

    def held(self, counts):
        """Repetitions of each pair of cells and target."""
        pairs = pd.DataFrame({"cells": self.cells, "target": self.target, "counts": counts})
        sums = pairs.groupby(["cells", "target"])["counts"].sum()
        return sums[sums > 0].to_dict()


def parts_of(order):
    sampler = order.sampler(0.7, 5)
    draws = [sampler.drawn(number) for number in range(3)]
    return [*order.folds(5), *order.folds(2), order.part(0.2), order.part(0.9), *draws]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n_values", [2, 12, 40, 10**6])
def test_a_weight_is_so_many_rows_in_any_order(kind, n_values, rng):
    for _ in range(20):
        table = Table.drawn(rng, kind, n_values=n_values)
        other = table.repeated(rng)
        for ours, theirs in zip(
            parts_of(table.order(kind)), parts_of(other.order(kind)), strict=True
        ):
            assert (ours <= table.weight).all()
            assert (theirs <= 1).all()
            assert table.held(ours) == other.held(theirs)


@pytest.mark.parametrize("kind", KINDS)
def test_folds_hold_out_each_repetition_once(kind, rng):
    table = Table.drawn(rng, kind)
    folds = table.order(kind).folds(5)
    assert len(folds) == 5
    assert np.array_equal(np.sum(folds, axis=0), table.weight)


def test_another_seed_deals_otherwise(rng):
    table = Table.drawn(rng, "classes")
    assert not np.array_equal(
        table.order("classes", 1).folds(5), table.order("classes", 2).folds(5)
    )


def test_equal_cells_are_held_out_together_unless_many_rows_share_them(rng):
    cells = np.concatenate([np.repeat(np.arange(100), 3), np.full(60, 1000)])
    target = np.where(cells == 1000, rng.integers(0, 2, len(cells)), cells % 2)
    order = Table(cells, target, np.ones(len(cells), int)).order("classes")
    for part in [*order.folds(5), order.part(0.2)]:
        held = np.bincount(cells, part, 1001)
        assert set(held[:100].tolist()) == {0, 3}
        assert 10 <= held[1000] <= 14  # a fifth of 60


@pytest.mark.parametrize("kind", ["numbers", "classes"])
def test_rows_of_equal_cells_with_other_targets_are_dealt_one_by_one(kind, rng):
    cells = np.repeat(np.arange(100), 5)
    target = rng.integers(0, 3, 500)
    folds = Table(cells, target, np.ones(500, int)).order(kind).folds(5)
    assert all(abs(fold.sum() - 100) <= 2 for fold in folds)
    assert all((np.bincount(cells, fold) < 5).all() for fold in folds)


def test_each_part_has_its_share_of_each_class_and_of_shared_cells_of_each_target():
    classes = np.repeat([0, 1, 2], [100, 15, 1])
    order = Table(np.arange(116), classes, np.ones(116, int)).order("classes")
    folds = order.folds(5)
    for fold in folds:
        assert np.bincount(classes[fold > 0]).tolist() == [20, 3]  # not the only row of class 2
    assert np.bincount(classes[order.part(0.2) > 0]).tolist() == [20, 3]
    alike = Table(np.zeros(116), classes, np.ones(116, int)).order("classes")
    for fold in alike.folds(5):
        assert np.bincount(classes[fold > 0])[:2].tolist() == [20, 3]


def test_something_is_held_out_and_something_is_left():
    for n_rows in range(2, 9):
        for classes in (np.zeros(n_rows, int), np.arange(n_rows), np.arange(n_rows) % 2):
            for cells in (np.arange(n_rows), np.zeros(n_rows)):
                order = Table(cells, classes, np.ones(n_rows, int)).order("classes")
                for fraction in (0.01, 0.5, 0.99):
                    assert 0 < order.part(fraction).sum() < n_rows
                    assert 0 < order.last_part(fraction).sum() < n_rows
                folds = order.folds(5)
                assert 1 <= len(folds) <= 5
                assert all(0 < fold.sum() < n_rows for fold in folds)


def test_the_last_rows_are_counted_with_their_repetitions():
    order = ContentOrder(np.zeros(4, np.uint64), np.array([1, 5, 0, 3]))
    assert order.last_part(0.5).tolist() == [0, 1, 0, 3]  # round(4.5)
    assert order.last_part(0.01).tolist() == [0, 0, 0, 1]


def test_groups_are_kept_together_and_fill_folds_evenly(rng):
    groups = rng.integers(0, 12, 52)
    keys = table_keys(rng.normal(size=(52, 1)))
    order = ContentOrder(keys, np.ones(52, np.int64), groups=groups)
    folds = order.folds(5)
    assert sum(len(set(groups[fold > 0])) for fold in folds) == len(set(groups))
    sizes = [fold.sum() for fold in folds]
    assert sum(sizes) == 52
    assert max(sizes) - min(sizes) <= 9
    part = order.part(0.2) > 0
    assert not set(groups[part]) & set(groups[~part])
    assert 0.1 < part.mean() < 0.5
    with pytest.raises(ValueError, match="groups must have two groups or more"):
        ContentOrder(keys[:4], np.ones(4, np.int64), groups=[1, 1, 1, 1]).folds(2)


def test_a_single_row_cannot_be_held_out():
    with pytest.raises(ValueError, match=r"early stopping needs rows .* got 1 sample\(s\)"):
        ContentOrder(np.zeros(2, np.uint64), np.array([0, 1])).part(0.5)


def test_draws_take_all_repetitions_alike(rng):
    counts = np.array([1, 0, 9, 2, 4, 4])
    sampler = ContentOrder(table_keys(np.arange(6.0)[:, None]), counts).sampler(0.5, 3)
    draws = np.array([sampler.drawn(number) for number in range(2000)])
    assert (draws.sum(axis=1) == 10).all()
    np.testing.assert_allclose(draws.mean(axis=0), counts / 2, atol=0.06)


# --- keys -----------------------------------------------------------------------------------------


def test_keys_are_of_values_and_not_of_types_or_other_rows():
    plain = table_keys(np.array([[0.0, 1.0], [2.0, np.nan], [3.0, 5.0]]))
    assert len(set(plain.tolist())) == 3
    single = table_keys(np.array([[-0.0, 1.0], [2.0, -np.nan], [3.0, 5.0]], np.float32))
    assert np.array_equal(plain, single)
    frame = pd.DataFrame({"a": [0, 2, 3], "b": pd.array([1, None, 5], "Int64")})
    assert np.array_equal(plain, table_keys(frame))
    assert np.array_equal(plain[1:], table_keys(frame.iloc[1:]))
    whole = table_keys(np.array([[2**60 + 1], [7]]))  # kept as integers
    assert whole[1] == table_keys(np.array([[7.0]]))[0]
    assert table_keys(np.array([[2**60]]))[0] != whole[0]


def test_keys_of_categories_are_of_names():
    few = pd.DataFrame({"a": ["x", "z", None]})
    more = pd.DataFrame({"a": ["x", "z", None, "y"]})  # gives "z" another code
    assert np.array_equal(table_keys(few), table_keys(more)[:3])
    reversed_levels = few.astype(pd.CategoricalDtype(["z", "x"]))
    assert np.array_equal(table_keys(few), table_keys(reversed_levels))


def test_keys_depend_on_the_seed_and_not_on_threads(rng):
    table, schema = read_table(rng.normal(size=(3000, 5)))
    keys = row_keys(table, schema, 1)
    assert np.array_equal(keys, row_keys(table, schema, 1, n_threads=2))
    assert not np.isin(keys, row_keys(table, schema, 2)).any()
    assert len(np.unique(keys)) == 3000
