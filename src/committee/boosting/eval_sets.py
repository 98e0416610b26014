"""Validation rows that `fit` is given: one set of them, or several with names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from committee.evaluation.training_log import LOGGED

_ACCEPTED = (
    "eval_set must be a tuple (X, y) or (X, y, sample_weight), a list of these or a dict of these "
    "by names"
)


@dataclass(frozen=True, eq=False)
class EvalSet:
    """Validation rows.

    Parameters
    ----------
    name : str
        Of the rows; columns of the log begin with it where there are several sets.
    X, y, sample_weight
        The rows, their target and their weights.
    argument : str
        The argument of `fit` that they came in, for messages.
    """

    name: str
    X: Any
    y: Any
    sample_weight: Any = None
    argument: str = "eval_set"

    @property
    def columns(self) -> tuple[str, str]:
        """Names of the columns of the log with the loss and the score."""
        return f"{self.name}_loss", f"{self.name}_score"


def read_eval_sets(
    eval_set: Any, X_val: Any = None, y_val: Any = None, sample_weight_val: Any = None
) -> list[EvalSet]:
    """Return the sets of validation rows; the last of them decides when to stop.

    Parameters
    ----------
    eval_set : tuple, list of tuples, dict of tuples, or None
        As LightGBM and XGBoost take it, or with names.
    X_val, y_val, sample_weight_val
        One set, as scikit-learn takes it.

    Examples
    --------
    >>> [each.name for each in read_eval_sets([([[1.0]], [1]), ([[2.0]], [2])])]
    ['validation_0', 'validation_1']
    >>> [each.name for each in read_eval_sets({"early": ([[1.0]], [1]), "late": ([[2.0]], [2])})]
    ['early', 'late']
    """
    if X_val is not None or y_val is not None or sample_weight_val is not None:
        if eval_set is not None:
            raise ValueError("eval_set must be None where X_val and y_val are given")
        for name, other, given in (("X_val", "y_val", X_val), ("y_val", "X_val", y_val)):
            if given is None:
                raise ValueError(f"{other} is provided, but {name} was not provided.")
        return [EvalSet("validation", X_val, y_val, sample_weight_val, "X_val and y_val")]
    if eval_set is None:
        return []
    if isinstance(eval_set, list) and len(eval_set) == 1:
        (eval_set,) = eval_set  # as LightGBM and XGBoost take it
    if isinstance(eval_set, tuple):
        return [_one("validation", eval_set)]
    if not isinstance(eval_set, list | dict) or len(eval_set) == 0:
        raise TypeError(f"{_ACCEPTED}; got {_shown(eval_set)}")
    if isinstance(eval_set, list):
        eval_set = {f"validation_{number}": each for number, each in enumerate(eval_set)}
    sets = [_one(name, each) for name, each in eval_set.items()]
    _check_names(sets)
    return sets


def _one(name: Any, given: Any) -> EvalSet:
    if not isinstance(name, str):
        raise TypeError(f"eval_set must have text for names; got {name!r}")
    if not isinstance(given, tuple) or len(given) not in (2, 3):
        raise TypeError(f"{_ACCEPTED}; got {_shown(given)}")
    return EvalSet(name, *given)


def _check_names(sets: Sequence[EvalSet]) -> None:
    for each in sets:
        if len(sets) > 1 and set(each.columns) & set(LOGGED):
            raise ValueError(
                f"eval_set must have names other than {each.name!r}, which is what a column of the "
                "log is called already"
            )


def _shown(given: Any) -> str:
    if isinstance(given, tuple):
        return f"a tuple of {len(given)}"
    is_empty = isinstance(given, list | Mapping) and not given
    return f"an empty {type(given).__name__}" if is_empty else type(given).__name__
