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
    warnings.warn(message, category, stacklevel=level)


def _is_inside(frame: FrameType) -> bool:
    # scikit-learn wraps some methods, `transform` for one.
    return str(frame.f_globals.get("__name__", "")).startswith(("committee.", "sklearn."))
