"""Ctrl-C ends a fit soon and leaves the estimator as it was."""

import threading
import time

import numpy as np
import pytest

from committee import (
    AdaBoostClassifier,
    BaggingClassifier,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    GradientBoostingClassifier,
    RandomForestClassifier,
    StackingClassifier,
    VotingClassifier,
)


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("cls", [DecisionTreeClassifier, DecisionTreeRegressor])
def test_an_interrupted_fit_leaves_the_estimator_as_it_was(cls, n_jobs, ctrl_c, rng):
    if threading.current_thread() is not threading.main_thread():
        pytest.skip("signals reach the main thread only")
    X = rng.normal(size=(400_000, 30)).astype(np.float32)
    y = (X[:, 0] + rng.normal(size=len(X)) > 0).astype(int)
    model = cls(n_jobs=n_jobs, max_depth=3).fit(X[:500], y[:500])
    before = model.predict(X[:1000])
    model.set_params(max_depth=None)
    ctrl_c(0.1)  # the fit would take half a second and more
    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert time.monotonic() - begin < 10
    np.testing.assert_array_equal(model.predict(X[:1000]), before)


def long_members():
    return [
        ("boosting", GradientBoostingClassifier(n_estimators=20_000, early_stopping=False)),
        ("forest", RandomForestClassifier(20_000)),
        ("adaboost", AdaBoostClassifier(n_estimators=20_000)),
    ]


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize(
    "make",
    [
        lambda: VotingClassifier(long_members()),
        lambda: StackingClassifier(long_members(), cv=2),
        lambda: StackingClassifier(long_members(), cv=2, leak_check=True),
        lambda: BaggingClassifier(GradientBoostingClassifier(n_estimators=20_000), 4),
    ],
    ids=["voting", "stacking", "leak check", "bagging"],
)
def test_members_side_by_side_end_soon_and_leave_the_estimator_as_it_was(make, n_jobs, ctrl_c, rng):
    if threading.current_thread() is not threading.main_thread():
        pytest.skip("signals reach the main thread only")
    X = rng.normal(size=(4_000, 5))
    y = (X[:, 0] + rng.normal(size=len(X)) > 0).astype(int)
    model = make().set_params(n_jobs=n_jobs)
    before = dict(vars(model))
    ctrl_c(0.1)
    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert time.monotonic() - begin < 2  # 0.2 s on a machine that does nothing else
    assert vars(model) == before
    assert threading.active_count() < 10  # nobody works on
