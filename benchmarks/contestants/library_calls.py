"""What scikit-learn's interface has no name for: one place that knows each library's way.

Sizes of models, their files, a prediction that starts in the core, out-of-bag importances.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.contestants.contestant import Contestant


def describe_model(model: Any) -> dict[str, int]:
    """Return the size of a fitted model, as far as it tells."""
    tree = getattr(model, "tree_", None)
    if tree is not None:
        return {"nodes": int(tree.node_count), "depth": int(tree.max_depth)}
    if hasattr(model, "n_nodes"):  # the adapter of YDF
        return {"nodes": int(model.n_nodes)}
    # scikit-learn-intelex would convert all trees just to count their nodes.
    if type(model).__module__.startswith("sklearnex"):
        return {}
    members: list[Any] = list(getattr(model, "estimators_", ()))
    if not members or not all(hasattr(member, "tree_") for member in members):
        return {}
    trees = [member.tree_ for member in members]
    return {
        "nodes": sum(int(tree.node_count) for tree in trees),
        "depth": max(int(tree.max_depth) for tree in trees),
    }


def core_predictor(model: Any, rows: Any) -> Callable[[int], Any] | None:
    """Return a prediction of row i that starts in the C++ core, None for other libraries."""
    inners = (getattr(model, name, None) for name in ("_booster", "_forest", "_tree"))
    inner = next((each for each in inners if each is not None), None)
    if inner is None or not type(model).__module__.startswith("committee"):
        return None
    from committee import _core

    tables = [_core.Table.from_matrix(rows[i : i + 1]) for i in range(len(rows))]
    return lambda i: inner.predict(tables[i % len(tables)], n_threads=1)


def stored_bytes(model: Any) -> int:
    """Return the bytes of all files of a stored model."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        if type(model).__module__.startswith("committee"):
            import committee

            committee.save(model, path)
        elif hasattr(model, "save"):
            model.save(str(path))
        else:
            import joblib

            joblib.dump(model, path)
        return sum(file.stat().st_size for file in Path(folder).rglob("*") if file.is_file())


# ---- operations: a fitted model of a contestant, and the rows it was fitted on ----


def fit(contestant: Contestant, model: Any, X: Any, y: Any) -> Any:
    """Fit once more."""
    return contestant.build().fit(X, y)


def permutation_importance(contestant: Contestant, model: Any, X: Any, y: Any) -> Any:
    """Permute each feature among the out-of-bag rows of each tree."""
    return model.permutation_importance(X, y)


def out_of_bag_search(contestant: Contestant, model: Any, X: Any, y: Any) -> Any:
    """Choose max_features by the out-of-bag error."""
    import committee

    return committee.tune_max_features(contestant.build(), X, y, grid=MAX_FEATURES)


def cross_validated_search(contestant: Contestant, model: Any, X: Any, y: Any) -> Any:
    """Choose max_features by five-fold cross-validation, as it is done without out-of-bag rows."""
    from sklearn.model_selection import GridSearchCV

    grid = {"max_features": list(MAX_FEATURES)}
    return GridSearchCV(contestant.build(), grid, cv=5, refit=False).fit(X, y)


MAX_FEATURES = (1, 3, "sqrt", 8, 12)
