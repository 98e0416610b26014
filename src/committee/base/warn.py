"""Warnings that point at the line of the user's program, however deep in the library they arise."""

from __future__ import annotations

import sys
import warnings
from types import FrameType


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn the first caller outside of the library.

    Examples
    --------
    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     warn("the weights are small")
    >>> str(caught[0].message)
    'the weights are small'
    """
    frame: FrameType | None = sys._getframe(1)
    level = 2
    while frame is not None and _is_inside(frame):
        frame, level = frame.f_back, level + 1
    # In a thread of a pool there is no caller outside.
    warnings.warn(message, category, stacklevel=2 if frame is None else level)


def _is_inside(frame: FrameType) -> bool:
    # scikit-learn wraps some methods, and calls estimators from its searches and pipelines.
    module = str(frame.f_globals.get("__name__", ""))
    return module.partition(".")[0] in ("committee", "sklearn", "joblib")
