"""Fits and predictions whose bits must not depend on the kernels of the linear algebra library.

`tests/test_blas.py` runs this file with one kernel after the other. A case is a function that
returns what must be the same: arrays, numbers, texts, models (their files), or lists of these. To
add one, write it and decorate it.
"""

import hashlib
import json
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

CASES = {}


def case(function):
    CASES[function.__name__] = function
    return function


def numbers(n_rows=400, n_columns=5, seed=0):
    """A table of reals, real targets, classes and weights."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns))
    y = X[:, 0] + X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=n_rows)
    return X, y, np.digitize(y, [-0.5, 0.7]), rng.uniform(0.1, 3, n_rows)


def trees(kind, *depths):
    import committee

    cls = getattr(committee, f"DecisionTree{kind}")
    return [(f"depth{depth}", cls(max_depth=depth)) for depth in depths]


# --- the case that shows that kernels differ, or the others would show nothing ------------------


@case
def a_product_of_matrices_differs():
    X = np.random.default_rng(0).normal(size=(300, 300))
    return [X @ X.T, np.linalg.qr(X)[1], X @ X[0]]


# --- committees ---------------------------------------------------------------------------------


@case
def diversity_of_classes_and_of_numbers():
    import committee

    X, y, classes, w = numbers()
    found = []
    for make, target in [("Classifier", classes), ("Regressor", y)]:
        forest = getattr(committee, f"RandomForest{make}")(13, max_depth=3, random_state=0)
        forest.fit(X[:80], target[:80])
        for weights in (None, w[80:]):
            diversity = committee.diversity(forest, X[80:], target[80:], weights)
            found += [diversity.matrix(name) for name in diversity.measures]
            found += [diversity.error, diversity.ambiguity, diversity.combined_error]
    return found


@case
def nets():
    from committee.nets.classifier import NetClassifier
    from committee.nets.regressor import NetRegressor

    X, y, classes, w = numbers()
    small = {"n_units": 32, "max_epochs": 5, "random_state": 0}
    model = NetClassifier(**small).fit(X, classes, w)
    regressor = NetRegressor(**small).fit(X, y, w)
    return [model, model.predict_proba(X), regressor, regressor.predict(X)]


@case
def stacks_with_a_convex_meta_learner():
    import committee

    X, y, classes, w = numbers()
    found = []
    for kind, target in [("Classifier", classes), ("Regressor", y)]:
        for weights in (None, w):
            stack = getattr(committee, f"Stacking{kind}")(trees(kind, 2, 4, 6), "convex")
            stack.fit(X, target, weights)
            found += [stack, stack.predict(X), stack.final_estimator_.weights_]
    return [*found, getattr(stack, "predict_proba", stack.predict)(X)]


@case
def leak_checks_and_passthrough():
    import committee

    X, y, classes, w = numbers()
    found = []
    for kind, target in [("Classifier", classes), ("Regressor", y)]:
        final = getattr(committee, f"RandomForest{kind}")(5, random_state=0)
        stack = getattr(committee, f"Stacking{kind}")(
            trees(kind, 2, 4), final, passthrough=True, leak_check=True, random_state=0
        ).fit(X, target, w)
        report = stack.leak_report_
        found += [stack, stack.predict(X), report.promised, report.found, report.error]
    return found


@case
def votes_with_learnt_weights():
    import committee

    X, y, classes, w = numbers()
    found = []
    for weights in ("accuracy", "log_odds", "learned"):
        for voting in ("soft", "hard"):
            model = committee.VotingClassifier(
                trees("Classifier", 1, 3, 6), weights=weights, voting=voting
            ).fit(X, classes, w)
            votes = model.votes(X)
            found += [model, votes.agreement, model.predict_proba(X)]
            found.append(str(model.explain_vote(X[:1])))
    for weights in ("inverse_error", "learned"):
        model = committee.VotingRegressor(trees("Regressor", 1, 3, 6), weights=weights)
        found += [model.fit(X, y, w), model.predict(X)]
    return found


@case
def selections():
    import committee

    X, y, classes, w = numbers()
    found = []
    for scoring in (None, "accuracy", "neg_brier_score", "roc_auc_ovr"):
        model = committee.EnsembleSelectionClassifier(
            trees("Classifier", 1, 2, 3, 5, 8), n_rounds=8, scoring=scoring, n_bags=2
        )
        if scoring == "neg_brier_score":
            model.set_params(random_state=0).fit(X, classes > 0, w)
        else:
            model.set_params(random_state=0).fit(X, classes, None if scoring else w)
        found += [model, model.predict_proba(X), model.selection_.promised_curve]
    for scoring in (None, "r2"):
        model = committee.EnsembleSelectionRegressor(
            trees("Regressor", 1, 2, 3, 5, 8), n_rounds=8, scoring=scoring, random_state=0
        ).fit(X, y, w)
        found += [model, model.predict(X), model.selection_.found_curve]
    return found


@case
def pruned_ensembles():
    import committee

    X, y, classes, w = numbers()
    found = []
    for kind, target in [("Classifier", classes), ("Regressor", y)]:
        forest = getattr(committee, f"RandomForest{kind}")(20, max_depth=4, random_state=0)
        forest.fit(X[:150], target[:150])
        small, path = committee.prune_ensemble(
            forest, X[150:], target[150:], sample_weight=w[150:], tolerance=0.01
        )
        found += [path.members, path.promised, path.found, path.accuracy, small.predict(X)]
    return found


@case
def dynamic_selections_of_few_and_of_many_columns():
    import committee

    found = []
    for n_columns in (4, 30):
        X, y, classes, w = numbers(300, n_columns)
        X[:, 3] = np.round(X[:, 3])
        for metric in ("euclidean", "manhattan"):
            options = {"metric": metric, "weights": "distance", "n_neighbors": 9}
            model = committee.DynamicSelectionClassifier(trees("Classifier", 1, 4), **options)
            found += [model.fit(X, classes, w), model.predict_proba(X)]
            model = committee.DynamicSelectionRegressor(trees("Regressor", 1, 4), **options)
            found += [model.fit(X, y), model.predict(X), model.explain(X).radius]
    return found


@case
def bagging_of_trees_and_of_boosting():
    import committee

    X, y, classes, _ = numbers(200)
    trees = committee.BaggingClassifier(
        n_estimators=5, max_features=0.6, weighting="oob", oob_score=True, random_state=0
    )
    boosting = committee.BaggingRegressor(
        committee.GradientBoostingRegressor(n_estimators=5), 4, combine="median", random_state=0
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # rows that all members drew
        trees.fit(X, classes)
    return [trees, trees.predict_proba(X), trees.oob_score_, boosting.fit(X, y).predict(X)]


# --- forests, boosting, single trees ------------------------------------------------------------


@case
def forests_and_what_they_know():
    import committee

    X, y, classes, w = numbers(250)
    forest = committee.RandomForestRegressor(12, oob_score="r2", uncertainty=True, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # rows that all trees drew
        forest.fit(X, y, w)
    found = [forest, forest.predict(X), forest.oob_score_, *forest.predict_interval(X[:50]).T]
    found += [forest.predict_std(X[:50]), forest.predict_quantiles(X[:50], [0.1, 0.5])]
    found += [forest.proximity(X[:40]), forest.predict_contributions(X[:40])]
    found.append(forest.permutation_importance(X, y).importances_mean)
    extra = committee.ExtraTreesClassifier(12, random_state=0).fit(X, classes, w)
    return [*found, extra, extra.predict_proba(X), extra.variance_decomposition(X, classes)]


@case
def boosting_with_all_kinds_of_losses():
    import committee

    X, y, classes, w = numbers(250)
    table = pd.DataFrame(X, columns=list("abcde"))
    table["g"] = np.random.default_rng(0).choice([f"l{k}" for k in range(40)], len(table))
    found = []
    for loss in ("squared_error", "absolute_error", "huber", "quantile", "poisson"):
        model = committee.GradientBoostingRegressor(
            n_estimators=8, loss=loss, monotonic_cst={"a": 1}, random_state=0
        ).fit(table, np.abs(y), w)
        found += [model, model.predict(table)]
    for target in (classes, classes > 0):
        model = committee.GradientBoostingClassifier(
            n_estimators=8, subsample=0.7, l2_regularization=1.0, random_state=0
        )
        found += [model.fit(table, target, w), model.predict_proba(table)]
    return found


@case
def adaboost_of_trees():
    import committee

    X, y, classes, w = numbers(250)
    found = []
    for variant in ("discrete", "real"):
        model = committee.AdaBoostClassifier(n_estimators=12, variant=variant, random_state=0)
        model.fit(X, classes, w)
        found += [model, model.predict_proba(X), model.feature_importances_]
    model = committee.AdaBoostRegressor(n_estimators=8, random_state=0).fit(X, y, w)
    return [*found, model, model.predict(X), model.feature_importances_]


@case
def rules_of_c45():
    import committee

    X, _, classes, _ = numbers(250)
    tree = committee.C45Classifier().fit(X, classes)
    return [tree, tree.predict_proba(X), str(tree.extract_rules(X, classes))]


@case
def bootstrap_scores():
    import committee

    X, y, classes, w = numbers(150)
    found = []
    for cls, target, scoring in [
        (committee.DecisionTreeClassifier, classes, "neg_log_loss"),
        (committee.DecisionTreeClassifier, classes, "accuracy"),
        (committee.DecisionTreeRegressor, y, "r2"),
    ]:
        score = committee.bootstrap_score(
            cls(max_depth=3),
            X,
            target,
            scoring=scoring,
            n_resamples=20,
            sample_weight=w,
            random_state=0,
        )
        found += [score.score, score.score_632_plus, score.resample_scores]
    return found


# --- running them -------------------------------------------------------------------------------


def parts_of(value):
    if isinstance(value, list | tuple):
        for each in value:
            yield from parts_of(each)
    elif hasattr(value, "get_params"):
        import committee

        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.committee"
            committee.save(value, path)
            yield path.read_bytes()
    elif hasattr(value, "__dataclass_fields__"):
        yield from parts_of([getattr(value, name) for name in value.__dataclass_fields__])
    elif isinstance(value, str):
        yield value.encode()
    elif hasattr(value, "tocsr"):
        yield from parts_of([value.data, value.indices])
    else:
        yield np.asarray(value).tobytes()


def digest(value):
    found = hashlib.sha256()
    for part in parts_of(value):
        found.update(part)
    return found.hexdigest()[:16]


def main():
    from threadpoolctl import threadpool_info

    for name in ("time", "monotonic", "perf_counter"):
        setattr(time, name, lambda: 0.0)  # logs of fits hold seconds
    warnings.simplefilter("ignore")
    digests = {name: digest(function()) for name, function in CASES.items()}
    kernels = {
        each["architecture"] for each in threadpool_info() if each["internal_api"] == "openblas"
    }
    json.dump({"kernels": sorted(kernels), "digests": digests}, sys.stdout)


if __name__ == "__main__":
    main()
