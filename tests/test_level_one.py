"""Level-one data: no member predicts a row that it has seen, whatever the scheme."""

import numpy as np
import pandas as pd
import pytest
import sklearn.ensemble
from scipy import sparse
from sklearn.base import clone
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    LeaveOneGroupOut,
    LeavePOut,
    PredefinedSplit,
    RepeatedKFold,
    ShuffleSplit,
    TimeSeriesSplit,
)
from team_tools import SpyClassifier, SpyRegressor

from committee import (
    BaggingClassifier,
    BaggingRegressor,
    C45Classifier,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
    StackingClassifier,
    StackingRegressor,
    VotingClassifier,
    VotingRegressor,
    _core,
)
from committee.combining.level_one import PlanRows, plan_level_one
from committee.members import training

N_ROWS = 60


@pytest.fixture
def table(rng):
    """Row ids and noise; targets, and groups of five rows in no order."""
    X = np.column_stack([np.arange(N_ROWS), rng.normal(size=(N_ROWS, 2))])
    return X, np.arange(N_ROWS) % 2, rng.permutation(N_ROWS) // 5


SCHEMES = {
    "default": None,
    "int": 4,
    "half": 0.5,
    "little": 0.1,
    "loo": "loo",
    "time": "time",
    "oob": "oob",
    "KFold": KFold(3, shuffle=True, random_state=0),
    "RepeatedKFold": RepeatedKFold(n_splits=3, n_repeats=2, random_state=0),
    "ShuffleSplit": ShuffleSplit(4, test_size=0.3, random_state=0),
    "TimeSeriesSplit": TimeSeriesSplit(3),
    "list": [(np.arange(30), np.arange(30, 45)), (np.arange(20, 60), np.arange(5))],
    "masks": [(np.arange(N_ROWS) < 40, np.arange(N_ROWS) >= 45)],
    "generator": "generator",
}
GROUPED = {
    "int": 3,
    "half": 0.5,
    "loo": "loo",
    "oob": "oob",
    "GroupKFold": GroupKFold(4),
    "LeaveOneGroupOut": LeaveOneGroupOut(),
}


def scheme(name, schemes=SCHEMES):
    if name == "generator":
        return (pair for pair in list(KFold(3).split(np.zeros(N_ROWS))))
    return schemes[name]


def assert_nothing_seen(model, n_columns):
    assert model.level_one_.shape[1] >= n_columns
    assert np.asarray(model.level_one_)[:, :n_columns].max() == 0.0
    assert len(np.unique(model.level_one_rows_)) == len(model.level_one_rows_) > 0


@pytest.mark.parametrize("refit", [True, False])
@pytest.mark.parametrize("name", SCHEMES)
def test_no_row_is_known_to_who_is_asked_about_it(name, refit, table):
    X, y, _ = table
    for cls, spy, final in (
        (StackingRegressor, SpyRegressor(), LinearRegression()),
        (StackingClassifier, SpyClassifier(), LogisticRegression()),
    ):
        if name == "oob":
            bag = BaggingRegressor if cls is StackingRegressor else BaggingClassifier
            members = [("bag", bag(spy, 8, random_state=0)), ("spy", spy)]
        else:
            members = [("a", spy), ("b", clone(spy))]
        model = cls(members, final, cv=scheme(name), refit=refit, keep_level_one=True)
        model.set_params(random_state=0).fit(X, y)
        assert_nothing_seen(model, 2)
        if refit:  # and who predicts has learnt from everything
            assert model.estimators_[-1].n_rows_ == N_ROWS


@pytest.mark.parametrize("name", GROUPED)
def test_groups_stay_on_one_side(name, table):
    X, y, groups = table
    X = X.copy()
    X[:, 0] = groups  # a spy knows a row if it knows its group
    members = [("spy", SpyRegressor()), ("bag", BaggingRegressor(SpyRegressor(), 5))]
    model = StackingRegressor(members, LinearRegression(), cv=scheme(name, GROUPED))
    model.set_params(keep_level_one=True, random_state=0).fit(X, y, groups=groups)
    assert_nothing_seen(model, 2)
    labels = np.array([f"g{number}" for number in groups], dtype=object)
    assert_nothing_seen(clone(model).fit(X, y, groups=labels), 2)


@pytest.mark.filterwarnings("ignore:The groups parameter is ignored by KFold")
@pytest.mark.parametrize("cv", ["time", KFold(3), [(np.arange(30), np.arange(30, 60))]], ids=repr)
def test_splits_that_cut_groups_are_refused(cv, table):
    X, y, groups = table
    with pytest.raises(ValueError, match="one group on both sides"):
        StackingRegressor([("spy", SpyRegressor())], cv=cv).fit(X, y, groups=groups)


@pytest.mark.parametrize("passthrough", [False, True])
@pytest.mark.parametrize("name", ["int", "half", "loo", "ShuffleSplit", "list", "RepeatedKFold"])
def test_later_layers_are_not_asked_about_rows_they_have_seen(name, passthrough, table):
    X, y, _ = table

    class FirstColumn(SpyRegressor):
        """Says the row id, so that the next layer can tell rows apart."""

        def predict(self, X):
            seen = SpyRegressor.predict(self, X)
            return np.where(seen > 0, -1.0, np.asarray(X)[:, 0])

    model = StackingRegressor(
        [("id", FirstColumn())],
        LinearRegression(),
        layers=[[("second", SpyRegressor())]],
        cv=scheme(name),
        passthrough=passthrough,
        keep_level_one=True,
        random_state=0,
    ).fit(X, y)
    assert_nothing_seen(model, 1)
    second = model.layers_[1][0]
    assert -1.0 not in second.seen_.tolist()  # the first layer had not seen its rows either


@pytest.mark.parametrize("n_layers", [1, 2, 3])
def test_a_held_out_share_makes_a_part_for_each_level(n_layers, table):
    """The scheme of the lectures: as many disjoint parts as there are levels."""
    X, y, _ = table

    class Id(SpyRegressor):
        def predict(self, X):
            return np.asarray(X)[:, 0]

    class FinalId(Id):
        pass

    names = [f"l{k}" for k in range(n_layers)]
    share = n_layers / (n_layers + 1)
    model = StackingRegressor(
        [(names[0], Id())],
        FinalId(),
        cv=share,
        layers=[[(name, Id())] for name in names[1:]] or None,
        refit=False,
        random_state=1,
    ).fit(X, y)
    parts = [set(layer[0].estimators[0].seen_) for layer in model.layers_]
    parts.append(set(model.final_estimator_.seen_))
    assert [len(part) for part in parts] == [N_ROWS // (n_layers + 1)] * (n_layers + 1)
    assert set.union(*parts) == set(range(N_ROWS))
    np.testing.assert_array_equal(model.predict(X), X[:, 0])
    whole = clone(model).set_params(refit=True).fit(X, y)
    assert len(whole.layers_[0][0].seen_) == N_ROWS


def test_rows_that_are_tested_twice_get_the_mean_and_others_none(table):
    X, y, _ = table
    y = y + X[:, 1]
    splits = [
        (np.arange(20), np.arange(20, 40)),
        (np.arange(10, 25), np.arange(30, 50)),
    ]
    model = StackingRegressor([("line", LinearRegression())], cv=splits, keep_level_one=True)
    model.fit(X, y)
    assert model.level_one_rows_.tolist() == list(range(20, 50))
    first, second = (LinearRegression().fit(X[a], y[a]) for a, _ in splits)
    expected = np.r_[
        first.predict(X[20:30]),
        (first.predict(X[30:40]) + second.predict(X[30:40])) / 2,
        second.predict(X[40:50]),
    ]
    np.testing.assert_allclose(model.level_one_[:, 0], expected)
    folds = clone(model).set_params(refit=False).fit(X, y)
    mean = (first.predict(X) + second.predict(X)) / 2
    np.testing.assert_allclose(folds.transform(X)[:, 0], mean)


def test_sparse_rows_and_frames_are_split_alike(table):
    X, y, _ = table
    frame = pd.DataFrame(X, columns=["id", "a", "b"], index=np.arange(N_ROWS)[::-1] + 1000)
    for shown in (sparse.csr_matrix(X), sparse.coo_array(X), frame, X.tolist()):
        model = StackingRegressor([("spy", SpyRegressor())], cv=3, keep_level_one=True)
        assert_nothing_seen(model.fit(shown, y), 1)


def test_absent_rows_are_in_no_fold(table):
    X, y, groups = table
    weights = np.where(np.arange(N_ROWS) % 3 == 0, 0.0, 1.0 + np.arange(N_ROWS) % 2)
    for cv in (3, 0.4, "loo", KFold(3), ShuffleSplit(2, random_state=0)):
        model = StackingRegressor([("spy", SpyRegressor())], cv=cv, keep_level_one=True)
        model.set_params(random_state=0).fit(X, y, weights)
        assert_nothing_seen(model, 1)
        assert (weights[model.level_one_rows_] > 0).all()
        assert model.estimators_[0].seen_.tolist() == np.flatnonzero(weights).tolist()
    model.set_params(cv=3).fit(X, y, weights, groups=groups)
    assert_nothing_seen(model, 1)


def test_the_leak_check_asks_nobody_about_rows_it_has_seen(table):
    """Honest spies say 0 everywhere, inside and on the rows kept apart: no loss, no leak."""
    X, _, groups = table
    for cv in (3, 0.4, "time", KFold(4), [(np.arange(30), np.arange(30, 60))]):
        model = StackingRegressor(
            [("spy", SpyRegressor())], LinearRegression(), cv=cv, leak_check=0.3, random_state=0
        ).fit(X, np.zeros(N_ROWS))
        report = model.leak_report_
        assert report.promised[0] == report.found[0] == 0.0
        assert not report.leaked
    X = np.column_stack([groups, X[:, 1:]])
    model.set_params(cv=3).fit(X, np.zeros(N_ROWS), groups=groups)
    assert model.leak_report_.found[0] == 0.0


class Forward:
    """A splitter of somebody else's that goes forward in time."""

    def split(self, X, y=None, groups=None):
        n_rows = len(y)
        for begin in (n_rows // 2, 3 * n_rows // 4):
            yield np.arange(begin), np.arange(begin, begin + n_rows // 4)


FORWARD = {
    "time": "time",
    "TimeSeriesSplit": TimeSeriesSplit(3),
    "gap": TimeSeriesSplit(4, gap=2),
    "list": list(TimeSeriesSplit(3).split(np.zeros(N_ROWS))),
    "other": Forward(),
}


def rows_kept_apart(cv, table, groups=None, share=0.2):
    """Return the rows that the stack of a leak check has not seen, as told by its members."""
    fits = []

    class Noting(SpyRegressor):
        def fit(self, X, y, sample_weight=None):
            fits.append(np.asarray(X)[:, 0])
            return super().fit(X, y, sample_weight)

    X, y, _ = table
    stack = StackingRegressor([("spy", Noting())], LinearRegression(), cv=cv, random_state=0)
    stack.set_params(leak_check=share).fit(X, y, groups=groups)
    return sorted(set(range(N_ROWS)) - set(fits[0]))  # first, members are fitted to the others


@pytest.mark.parametrize("name", FORWARD)
def test_the_leak_check_keeps_the_last_rows_apart_where_splits_go_forward(name, table):
    assert rows_kept_apart(FORWARD[name], table) == list(range(48, 60))


def test_the_leak_check_keeps_tested_rows_in_given_splits_that_go_forward(table):
    splits = [(np.arange(48), np.arange(48, 60))]
    assert rows_kept_apart(splits, table, share=0.25) == [57, 58, 59]
    assert rows_kept_apart([(np.arange(57), [57, 58, 59])], table) == [59]
    with pytest.raises(ValueError, match=r"leak_check needs two rows .* or more; got 1"):
        rows_kept_apart([(np.arange(59), [59])], table, share=0.1)
    assert len(rows_kept_apart(KFold(3), table)) == 12
    assert rows_kept_apart(KFold(3), table) != list(range(48, 60))


def test_the_leak_check_tears_no_group_apart_where_splits_go_forward(table):
    groups = np.arange(N_ROWS) // 5
    splits = [(np.arange(30), np.arange(30, 60))]
    assert rows_kept_apart(splits, table, groups) == list(range(50, 60))


# --- members that share the table ---------------------------------------------------------------


def mixed_table(rng, n_rows=90):
    """Text and numbers with gaps; a level and the missing numbers are in one fold alone."""
    frame = pd.DataFrame(
        {
            "a": rng.normal(size=n_rows).round(2),
            "b": rng.choice(["x", "y", "z"], n_rows),
            "c": rng.integers(0, 4, n_rows).astype(float),
        }
    )
    y = ((frame["a"] + (frame["b"] == "x") + rng.normal(size=n_rows) / 2) > 0.3).to_numpy()
    folds = np.arange(n_rows) % 3
    frame.loc[folds == 0, "b"] = rng.choice(["x", "y", "only here", None], (folds == 0).sum())
    frame.loc[np.flatnonzero(folds == 0)[::4], "a"] = np.nan
    return frame, np.where(y, "yes", "no"), folds


@pytest.fixture(params=["copied", "weighed"])
def rows_of_splits(request, monkeypatch):
    """Rows that a split leaves out are left behind, or stay with a weight of zero."""
    if request.param == "weighed":
        monkeypatch.setattr(training, "_COPIED_CELLS", 0)


OWN = {
    "tree": DecisionTreeClassifier(split_finding="exact"),
    "shallow": DecisionTreeClassifier(max_depth=3, split_finding="exact", criterion="entropy"),
    "c45": C45Classifier(),
    "extra": ExtraTreesClassifier(4, split_finding="exact", random_state=0),
    "forest": RandomForestClassifier(4, split_finding="exact", random_state=0, bootstrap=False),
    "boosting": GradientBoostingClassifier(
        n_estimators=5, split_finding="exact", early_stopping=False, random_state=0
    ),
}


@pytest.mark.usefixtures("rows_of_splits")
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", OWN)
def test_members_that_share_a_table_are_those_of_the_fold_alone(name, weighted, rng):
    X, y, folds = mixed_table(rng)
    weights = rng.integers(0, 3, len(y)).astype(float) if weighted else None
    model = StackingClassifier(
        [("own", OWN[name]), ("other", DecisionTreeClassifier(max_depth=2))],
        cv=PredefinedSplit(folds),
        keep_level_one=True,
    ).fit(X, y, weights)
    codes = (y == "yes").astype(int)
    rows = model.level_one_rows_
    for fold in range(3):
        train = folds != fold
        if weights is not None:
            train &= weights > 0
        own = None if weights is None else weights[train]
        alone = clone(OWN[name]).fit(X[train], codes[train], sample_weight=own)
        test = rows[folds[rows] == fold]
        expected = alone.predict_proba(X.iloc[test])[:, 1]
        np.testing.assert_array_equal(model.level_one_[folds[rows] == fold, 0], expected)


@pytest.mark.usefixtures("rows_of_splits")
def test_regressors_that_share_a_table_are_those_of_the_fold_alone(rng):
    X, _, folds = mixed_table(rng)
    y = rng.normal(size=len(X))
    member = DecisionTreeRegressor(min_samples_leaf=3, split_finding="exact")
    model = StackingRegressor(
        [("own", member)], cv=PredefinedSplit(folds), keep_level_one=True, layers=None
    ).fit(X, y)
    for fold in range(3):
        alone = clone(member).fit(X[folds != fold], y[folds != fold])
        expected = alone.predict(X[folds == fold])
        np.testing.assert_array_equal(model.level_one_[folds == fold, 0], expected)


BINNED = OWN | {
    "binned tree": DecisionTreeClassifier(split_finding="hist", max_bins=8),
    "binned forest": RandomForestClassifier(5, random_state=0, bootstrap=False),
    "bootstrap": RandomForestClassifier(5, random_state=0),
    "boosting": GradientBoostingClassifier(n_estimators=5, random_state=0),
    "statistics": GradientBoostingClassifier(
        n_estimators=5, random_state=0, category_encoding="target"
    ),
    "bagging": BaggingClassifier(C45Classifier(), 3, random_state=0),
}


@pytest.mark.usefixtures("rows_of_splits")
@pytest.mark.parametrize("name", BINNED)
def test_labels_of_held_out_rows_do_not_matter(name, rng):
    X, y, folds = mixed_table(rng)
    options = {"cv": PredefinedSplit(folds), "keep_level_one": True}
    usual = StackingClassifier([("own", BINNED[name])], **options).fit(X, y)
    for fold in range(3):
        other = y.copy()
        other[folds == fold] = rng.permutation(np.where(y == "yes", "no", "yes")[folds == fold])
        changed = StackingClassifier([("own", BINNED[name])], **options).fit(X, other)
        np.testing.assert_array_equal(
            changed.level_one_[folds == fold], usual.level_one_[folds == fold]
        )


@pytest.mark.parametrize("name", sorted(set(BINNED) - {"bootstrap", "bagging"}))
def test_copied_rows_are_as_good_as_rows_of_weight_zero(name, rng, monkeypatch):
    X, y, folds = mixed_table(rng)
    weights = rng.integers(0, 3, len(y)).astype(float)
    options = {"cv": PredefinedSplit(folds), "keep_level_one": True}
    copied = StackingClassifier([("own", BINNED[name])], **options).fit(X, y, weights)
    monkeypatch.setattr(training, "_COPIED_CELLS", 0)
    weighed = StackingClassifier([("own", BINNED[name])], **options).fit(X, y, weights)
    np.testing.assert_allclose(copied.level_one_, weighed.level_one_, rtol=1e-12)


@pytest.mark.usefixtures("rows_of_splits")
@pytest.mark.parametrize("kind", ["levels", "numbers"])
@pytest.mark.parametrize("name", ["tree", "extra", "forest", "boosting"])
def test_as_many_codes_as_a_byte_holds_and_missing_values_outside_the_fold(name, kind, rng):
    values = np.arange(1024) % 256
    y = (rng.normal(size=256)[values] > 0).astype(int)
    X = pd.DataFrame({"a": values.astype(float)})
    if kind == "levels":
        X = pd.DataFrame({"a": [f"v{value:03}" for value in values]}, dtype=object)
    X.loc[1000:, "a"] = None
    folds = np.arange(1024) // 512
    stack = StackingClassifier([("own", OWN[name])], cv=PredefinedSplit(folds), keep_level_one=True)
    told = stack.fit(X, y).level_one_[folds == 1, 0]
    alone = clone(OWN[name]).fit(X[folds == 0], y[folds == 0])
    np.testing.assert_array_equal(told, alone.predict_proba(X[folds == 1])[:, 1])


@pytest.mark.usefixtures("rows_of_splits")
@pytest.mark.parametrize("size", [60, 190, 191, 400])
def test_rows_that_a_split_names_twice_count_twice(size, rng):
    X, y = rng.normal(size=(200, 4)), rng.integers(0, 2, 200)
    weights = rng.integers(1, 3, 200).astype(float)
    tree = DecisionTreeClassifier(max_depth=3, min_samples_leaf=10, split_finding="exact")
    train = rng.integers(0, 200, size)
    test = np.setdiff1d(np.arange(200), train)
    stack = StackingClassifier([("tree", tree)], cv=[(train, test)], keep_level_one=True)
    stack.fit(X, y, weights)
    tree.fit(X[train], y[train], weights[train])
    np.testing.assert_array_equal(stack.level_one_[:, 0], tree.predict_proba(X[test])[:, 1])


@pytest.mark.parametrize("exact", [False, True])
def test_rows_of_a_dataset_keep_their_codes(exact, rng):
    values = rng.normal(size=(300, 2))
    values[::7, 1] = np.nan
    levels = rng.integers(-1, 4, 300).astype(np.int32)
    rows = np.sort(rng.choice(300, 120, replace=False))
    rows = rows[rows % 7 > 0]  # all that is there has a value

    def table_of(rows):
        table = _core.Table(len(rows))
        for feature in range(2):
            table.add_column(0, np.ascontiguousarray(values[rows, feature]))
        table.add_column(2, levels[rows])
        return table

    whole = _core.BinnedDataset(table_of(np.arange(300)), None, [0, 0, 4], max_bins=16, exact=exact)
    part = whole.take(table_of(rows), rows)
    assert part.n_rows == len(rows)
    assert [part.has_missing(feature) for feature in range(3)] == [False, False, True]
    for feature in range(3):
        np.testing.assert_array_equal(part.codes(feature), whole.codes(feature)[rows])
    with pytest.raises(IndexError, match="no such row"):
        whole.take(table_of(rows), rows + 300)
    with pytest.raises(ValueError, match="the table must show the rows that are taken"):
        whole.take(table_of(rows), rows[1:])


@pytest.mark.parametrize("kind", ["classes", "numbers"])
def test_out_of_bag_opinions_are_those_of_the_member(kind, rng):
    X = rng.normal(size=(80, 3))
    y = X[:, 0] + rng.normal(size=80)
    if kind == "classes":
        y = np.digitize(y, [-0.5, 0.5])
        forest = RandomForestClassifier(5, oob_score=True, random_state=0)
        stack = StackingClassifier
    else:
        forest = RandomForestRegressor(5, oob_score=True, random_state=0)
        stack = StackingRegressor
    with pytest.warns(UserWarning, match="out-of-bag"):
        alone = clone(forest).fit(X, y)
    prediction = (
        alone.oob_decision_function_ if kind == "classes" else alone.oob_prediction_[:, None]
    )
    covered = ~np.isnan(prediction).any(axis=1)
    assert not covered.all()
    members = [("f", forest.set_params(oob_score=False))]
    model = stack(members, "convex", cv="oob", keep_level_one=True).fit(X, y)
    assert model.level_one_rows_.tolist() == np.flatnonzero(covered).tolist()
    np.testing.assert_array_equal(model.level_one_, prediction[covered])
    assert model.estimators_[0].oob_score is False
    np.testing.assert_array_equal(model.estimators_[0].predict(X), alone.predict(X))


@pytest.mark.parametrize("max_samples", [1.0, None])
def test_members_that_leave_nothing_out_are_asked_by_folds(max_samples, rng):
    X, y = rng.normal(size=(80, 3)), rng.normal(size=80)
    bag = BaggingRegressor(SpyRegressor(), 3, bootstrap=False)
    if max_samples is not None:
        bag.set_params(max_samples=max_samples)
    model = StackingRegressor([("bag", bag)], LinearRegression(), cv="oob", keep_level_one=True)
    model.fit(np.column_stack([np.arange(80), X]), y)
    assert_nothing_seen(model, 1)
    assert len(model.level_one_rows_) == 80


# --- plans --------------------------------------------------------------------------------------


def plan(cv, n_rows=12, n_layers=1, **more):
    y = np.arange(n_rows) % 2
    options = {"is_classifier": True, "weights": None, "groups": None, "seed": 0} | more
    return plan_level_one(cv, PlanRows(n_rows, y, X=y[:, None], **options), n_layers)


@pytest.mark.parametrize(
    ("cv", "kind", "message"),
    [
        ([(range(8), range(7, 12))], ValueError, r"tests 1 rows that it also trains on \(row 7"),
        ([(range(12), range(12))], ValueError, "tests 12 rows"),
        ([], ValueError, "no split"),
        ([([], [1])], ValueError, "no split"),
        ([3], ValueError, r"pairs of \(train, test\) rows; got 3"),
        ([(1, 2, 3)], ValueError, "pairs"),
        ([([0, 1], [12])], ValueError, "from 0 to 11; got 12 to 12"),
        ([([0, -1], [2])], ValueError, "from 0 to 11; got -1 to 0"),
        ([([0.5], [2])], TypeError, "must hold row numbers; got float64"),
        (True, (TypeError, ValueError), "cv must be"),
        (0.0, ValueError, "cv must be"),
        (1.0, ValueError, "cv must be"),
        (float("nan"), ValueError, "cv must be"),
        ("LOO", ValueError, "cv must be"),
    ],
    ids=repr,
)
def test_bad_splits_are_named(cv, kind, message):
    with pytest.raises(kind, match=message):
        plan(cv)


def test_every_splitter_gives_every_row_once():
    for cv in (None, 3, "loo", KFold(4), 0.25):
        (splits,) = plan(cv).layers
        tested = np.concatenate([test for _, test in splits])
        assert len(np.unique(tested)) == len(tested)
        assert len(tested) == (3 if cv == 0.25 else 12) or cv == 0.25
    (pairs,) = plan(LeavePOut(2), n_rows=5).layers
    assert len(pairs) == 10
    (time,) = plan("time").layers
    assert all(train.max() < test.min() for train, test in time)


def test_two_or_three_rows_say_what_is_missing():
    with pytest.raises(ValueError, match=r"only 1 rows \(n_samples=1\)"):
        plan(None, n_rows=1)
    assert len(plan("loo", n_rows=2).layers[0]) == 2
    with pytest.raises(ValueError, match="needs more than 2 rows"):
        plan(0.5, n_rows=2, n_layers=2)
    model = VotingRegressor([("t", DecisionTreeRegressor())], weights="learned", cv=2)
    assert model.fit([[1.0], [2.0]], [1.0, 2.0]).weights_.tolist() == [1.0]


@pytest.mark.parametrize(
    ("options", "n_folds", "what"),
    [
        ({"n_rows": 3, "is_classifier": False}, 3, "rows"),
        ({"n_rows": 6}, 3, "rows of the largest class"),
        ({"cv": 13}, 6, "rows of the largest class"),
        ({"cv": "time", "n_rows": 4}, 3, "later rows"),
        ({"groups": np.arange(12) // 4}, 3, "groups"),
        ({"weights": np.arange(12) // 8 * 1.0, "is_classifier": False}, 4, "rows"),
    ],
    ids=repr,
)
def test_few_rows_are_dealt_into_fewer_folds_with_a_warning(options, n_folds, what):
    options = {"cv": None} | options
    with pytest.warns(UserWarning, match=f"into {n_folds} folds .* only {n_folds} {what}$"):
        splits = plan(**options).layers[0]
    assert len(splits) == n_folds


def test_classes_of_one_row_each_are_dealt_like_numbers():
    model = StackingClassifier([("t", DecisionTreeClassifier())], DecisionTreeClassifier())
    with pytest.warns(UserWarning, match="into 3 folds and not into 5: there are only 3 rows$"):
        model.fit([[1.0], [2.0], [3.0]], ["a", "b", "c"])


def test_out_of_bag_plans_make_no_folds_that_nobody_needs(monkeypatch):
    def refuse(*args):
        raise AssertionError("folds are made")

    X, y = np.arange(12.0)[:, None], np.arange(12) % 2
    monkeypatch.setattr("committee.combining.level_one._splits", refuse)
    forests = [("f", RandomForestClassifier(20, random_state=0))]
    StackingClassifier(forests, cv="oob").fit(X, y)
    VotingClassifier(forests, voting="soft", weights="learned", cv="oob").fit(X, y)
    for model in (
        StackingClassifier([*forests, ("t", DecisionTreeClassifier())], cv="oob"),
        StackingClassifier(forests, cv="oob", leak_check=True),
        StackingClassifier(forests, layers=[[("t", DecisionTreeClassifier())]], cv="oob"),
    ):
        with pytest.raises(AssertionError, match="folds are made"):
            model.fit(X, y)


def test_out_of_bag_opinions_of_members_that_are_fitted_to_the_rows_of_some_weight(table):
    X, y, _ = table
    weights = np.arange(N_ROWS) % 3.0  # a third of the rows is absent
    members = [
        ("bag", BaggingRegressor(SpyRegressor(), 30, random_state=0)),
        ("sklearn", sklearn.ensemble.RandomForestRegressor(30, bootstrap=True, random_state=0)),
        ("own", RandomForestRegressor(30, random_state=0)),
    ]
    stack = StackingRegressor(members, cv="oob", keep_level_one=True)
    stack.fit(X, y.astype(float), sample_weight=weights)

    assert stack.level_one_rows_.tolist() == np.flatnonzero(weights).tolist()
    assert (stack.level_one_[:, 0] == 0).all()  # the spies had not seen them
    own = members[1][1].set_params(oob_score=True)
    present = weights > 0
    own.fit(X[present], y[present].astype(float), sample_weight=weights[present])
    np.testing.assert_allclose(stack.level_one_[:, 1], own.oob_prediction_)


# Members that draw as many rows as there are copies, and how many seeds tell them apart.
OOB_MEMBERS = {
    "forest": (RandomForestRegressor(6, min_samples_leaf=4, max_samples=1.0), 100),
    "trees": (BaggingRegressor(DecisionTreeRegressor(min_samples_leaf=4), 6, max_samples=1.0), 100),
    "others": (BaggingRegressor(DummyRegressor(), 6, max_samples=1.0), 30),
}


@pytest.mark.parametrize("name", OOB_MEMBERS)
def test_a_row_of_weight_two_is_drawn_as_the_row_twice_where_others_are_out_of_bag(name):
    """The others, because copies of a row are out of the bag one by one.

    Whoever has not drawn a row has drawn from the rest, by their weights or from copies of them
    with the same chances: predictions of it have the same mean over all seeds. By chance, means are
    4 standard errors apart once in 16,000 times; four rows are looked at.
    """
    member, n_seeds = OOB_MEMBERS[name]
    X = np.array([[0.0], [1.0], [2.0], [3.0], [0.5], [1.5], [2.5], [3.5]])
    y = np.array([1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0])
    weights = np.array([2.0, 2.0, 2.0, 2.0, 1.0, 1.0, 1.0, 1.0])
    twice = np.r_[0:4, 0:8]  # the last four rows are there once

    def predictions(X, y, weights):
        """Mean and its variance, over seeds, of the predictions of the last four rows."""
        predicted = np.full((n_seeds, len(y)), np.nan)
        for seed in range(n_seeds):
            stack = StackingRegressor([("m", member)], "convex", cv="oob")
            stack.set_params(keep_level_one=True, random_state=seed).fit(X, y, weights)
            predicted[seed, stack.level_one_rows_] = stack.level_one_[:, 0]
        predicted = predicted[:, -4:]
        counts = (~np.isnan(predicted)).sum(axis=0)
        return np.nanmean(predicted, axis=0), np.nanvar(predicted, axis=0) / counts

    def distance(a, b):
        return np.abs(a[0] - b[0]) / np.sqrt(a[1] + b[1])

    weighted = predictions(X, y, weights)
    assert distance(weighted, predictions(X[twice], y[twice], None)).max() < 4
    assert distance(weighted, predictions(X, y, None)).min() > 4  # weights do matter here
