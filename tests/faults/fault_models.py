"""An estimator of every public class, small and with a member or two, for tests of faults.

`COMMITTEE_LONG=1` makes the tests of this folder do ten times as much.
"""

import os
import warnings

import numpy as np
import pandas as pd

import committee

LONG = bool(os.environ.get("COMMITTEE_LONG"))


def times(number):
    """How often something is tried."""
    return number * 10 if LONG else number


def class_members():
    return [
        ("tree", committee.DecisionTreeClassifier(max_depth=4)),
        ("forest", committee.RandomForestClassifier(8, random_state=1)),
    ]


def number_members():
    return [
        ("tree", committee.DecisionTreeRegressor(max_depth=4)),
        ("forest", committee.RandomForestRegressor(8, random_state=1)),
    ]


def estimators():
    """One of each class, not fitted."""
    c = committee
    seed = {"random_state": 0}
    made = [
        c.AdaBoostClassifier(n_estimators=20, **seed),
        c.AdaBoostRegressor(n_estimators=5, **seed),
        c.BaggingClassifier(c.DecisionTreeClassifier(), 8, **seed),
        c.BaggingRegressor(c.DecisionTreeRegressor(), 8, **seed),
        c.C45Classifier(),
        c.CommitteeClassifier(budget=0.02, verbose=0, **seed),
        c.CommitteeRegressor(budget=0.02, verbose=0, **seed),
        c.DecisionTreeClassifier(**seed),
        c.DecisionTreeRegressor(**seed),
        c.DynamicSelectionClassifier(class_members(), cv=2, **seed),
        c.DynamicSelectionRegressor(number_members(), cv=2, **seed),
        c.EnsembleSelectionClassifier(class_members(), n_rounds=5, cv=2, **seed),
        c.EnsembleSelectionRegressor(number_members(), n_rounds=5, cv=2, **seed),
        c.ExtraTreesClassifier(10, **seed),
        c.ExtraTreesRegressor(10, **seed),
        c.GradientBoostingClassifier(n_estimators=10, **seed),
        c.GradientBoostingRegressor(n_estimators=10, **seed),
        c.ID3Classifier(),
        c.RandomForestClassifier(10, **seed),
        c.RandomForestRegressor(10, **seed),
        c.StackingClassifier(class_members(), cv=2, **seed),
        c.StackingRegressor(number_members(), cv=2, **seed),
        c.VotingClassifier(class_members(), voting="soft"),
        c.VotingRegressor(number_members()),
    ]
    return {type(each).__name__: each for each in made}


NAMES = list(estimators())


def is_classifier(model):
    return type(model).__name__.endswith("Classifier")


def table(n_rows=300, seed=0):
    """Numbers, a category and missing cells."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n_rows, 4)), columns=list("abcd"))
    X["level"] = rng.choice(list("xyz"), n_rows)
    X.loc[::9, "b"] = np.nan
    return X


def target(model, X, flipped=False):
    """Classes or numbers; flipped ones have other labels, so that nobody takes one for another."""
    score = (X["a"] + (X["level"] == "x") + 0.3 * X["c"]).to_numpy()
    if not is_classifier(model):
        return 1000 - score if flipped else score
    labels = np.array(["low", "high"] if not flipped else ["late", "early"])
    return labels[(score > 0.3).astype(int)]


def fit(model, X, y):
    """Fit; what members say about rows of little data is no matter here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return model.fit(X, y)


def answers(model, X):
    """Predictions as bytes, with probabilities where there are some."""
    parts = [np.asarray(model.predict(X)).astype("U") if is_classifier(model) else model.predict(X)]
    if hasattr(model, "predict_proba"):
        parts.append(model.predict_proba(X))
    return b"".join(np.ascontiguousarray(part).tobytes() for part in parts)


def predict_and_fit(models, X):
    """Answers of models, and of the same fitted again; called in other processes."""
    found = {}
    for name, model in models.items():
        before = answers(model, X)
        found[name] = (before, answers(fit(model, X, target(model, X)), X))
    return found
