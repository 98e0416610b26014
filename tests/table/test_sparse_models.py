"""Sparse tables: the same codes, models and predictions as of the dense table, to the last bit."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import committee
from committee import _core

N_ROWS, N_FEATURES = 400, 60


def random_table(seed=0, n_rows=N_ROWS, n_features=N_FEATURES):
    """A dense table that is mostly zero: numbers of both signs, counts, ones, gaps, constants."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features)) * (rng.random((n_rows, n_features)) < 0.08)
    X[:, 10:25] = rng.poisson(0.1, (n_rows, 15))
    X[:, 25:40] = rng.integers(0, 15, n_rows)[:, None] == np.arange(15)  # one-hot
    X[rng.random(n_rows) < 0.03, 3] = np.nan
    X[:, 7] = 0.0
    X[:, 8] = np.where(rng.random(n_rows) < 0.5, 2.0, 0.0)
    return X


def as_sparse(X, explicit_zeros=True):
    """The same cells in CSR format, some of the zeros stored."""
    sparse = sp.csr_array(X)
    if not explicit_zeros:
        return sparse
    rng = np.random.default_rng(1)
    zeros = sp.coo_array((rng.random(X.shape) < 0.01) & (X == 0))
    cells = sp.coo_array(sparse)
    rows, columns = np.r_[cells.row, zeros.row], np.r_[cells.col, zeros.col]
    values = np.r_[cells.data, np.zeros(zeros.nnz)]
    return sp.coo_array((values, (rows, columns)), shape=X.shape).tocsr()


X = random_table()
SPARSE = as_sparse(X)
NEW = random_table(seed=5, n_rows=150)
NEW_SPARSE = as_sparse(NEW)
SCORE = np.nan_to_num(X[:, 3]) + X[:, 10] + X[:, 11] - X[:, 26] + X[:, 8]
CLASSES = (SCORE + np.random.default_rng(2).normal(size=N_ROWS) * 0.3 > 0.9).astype(int)
THREE = np.digitize(SCORE, [0.3, 2.0])
WEIGHTS = {
    "none": None,
    "whole": np.random.default_rng(3).integers(0, 3, N_ROWS).astype(float),
    "real": np.random.default_rng(3).uniform(0, 2, N_ROWS) * (np.arange(N_ROWS) % 7 > 0),
}


def table_of(matrix):
    cells = sp.csc_array(matrix)
    return _core.Table.from_sparse(
        matrix.shape[0],
        cells.indptr.astype(np.int64),
        cells.indices.astype(np.int32),
        cells.data.astype(float),
    )


def test_the_tables_of_these_tests_are_read_as_sparse_ones():
    assert SPARSE.nnz > np.count_nonzero(X)
    table, _ = committee.tables.table.read_table(SPARSE)
    assert table.has_sparse


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("max_bins", [2, 7, 255])
def test_codes_are_those_of_the_dense_table(weights, exact, max_bins):
    options = {"max_bins": max_bins, "exact": exact}
    dense = _core.BinnedDataset(_core.Table.from_matrix(X), WEIGHTS[weights], [], **options)
    rows = np.random.default_rng(0).permutation(N_ROWS)[:150]
    for spread in (True, False):
        sparse = _core.BinnedDataset(
            table_of(SPARSE), WEIGHTS[weights], [], spread=spread, **options
        )
        taken = sparse.take(table_of(SPARSE[rows]), rows)
        taken_dense = dense.take(_core.Table.from_matrix(X[rows]), rows)
        present = slice(None) if WEIGHTS[weights] is None else WEIGHTS[weights] > 0
        for feature in range(N_FEATURES):
            for found, wanted in ((sparse, dense), (taken, taken_dense)):
                assert found.n_codes(feature) == wanted.n_codes(feature)
                assert found.has_missing(feature) == wanted.has_missing(feature)
            codes, wanted = sparse.codes(feature), dense.codes(feature)
            assert np.array_equal(codes[present], wanted[present])
            if not exact:  # ranks of rows of weight zero are never read
                assert np.array_equal(codes, wanted)
                assert np.array_equal(taken.codes(feature), taken_dense.codes(feature))


def test_values_between_and_beyond_the_bins_of_training_are_taken_alike():
    known = _core.BinnedDataset(table_of(sp.csr_array([[0.0], [1.0], [4.0]])), None, [])
    assert known.codes(0).tolist() == [0, 1, 2]


MODELS = {
    "boosting": committee.GradientBoostingClassifier(n_estimators=20, random_state=0),
    "boosting, automatic": committee.GradientBoostingClassifier(random_state=0, learning_rate=0.3),
    "boosting, drawn": committee.GradientBoostingClassifier(
        n_estimators=20, subsample=0.6, max_features=0.4, random_state=0
    ),
    "boosting, small leaves": committee.GradientBoostingClassifier(
        n_estimators=10, min_samples_leaf=1, random_state=0
    ),
    "boosting, few bins": committee.GradientBoostingClassifier(
        n_estimators=10, max_bins=4, random_state=0
    ),
    "boosting, exact": committee.GradientBoostingClassifier(
        n_estimators=5, split_finding="exact", random_state=0
    ),
    "boosting, Bayesian weights": committee.GradientBoostingClassifier(
        n_estimators=10, n_iter_no_change=3, random_state=0
    ),
    "tree": committee.DecisionTreeClassifier(random_state=0),
    "tree, bins": committee.DecisionTreeClassifier(split_finding="hist", random_state=0),
    "forest": committee.RandomForestClassifier(20, random_state=0),
    "extra-trees": committee.ExtraTreesClassifier(20, random_state=0),
    "bagging": committee.BaggingClassifier(n_estimators=5, random_state=0),
    "adaboost": committee.AdaBoostClassifier(n_estimators=20, random_state=0),
    "c45": committee.C45Classifier(),
    "stack": committee.StackingClassifier(
        [
            ("boosting", committee.GradientBoostingClassifier(n_estimators=5, random_state=0)),
            ("forest", committee.RandomForestClassifier(5, random_state=0)),
        ],
        random_state=0,
    ),
    "vote": committee.VotingClassifier(
        [
            ("boosting", committee.GradientBoostingClassifier(n_estimators=5, random_state=0)),
            ("tree", committee.DecisionTreeClassifier(random_state=0)),
        ]
    ),
}


def same_answers(sparse, dense):
    """Compare two fitted models on both kinds of rows."""
    for new, rows in ((NEW_SPARSE, NEW), (NEW, NEW), (SPARSE, X)):
        assert np.array_equal(sparse.predict_proba(new), dense.predict_proba(rows))
    if hasattr(dense, "feature_importances_"):
        assert np.array_equal(sparse.feature_importances_, dense.feature_importances_)


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("name", MODELS)
def test_the_model_of_a_sparse_table_is_that_of_the_dense_one(name, weights):
    model, y = MODELS[name], THREE if name in ("boosting", "forest") else CLASSES
    options = {} if weights == "none" else {"sample_weight": WEIGHTS[weights]}
    same_answers(
        clone(model).fit(SPARSE, y, **options), clone(model).fit(np.array(X), y, **options)
    )


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize(
    "kind", [committee.GradientBoostingRegressor, committee.RandomForestRegressor]
)
def test_numbers_are_learnt_alike(kind, n_jobs):
    y = SCORE * 1e9 + np.random.default_rng(0).normal(size=N_ROWS)
    model = kind(n_estimators=10, random_state=0, n_jobs=n_jobs)
    sparse, dense = clone(model).fit(SPARSE, y), clone(model).fit(X, y)
    assert np.array_equal(sparse.predict(NEW_SPARSE), dense.predict(NEW))


@pytest.mark.filterwarnings("ignore:Constructing a DIA")
@pytest.mark.parametrize("format", ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"])
def test_the_format_does_not_matter(format):
    plain = np.nan_to_num(X)
    model = committee.GradientBoostingClassifier(n_estimators=5, random_state=0)
    dense = clone(model).fit(plain, CLASSES).predict_proba(plain)
    sparse = clone(model).fit(sp.csr_array(plain).asformat(format), CLASSES)
    assert np.array_equal(sparse.predict_proba(sp.csr_array(plain).asformat(format)), dense)


@pytest.mark.parametrize("dtype", [np.float32, np.int8, np.int64, np.uint16, bool])
def test_types_of_cells(dtype):
    counts = np.random.default_rng(0).poisson(0.1, (N_ROWS, 30)).astype(dtype)
    y = counts[:, 0] + 2 * counts[:, 1] > 0
    model = committee.GradientBoostingClassifier(n_estimators=5, random_state=0)
    sparse = clone(model).fit(sp.csr_array(counts), y)
    assert np.array_equal(
        sparse.predict_proba(sp.csr_array(counts)),
        clone(model).fit(counts, y).predict_proba(counts),
    )


def test_columns_can_be_categories():
    counts = np.random.default_rng(0).poisson(0.1, (N_ROWS, 10)).astype(float)
    y = counts[:, 0] == 1
    model = committee.GradientBoostingClassifier(
        n_estimators=5, categorical_features=[0], random_state=0
    )
    sparse = clone(model).fit(sp.csr_array(counts), y)
    dense = clone(model).fit(counts, y)
    assert np.array_equal(sparse.predict_proba(sp.csr_array(counts)), dense.predict_proba(counts))


def test_a_saved_model_of_a_sparse_table_predicts_both_kinds(tmp_path):
    model = committee.GradientBoostingClassifier(n_estimators=5, random_state=0)
    model.fit(SPARSE, CLASSES)
    committee.save(model, tmp_path / "model.committee")
    loaded = committee.load(tmp_path / "model.committee")
    assert np.array_equal(loaded.predict_proba(NEW_SPARSE), model.predict_proba(NEW))


def test_shapley_values_and_leaves_of_sparse_rows():
    model = committee.RandomForestClassifier(5, random_state=0).fit(SPARSE, CLASSES)
    assert np.array_equal(model.apply(NEW_SPARSE), model.apply(NEW))
    assert np.array_equal(model.predict_contributions(NEW_SPARSE), model.predict_contributions(NEW))


def test_what_forests_tell_of_sparse_rows():
    y = SCORE + np.random.default_rng(0).normal(size=N_ROWS)
    model = committee.RandomForestRegressor(80, oob_score=True, uncertainty=True, random_state=0)
    sparse, dense = clone(model).fit(SPARSE, y), clone(model).fit(X, y)
    assert np.array_equal(sparse.oob_prediction_, dense.oob_prediction_)
    assert sparse.oob_score_ == dense.oob_score_
    many = np.tile(NEW, (20, 1))  # more than one block of rows
    assert np.array_equal(sparse.predict(as_sparse(many)), dense.predict(many))
    quantiles = [sparse.predict_quantiles(as_sparse(many), [0.1, 0.9])]
    quantiles.append(dense.predict_quantiles(many, [0.1, 0.9]))
    assert np.array_equal(*quantiles)
    measured = [sparse.permutation_importance(SPARSE, y), dense.permutation_importance(X, y)]
    assert np.array_equal(*(each.importances_mean for each in measured))


def test_words_of_texts_in_a_pipeline():
    texts = [f"{'good' if k % 3 else 'bad'} word{k % 17} word{k % 5}" for k in range(300)]
    y = np.arange(300) % 3 > 0
    model = make_pipeline(
        CountVectorizer(), committee.GradientBoostingClassifier(n_estimators=10, random_state=0)
    )
    assert model.fit(texts, y).score(texts, y) == 1.0


def test_members_of_other_libraries_get_the_sparse_table_itself():
    seen = []

    class Watching(LogisticRegression):
        def fit(self, X, y, sample_weight=None):
            seen.append(sp.issparse(X))
            return super().fit(X, y, sample_weight)

    committee.VotingClassifier([("a", Watching())]).fit(sp.csr_array(np.nan_to_num(X)), CLASSES)
    assert seen == [True]


def wide_table(n_rows=40_000, n_features=60_000):
    """More cells than could be written out."""
    rng = np.random.default_rng(0)
    columns = rng.integers(2, n_features, 3 * n_rows)
    y = rng.integers(0, 2, n_rows)
    shown = np.flatnonzero((y == 1) & (rng.random(n_rows) < 0.8))
    rows = np.r_[np.repeat(np.arange(n_rows), 3), shown]
    columns = np.r_[columns, np.zeros(len(shown), int)]
    return sp.coo_array((np.ones(len(rows)), (rows, columns)), shape=(n_rows, n_features)), y


def test_boosting_takes_tables_that_could_not_be_written_out():
    wide, y = wide_table()
    model = committee.GradientBoostingClassifier(n_estimators=3, learning_rate=1.0, random_state=0)
    assert model.fit(wide, y).score(wide, y) > 0.85


def test_what_needs_a_byte_a_cell_says_so():
    wide, y = wide_table()
    with pytest.raises(ValueError, match=r"40000 x 60000 cells; RandomForestClassifier keeps"):
        committee.RandomForestClassifier(2).fit(wide, y)


@pytest.mark.parametrize(
    ("begins", "rows", "words"),
    [
        ([0, 2], [1, 1], "must ascend"),
        ([0, 2], [2, 1], "must ascend"),
        ([0, 2], [1, 9], "rows of the table"),
        ([0, 2], [-1, 1], "rows of the table"),
        ([0, 1], [1, 2], "begins"),
        ([1, 2], [1, 2], "begins"),
        ([0, 3, 2], [1, 2], "begins"),
        ([], [1, 2], "begins"),
    ],
)
def test_the_engine_refuses_columns_that_are_no_columns(begins, rows, words):
    arrays = np.array(begins, np.int64), np.array(rows, np.int32), np.ones(2)
    with pytest.raises(ValueError, match=words):
        _core.Table.from_sparse(5, *arrays)


def test_engines_that_need_codes_of_every_row_refuse_others():
    dataset = _core.BinnedDataset(table_of(SPARSE), None, [], spread=False)
    with pytest.raises(ValueError, match="spread"):
        _core.grow_tree(dataset, classes=CLASSES[:, None].astype(np.int32), n_classes=[2])
