"""The sections on validation, on the models that were tried, and on the members."""

from __future__ import annotations

import math
from shlex import quote
from typing import Any

from committee.report.charts_rows import Mark, bars, dots, pairs
from committee.report.html import Html, folded, join, paragraph, shaded, side_by_side, table, tag
from committee.report.verdict import ends
from committee.report.words import (
    capital,
    count,
    cut,
    margin,
    metric_name,
    number,
    percent,
    seconds,
    shown,
)

_MOST_ENTRIES = 30


_UNSEEN = "Every score comes from rows that the model in question has not seen."
_MEAN = "A member of the committee is the mean of its models of all folds."
_DEALT = (
    "The rows were dealt into {folds}, the same for all models, {how}. Each model was fitted to "
    "the rows outside of each fold and predicted those inside. "
)

# How rows were held out, and what it says about new rows.
_HELD_OUT = {
    "folds": f"{_DEALT.replace('{how}', 'with copies of a row in one fold')}{_UNSEEN} {_MEAN}",
    "groups": f"{_DEALT.replace('{how}', 'with all rows of a group in one fold')}{_UNSEEN} {_MEAN}",
    "times": (
        "The rows were sorted by time. {unseen} later ones, in {folds}, were predicted by models "
        f"that were fitted to earlier rows only. {_UNSEEN}"
    ),
    "part": (
        "The table is long: {unseen} of its rows were held out once, and all models were fitted to "
        f"the others. {_UNSEEN} Its parts are shown as folds."
    ),
}
_RELATED = (
    "This says how good predictions are for rows like these. If rows belong together (several of "
    "one customer) or follow each other in time, fit with groups or time_order."
)
_CAUTIONS = {
    "folds": _RELATED,
    "groups": "This says how good predictions are for new groups of the same kind.",
    "times": "This says how good predictions are for the time after, if it goes on as before.",
    "part": _RELATED,
}


def validation(model: Any) -> Html:
    """Return how rows were held out, and what each of the folds says."""
    metric, folds = model.leaderboard_.metric, model.findings_.scores.folds
    text = _HELD_OUT[model.findings_.validation].format(
        folds=count(len(folds), "fold"), unseen=f"{model.findings_.n_unseen:,}"
    )
    caution = _CAUTIONS[model.findings_.validation]
    known = [pair for pair in folds.tolist() if all(map(math.isfinite, pair))]
    parts = [paragraph(text), paragraph(caution, kind="soft")]
    if known:
        values = [(shown(own, metric), shown(other, metric)) for own, other in folds.tolist()]
        title = f"{capital(metric_name(metric))} of the committee and of a constant in each fold"
        parts.append(tag("h3", f"{capital(metric_name(metric))} in each fold"))
        parts.append(pairs(values, ("committee", "constant"), title))
    return join(parts)


def leaderboard(model: Any) -> Html:
    """Return all models with their scores and errors."""
    board, metric = model.leaderboard_, model.leaderboard_.metric
    low, high = ends(model)
    naive, own = shown(model.score_.naive, metric), shown(model.score_.score, metric)
    marks = [Mark("the committee, corrected (ring: not corrected)", own, low, high, True, naive)]
    for entry in list(board)[:_MOST_ENTRIES]:
        value = shown(entry.score, metric)
        error = entry.standard_error
        marks.append(Mark(entry.name, value, value - error, value + error, entry.weight > 0))
    best = board.entries[0]
    gap = abs(shown(best.score, metric) - naive)
    text = f"The best single model is {best.name}; the committee is {number(gap)} "
    text += "better" if model.score_.naive > best.score else "away"
    text += " on the same rows."
    order = "smaller is better" if metric.startswith("neg_") else "larger is better"
    note = (
        f"{capital(metric_name(metric))}, {order}. Bars are one standard error, of the committee "
        "the 90 % interval. Members are dark."
    )
    title = f"{capital(metric_name(metric))} of the committee and of each model, with errors"
    rows = [
        [
            entry.name,
            number(shown(entry.score, metric)),
            margin(entry.standard_error),
            percent(entry.weight) if entry.weight > 0 else "–",
            seconds(entry.seconds),
        ]
        for entry in board
    ]
    head = ["model", metric_name(metric), "error", "weight", "time of fits"]
    listing = table(head, rows, caption="All models, the best first")
    return join([paragraph(text), side_by_side(dots(marks, title, note), listing)])


def members(model: Any) -> Html:
    """Return the weights of the members, and how alike their errors are."""
    weights = model.weights_.tolist()
    order = sorted(range(len(weights)), key=lambda place: -weights[place])
    marks = [Mark(model.member_names_[k], weights[k], shown=percent(weights[k])) for k in order]
    drawn = bars(marks, "Weight of each member", "Predictions are the mean with these weights.")
    recipes = folded("What the members are", _recipes(model))
    errors = model.findings_.members
    if len(errors) < 2:
        return join([paragraph("The committee has one member."), drawn, recipes])
    names = model.member_names_[: len(errors)]
    numbers = [str(place + 1) for place in range(len(names))]
    rows = [
        [f"{place + 1} {cut(name)}", *(_cell(value) for value in own)]
        for place, (name, own) in enumerate(zip(names, errors.correlation.tolist(), strict=True))
    ]
    grid = table(["", *numbers], rows, caption="Correlation of errors (darker: more alike)")
    measure = "Brier score" if len(model.findings_.shares) else "squared error"
    text = (
        "Members help each other where they err on different rows. On rows that they have not "
        f"seen, the average member has a {measure} of {number(errors.mean_error)}, and the mean of "
        f"the members {number(errors.combined_error)}: their differences are worth "
        f"{percent(errors.gain)}."
    )
    advice = model.findings_.member_advice([cut(name) for name in names])
    notes = [paragraph(each.text, kind="warn") for each in advice]
    return join([paragraph(text), *notes, side_by_side(drawn, grid), recipes])


def _recipes(model: Any) -> Html:
    """Return the parameters of the members that are not at their defaults."""
    rows = []
    for name, member in zip(model.member_names_, model.members_, strict=True):
        models = getattr(member, "estimators", [member])
        first = models[0]
        given = ", ".join(
            f"{key}={value!r}"
            for key, value in given_params(first).items()
            if key != "random_state"
        )
        trees = getattr(first, "n_estimators_", None) or getattr(first, "n_estimators", None)
        size = f"{trees:,} trees or rounds" if isinstance(trees, int) else ""
        rows.append([cut(name), type(first).__name__, len(models), size, cut(given, 200)])
    head = ["member", "model", "fits", "size of each", "parameters that are not defaults"]
    return table(head, rows, caption="What the members are", wide=True)


def _cell(value: float) -> Html:
    if math.isnan(value):
        return shaded("–", 0.0)
    return shaded(f"{value:.2f}", max(2 * value - 1, 0.0))


_GOES_ON = "more may be found: model.improve(X, y, time_limit=60) goes on."
_ENDINGS = {
    "all were tried": "All models were fitted to their end: a larger budget would change nothing.",
    "the budget is used up": f"The budget ended the search; {_GOES_ON}",
    "the time is up": f"The clock ended the search; {_GOES_ON}",
    "the search was interrupted": f"Ctrl-C ended the search; {_GOES_ON}",
}


def costs(model: Any) -> Html:
    """Return what each candidate cost, and the call that does the same again."""
    board = model.leaderboard_
    total = sum(entry.seconds for entry in board) or 1.0
    by_cost = sorted(board, key=lambda entry: -entry.seconds)
    rows = [
        [
            entry.name,
            seconds(entry.seconds),
            percent(entry.seconds / total),
            "member" if entry.weight > 0 else "not chosen",
        ]
        for entry in by_cost
    ]
    listing = table(
        ["model", "time", "share", "came to"], rows, caption="What fitting each model cost"
    )
    used = f"{number(model.budget_)} units of work were done (a unit is about a second of a core)"
    ending = _ENDINGS.get(getattr(model, "_ending", ""), "")
    speed = f"Predictions of 10,000 rows take about {seconds(model.latency_)} of one core."
    return join(
        [
            paragraph(f"{used}, in {seconds(total)} of fits. {ending} {speed}"),
            folded("What each model cost", listing),
            *_again(model),
        ]
    )


def _again(model: Any) -> list[Html]:
    target = getattr(model, "target_name_", None)
    given = given_params(model)
    if given.pop("time_limit", None) is not None:
        given["budget"] = model.budget_  # the clock cannot be repeated, the work can
    options = ", ".join(f"{name}={value!r}" for name, value in given.items())
    if target is None:
        code = f"model = committee.{type(model).__name__}({options}).fit(X, y)"
    else:
        arguments = ["table", repr(target), *([options] if options else [])]
        code = f"model = committee.train({', '.join(arguments)})"
    parts = [paragraph("The same again:"), tag("pre", f"import committee\n{code}")]
    if target is not None:
        flags = [f" {_FLAGS[name]} {quote(str(v))}" for name, v in given.items() if name in _FLAGS]
        command = f"committee train table.csv --target {quote(str(target))}{''.join(flags)}"
        parts.append(tag("pre", command))
    if model.random_state is None:
        text = "No random_state was given: another run deals the rows into other folds."
        parts.append(paragraph(text, kind="soft"))
    return parts


_FLAGS = {"random_state": "--seed", "n_jobs": "--jobs"} | {
    name: f"--{name.replace('_', '-')}" for name in ("budget", "quality", "scoring")
}


def given_params(model: Any) -> dict[str, Any]:
    """Return the parameters of an estimator that are not at their defaults."""
    try:
        defaults = type(model)().get_params(deep=False)
    except TypeError:  # some parameters have no defaults
        defaults = {}
    hidden = ("verbose", "n_jobs", "progress")
    return {
        name: value
        for name, value in model.get_params(deep=False).items()
        if name not in hidden and repr(value) != repr(defaults.get(name, ...))
    }
