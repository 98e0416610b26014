"""A kind of frame that narwhals does not know: `open_any` recognises it, and nothing else need."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from committee import (
    BaggingClassifier,
    DecisionTreeClassifier,
    GradientBoostingClassifier,
    RandomForestClassifier,
    StackingClassifier,
    VotingClassifier,
)
from committee.plots.forest import plot_proximity
from committee.tables import source
from committee.tables.column import numpy_column

TREE = DecisionTreeClassifier(max_depth=3)
MEMBERS = [("tree", TREE), ("forest", RandomForestClassifier(5, random_state=0))]


class PlainFrame:
    """Columns by name, without a shape, a length or an array."""

    def __init__(self, columns):
        self.columns = columns


class ReadableFrame(PlainFrame):
    """The same, which other libraries can read too."""

    def __array__(self, dtype=None, copy=None):
        return np.column_stack(list(self.columns.values()))


def open_plain(X):
    columns = list(X.columns.values())

    def read(position, where):
        return numpy_column(columns[position], None, where)

    return source.Columns(len(columns[0]), len(columns), tuple(X.columns), read, is_frame=True)


@pytest.fixture
def columns(monkeypatch):
    """Columns of a table; `open_any` recognises frames that hold such."""
    before = source._open_other

    def open_other(X):
        return open_plain(X) if isinstance(X, PlainFrame) else before(X)

    monkeypatch.setattr(source, "_open_other", open_other)
    X = np.random.default_rng(0).normal(size=(90, 3))
    return dict(zip("abc", X.T, strict=True))


@pytest.mark.parametrize(
    "model",
    [
        RandomForestClassifier(5, random_state=0),
        GradientBoostingClassifier(n_estimators=5, random_state=0),
        BaggingClassifier(TREE, 5, random_state=0),
        VotingClassifier(MEMBERS),
        StackingClassifier(MEMBERS, random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_a_frame_that_open_any_knows_is_read_as_a_frame_of_pandas(model, columns):
    pd = pytest.importorskip("pandas")
    y = (columns["a"] + columns["b"] > 0).astype(int)
    expected = clone(model).fit(pd.DataFrame(columns), y)
    fitted = clone(model).fit(PlainFrame(columns), y)
    assert fitted.feature_names_in_.tolist() == ["a", "b", "c"]
    np.testing.assert_array_equal(
        fitted.predict_proba(PlainFrame(columns)), expected.predict_proba(pd.DataFrame(columns))
    )


def test_members_of_other_libraries_get_what_numpy_makes_of_a_frame(columns):
    y = (columns["a"] + columns["b"] > 0).astype(int)
    members = [*MEMBERS, ("logistic", LogisticRegression())]
    frame = ReadableFrame(columns)
    fitted = StackingClassifier(members, random_state=0).fit(frame, y)
    expected = StackingClassifier(members, random_state=0).fit(np.asarray(frame), y)
    np.testing.assert_array_equal(
        fitted.predict_proba(frame), expected.predict_proba(np.asarray(frame))
    )


def test_a_frame_without_a_length_has_a_map_of_its_rows(columns):
    pytest.importorskip("matplotlib").use("Agg")
    frame = PlainFrame(columns)
    model = RandomForestClassifier(5, random_state=0).fit(frame, columns["a"] > 0)
    ax = plot_proximity(model, frame)
    assert len(ax.collections[0].get_offsets()) == 90
    ax.figure.clear()
