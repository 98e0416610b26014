"""Checks of what comes from a page: it may hold anything that JSON can say."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any


def as_number(name: str, value: Any, low: float, high: float) -> float:
    """Return a finite number between two bounds.

    Examples
    --------
    >>> as_number("noise", 1, 0, 2)
    1.0
    """
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not low <= value <= high:  # which refuses NaN and infinities too
        raise ValueError(
            f"{name} must be a number from {low:g} to {high:g}; got {shortened(value)}"
        )
    return float(value)


def as_object(name: str, value: Any) -> dict[str, Any]:
    """Return an object of JSON."""
    if not isinstance(value, dict):
        raise ValueError(f"{name} must be an object; got {shortened(value)}")
    return value


def as_text(name: str, value: Any) -> str:
    """Return a text."""
    if not isinstance(value, str):
        raise ValueError(f"{name} must be text; got {shortened(value)}")
    return value


def as_list(name: str, value: Any, most: int) -> list[Any]:
    """Return a list of at most so many entries."""
    if not isinstance(value, list):
        raise ValueError(f"{name} must be a list; got {shortened(value)}")
    if len(value) > most:
        raise ValueError(f"{name} must have at most {most:,} entries; got {len(value):,}")
    return value


def refuse_unknown(name: str, given: dict[str, Any], known: Collection[str]) -> None:
    """Raise if an object has a key that means nothing."""
    for key in given:
        if key not in known:
            accepted = ", ".join(map(repr, known))
            raise ValueError(f"{name} has an unknown {shortened(key)}; accepted are {accepted}")


def shortened(value: Any) -> str:
    """Return a value in a few characters, for messages.

    Examples
    --------
    >>> shortened("a" * 100)
    "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa…"
    """
    if isinstance(value, int) and abs(value) > 10**30:  # printing a long one takes long, or fails
        return "a very large number"
    if isinstance(value, list | dict):
        return f"a {type(value).__name__} of {len(value):,}"
    text = repr(value)
    return text if len(text) <= 40 else text[:39] + "…"
