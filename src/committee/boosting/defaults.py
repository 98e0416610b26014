"""What gradient boosting does where a parameter is "auto": all automatic choices in one place.

`docs/defaults.md` has the measurements behind the numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from committee.base.params import (
    check_int,
    check_int_or_fraction,
    check_max_features,
    check_real,
    or_auto,
)

# Up to so many rows a table is tiny: its leaves have few rows, its trees few leaves.
_TINY, _TINY_LEAVES, _TINY_L2 = 500, 4, 3.0
# Rows that a leaf of a tiny table needs: one of so many, no less than two of four or more.
_ROWS_PER_LEAF, _LEAST_ROWS_LEAF = 25, 2
# Fewer rows are too few to hold any of them out: so many rounds, chosen by nothing.
_LEAST_HELD_OUT, _BLIND_ROUNDS = 20, 30
# Up to so many rows a table is small: its trees are small, and rounds differ by what they draw.
_SMALL = 2_500
# Up to so many rows, so many leaves; above, 127.
_LEAVES = ((_SMALL, 8), (50_000, 16), (200_000, 31))
_LEAVES_OF_FEW_ROUNDS = 31
# Up to so many rows times trees of a round, the rows are held out in turns in so many folds;
# above, one part of them.
_FOLDS = ((5_000, 5), (20_000, 3))
# Cells of the table that the trees of a fit may look at: it bounds the number of rounds.
_WORK, _LEAST_ROUNDS, _MOST_ROUNDS = 2_500_000_000, 100, 2000
# Share of the features that a node looks at; several trees a round see more between them. Of few
# features it looks at so many, or columns that only say something together would not meet.
_SHARE_OF_FEATURES, _SHARE_OF_MANY, _LEAST_OF_MANY = 0.5, 0.25, 6
# What the last quarter of the rounds has to gain for the search to go on: a share of the loss that
# is left, or of what was gained if that is less. A round of several trees costs more and has to
# gain more, and so much of what was gained at least.
_LITTLE, _LITTLE_OF_MANY, _TRIFLE_OF_MANY = 0.005, 0.01, 0.001
# So many cells looked at in a search are cheap, whatever they gain; a tree costs as many at least.
_CHEAP_WORK, _WORK_OF_TREE = 150_000_000, 5_000
# Rounds without a new best, times the learning rate, that end the search for their number.
_PATIENCE = 2.0


@dataclass(frozen=True)
class BoostingChoices:
    """The parameters of a fit that have an automatic value, decided.

    Parameters
    ----------
    n_estimators : int
        Number of rounds, or the most of them.
    learning_rate : float
        Factor of each step.
    subsample : float
        Share of the rows that a round draws.
    max_features : int, float, str or None
        Features drawn at each node.
    max_leaf_nodes : int
        Most leaves of a tree; 0 is no limit.
    min_samples_leaf : int
        Rows that a leaf needs.
    l2_regularization : float
        Added to the sum of the hessians of a leaf.
    patience : int
        Rounds without an improvement after which a search for their number ends.
    n_folds : int
        Parts to hold out in turns to choose the number of rounds; 0 where it is given.
    little, trifle : float
        Shares of the loss that is left and of what was gained, below which the last quarter of the
        rounds ends that search.
    n_cheap : int
        Rounds of that search that may gain less.
    """

    n_estimators: int
    learning_rate: float
    subsample: float
    max_features: int | float | str | None
    max_leaf_nodes: int
    min_samples_leaf: int
    l2_regularization: float
    patience: int
    n_folds: int
    little: float = 0.0
    trifle: float = 0.0
    n_cheap: int = 0

    def params(self, n_estimators: int) -> dict[str, Any]:
        """Return the parameters with which an estimator does the same in so many rounds."""
        return {
            "n_estimators": n_estimators,
            "learning_rate": self.learning_rate,
            "subsample": self.subsample,
            "max_features": self.max_features,
            "max_leaf_nodes": self.max_leaf_nodes or None,
            "min_samples_leaf": self.min_samples_leaf,
            "l2_regularization": self.l2_regularization,
        }


def automatic_values(
    n_rows: int, n_features: int, n_columns: int, chooses_rounds: bool
) -> dict[str, Any]:
    """Return what "auto" means for a table.

    Parameters
    ----------
    n_rows : int
        Rows to learn from, repetitions included.
    n_features : int
        Number of features.
    n_columns : int
        Trees of a round.
    chooses_rounds : bool
        Whether the number of rounds is automatic too. With a given number, the steps are longer
        and nothing is drawn, so that a given number of rounds does what it does elsewhere.

    Returns
    -------
    values : dict
        By the names of the parameters.

    Examples
    --------
    >>> automatic_values(1000, 10, 1, False)["learning_rate"]
    0.1
    >>> large = automatic_values(500_000, 50, 7, True)
    >>> large["n_estimators"], large["learning_rate"], large["max_leaf_nodes"]
    (100, 0.2, 127)
    """
    values: dict[str, Any] = {
        "n_estimators": 100,
        "learning_rate": 0.1,
        "subsample": 1.0,
        "max_features": None,
        "max_leaf_nodes": 31,
        "min_samples_leaf": 20,
        "l2_regularization": 1.0,
    }
    if chooses_rounds:
        most = _WORK // (n_columns * _cells(n_rows, n_features, n_columns))
        most = min(max(most, _LEAST_ROUNDS), _MOST_ROUNDS)
        values |= {
            "n_estimators": most,
            "learning_rate": _rate(n_rows, n_columns, most),
            "subsample": 0.8 if n_rows <= _SMALL else 1.0,
            "max_features": _features(n_features, n_columns),
            "max_leaf_nodes": _leaves(n_rows, n_columns, most),
            "min_samples_leaf": 10,
        }
    if n_rows <= _TINY:
        least = max(n_rows // _ROWS_PER_LEAF, min(_LEAST_ROWS_LEAF, n_rows // 2), 1)
        values |= {
            "max_leaf_nodes": _TINY_LEAVES,
            "min_samples_leaf": min(values["min_samples_leaf"], least),
            "l2_regularization": _TINY_L2,
        }
    return values


def _features(n_features: int, n_columns: int) -> int | float:
    """Return the number or the share of the features that a node looks at."""
    if n_columns == 1:
        return _SHARE_OF_FEATURES
    return _LEAST_OF_MANY if n_features * _SHARE_OF_MANY < _LEAST_OF_MANY else _SHARE_OF_MANY


def _cells(n_rows: int, n_features: int, n_columns: int) -> int:
    """Return how many cells the nodes of a level of a tree look at."""
    n_drawn = check_max_features(_features(n_features, n_columns), n_features)
    return max(n_rows * n_drawn, 1)


def _rate(n_rows: int, n_columns: int, most: int) -> float:
    """Return the learning rate: where there are few rounds, each has to go further.

    Tiny tables, and small ones of several classes, are learned as well in half of the rounds.
    """
    if most < 250:
        return 0.2
    is_fast = n_rows <= (_TINY if n_columns == 1 else _SMALL)
    return 0.1 if is_fast or most < 1000 else 0.05


def _leaves(n_rows: int, n_columns: int, most: int) -> int:
    """Return the most leaves of a tree: many classes in few rounds need larger ones."""
    leaves = _step(_LEAVES, n_rows, 127)
    return max(leaves, _LEAVES_OF_FEW_ROUNDS) if n_columns > 1 and most < 1000 else leaves


def _step(steps: Sequence[tuple[int, int]], size: int, last: int) -> int:
    """Return what belongs to the first limit that is not exceeded.

    Examples
    --------
    >>> _step(((10, 1), (20, 2)), 15, 3), _step(((10, 1), (20, 2)), 25, 3)
    (2, 3)
    """
    return next((value for limit, value in steps if size <= limit), last)


def choose(
    model: Any,
    n_rows: int,
    n_features: int,
    n_columns: int,
    *,
    is_divisible: bool = True,
    kept: Mapping[str, Any] | None = None,
) -> BoostingChoices:
    """Check the parameters that may be "auto", and decide those that are.

    Parameters
    ----------
    model : estimator
        Has the parameters.
    n_rows : int
        Rows to learn from, repetitions included.
    n_features : int
        Number of features.
    n_columns : int
        Trees of a round.
    is_divisible : bool, default=True
        Whether there is something to hold out and to learn: several rows, of several classes.
        Else one round does.
    kept : dict or None, default=None
        What was chosen by the last fit, where rounds are added to it: "auto" stays what it was.

    Returns
    -------
    choices : BoostingChoices
        What the fit uses.

    Examples
    --------
    >>> from committee import GradientBoostingRegressor
    >>> choices = choose(GradientBoostingRegressor(n_estimators=50), 1000, 10, 1)
    >>> choices.n_estimators, choices.learning_rate, choices.max_leaf_nodes
    (50, 0.1, 31)
    """
    # A weak learner of the user's is not for us to tune.
    can_choose = model.estimator is None and is_divisible and kept is None
    chooses = _is_auto(model.n_estimators) and can_choose and n_rows >= _LEAST_HELD_OUT
    auto = automatic_values(n_rows, n_features, n_columns, chooses)
    if not is_divisible:
        auto["n_estimators"] = 1
    elif n_rows < _LEAST_HELD_OUT:
        auto["n_estimators"] = _BLIND_ROUNDS
    auto |= kept or {}
    given = {name: getattr(model, name) for name in auto}
    values = {name: auto[name] if _is_auto(value) else value for name, value in given.items()}
    n_folds = _step(_FOLDS, n_rows * n_columns, 1) if chooses else 0
    work = _cells(n_rows, n_features, n_columns) + _WORK_OF_TREE
    with or_auto():
        n_estimators, rate, share, l2 = _check_numbers(values)
        n_drawn = max(1, int(n_rows * share))  # rows of a round
        rows_of_leaf = check_int_or_fraction(
            "min_samples_leaf", values["min_samples_leaf"], n_drawn, include_one=False
        )
    return BoostingChoices(
        n_estimators,
        rate,
        share,
        values["max_features"],
        _most_leaves(model, auto),
        min(rows_of_leaf, n_drawn + 1),
        l2,
        _patience(model, rate if _is_auto(model.n_estimators) else None),
        n_folds,
        _LITTLE if n_columns == 1 else _LITTLE_OF_MANY,
        0.0 if n_columns == 1 else _TRIFLE_OF_MANY,
        _CHEAP_WORK // (n_columns * max(n_folds, 1) * work),
    )


def check_chosen(params: Mapping[str, Any]) -> None:
    """Raise TypeError or ValueError unless these are such as `BoostingChoices.params` returns."""
    if set(params) != set(automatic_values(1, 1, 1, False)):
        raise ValueError("the chosen parameters have other names")
    _check_numbers(params)
    check_max_features(params["max_features"], 1)
    check_int("max_leaf_nodes", params["max_leaf_nodes"], 2, 2**31, none=True)
    check_int("min_samples_leaf", params["min_samples_leaf"], 1)


def _check_numbers(values: Mapping[str, Any]) -> tuple[int, float, float, float]:
    """Return the rounds, the learning rate, the share of rows and the L2 regularization."""
    return (
        check_int("n_estimators", values["n_estimators"], 1, 2**31 - 1),
        check_real("learning_rate", values["learning_rate"], 0.0),
        check_real("subsample", values["subsample"], 0, 1, include_low=False),
        check_real("l2_regularization", values["l2_regularization"], 0.0),
    )


def _patience(model: Any, rate: float | None) -> int:
    """Return the patience: the user's, in proportion to the steps, or 10 for given rounds."""
    patience = check_int("n_iter_no_change", model.n_iter_no_change, 1, none=True)
    if patience is not None:
        return patience
    return 10 if rate is None else round(_PATIENCE / min(max(rate, 0.01), 1.0))


def _most_leaves(model: Any, auto: Mapping[str, Any]) -> int:
    """Return the limit of leaves: the user's, or our own where nothing else bounds a tree."""
    splits = check_int("max_splits", model.max_splits, 1, 2**31, none=True)
    limits = [] if splits is None else [splits + 1]
    if not _is_auto(model.max_leaf_nodes):
        with or_auto():
            leaves = check_int("max_leaf_nodes", model.max_leaf_nodes, 2, 2**31, none=True)
        limits += [] if leaves is None else [leaves]
    elif not limits and model.max_depth is None:
        limits = [auto["max_leaf_nodes"]]
    return min((limit for limit in limits if limit is not None), default=0)


def _is_auto(value: Any) -> bool:
    return isinstance(value, str) and value == "auto"
