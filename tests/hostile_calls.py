"""A sound call of everything that `_core` has, by name: the start of hostile ones.

`CALLS[name]()` makes a world of its own and returns a function, its arguments by name, and the
types of objects that arguments are. Arrays have 12 rows; columns are two reals, integers beyond
2**53 and a category of three levels.
"""

import numpy as np

from committee import _core

N_ROWS = 12
N_LEVELS = [0, 0, 0, 3]
KINDS = [0, 0, 1, 2]


def group_of(name):
    """The class that a name belongs to, or "functions"."""
    owner = name.split(".")[0]
    return owner if isinstance(getattr(_core, owner), type) else "functions"


def table(n_rows=N_ROWS):
    rng = np.random.default_rng(0)
    numbers = rng.normal(size=(n_rows, 2))
    numbers[::5, 1] = np.nan
    made = _core.Table(n_rows)
    made.add_column(0, numbers[:, 0])
    made.add_column(0, numbers[:, 1])
    made.add_column(1, 2**60 + np.arange(n_rows), np.arange(n_rows) % 4 == 3)
    made.add_column(2, (np.arange(n_rows) % 4 - 1).astype(np.int32))
    return made


def dataset(n_rows=N_ROWS, exact=False):
    return _core.BinnedDataset(table(n_rows), None, N_LEVELS, exact=exact)


def reals(n_rows=N_ROWS):
    return np.random.default_rng(1).gamma(1.0, size=(n_rows, 1)) + 0.1


def codes(n_rows=N_ROWS):
    return (np.arange(n_rows) * 5 % 7 % 3).astype(np.int32)


def weights(n_rows=N_ROWS):
    return np.linspace(0.5, 2.0, n_rows)


def counts(n_rows=N_ROWS):
    return np.ones(n_rows, np.uint32)


def flags(n_rows=N_ROWS):
    return (codes(n_rows) > 0).astype(np.uint8)


def of_classes():
    return {"classes": codes()[:, None], "n_classes": [3]}


def settings():
    """Every setting of a tree, at a value that lets it grow."""
    return {
        "criterion": "gini",
        "max_depth": 9,
        "max_leaf_nodes": 9,
        "min_rows_split": 2,
        "min_rows_leaf": 1,
        "min_weight_leaf": 0.1,
        "min_impurity_decrease": 0.0,
        "max_features": 4,
        "count_constant": True,
        "shuffle_features": True,
        "allowed": [0, 1, 2, 3],
        "random_thresholds": False,
        "fan_out_categories": False,
        "level_penalty": 0.0,
        "monotonic": [],
        "seed": 1,
        "n_threads": 2,
    }


def tree():
    return _core.grow_tree(dataset(), **of_classes(), settings={"criterion": "gini"})


def regression_tree():
    return _core.grow_tree(dataset(), reals=reals(), settings={"criterion": "squared_error"})


def forest(n_trees=3):
    return _core.grow_forest(dataset(), n_trees, **of_classes(), settings={}, plan=plan())


def regression_forest():
    return _core.grow_forest(dataset(), 2, reals=reals(), settings={"criterion": "squared_error"})


def plan(n_rows=N_ROWS):
    return _core.SamplingPlan(n_rows, [(np.arange(n_rows, dtype=np.uint32), n_rows)])


def booster():
    return _core.Booster(dataset())


def boosted():
    """A booster and the tree it has grown."""
    made = booster()
    return made, made.grow(reals()[:, 0] - 1)


def rows(n_rows=N_ROWS):
    return _core.BoostedRows(codes(n_rows), 3)


def quinlan_tree():
    return _core.grow_quinlan(dataset(exact=True), **of_classes())[0]


# What else an argument of a type may be, sound by itself.
OTHERS = {
    _core.Table: {
        "no rows": lambda: table(0),
        "5 rows": lambda: table(5),
        "no columns": lambda: _core.Table(N_ROWS),
        "rows without end": lambda: _core.Table(2**63 - 1),
        "reals only": lambda: _core.Table.from_matrix(np.zeros((N_ROWS, 4))),
        "one column": lambda: _core.Table.from_matrix(np.zeros((N_ROWS, 1))),
    },
    _core.BinnedDataset: {
        "no rows": lambda: dataset(0),
        "5 rows": lambda: dataset(5),
        "exact": lambda: dataset(exact=True),
        "no columns": lambda: _core.BinnedDataset(_core.Table(N_ROWS)),
        "levels not declared": lambda: _core.BinnedDataset(table()),
        "rows without weight": lambda: _core.BinnedDataset(table(), np.zeros(N_ROWS), N_LEVELS),
    },
    _core.Tree: {
        "of numbers": regression_tree,
        "of boosting": lambda: boosted()[1],
        "after Quinlan": quinlan_tree,
        "of one column": lambda: _core.grow_tree(
            _core.BinnedDataset(_core.Table.from_matrix(reals())),
            reals=reals(),
            settings={"criterion": "squared_error"},
        ),
    },
    _core.Forest: {"of numbers": regression_forest, "without trees": lambda: forest(0)},
    _core.SamplingPlan: {
        "5 rows": lambda: plan(5),
        "no rows": lambda: plan(0),
        "without replacement": lambda: _core.SamplingPlan(
            N_ROWS, [(np.arange(N_ROWS, dtype=np.uint32), 4)], with_replacement=False
        ),
        "dealt": lambda: _core.SamplingPlan(
            N_ROWS, [(np.arange(N_ROWS, dtype=np.uint32), 0)], n_portions=3
        ),
    },
    _core.BoostedRows: {"5 rows": lambda: rows(5)},
    _core.Booster: {},
    _core.StumpBooster: {},
    _core.NetShape: {
        "of one feature": lambda: _core.NetShape(
            [(0, 2)], np.zeros(2, np.float32), n_units=16, n_layers=0, n_members=1, n_outputs=2
        )
    },
}

CALLS = {}


def call(name):
    def keep(make):
        CALLS[name] = make
        return make

    return keep


def given(name, make, **arguments):
    """Arguments that are functions are called, for a world of its own."""

    def world():
        return make(), {key: v() if callable(v) else v for key, v in arguments.items()}

    CALLS[name] = world


def method(name, owner, **arguments):
    given(name, lambda: getattr(owner(), name.split(".")[1]), **arguments)


def function(name, **arguments):
    given(name, lambda: getattr(_core, name), **arguments)


def value_of(name, owner):
    """An attribute that is no method."""

    def world():
        made = owner()
        return (lambda: getattr(made, name.split(".")[1])), {}

    CALLS[name] = world


# ---- tables and datasets ----

function("Table", n_rows=N_ROWS)
given(
    "Table.add_column",
    lambda: table().add_column,
    kind=1,
    values=lambda: np.arange(N_ROWS),
    mask=lambda: flags(),
)
given("Table.from_matrix", lambda: _core.Table.from_matrix, matrix=reals)
given(
    "Table.from_sparse",
    lambda: _core.Table.from_sparse,
    n_rows=N_ROWS,
    begins=lambda: np.array([0, 2, 3], np.int64),
    rows=lambda: np.array([0, 2, 1], np.int32),
    values=lambda: np.ones(3),
)
method("Table.add_from", table, table=table, feature=1)
method("Table.levels", table, feature=3)
method(
    "Table.row_keys",
    table,
    keys=lambda: np.arange(N_ROWS, dtype=np.uint64),
    level_keys=lambda: [[], [], [], [5, 6, 7]],
    n_threads=2,
)
for attribute in ("n_rows", "n_features", "kinds", "has_sparse"):
    value_of(f"Table.{attribute}", table)

function(
    "BinnedDataset",
    table=table,
    weights=weights,
    n_levels=lambda: list(N_LEVELS),
    max_bins=255,
    exact=False,
    n_threads=2,
    progress=lambda: lambda done: None,
)
method(
    "BinnedDataset.take",
    dataset,
    table=lambda: table(5),
    rows=lambda: np.arange(5),
    n_threads=2,
)
for name in ("codes", "n_codes", "has_missing"):
    method(f"BinnedDataset.{name}", dataset, feature=3)
for attribute in ("n_rows", "n_features"):
    value_of(f"BinnedDataset.{attribute}", dataset)

function(
    "ordered_means",
    levels=lambda: codes() - 1,
    n_levels=2,
    order=lambda: np.arange(N_ROWS, dtype=np.uint32)[::-1].copy(),
    targets=lambda: reals()[:, 0],
    weights=weights,
    smoothing=1.0,
)
function(
    "group_quantiles",
    values=lambda: reals()[:, 0],
    groups=lambda: codes().astype(np.uint32),
    n_groups=3,
    share=0.5,
    weights=weights,
)
function(
    "row_matches",
    left=lambda: np.eye(N_ROWS, dtype=np.uint8),
    right=lambda: np.eye(N_ROWS, dtype=np.uint8),
    n_threads=2,
)
function(
    "pairs_in_order",
    values=lambda: reals().T.copy(),
    second=weights,
    first=weights,
    n_threads=2,
)
function("row_sums", left=reals, right=reals, kind="product", upper_only=False, n_threads=2)

# ---- trees ----

function(
    "grow_tree",
    dataset=dataset,
    **of_classes(),
    weights=weights,
    counts=counts,
    settings=settings,
    progress=lambda: lambda done: None,
    use_records=False,
)
for attribute in ("n_features", "kinds", "n_nodes", "n_values"):
    value_of(f"Tree.{attribute}", tree)
for name in ("arrays", "depths", "pruning_path"):
    method(f"Tree.{name}", tree)
for name in ("predict", "apply", "contributions"):
    method(f"Tree.{name}", tree, table=table, n_threads=2)
method("Tree.decision_path", tree, table=table)
method("Tree.prune", tree, alpha=0.01)
given(
    "Tree",
    lambda: _core.Tree,
    n_features=4,
    kinds=lambda: list(KINDS),
    arrays=lambda: dict(tree().arrays()),
)

function(
    "grow_quinlan",
    dataset=lambda: dataset(exact=True),
    **of_classes(),
    weights=weights,
    settings=lambda: {
        "use_ratio": True,
        "corrects_thresholds": True,
        "groups_levels": False,
        "min_weight_leaf": 1.0,
        "min_weight_split": 2.0,
        "min_gain": 0.0,
        "max_depth": 9,
        "prunes": True,
        "raises": True,
        "confidence": 0.25,
        "deviate": 0.7,
        "records": True,
        "n_threads": 2,
    },
    progress=lambda: lambda done: None,
)
for name in ("predict_shares", "apply_shares"):
    function(name, tree=quinlan_tree, table=table, n_threads=2)
function("share_path", tree=quinlan_tree, table=table)
function("node_branches", tree=quinlan_tree, table=table, node=0)
function(
    "interval_cuts",
    dataset=lambda: dataset(exact=True),
    feature=0,
    **of_classes(),
    weights=weights,
)
function(
    "nominal_codes", table=table, feature=0, cuts=lambda: np.array([-0.5, 0.5]), missing_level=3
)

# ---- forests ----

function(
    "SamplingPlan",
    n_rows=N_ROWS,
    strata=lambda: [(np.arange(6, dtype=np.uint32), 3)],
    unit_of_row=lambda: np.repeat(np.arange(6, dtype=np.uint32), 2),
    unit_weights=lambda: np.linspace(0.5, 1, 6),
    with_replacement=True,
    n_portions=0,
)
method("SamplingPlan.draw", plan, seed=1, index=2)
value_of("SamplingPlan.n_rows", plan)
function("derive_key", key=1, index=2)

function(
    "grow_forest",
    dataset=dataset,
    n_trees=2,
    **of_classes(),
    weights=weights,
    counts=None,
    settings=settings,
    first_tree=0,
    tree_seed=1,
    plan=plan,
    row_seed=2,
    feature_plan=lambda: plan(4),
    feature_seed=3,
    balance_classes=True,
    ccp_alpha=0.0,
    use_records=True,
    n_threads=2,
    progress=lambda: lambda done: None,
)
for attribute in ("n_trees", "has_leaf_masks", "n_features", "n_values", "n_bytes"):
    value_of(f"Forest.{attribute}", forest)
for name in ("arrays", "node_counts", "leaf_counts"):
    method(f"Forest.{name}", forest)
method("Forest.part", forest, begin=1, end=2)
method("Forest.tree", forest, index=1)
method("Forest.impurity_decreases", forest, n_threads=2)
given(
    "Forest.from_trees",
    lambda: _core.Forest.from_trees,
    trees=lambda: [tree(), tree()],
    criterion="gini",
    n_classes=lambda: [3],
    keep_all=True,
)
given("Forest.join", lambda: _core.Forest.join, forests=lambda: [forest(), forest()])
given("Forest", lambda: _core.Forest, arrays=lambda: dict(forest().arrays()))
method(
    "Forest.predict",
    forest,
    table=table,
    hard=True,
    tree_weights=lambda: np.ones(3),
    stages=lambda: [1, 3],
    n_threads=2,
)
method("Forest.predict_each", forest, table=table, n_threads=2)
method("Forest.apply", forest, table=table, leaf_numbers=True, n_threads=2)
method(
    "Forest.contributions",
    forest,
    table=table,
    hard=False,
    tree_weights=lambda: np.ones(3),
    n_threads=2,
)
method(
    "Forest.add_out_of_bag",
    forest,
    table=table,
    plan=plan,
    row_seed=0,
    sums=lambda: np.zeros((N_ROWS, 3)),
    n_votes=lambda: np.zeros(N_ROWS, np.uint32),
    begin=0,
    end=3,
    classes=lambda: codes()[:, None],
    weights=weights,
    hard=False,
    n_threads=2,
    progress=lambda: lambda done: None,
)
method(
    "Forest.permute_features",
    forest,
    table=table,
    plan=plan,
    row_seed=0,
    groups=lambda: np.array([0, 1, 1, 2], np.uint32),
    n_groups=2,
    seed=4,
    loss="brier",
    classes=lambda: codes()[:, None],
    weights=weights,
    n_threads=2,
    progress=lambda: lambda done: None,
)
method(
    "Forest.leaf_members",
    forest,
    table=table,
    plan=plan,
    row_seed=0,
    weights=weights,
    n_threads=2,
    progress=lambda: lambda done: None,
)
method(
    "Forest.predict_quantiles",
    regression_forest,
    table=table,
    members=lambda: regression_forest().leaf_members(table()),
    targets=lambda: reals()[:, 0],
    quantiles=lambda: np.array([0.1, 0.5]),
    weights=weights,
    n_threads=2,
    progress=lambda: lambda done: None,
)

# ---- boosting ----

function(
    "log_loss_gradients",
    target=flags,
    scores=lambda: np.zeros(N_ROWS),
    gradients=lambda: np.zeros(N_ROWS),
    hessians=lambda: np.zeros(N_ROWS),
    weights=lambda: np.ones(N_ROWS),
    n_threads=2,
)
function(
    "squared_error_gradients",
    target=lambda: reals()[:, 0],
    scores=lambda: np.zeros(N_ROWS),
    gradients=lambda: np.zeros(N_ROWS),
    weights=lambda: np.ones(N_ROWS),
    n_threads=2,
)
function("log_loss_shares", scores=lambda: reals()[:, 0], n_threads=2)
function(
    "log_losses",
    target=flags,
    scores=lambda: np.zeros(N_ROWS),
    losses=lambda: np.zeros(N_ROWS),
    n_threads=2,
)
function(
    "multinomial_losses",
    classes=codes,
    scores=lambda: np.zeros((N_ROWS, 3), order="F"),
    losses=lambda: np.zeros(N_ROWS),
    n_threads=2,
)
function(
    "multinomial_gradients",
    classes=codes,
    scores=lambda: np.zeros((N_ROWS, 3), order="F"),
    gradients=lambda: np.zeros((N_ROWS, 3), order="F"),
    hessians=lambda: np.zeros((N_ROWS, 3), order="F"),
    weights=lambda: np.ones(N_ROWS),
    n_threads=2,
)
function(
    "Booster",
    dataset=dataset,
    settings=lambda: {
        "max_leaf_nodes": 9,
        "max_depth": 9,
        "min_rows_split": 2,
        "min_rows_leaf": 1,
        "min_child_weight": 0.1,
        "l1": 0.0,
        "l2": 1.0,
        "min_gain": 0.0,
        "growth": "best",
        "features_per_tree": 4,
        "features_per_level": 4,
        "features_per_node": 4,
        "monotonic": [1, 0, -1, 0],
        "interactions": [[0, 1], [2, 3]],
        "category_smoothing": 10.0,
    },
    weights=weights,
    n_threads=2,
)
method(
    "Booster.grow",
    booster,
    gradients=lambda: reals()[:, 0] - 1,
    hessians=weights,
    learning_rate=0.1,
    seed=1,
    sample=flags,
    progress=lambda: lambda done: None,
)
method("Booster.weigh", booster, weights=weights)
method("Booster.leaves", lambda: boosted()[0])


@call("Booster.add_to")
def add_to():
    made, grown = boosted()
    return made.add_to, {"tree": grown, "scores": np.zeros(N_ROWS), "n_threads": 2}


@call("Booster.with_leaf_values")
def with_leaf_values():
    grown = boosted()[1]
    return _core.Booster.with_leaf_values, {"tree": grown, "values": np.ones(grown.n_nodes)}


# ---- AdaBoost ----

function("BoostedRows", classes=codes, n_classes=3, weights=weights, n_threads=2)
groups = {"groups": lambda: codes().astype(np.uint32)}
method("BoostedRows.shares", rows, **groups, n_groups=3)
method("BoostedRows.reweigh", rows, **groups, factors=lambda: np.ones((3, 3)), growth=1.0)
method("BoostedRows.add_votes", rows, **groups, votes=lambda: np.ones((3, 3)))
for name in ("distribution", "scores"):
    method(f"BoostedRows.{name}", rows)
function(
    "StumpBooster",
    dataset=dataset,
    rows=rows,
    criterion="gini",
    level_penalty=0.5,
    n_threads=2,
)
method("StumpBooster.find", lambda: _core.StumpBooster(dataset(), rows()))

# ---- text ----

CSV = b'a;b;c\n1,5;2024-01-31;x\n?;;y\n7;2024-02-01;"q\nr"\n'


def cells():
    return _core.CsvCells(CSV, ";")


function("CsvCells", text=CSV, delimiter=";", begin=0, has_header=True, n_threads=2)
for attribute in ("n_rows", "n_columns", "header", "fault"):
    value_of(f"CsvCells.{attribute}", cells)
method("CsvCells.line", cells, row=1)
method("CsvCells.cell", cells, row=1, column=2)
method(
    "CsvCells.numbers", cells, columns=lambda: [0], marks=lambda: ["?"], decimal=",", thousands=""
)
method("CsvCells.integers", cells, column=0, marks=lambda: ["?"], decimal=",", thousands="")
method("CsvCells.dates", cells, column=1, marks=lambda: ["?"], order="ymd")
method("CsvCells.levels", cells, column=2, trimmed=True)

# ---- nets ----


def shape():
    knots = np.array([-1.0, 0.25, 1.0, 0.0, 0.0, 0.0], np.float32)
    return _core.NetShape([(3, 4), (0, 2)], knots, n_units=16, n_layers=1, n_members=2, n_outputs=3)


def places(n_rows=N_ROWS):
    return np.column_stack([codes(n_rows) % 3, 4 + codes(n_rows) % 2]).astype(np.uint32)


def fractions(n_rows=N_ROWS):
    return np.zeros((n_rows, 2), np.float32)


def trainer():
    return _core.NetTrainer(shape(), places(), fractions(), {"seed": 1}, classes=codes())


def net():
    return _core.Net(shape(), trainer().average())


function(
    "NetShape",
    features=lambda: [(3, 4), (0, 2)],
    knots=lambda: np.array([-1.0, 0.25, 1.0, 0.0, 0.0, 0.0], np.float32),
    n_units=16,
    n_layers=1,
    n_members=2,
    n_outputs=3,
)
value_of("NetShape.n_parameters", shape)
function(
    "NetTrainer",
    shape=shape,
    codes=places,
    fractions=fractions,
    settings=lambda: {
        "batch_rows": 8,
        "weight_decay": 0.1,
        "table_decay": 0.1,
        "dropout": 0.1,
        "averaging": 0.1,
        "seed": 1,
    },
    classes=codes,
    weights=lambda: weights().astype(np.float32),
)
method(
    "NetTrainer.run_epoch",
    trainer,
    rows=lambda: np.arange(N_ROWS, dtype=np.uint32),
    learning_rate=0.1,
    n_threads=2,
)
method("NetTrainer.parameters", trainer)
method("NetTrainer.average", trainer)
function("Net", shape=shape, parameters=lambda: trainer().average())
method("Net.predict", net, codes=places, fractions=fractions, is_class=True, n_threads=2)
function("minus_logs", shares=lambda: np.linspace(0, 1, N_ROWS))

# ---- processor and threads ----

function("simd_level")
function("set_simd_level", level="auto")
function("pool_sum", n_tasks=9, n_threads=2, work_per_task=1, parts=False)
function("pool_raise", n_tasks=9, n_threads=2, first_bad=9, parts=False)
function("pool_nested", n_outer=3, n_inner=3, n_threads=2, parts=False)
function(
    "pool_sleep",
    n_tasks=2,
    n_threads=2,
    milliseconds=0,
    progress=lambda: lambda done: None,
    parts=False,
)
function("chunks", n_items=9, min_chunk=2, n_threads=2)
