"""More of a search that has ended."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from committee.auto.fit import CommitteeFit, OpenSearch
from committee.auto.ledger import MICRO, Ledger, micro
from committee.auto.search import Interrupts
from committee.base.params import check_real


def improved(
    plan: CommitteeFit, fitted: Mapping[str, Any], budget: float | None, time_limit: float | None
) -> dict[str, Any]:
    """Return the fitted attributes after more steps.

    Parameters
    ----------
    plan : CommitteeFit
        The fit, of which the rows are read again.
    fitted : mapping
        Its fitted attributes.
    budget, time_limit : float or None
        What may be done besides.
    """
    if budget is not None:
        check_real("budget", budget, 0.0, include_low=False)
    if time_limit is not None:
        check_real("time_limit", time_limit, 0.0, include_low=False)
    opened = plan.open()
    if opened.fixed["_fingerprint"] != fitted["_fingerprint"]:
        raise ValueError(
            "improve goes on with the search of fit, and needs what fit was given, rows in their "
            "order; X, y, sample_weight, groups or time_order differ from that"
        )
    kept = fitted.get("_opened")
    if kept is not None and kept.is_sound:
        opened = kept
    else:
        _repeat(opened, fitted["_budgets"])
    used = opened.search.used
    more = None if budget is None else micro(budget)
    if budget is None and time_limit is None:
        more = used
    most = None if more is None else used + more
    ledger = Ledger(most, time_limit, used, plan.begin)
    attributes = plan.go_on(opened, ledger)
    last = (ledger.used - used) / MICRO
    return attributes | {"_budgets": (*fitted["_budgets"], last)}


def _repeat(opened: OpenSearch, budgets: tuple[float, ...]) -> None:
    """Do the steps of earlier calls."""
    for units in budgets:
        used = opened.search.used
        ledger = Ledger(used + round(units * MICRO), used=used)
        opened.search.run(ledger, lambda fold_members: 0.0, Interrupts(has_come=True))
