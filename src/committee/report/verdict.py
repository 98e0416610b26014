"""The first section: how good the committee is on new rows, in a sentence."""

from __future__ import annotations

import math
from typing import Any

from committee.report.html import Html, join, paragraph, table, tag
from committee.report.words import (
    article,
    capital,
    count,
    is_loss,
    metric_name,
    number,
    percent,
    seconds,
    shown,
)

_TILES = ("accuracy", "roc_auc", "r2", "neg_mean_absolute_error", "balanced_accuracy")
_CLEAR = 1.645  # standard errors: nineteen times of twenty a difference is no accident


def verdict(model: Any) -> Html:
    """Return the sentence, and the numbers that go with it."""
    return join([_sentence(model), _against_constant(model), _tiles(model), _correction(model)])


def ends(model: Any, coverage: float = 0.9, n_new: int | None = None) -> tuple[float, float]:
    """Return the interval of the score, in the field's words, the smaller end first."""
    metric = model.leaderboard_.metric
    low, high = model.score_.interval(coverage, n_new)
    first, last = sorted((shown(low, metric), shown(high, metric)))
    # No loss is below zero, whatever the normal distribution says.
    return (max(first, 0.0) if is_loss(metric) else first), last


def _sentence(model: Any) -> Html:
    metric = model.leaderboard_.metric
    low, high = ends(model)
    target = getattr(model, "target_name_", None)
    words = "better when smaller" if is_loss(metric) else "better when larger"
    return paragraph(
        f"On new rows expect {article(metric)} {metric_name(metric)} of ",
        tag("strong", number(shown(model.score_.score, metric))),
        join([" for ", tag("b", target)]) if target is not None else None,
        f" (90 % interval {number(low)} to {number(high)}; {words}).",
        kind="verdict",
    )


def gain(model: Any) -> tuple[float, float]:
    """Return how much better than the constant the committee is, and the standard error."""
    folds = model.findings_.scores.folds
    differences = [own - other for own, other in folds.tolist() if math.isfinite(own - other)]
    error = float("nan")
    if len(differences) > 1:
        mean = sum(differences) / len(differences)
        spread = sum((each - mean) ** 2 for each in differences) / (len(differences) - 1)
        error = (spread / len(differences)) ** 0.5
    return model.score_.score - model.findings_.constant_score, error


def is_clear(model: Any) -> bool:
    """Return whether the committee is better than the constant beyond chance."""
    value, error = gain(model)
    return value > 0 and (math.isnan(error) or value > _CLEAR * error)


def _against_constant(model: Any) -> Html:
    found, metric = model.findings_, model.leaderboard_.metric
    what = "the shares of the classes" if len(found.shares) else "the mean"
    constant = shown(found.constant_score, metric)
    value, _ = gain(model)
    share = ""
    if is_loss(metric) and constant > 0 and value > 0:
        share = f", {percent(value / constant)} less"
    folds = [pair for pair in found.scores.folds.tolist() if all(map(math.isfinite, pair))]
    n_better = sum(own > other for own, other in folds)
    text = f"Always predicting {what} would score {number(constant)}; the committee is "
    text += f"expected at {number(shown(model.score_.score, metric))}{share}"
    text += f", and was better in {n_better} of {count(len(folds), 'fold')}." if folds else "."
    if is_clear(model):
        return paragraph(text)
    doubt = " That is no clear gain: these columns may not tell much about the target."
    return paragraph(text, doubt, kind="warn")


def _tiles(model: Any) -> Html:
    found, metric = model.findings_, model.leaderboard_.metric
    scores = dict(zip(found.scores.names, found.scores.values.tolist(), strict=True))
    tiles = [
        (capital(metric_name(name)), number(shown(scores[name][0], name)))
        for name in _TILES
        if name in scores and name != metric and math.isfinite(scores[name][0])
    ][:3]
    if len(found.errors.sizes):
        tiles.append(("Half of the errors are below", number(float(found.errors.sizes[0]))))
    total = sum(entry.seconds for entry in model.leaderboard_)
    tiles += [
        ("Table", f"{found.n_rows:,} × {found.n_columns:,}"),
        ("Members", f"{len(model.member_names_)} of {len(model.leaderboard_)} tried"),
        ("Time of all fits", seconds(total)),
    ]
    items = [tag("li", tag("b", value), name) for name, value in tiles]
    return tag("ul", *items, class_="tiles")


def _correction(model: Any) -> Html:
    metric, score = model.leaderboard_.metric, model.score_
    low, high = ends(model, 0.9)
    naive = number(shown(score.naive, metric))
    is_same = naive == number(shown(score.score, metric))
    correction = "which changes nothing here" if is_same else f"without which it would be {naive}"
    rows = [["very many new rows", number(low), number(high)]]
    for n_new in (1000, 100):
        first, last = ends(model, 0.9, n_new)
        rows.insert(0, [f"{n_new:,} new rows", number(first), number(last)])
    return join(
        [
            paragraph(
                "All scores are of rows that the models were not fitted to. The expected score is "
                "corrected for the choice of members by these rows, and for new rows being "
                f"predicted by the mean of the models of all folds, {correction}.",
                kind="soft",
            ),
            table(
                ["the score on", "from", "to"],
                rows,
                caption=f"Where the {metric_name(metric)} will be, in nine cases of ten",
            ),
        ]
    )
