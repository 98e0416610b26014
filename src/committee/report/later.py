"""Sections on what a committee may have besides its predictions: intervals, a small imitation."""

from __future__ import annotations

from typing import Any

from committee.report.html import Html


def intervals(model: Any) -> Html | None:
    """Return how often intervals or sets hold the truth, where they were measured."""
    return None


def distilled(model: Any) -> Html | None:
    """Return the small model that imitates the committee, where one was made."""
    return None
