"""What the methods of a loss have returned, checked: losses of one's own may return anything."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from committee.base.arrays import Floats


def losses_of_rows(loss: Any, y: NDArray[Any], scores: Floats) -> Floats:
    """Return `row_losses`; ValueError unless there is a number for each row."""
    found = loss.row_losses(y, scores)
    return _numbers(found, (len(y),), loss, "row_losses", "an array of the losses of the rows")


def derivatives(loss: Any, y: NDArray[Any], scores: Floats) -> tuple[Floats, Floats]:
    """Return `gradients`; ValueError unless they are two arrays of the shape of the scores."""
    found = loss.gradients(y, scores)
    if not isinstance(found, tuple | list) or len(found) != 2:
        size = f" of {len(found)}" if isinstance(found, tuple | list) else ""
        raise ValueError(
            f"gradients of the loss {loss!r} must return a pair, (gradient, hessian); got "
            f"{type(found).__name__}{size}"
        )
    names = ("the gradient", "the hessian")
    pairs = zip(found, names, strict=True)
    gradient, hessian = (_numbers(each, scores.shape, loss, "gradients", n) for each, n in pairs)
    return gradient, hessian


def constants(found: Any, loss: Any, method: str) -> Floats:
    """Return first scores; ValueError unless there is a finite one for each score of a row."""
    values = _numbers(found, (loss.n_scores,), loss, method, "an array of the scores of a row")
    if not np.isfinite(values).all():
        raise ValueError(f"{method} of the loss {loss!r} must be finite; got {values.tolist()}")
    return values


def steps_of_leaves(found: Any, loss: Any, n_leaves: int) -> Floats:
    """Return the steps of leaves; ValueError unless there is a finite one for each leaf."""
    steps = _numbers(found, (n_leaves,), loss, "leaf_values", "an array of the steps of the leaves")
    if not np.isfinite(steps).all():
        leaf = int(np.argmin(np.isfinite(steps)))
        raise ValueError(
            f"leaf_values of the loss {loss!r} must be finite; got {steps[leaf]} for leaf {leaf}"
        )
    return steps


def _numbers(found: Any, shape: tuple[int, ...], loss: Any, method: str, what: str) -> Floats:
    is_plain = isinstance(found, np.ndarray) and found.dtype == np.float64
    if is_plain and found.shape == shape:
        return np.asarray(found)
    try:
        values = np.asarray(found)
    except ValueError:  # rows of different lengths
        values = np.empty(0, object)
    if values.shape == shape and values.dtype.kind in "fiub":
        return values.astype(np.float64)
    given = f"{values.dtype} of shape {values.shape}" if values.ndim else repr(found)
    raise ValueError(
        f"{method} of the loss {loss!r} must return {what}, real numbers of shape {shape}; got "
        f"{given}"
    )
