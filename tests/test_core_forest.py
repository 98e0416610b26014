"""The forest of the core: what it grows, keeps and predicts agrees with its trees one by one."""

import numpy as np
import pytest
from hand_trees import REAL, TreeBuilder
from test_core_tree import KINDS, finish, random_columns, random_tree, table_of
from tree_tools import make_target, make_weight

from committee import _core
from committee.base.sampling import plan_features, plan_rows, row_seed, tree_seed

CLASSES = ("gini", "entropy", "error")
N_ROWS, N_TREES = 300, 7


def make_table(rng, n_rows=N_ROWS):
    """Reals with missing values and infinities, a whole column, a wide integer, two categories."""
    reals = rng.normal(size=(n_rows, 3))
    reals[rng.random(reals.shape) < 0.1] = np.nan
    reals[rng.random(reals.shape) < 0.01] = np.inf
    reals[:, 2] = np.round(reals[:, 2] * 2)
    table = _core.Table(n_rows)
    for column in reals.T:
        table.add_column(0, np.ascontiguousarray(column))
    table.add_column(1, 2**60 + rng.integers(-50, 50, n_rows))
    table.add_column(2, rng.integers(-1, 5, n_rows).astype(np.int32))
    table.add_column(2, rng.integers(0, 40, n_rows).astype(np.int32))
    return table


N_LEVELS = [0, 0, 0, 0, 5, 40]


def target_of(criterion, rng, n_rows=N_ROWS, n_outputs=1, n_classes=3):
    """What grow_tree and grow_forest call the target."""
    y = make_target(criterion, rng, n_rows, n_outputs, n_classes).reshape(n_rows, n_outputs)
    if criterion in CLASSES:
        return {"classes": y.astype(np.int32), "n_classes": [n_classes] * n_outputs}
    return {"reals": np.ascontiguousarray(y, dtype=np.float64)}


def grow(rng, criterion="gini", *, n_outputs=1, n_trees=N_TREES, plan=None, settings=None, **more):
    """A small forest, its table, and what it was grown with."""
    table = make_table(rng)
    dataset = _core.BinnedDataset(table, n_levels=N_LEVELS)
    arguments = {
        **target_of(criterion, rng, n_outputs=n_outputs),
        "settings": {"criterion": criterion, "max_features": 2, **(settings or {})},
        "tree_seed": tree_seed(3),
        "plan": plan,
        "row_seed": row_seed(3),
        **more,
    }
    return _core.grow_forest(dataset, n_trees, **arguments), table, dataset, arguments


def assert_same_arrays(a, b, rtol=0.0):
    assert set(a) == set(b)
    for name, array in a.items():
        if name in ("values", "impurity", "weight") and rtol:
            scale = max(float(np.abs(array).max()), 1e-300)
            np.testing.assert_allclose(array, b[name], rtol=rtol, atol=rtol * scale, err_msg=name)
        else:
            np.testing.assert_array_equal(array, b[name], err_msg=name)


def forest_of_random_trees(rng, n_trees=5):
    """Trees with every kind of split and a number of nodes each in no particular order."""
    trees = [random_tree(rng, n_splits=int(rng.integers(1, 150))) for _ in range(n_trees)]
    return _core.Forest.from_trees(trees, "squared_error", [], keep_all=True), trees


# --- what is grown ---


@pytest.mark.parametrize("weights", ["none", "whole", "parts"])
def test_each_tree_is_the_tree_of_its_rows_and_its_seed(rng, weights):
    sampler = plan_rows(N_ROWS, 3)
    weight = make_weight(weights, rng, N_ROWS)
    forest, _, dataset, arguments = grow(rng, plan=sampler.plan, weights=weight)
    for index in range(N_TREES):
        counts = sampler.counts(index)
        settings = {
            **arguments["settings"],
            "seed": _core.derive_key(arguments["tree_seed"], index),
        }
        alone = _core.grow_tree(
            dataset,
            classes=arguments["classes"],
            n_classes=arguments["n_classes"],
            weights=counts * (np.ones(N_ROWS) if weight is None else weight),
            counts=counts,
            settings=settings,
            use_records=True,
        )
        rtol = 1e-12 if weights == "parts" else 0.0
        assert_same_arrays(forest.tree(index).arrays(), alone.arrays(), rtol)


@pytest.mark.parametrize("n_outputs", [1, 2])
@pytest.mark.parametrize("weights", ["none", "whole", "parts"])
@pytest.mark.parametrize(
    "criterion", ["gini", "entropy", "error", "squared_error", "poisson", "absolute_error"]
)
@pytest.mark.parametrize("limits", [{}, {"min_rows_leaf": 5}])
def test_inner_nodes_follow_from_the_leaves(rng, criterion, weights, n_outputs, limits):
    weight = make_weight(weights, rng, N_ROWS)
    forest, _, dataset, arguments = grow(
        rng, criterion, n_outputs=n_outputs, n_trees=1, weights=weight, settings=limits
    )
    del arguments["plan"], arguments["row_seed"]
    seed = _core.derive_key(arguments.pop("tree_seed"), 0)
    arguments["settings"]["seed"] = seed
    use_records = criterion != "absolute_error"
    alone = _core.grow_tree(dataset, **arguments, use_records=use_records)
    is_exact = (criterion in CLASSES and weights != "parts") or criterion == "absolute_error"
    assert_same_arrays(forest.tree(0).arrays(), alone.arrays(), 0.0 if is_exact else 1e-12)


def test_inner_nodes_of_large_targets_are_no_worse_than_float64(rng):
    table = make_table(rng)
    dataset = _core.BinnedDataset(table, n_levels=N_LEVELS)
    for scale in (1e-200, 1e200):
        y = scale * rng.normal(size=(N_ROWS, 1))
        settings = {"criterion": "squared_error", "max_depth": 5}
        alone = _core.grow_tree(dataset, reals=y, settings=settings)
        forest = _core.Forest.from_trees([alone], "squared_error", [])
        if scale < 1:  # squares beyond float64 are infinite in both
            assert_same_arrays(forest.tree(0).arrays(), alone.arrays(), 1e-12)
        np.testing.assert_allclose(
            forest.tree(0).arrays()["values"], alone.arrays()["values"], rtol=1e-11
        )


def test_monotone_trees_are_kept_whole(rng):
    forest, _, dataset, arguments = grow(
        rng,
        "squared_error",
        n_trees=1,
        settings={"monotonic": [1, -1, 0, 0, 0, 0], "max_features": 6},
    )
    del arguments["plan"], arguments["row_seed"]
    arguments["settings"]["seed"] = _core.derive_key(arguments.pop("tree_seed"), 0)
    alone = _core.grow_tree(dataset, **arguments, use_records=True)
    assert_same_arrays(forest.tree(0).arrays(), alone.arrays())


@pytest.mark.parametrize("n_threads", [1, 2, 5, 40])
@pytest.mark.parametrize("use_records", [False, True])
def test_the_forest_does_not_depend_on_threads(seed, n_threads, use_records):
    plan = plan_rows(N_ROWS, 3).plan
    expected = grow(np.random.default_rng(seed), plan=plan, use_records=use_records)[0]
    forest = grow(
        np.random.default_rng(seed), plan=plan, n_threads=n_threads, use_records=use_records
    )[0]
    for index in range(N_TREES):
        assert_same_arrays(forest.tree(index).arrays(), expected.tree(index).arrays())


def test_a_forest_grown_in_two_steps_is_the_forest_grown_in_one(seed):
    plan = plan_rows(N_ROWS, 3).plan
    whole = grow(np.random.default_rng(seed), plan=plan)[0]
    first = grow(np.random.default_rng(seed), plan=plan, n_trees=3)[0]
    rest = grow(np.random.default_rng(seed), plan=plan, n_trees=N_TREES - 3, first_tree=3)[0]
    joined = _core.Forest.join([first, rest])
    for forest in (joined, _core.Forest.join([joined.part(0, 2), joined.part(2, N_TREES)])):
        assert forest.n_trees == N_TREES
        for index in range(N_TREES):
            assert_same_arrays(forest.tree(index).arrays(), whole.tree(index).arrays())


def test_a_tree_splits_only_the_features_drawn_for_it(rng):
    sampler = plan_features(6, 5, 2)
    seed = row_seed(sampler.seed)
    forest, *_ = grow(rng, feature_plan=sampler.plan, feature_seed=seed)
    used = forest.impurity_decreases() != 0
    drawn = np.array([sampler.counts(tree) > 0 for tree in range(N_TREES)])
    np.testing.assert_array_equal(used, drawn)  # all of them are worth a split on these rows
    assert len(np.unique(drawn, axis=0)) > 1


def test_balanced_classes_weigh_the_same_in_each_sample(rng):
    plan = plan_rows(N_ROWS, 3).plan
    forest, _, _, arguments = grow(rng, plan=plan, balance_classes=True)
    for index in range(N_TREES):
        root = forest.tree(index).arrays()
        np.testing.assert_allclose(root["values"][0], np.full(3, 1 / 3), rtol=1e-12)
        assert root["n_rows"][0] == N_ROWS  # rows count as often as they were drawn
        np.testing.assert_allclose(root["weight"][0], N_ROWS, rtol=1e-12)
    with pytest.raises(ValueError, match="only classes"):
        grow(rng, "squared_error", balance_classes=True)
    assert arguments["n_classes"] == [3]


def test_trees_are_pruned_one_by_one(rng, seed):
    plan = plan_rows(N_ROWS, 3).plan
    full = grow(np.random.default_rng(seed), plan=plan)[0]
    pruned = grow(np.random.default_rng(seed), plan=plan, ccp_alpha=0.01)[0]
    for index in range(N_TREES):
        expected = full.tree(index).prune(0.01).arrays()
        assert_same_arrays(pruned.tree(index).arrays(), expected)


def test_progress_counts_trees_and_what_it_raises_stops_the_growth(rng):
    table = _core.Table.from_matrix(rng.normal(size=(20_000, 10)))
    dataset = _core.BinnedDataset(table)
    classes = rng.integers(0, 2, (20_000, 1)).astype(np.int32)
    seen = []

    def stop(done):
        seen.append(done)
        if done >= 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        _core.grow_forest(dataset, 1000, classes=classes, n_classes=[2], n_threads=2, progress=stop)
    assert seen == sorted(seen)
    assert seen[-1] < 100


def test_what_does_not_fit_is_refused(rng):
    with pytest.raises(ValueError, match="plan must be for the rows"):
        grow(rng, plan=plan_rows(5, 0).plan)
    counts = np.ones(N_ROWS, np.uint32)
    with pytest.raises(ValueError, match="either a plan or counts"):
        grow(rng, plan=plan_rows(N_ROWS, 0).plan, counts=counts)
    with pytest.raises(ValueError, match="criterion does not fit"):
        grow(rng, settings={"criterion": "poisson"})
    with pytest.raises(ValueError, match="feature plan"):
        grow(rng, feature_plan=plan_features(4, 0, 2).plan)
    forest, table, *_ = grow(rng)
    with pytest.raises(ValueError, match="6"):
        forest.predict(_core.Table.from_matrix(np.zeros((2, 5))))
    with pytest.raises(ValueError, match="kind"):
        forest.predict(_core.Table.from_matrix(np.zeros((2, 6))))
    with pytest.raises(ValueError, match="n_threads"):
        forest.predict(table, n_threads=0)
    with pytest.raises(ValueError, match="stages"):
        forest.predict(table, stages=[3, 1])
    with pytest.raises(ValueError, match="stages"):
        forest.predict(table, stages=[N_TREES + 1])
    with pytest.raises(ValueError, match="tree_weights"):
        forest.predict(table, tree_weights=np.ones(2))
    with pytest.raises(IndexError):
        forest.tree(N_TREES)
    with pytest.raises(IndexError):
        forest.part(3, N_TREES + 1)
    other = grow(rng, "squared_error")[0]
    with pytest.raises(ValueError, match="predict the same"):
        _core.Forest.join([forest, other])
    with pytest.raises(ValueError, match="voted"):
        other.predict(table, hard=True)


# --- what is predicted ---


@pytest.mark.parametrize("n_rows", [0, 1, 15, 700])
@pytest.mark.parametrize("real_type", [np.float64, np.float32])
def test_every_way_to_walk_agrees_with_the_trees(rng, n_rows, real_type):
    forest, trees = forest_of_random_trees(rng)
    table = table_of(random_columns(rng, n_rows), real_type)
    expected = np.array([tree.predict(table) for tree in trees])
    for n_threads in (1, 2):
        each = forest.predict_each(table, n_threads=n_threads)
        np.testing.assert_array_equal(each, expected.transpose(1, 0, 2))
        sums = sum(expected, np.zeros((n_rows, 2)))
        np.testing.assert_array_equal(forest.predict(table, n_threads=n_threads), sums)
        leaves = forest.apply(table, n_threads=n_threads)
        numbers = forest.apply(table, True, n_threads=n_threads)
        for index, tree in enumerate(trees):
            again = forest.tree(index)
            np.testing.assert_array_equal(leaves[:, index], again.apply(table))
            is_leaf = again.arrays()["first_child"] == 0
            np.testing.assert_array_equal(
                numbers[:, index], (np.cumsum(is_leaf) - 1)[leaves[:, index]]
            )
            np.testing.assert_array_equal(tree.predict(table), again.predict(table))
    assert len(KINDS) == forest.n_features


def test_values_that_single_precision_cannot_tell_apart_go_where_they_belong(rng):
    X = np.array([[1.0], [np.nextafter(1.0, 2)], [1e300], [1e301], [-1e300], [5e-324]] * 50)
    X = np.vstack([X, 1e9 + rng.random((100, 1)), 1.0 + 1e-12 * rng.random((100, 1))])
    classes = rng.integers(0, 2, (len(X), 1)).astype(np.int32)
    table = _core.Table.from_matrix(X)
    dataset = _core.BinnedDataset(table, exact=True)
    forest = _core.grow_forest(dataset, 2, classes=classes, n_classes=[2])
    for index in range(2):
        tree = forest.tree(index)
        np.testing.assert_array_equal(forest.apply(table)[:, index], tree.apply(table))
    assert len(np.unique(forest.apply(table)[:, 0])) > 80


@pytest.mark.parametrize("n_outputs", [1, 2])
@pytest.mark.parametrize("n_rows", [5, N_ROWS])
def test_votes_weights_and_stages(rng, n_outputs, n_rows):
    plan = plan_rows(N_ROWS, 3).plan
    forest, *_ = grow(rng, n_outputs=n_outputs, plan=plan, settings={"max_depth": 3})
    table = make_table(rng, n_rows)
    each = forest.predict_each(table).reshape(n_rows, N_TREES, n_outputs, 3)
    votes = np.eye(3)[each.argmax(axis=3)]
    weights = rng.random(N_TREES)
    stages = [0, 1, 4, N_TREES]
    for hard, values in ((False, each), (True, votes)):
        for tree_weights in (None, weights):
            terms = values * (1.0 if tree_weights is None else weights[:, None, None])
            expected = [np.add.reduce(terms[:, :n], axis=1, initial=0.0) for n in stages]
            found = forest.predict(table, hard=hard, tree_weights=tree_weights, stages=stages)
            np.testing.assert_allclose(
                found, np.array(expected).reshape(found.shape), rtol=1e-13, atol=1e-13
            )
            last = forest.predict(table, hard=hard, tree_weights=tree_weights)
            np.testing.assert_array_equal(last, found[-1])


def test_impurity_decreases_are_those_of_the_nodes(rng):
    forest, *_ = grow(rng, "squared_error", plan=plan_rows(N_ROWS, 3).plan)
    found = forest.impurity_decreases(n_threads=2)
    assert found.shape == (N_TREES, 6)
    for index in range(N_TREES):
        tree = forest.tree(index).arrays()
        total = tree["weight"][0]
        part = tree["weight"] / total * tree["impurity"]
        leaves = tree["first_child"] == 0
        np.testing.assert_allclose(found[index].sum(), part[0] - part[leaves].sum(), rtol=1e-9)
        only = np.flatnonzero(tree["feature_and_flags"][~leaves] & 0xFFFFFF == 0)
        assert (found[index, 0] > 0) == (len(only) > 0)


def test_a_pure_forest_takes_less_than_thirty_bytes_a_node(rng):
    table = _core.Table.from_matrix(rng.normal(size=(5000, 10)))
    dataset = _core.BinnedDataset(table)
    classes = rng.integers(0, 2, (5000, 1)).astype(np.int32)
    forest = _core.grow_forest(
        dataset, 3, classes=classes, n_classes=[2], plan=plan_rows(5000, 0).plan
    )
    assert forest.n_bytes <= 30 * forest.node_counts().sum()
    assert np.array_equal(forest.leaf_counts() * 2 - 1, forest.node_counts())


# --- rows that trees have learnt from or left out ---


def sampled(rng, criterion="gini", **more):
    """A forest with its sampler, table and target."""
    sampler = plan_rows(N_ROWS, 3)
    forest, table, _, arguments = grow(rng, criterion, plan=sampler.plan, **more)
    target = {name: arguments[name] for name in ("classes", "reals") if name in arguments}
    return forest, table, sampler, target


def left_out(sampler, tree, weights):
    return np.flatnonzero((sampler.counts(tree) == 0) & (weights > 0))


def losses_of(values, target, loss="error"):
    """Loss of each row's values (n_rows x n_values), mean over the outputs."""
    if "reals" in target:
        return ((values - target["reals"]) ** 2).mean(axis=1)
    classes = target["classes"]
    shares = values.reshape(len(values), classes.shape[1], 3)
    if loss == "error":
        return (shares.argmax(axis=2) != classes).mean(axis=1)
    return ((shares - np.eye(3)[classes]) ** 2).sum(axis=2).mean(axis=1)


@pytest.mark.parametrize("hard", [False, True])
@pytest.mark.parametrize("n_outputs", [1, 2])
@pytest.mark.parametrize("criterion", ["gini", "squared_error", "absolute_error"])
def test_left_out_rows_are_judged_by_trees_that_did_not_see_them(rng, criterion, n_outputs, hard):
    if hard and criterion != "gini":
        return
    forest, table, sampler, target = sampled(
        rng, criterion, n_outputs=n_outputs, settings={"max_depth": 4}
    )
    weights = make_weight("parts", rng, N_ROWS)
    each = forest.predict_each(table)
    votes = each
    if hard:
        shares = each.reshape(N_ROWS, N_TREES, n_outputs, 3)
        votes = np.eye(3)[shares.argmax(axis=3)].reshape(each.shape)
    sums, counts = np.zeros((N_ROWS, forest.n_values)), np.zeros(N_ROWS, np.uint32)
    losses, totals = np.zeros(N_TREES), np.zeros(N_TREES)
    for tree in range(N_TREES):
        rows = left_out(sampler, tree, weights)
        sums[rows] += votes[rows, tree]
        counts[rows] += 1
        loss = losses_of(each[:, tree], target)[rows]
        losses[tree], totals[tree] = np.average(loss, weights=weights[rows]), weights[rows].sum()
    for n_threads in (1, 3):
        found, n_votes = np.zeros_like(sums), np.zeros_like(counts)
        parts = [
            forest.add_out_of_bag(
                table,
                sampler.plan,
                row_seed(sampler.seed),
                found,
                n_votes,
                begin=begin,
                end=end,
                weights=weights,
                hard=hard,
                n_threads=n_threads,
                **target,
            )
            for begin, end in ((0, 3), (3, None))
        ]
        np.testing.assert_array_equal(found, sums)
        np.testing.assert_array_equal(n_votes, counts)
        np.testing.assert_allclose(np.concatenate([part[0] for part in parts]), losses, rtol=1e-12)
        np.testing.assert_allclose(np.concatenate([part[1] for part in parts]), totals, rtol=1e-12)


def test_out_of_bag_needs_arrays_that_fit(rng):
    forest, table, sampler, target = sampled(rng)
    sums, votes = np.zeros((N_ROWS, 3)), np.zeros(N_ROWS, np.uint32)
    arguments = (table, sampler.plan, 0)
    with pytest.raises(ValueError, match="sums must be"):
        forest.add_out_of_bag(*arguments, np.zeros((N_ROWS, 2)), votes, **target)
    with pytest.raises(TypeError):
        forest.add_out_of_bag(*arguments, np.zeros((N_ROWS, 3), np.float32), votes, **target)
    with pytest.raises(ValueError, match="either classes or reals"):
        forest.add_out_of_bag(*arguments, sums, votes)
    with pytest.raises(ValueError, match="not what the forest"):
        forest.add_out_of_bag(*arguments, sums, votes, reals=np.zeros((N_ROWS, 3)))
    with pytest.raises(IndexError):
        forest.add_out_of_bag(*arguments, sums, votes, begin=3, end=2, **target)
    with pytest.raises(ValueError, match="plan must be for the rows"):
        forest.add_out_of_bag(table, plan_rows(7, 0).plan, 0, sums, votes, **target)


class Circle:
    """The stand-ins of a tree's left out rows, drawn as the engine draws them."""

    def __init__(self, rows, key, n_groups):
        self.key, self.counter = key, 0
        self.rows = rows.copy()
        for i in range(len(rows), 1, -1):
            j = self.below(i)
            self.rows[i - 1], self.rows[j] = self.rows[j], self.rows[i - 1]
        self.shifts = [1 + self.below(len(rows) - 1) for _ in range(n_groups)]

    def below(self, bound):
        x = (self.key + 0x9E3779B97F4A7C15 * self.counter) % 2**64
        self.counter += 1
        x = (x + 0x9E3779B97F4A7C15) % 2**64
        x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) % 2**64
        x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) % 2**64
        x ^= x >> 31
        return ((x >> 32) * bound) >> 32  # rejection is out of reach of these bounds


def real_table(rng):
    X = np.round(rng.normal(size=(N_ROWS, 5)), 1)
    X[rng.random(X.shape) < 0.1] = np.nan
    return X


@pytest.mark.parametrize("loss", ["error", "brier", "squared_error"])
@pytest.mark.parametrize("grouped", [False, True])
def test_permuted_features_cost_what_a_permuted_table_costs(rng, loss, grouped):
    X = real_table(rng)
    table = _core.Table.from_matrix(X)
    criterion = "squared_error" if loss == "squared_error" else "gini"
    target = target_of(criterion, rng)
    sampler, weights = plan_rows(N_ROWS, 3), make_weight("parts", rng, N_ROWS)
    forest = _core.grow_forest(
        _core.BinnedDataset(table),
        N_TREES,
        **target,
        plan=sampler.plan,
        row_seed=row_seed(3),
        settings={"criterion": criterion, "max_depth": 6},
    )
    target.pop("n_classes", None)
    groups = np.array([0, 1, 0, 2, 1] if grouped else range(5), np.uint32)  # group 2: never
    n_groups = 2 if grouped else 5
    expected = np.zeros((N_TREES, n_groups))
    for tree in range(N_TREES):
        rows = left_out(sampler, tree, weights)
        circle = Circle(rows, _core.derive_key(11, tree), n_groups)
        before = losses_of(forest.tree(tree).predict(table), target, loss)
        for group in range(n_groups):
            permuted = X.copy()
            donors = np.roll(circle.rows, -circle.shifts[group])
            columns = np.flatnonzero(groups == group)
            permuted[circle.rows[:, None], columns] = X[donors[:, None], columns]
            values = forest.tree(tree).predict(_core.Table.from_matrix(permuted))
            after = losses_of(values, target, loss)
            expected[tree, group] = np.average((after - before)[rows], weights=weights[rows])
    for n_threads in (1, 2):
        increases, losses, totals = forest.permute_features(
            table,
            sampler.plan,
            row_seed(3),
            groups=groups,
            n_groups=n_groups,
            seed=11,
            loss=loss,
            weights=weights,
            n_threads=n_threads,
            **target,
        )
        np.testing.assert_allclose(increases, expected, rtol=1e-9, atol=1e-12)
        assert np.abs(expected).max() > 0.01
        assert totals.shape == losses.shape == (N_TREES,)


def test_permuting_reads_integers_and_categories_too(rng):
    forest, table, sampler, target = sampled(rng)
    groups = np.arange(6, dtype=np.uint32)
    arguments = {"groups": groups, "n_groups": 6, "seed": 1, "loss": "error", **target}
    increases, _, _ = forest.permute_features(table, sampler.plan, row_seed(3), **arguments)
    used = forest.impurity_decreases() > 0
    assert (increases[~used] == 0).all()
    assert (np.abs(increases).sum(axis=0) > 0).all()
    with pytest.raises(ValueError, match="loss must be"):
        forest.permute_features(table, sampler.plan, 0, **{**arguments, "loss": "squared_error"})
    with pytest.raises(ValueError, match="one entry a feature"):
        forest.permute_features(table, sampler.plan, 0, **{**arguments, "groups": groups[:3]})
    with pytest.raises(ValueError, match="up to n_groups"):
        forest.permute_features(table, sampler.plan, 0, **{**arguments, "n_groups": 3})


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("bootstrap", [False, True])
def test_quantiles_are_those_of_the_weights_of_training_rows(rng, weighted, bootstrap):
    sampler = plan_rows(N_ROWS, 3) if bootstrap else None
    plan = sampler.plan if sampler else None
    weights = make_weight("parts", rng, N_ROWS) if weighted else None
    forest, table, _, arguments = grow(
        rng, "squared_error", plan=plan, weights=weights, settings={"min_rows_leaf": 3}
    )
    y = arguments["reals"][:, 0]
    members = forest.leaf_members(table, plan, row_seed(3), weights=weights, n_threads=2)
    assert members[0][-1] == len(members[1])
    new = make_table(rng, 50)
    training, asked = forest.apply(table), forest.apply(new)
    shares = np.zeros((50, N_ROWS))
    factor = np.ones(N_ROWS) if weights is None else weights
    for tree in range(N_TREES):
        counts = factor * (sampler.counts(tree) if sampler else 1)
        together = (asked[:, tree, None] == training[:, tree]) * counts
        shares += together / together.sum(axis=1, keepdims=True) / N_TREES
    order = np.argsort(y)
    below = np.cumsum(shares[:, order], axis=1)
    quantiles = np.array([0.9, 0.0, 0.5, 0.05, 1.0])
    for n_threads in (1, 2):
        found = forest.predict_quantiles(
            new, members, y, quantiles, weights=weights, n_threads=n_threads
        )
        for column, quantile in enumerate(quantiles):
            reached = (below >= quantile - 1e-12) & (shares[:, order] > 0)
            np.testing.assert_array_equal(found[:, column], y[order[reached.argmax(axis=1)]])


def test_members_that_do_not_fit_are_refused(rng):
    forest, table, *_ = grow(rng, "squared_error")
    y, quantiles = np.zeros(N_ROWS), np.array([0.5])
    offsets, rows, counts = forest.leaf_members(table)
    assert len(counts) == 0
    with pytest.raises(ValueError, match="offsets"):
        forest.predict_quantiles(table, (offsets[:-1], rows, counts), y, quantiles)
    with pytest.raises(ValueError, match="not a training row"):
        forest.predict_quantiles(table, (offsets, rows, counts), y[:5], quantiles)
    with pytest.raises(ValueError, match=r"\[0, 1\]"):
        forest.predict_quantiles(table, (offsets, rows, counts), y, np.array([1.5]))
    with pytest.raises(ValueError, match="counts"):
        forest.predict_quantiles(table, (offsets, rows, rows[:3]), y, quantiles)


# --- files ---


def forms(rng):
    """Forests of each form in which leaves are stored."""
    plan = plan_rows(N_ROWS, 3).plan
    weight = make_weight("parts", rng, N_ROWS)
    fan_out = {"fan_out_categories": True}
    yield "counts", grow(rng, plan=plan)
    yield "counts of outputs", grow(rng, plan=plan, n_outputs=2, settings=fan_out)
    yield "shares", grow(rng, plan=plan, weights=weight)
    yield "balanced", grow(rng, plan=plan, balance_classes=True, settings={"max_depth": 3})
    yield "means", grow(rng, "squared_error", plan=plan, n_outputs=2)
    yield "rates", grow(rng, "poisson", weights=weight, settings={"min_rows_leaf": 4})
    yield "medians", grow(rng, "absolute_error", plan=plan)
    yield (
        "monotone",
        grow(rng, "squared_error", plan=plan, settings={"monotonic": [1, 0, 0, 0, 0, 0]}),
    )


def test_arrays_give_the_forest_back(rng):
    for name, (forest, table, *_) in forms(rng):
        arrays = forest.arrays()
        again = _core.Forest(arrays)
        assert again.n_bytes == forest.n_bytes, name
        for index in range(N_TREES):
            assert_same_arrays(again.tree(index).arrays(), forest.tree(index).arrays())
        np.testing.assert_array_equal(again.predict(table), forest.predict(table))
        np.testing.assert_array_equal(again.apply(table), forest.apply(table))
        for key, array in again.arrays().items():
            assert array.dtype == arrays[key].dtype
            np.testing.assert_array_equal(array, arrays[key])


def test_arrays_of_random_trees_predict_the_same(rng):
    forest, _ = forest_of_random_trees(rng)
    table = table_of(random_columns(rng, 200), np.float64)
    pruned, own_table, *_ = grow(rng, ccp_alpha=1e-3)
    for each, rows in ((forest, table), (pruned, own_table)):
        again = _core.Forest(each.arrays())
        np.testing.assert_array_equal(again.predict_each(rows), each.predict_each(rows))


def test_a_stored_binary_forest_takes_less_than_ten_bytes_a_node(rng):
    table = _core.Table.from_matrix(rng.normal(size=(5000, 28)))
    dataset = _core.BinnedDataset(table)
    plan = plan_rows(5000, 0).plan
    y = rng.integers(0, 2, (5000, 1)).astype(np.int32)
    forest = _core.grow_forest(dataset, 3, classes=y, n_classes=[2], plan=plan)
    size = sum(array.nbytes for array in forest.arrays().values())
    assert size < 10 * forest.node_counts().sum()
    reals = rng.normal(size=(5000, 1))
    settings = {"criterion": "squared_error"}
    forest = _core.grow_forest(dataset, 3, reals=reals, plan=plan, settings=settings)
    size = sum(array.nbytes for array in forest.arrays().values())
    assert size < 16 * forest.node_counts().sum()


def spoiled(rng, arrays):
    """A copy with one array cut, lengthened, of another type, or with other numbers in it."""
    names = [name for name, array in arrays.items() if len(array)]
    name = names[rng.integers(len(names))]
    array = arrays[name].copy()
    choice = rng.integers(5)
    if choice == 0:
        array = array[: rng.integers(len(array))]
    elif choice == 1:
        array = np.concatenate([array, array[: 1 + rng.integers(len(array))]])
    elif choice == 2:
        array = array.astype([np.float32, np.int64, np.uint64, np.float64][rng.integers(4)])
    else:
        bits = array.view(np.uint8)
        for _ in range(rng.integers(1, 4)):
            bits[rng.integers(len(bits))] = rng.integers(256)
    return {**arrays, name: array}


def test_spoiled_arrays_are_refused_or_harmless(rng):
    n_refused = 0
    for _, (forest, table, *_) in forms(rng):
        arrays = forest.arrays()
        for _ in range(150):
            try:
                again = _core.Forest(spoiled(rng, arrays))
                sums = again.predict(table)
                again.arrays()
            except ValueError:
                n_refused += 1
                continue
            assert np.isfinite(sums).all()
    assert n_refused > 400


def test_missing_and_foreign_entries_are_named(rng):
    arrays = grow(rng)[0].arrays()
    without = {name: array for name, array in arrays.items() if name != "splits"}
    with pytest.raises(ValueError, match="no entry splits"):
        _core.Forest(without)
    with pytest.raises(ValueError, match="unknown format"):
        _core.Forest({**arrays, "header": np.array([9, 0, 0, 3])})
    counts = arrays["class_counts"]
    with pytest.raises(ValueError, match="class_counts ends too early"):
        _core.Forest({**arrays, "class_counts": counts[:-1]})


def test_trees_with_too_many_nodes_and_features_for_narrow_links(rng):
    n_features, n_splits = 2**17, 2**13
    builder = TreeBuilder()
    for node in range(n_splits):
        feature = int(rng.integers(n_features))
        builder.split(node, feature, REAL, rng.normal(), missing_left=bool(rng.integers(2)))
    tree = finish(builder, rng, [0] * n_features)
    forest = _core.Forest.from_trees([tree] * 4, "squared_error", [], keep_all=True)
    column = rng.normal(size=300)
    column[rng.random(300) < 0.1] = np.nan
    X = np.lib.stride_tricks.sliding_window_view(
        np.broadcast_to(column, (n_features // 250 + 1, 300)).ravel(), n_features
    )[:300]
    table = _core.Table.from_matrix(X)
    leaves = tree.predict(table)
    np.testing.assert_array_equal(forest.predict_each(table)[:, 3], leaves)


# --- hostile arrays and extremes ------------------------------------------------------------------


def small_forest():
    dataset = _core.BinnedDataset(_core.Table.from_matrix(np.zeros((2, 1))))
    return _core.grow_forest(
        dataset, 1, reals=np.array([[0.0], [1.0]]), settings={"criterion": "squared_error"}
    )


def arrays_with(header, kinds, **arrays):
    """The arrays of a forest, empty but for those given."""
    empty = dict.fromkeys(small_forest().arrays(), np.empty(0, np.uint8))
    given = {name: np.array(values, np.uint32) for name, values in arrays.items()}
    return empty | {"header": np.array(header), "kinds": np.array(kinds, np.uint8)} | given


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        (
            arrays_with(
                [1, 3, 1, 1],
                [2],
                node_counts=[1],
                splits=[3],
                category_data=[0, 0, 0],
                value_counts=[0],
            ),
            "fewer than two children",
        ),
        (
            arrays_with(
                [1, 0, 0, 2**31 - 1], [0], n_classes=[2**31 - 1], node_counts=[1], splits=[0]
            ),
            "class_counts ends too early",
        ),
        (arrays_with([1, 3, 1, 1], [0]), "at least one tree"),
    ],
    ids=["fan-out without children", "room for billions", "no trees"],
)
def test_hostile_arrays_are_refused(arrays, message):
    with pytest.raises(ValueError, match=message):
        _core.Forest(arrays)


def test_a_forest_without_classes_in_an_output_is_refused(rng):
    forest, *_ = grow(rng)
    with pytest.raises(ValueError, match="at least one class"):
        _core.Forest.from_trees([forest.tree(0)], "gini", [3, 0])


@pytest.mark.parametrize("offset", [0.0, 1e9, 1e12])
def test_impurities_keep_their_digits_far_from_zero(rng, offset):
    table = _core.Table.from_matrix(rng.normal(size=(200, 3)))
    dataset = _core.BinnedDataset(table)
    reals = (offset + rng.normal(size=200)).reshape(-1, 1)
    settings = {"criterion": "squared_error", "seed": _core.derive_key(0, 0)}
    alone = _core.grow_tree(dataset, reals=reals, settings=settings, use_records=True)
    forest = _core.grow_forest(dataset, 1, reals=reals, settings=settings)
    again = _core.Forest(forest.arrays())
    for tree in (forest.tree(0), again.tree(0)):
        np.testing.assert_array_equal(tree.arrays()["impurity"], alone.arrays()["impurity"])


def test_samples_beyond_31_bits_are_refused(rng):
    dataset = _core.BinnedDataset(_core.Table.from_matrix(rng.normal(size=(200, 1))))
    plan = plan_rows(200, 0, max_samples=30_000_000, groups=np.arange(200) % 2).plan
    classes = (np.arange(200) % 2).astype(np.int32).reshape(-1, 1)
    with pytest.raises(ValueError, match="max_samples: a sample must have less than"):
        _core.grow_forest(dataset, 1, classes=classes, n_classes=[2], plan=plan)
