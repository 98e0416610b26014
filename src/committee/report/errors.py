"""The section on errors: where predictions of unseen rows are right, and where they are wrong."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from committee.base.arrays import Floats
from committee.report.charts_xy import agreement, residuals, shares
from committee.report.html import Html, folded, join, paragraph, shaded, side_by_side, table, tag
from committee.report.words import (
    capital,
    class_names,
    count,
    cut,
    is_loss,
    margin,
    meaning,
    metric_name,
    number,
    percent,
    shown,
)

_MOST_CLASSES = 12  # in the table of confusions; of more, the most frequent mistakes are listed
_MOST_MISTAKES = 15
_MOST_LISTED = 100  # classes, one by one
_FLAGGED = (0.01, 0.05, 0.1, 0.2, 0.3, 0.5)  # shares of the rows, in the table of thresholds


def errors(model: Any) -> Html:
    """Return all about errors, for classes or for numbers."""
    found, classes = model.findings_, _classes(model)
    parts = [_scores(found.scores)]
    if classes:
        parts += _of_classes(found, classes)
    else:
        parts += _of_numbers(found.errors)
    parts.append(_slices(found.slices, bool(classes)))
    return join(parts)


def _classes(model: Any) -> list[str]:
    return class_names(model) if len(model.findings_.shares) else []


def _scores(found: Any) -> Html:
    rows = [
        [
            capital(metric_name(name)),
            number(shown(own, name)),
            margin(error),
            number(shown(constant, name)),
            "smaller" if is_loss(name) else "larger",
        ]
        for name, (own, error, constant) in zip(found.names, found.values.tolist(), strict=True)
    ]
    head = ["metric", "committee", "error", "constant", "better is"]
    terms = [
        join([tag("dt", capital(metric_name(name))), tag("dd", meaning(name))])
        for name in found.names
    ]
    words = folded("What these metrics say", tag("dl", *terms))
    caption = "The committee in other metrics (not corrected for the choice of members)"
    return join([tag("h3", "Scores"), table(head, rows, caption=caption), words])


# --- classes ------------------------------------------------------------------------------------


def _of_classes(found: Any, classes: Sequence[str]) -> list[Html]:
    is_two = len(classes) == 2
    what = f"probability of {cut(classes[1])}" if is_two else "probability of the predicted class"
    share = f"share of {cut(classes[1])}" if is_two else "share that is right"
    text = (
        "Rows are sorted by their predictions and cut into bins of equal size. On the dashed line "
        "the probability is what happens: of all rows with 70 %, seven in ten. Bars are one "
        "standard error."
    )
    title = f"Calibration: {share} against {what}"
    first = join(
        [
            tag("h3", "Are the probabilities right?"),
            agreement(found.errors.bins, (what, share), title, text),
        ]
    )
    second = join(
        [
            tag("h3", "Which classes are mistaken for which?"),
            _confusion(classes, found.errors.confusion),
        ]
    )
    parts = [side_by_side(tag("div", first), tag("div", second))]
    parts.append(_by_class(classes, found.errors))
    if is_two:
        parts += _ranking(found, classes)
    return parts


def _ranking(found: Any, classes: Sequence[str]) -> list[Html]:
    """Return ROC, precision and recall, and the gain of looking at the likeliest rows first."""
    ranking, base = found.errors.ranking, float(found.shares[1])
    hits, false = ranking[:, 1], ranking[:, 2]
    flagged = base * hits + (1 - base) * false
    precision = base * hits / np.maximum(flagged, 1e-300)
    roc = [(0.0, 0.0), *zip(false.tolist(), hits.tolist(), strict=True), (1.0, 1.0)]
    gains = [(0.0, 0.0), *zip(flagged.tolist(), hits.tolist(), strict=True), (1.0, 1.0)]
    recall = list(zip(hits.tolist(), precision.tolist(), strict=True))
    area = dict(zip(found.scores.names, found.scores.values[:, 0].tolist(), strict=True))
    name = cut(classes[1], 24)
    return [
        tag("h3", f"Does it find {cut(classes[1])}?"),
        side_by_side(
            shares(
                roc,
                ("share of the other rows flagged", "share found"),
                f"ROC curve, area {area['roc_auc']:.3f}",
                f"ROC curve: area {area['roc_auc']:.3f}; 0.5 is chance (dashed).",
                [(0.0, 0.0), (1.0, 1.0)],
            ),
            shares(
                recall,
                ("share found (recall)", "precision"),
                f"Precision against recall, average precision {area['average_precision']:.3f}",
                f"Precision and recall: average precision {area['average_precision']:.3f}; chance "
                f"is {base:.3f} (dashed).",
                [(0.0, base), (1.0, base)],
            ),
            shares(
                gains,
                ("share of all rows, the likeliest first", "share found"),
                f"Share of {name} found in the likeliest rows",
                f"Gain: how much of {name} is among the likeliest rows.",
                [(0.0, 0.0), (1.0, 1.0)],
            ),
            _thresholds(found, classes),
        ),
    ]


def _thresholds(found: Any, classes: Sequence[str]) -> Html:
    """Return what it means to flag so many rows."""
    ranking, base = found.errors.ranking, float(found.shares[1])
    flagged = base * ranking[:, 1] + (1 - base) * ranking[:, 2]
    rows, known = [], set()
    for share in _FLAGGED:
        place = min(int(np.searchsorted(flagged, share - 1e-9)), len(ranking) - 1)
        if place in known:
            continue
        known.add(place)
        threshold, hits, _ = ranking[place].tolist()
        precision = base * hits / max(float(flagged[place]), 1e-300)
        lift = precision / base if base else float("nan")
        rows.append(
            [
                f"≥ {threshold:.3f}",
                percent(float(flagged[place])),
                percent(precision),
                percent(hits),
                f"{lift:.1f} ×",
            ]
        )
    name = cut(classes[1], 24)
    head = [f"probability of {name}", "rows flagged", "of these right", "found of all", "lift"]
    listing = table(head, rows, caption="What a threshold does")
    return tag("div", listing, paragraph(_best_thresholds(ranking, base), kind="soft"))


def _best_thresholds(ranking: Floats, base: float) -> str:
    """Return in words which thresholds are best for metrics that look at predicted classes."""
    hits, false = ranking[:, 1], ranking[:, 2]
    wrong = (1 - base) * false
    scores = {
        "accuracy": base * hits + (1 - base) * (1 - false),
        "F1": 2 * base * hits / np.maximum(base * hits + wrong + base, 1e-300),
        "balanced accuracy": (hits + 1 - false) / 2,
    }
    best = [(name, int(values.argmax()), float(values.max())) for name, values in scores.items()]
    words = [f"{name} ({value:.3f}) at {ranking[place, 0]:.3f}" for name, place, value in best]
    return f"On these rows, the best thresholds are: {', '.join(words)}."


def _confusion(classes: Sequence[str], counts: Floats) -> Html:
    if len(classes) > _MOST_CLASSES:
        return _mistakes(classes, counts)
    whole = np.maximum(counts.sum(axis=1), 1e-300)
    rows = [
        [
            cut(label, 24),
            *(shaded(_tally(n), n / size) for n in row),
        ]
        for label, row, size in zip(classes, counts.tolist(), whole.tolist(), strict=True)
    ]
    return table(
        ["true class", *(cut(label, 16) for label in classes)],
        rows,
        caption="Rows by true class (down) and predicted class (across)",
    )


def _mistakes(classes: Sequence[str], counts: Floats) -> Html:
    wrong = counts - np.diag(np.diagonal(counts))
    order = np.argsort(-wrong, axis=None, kind="stable")[:_MOST_MISTAKES]
    rows = []
    for truth, predicted in zip(*(each.tolist() for each in np.unravel_index(order, wrong.shape)),
                                strict=True):  # fmt: skip
        size = float(wrong[truth, predicted])
        if size > 0:
            share = size / float(counts[truth].sum())
            rows.append(
                [cut(classes[truth]), cut(classes[predicted]), _tally(size), percent(share)]
            )
    head = ["true class", "predicted", "rows", "of the class"]
    return table(head, rows, caption="The most frequent mistakes")


def _by_class(classes: Sequence[str], found: Any) -> Html:
    counts = found.confusion
    right, truth, predicted = np.diagonal(counts), counts.sum(axis=1), counts.sum(axis=0)
    rows = []
    for k in np.argsort(-truth, kind="stable")[:_MOST_LISTED].tolist():
        precision = right[k] / predicted[k] if predicted[k] else float("nan")
        recall = right[k] / truth[k] if truth[k] else float("nan")
        f1 = 2 * right[k] / (truth[k] + predicted[k]) if truth[k] + predicted[k] else float("nan")
        area = float(found.areas[k]) if len(found.areas) else float("nan")
        cells = [percent(float(precision)), percent(float(recall)), number(float(f1)), number(area)]
        rows.append([cut(classes[k]), _tally(float(truth[k])), *cells])
    head = ["class", "rows", "precision", "recall", "F1", "area under ROC"]
    listing = table(head, rows, caption="Each class against all others, the most frequent first")
    return listing if len(classes) <= _MOST_CLASSES else folded("Classes one by one", listing)


def _tally(size: float) -> str:
    return f"{size:,.0f}" if float(size).is_integer() else number(size)


# --- numbers ------------------------------------------------------------------------------------


def _of_numbers(found: Any) -> list[Html]:
    half, most, nine, _, rare = (number(value) for value in found.sizes.tolist())
    text = (
        f"Half of the predictions are off by less than {half}, 80 % by less than {most}, 90 % by "
        f"less than {nine}; one in a hundred is off by more than {rare}."
    )
    note = (
        "Rows are sorted by their predictions and cut into bins of equal size. Points on the "
        "dashed line are right on average; bars have the true values of 80 % of the rows."
    )
    spread = (
        "The middle half of the errors (box), 80 % of them (line) and the median. A median away "
        "from zero is a bias, boxes that grow mean that large predictions are less certain."
    )
    return [
        tag("h3", "How large are the errors?"),
        paragraph(text),
        side_by_side(
            agreement(found.bins, ("prediction", "truth"), "Truth against prediction", note),
            residuals(found.bins[:, 0], found.residuals, "Residuals by prediction", spread),
        ),
    ]


# --- slices -------------------------------------------------------------------------------------


def _slices(found: Any, is_classes: bool) -> Html:
    heading = tag("h3", "Where is it worse than elsewhere?")
    tested = f"{count(found.n_tested, 'part')} of the table, by ranges and levels of the columns"
    if not found.weak:
        text = f"Nowhere clearly: {tested}, were compared with the rest."
        return join(
            [heading, paragraph(text if found.n_tested else "There are too few rows to say.")]
        )
    loss = "log loss" if is_classes else "relative error"
    rows = [
        [
            f"{cut(each.column, 28)}: {cut(each.group, 28)}",
            f"{each.n_rows:,} ({percent(each.share)})",
            number(each.loss),
            number(each.loss_elsewhere),
            f"{each.loss / each.loss_elsewhere:.1f} ×" if each.loss_elsewhere > 0 else "–",
            "< 0.001" if each.chance < 0.001 else number(each.chance),
        ]
        for each in found.weak
    ]
    text = (
        f"{capital(tested)}, were compared with the rest; these are worse beyond chance. Chances "
        "are corrected for the number of comparisons. Such rows may be harder by nature, rare, or "
        "short of a column that explains them."
        + ("" if is_classes else " A relative error of 1 is the mean of rows predicted alike.")
    )
    head = ["rows with", "number", f"{loss} there", "elsewhere", "ratio", "by chance"]
    return join([heading, paragraph(text), table(head, rows, caption="Weak parts of the table")])
