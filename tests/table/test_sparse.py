"""Sparse matrices: a broken structure is one clear error, cells stored twice are their sum."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression, Ridge

import committee
from committee.tables.native_table import AnyTable
from committee.tables.source import open_source
from committee.tables.sparse import checked_csr, dense_cells

N_ROWS, N_COLUMNS = 12, 5
DENSE = np.where(np.arange(60).reshape(N_ROWS, N_COLUMNS) % 3, 0.0, np.arange(60).reshape(12, 5))
Y = np.arange(N_ROWS) % 2
BROKEN = r"X is a sparse matrix whose structure is broken: "


def _set(name, change):
    def broken(make):
        matrix = make(DENSE)
        values = getattr(matrix, name).copy()
        matrix.__dict__[name] = change(values)
        return matrix

    return broken


def _at(place, value):
    def change(values):
        values[place] = value
        return values

    return change


BREAKS = {
    "an index past the last column": _set("indices", _at(2, 12)),
    "an index far past the last column": _set("indices", _at(2, 2**31 - 1)),
    "a negative index": _set("indices", _at(0, -1)),
    "indptr that begins late": _set("indptr", _at(0, 1)),
    "indptr that falls": _set("indptr", _at(2, 0)),
    "indptr that ends late": _set("indptr", _at(-1, 1000)),
    "indptr that ends early": _set("indptr", _at(-1, 18)),
    "a short indptr": _set("indptr", lambda values: values[:-1]),
    "a long indptr": _set("indptr", lambda values: np.append(values, values[-1])),
    "fewer data": _set("data", lambda values: values[:-1]),
    "more data": _set("data", lambda values: np.append(values, 1.0)),
    "indices that are no integers": _set("indices", lambda values: values.astype(float)),
    "an indptr of two dimensions": _set("indptr", lambda values: values.reshape(1, -1)),
}


@pytest.mark.parametrize("make", [sp.csr_matrix, sp.csr_array, sp.csc_matrix, sp.csc_array])
@pytest.mark.parametrize("name", BREAKS)
def test_a_broken_structure_is_refused(make, name):
    matrix = BREAKS[name](make)
    with pytest.raises(ValueError, match=BROKEN):
        open_source(matrix)
    with pytest.raises(ValueError, match=BROKEN):
        AnyTable(matrix)


def test_the_error_says_what_is_broken():
    matrix = BREAKS["an index past the last column"](sp.csr_matrix)
    with pytest.raises(ValueError, match=r"indices must be in \[0, 4\].*columns; it holds 12$"):
        dense_cells(matrix)
    matrix = BREAKS["indptr that falls"](sp.csc_matrix)
    with pytest.raises(ValueError, match=r"indptr must not fall; at column 1 it goes to 0$"):
        dense_cells(matrix)


def test_other_formats_are_checked_too():
    coo = sp.coo_matrix(DENSE)
    for value in (N_COLUMNS, -1):
        coo.col[3] = value
        with pytest.raises(ValueError, match=BROKEN + "col must be in"):
            dense_cells(coo)
    lil = sp.lil_matrix(DENSE)
    lil.rows[4].append(99)
    with pytest.raises(ValueError, match=BROKEN + "row 4 has 3 columns and 2 values"):
        dense_cells(lil)
    lil.data[4].append(1.0)
    with pytest.raises(ValueError, match=BROKEN + "indices must be in"):
        dense_cells(lil)
    bsr = sp.bsr_matrix(DENSE, blocksize=(3, 5))
    bsr.indices[1] = 1
    with pytest.raises(ValueError, match=BROKEN + "indices must be in"):
        dense_cells(bsr)


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "bsr", "lil", "dia", "dok"])
@pytest.mark.parametrize("container", [sp.csr_matrix, sp.csr_array])
def test_sound_matrices_of_all_formats_are_read(kind, container):
    matrix = container(DENSE).asformat(kind)
    assert np.array_equal(dense_cells(matrix), DENSE)
    assert np.array_equal(checked_csr(matrix).toarray(), DENSE)


@pytest.mark.parametrize("make", [sp.csr_matrix, sp.csc_matrix, sp.coo_matrix])
def test_an_empty_matrix_is_sound(make):
    assert not dense_cells(make((3, 4))).any()


def test_cells_stored_twice_are_their_sum_and_order_does_not_matter():
    data, indices, indptr = np.array([3.0, 1.0, 2.0, 200.0, 100.0]), [2, 0, 2, 1, 1], [0, 3, 5]
    matrix = sp.csr_matrix((data, indices, indptr), shape=(2, 3))
    assert dense_cells(matrix).tolist() == [[1, 0, 5], [0, 300, 0]]
    assert matrix.indices.tolist() == indices  # the caller's matrix is not touched


def test_what_a_matrix_remembers_of_its_order_is_not_trusted():
    matrix = sp.csr_matrix(np.array([[200.0, 100.0, 0.0], [0.0, 1.0, 2.0]]))
    assert matrix.has_canonical_format
    matrix.indices[1] = 0  # now cell (0, 0) is stored twice
    assert dense_cells(matrix).tolist() == [[300, 0, 0], [0, 1, 2]]


ESTIMATORS = [
    committee.DecisionTreeClassifier(),
    committee.C45Classifier(),
    committee.RandomForestClassifier(3),
    committee.GradientBoostingClassifier(n_estimators=2),
    committee.GradientBoostingClassifier(estimator=Ridge(), n_estimators=2),
    committee.AdaBoostClassifier(n_estimators=2),
    committee.BaggingClassifier(LogisticRegression(), n_estimators=2),
    committee.VotingClassifier([("a", LogisticRegression())]),
    committee.StackingClassifier([("a", LogisticRegression())], cv=2),
]


@pytest.mark.parametrize("model", ESTIMATORS, ids=lambda model: type(model).__name__)
def test_every_estimator_refuses_a_broken_matrix_in_fit_and_predict(model):
    matrix = BREAKS["an index far past the last column"](sp.csr_matrix)
    with pytest.raises(ValueError, match=BROKEN):
        model.fit(matrix, Y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(sp.csr_matrix(DENSE), Y)
    with pytest.raises(ValueError, match=BROKEN):
        model.predict(matrix)


def test_boosting_refuses_a_broken_matrix_to_watch():
    matrix = BREAKS["a negative index"](sp.csc_matrix)
    model = committee.GradientBoostingClassifier(n_estimators=2)
    with pytest.raises(ValueError, match=BROKEN):
        model.fit(DENSE, Y, eval_set=(matrix, Y))
