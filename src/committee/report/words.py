"""Numbers, scores and metrics as a reader expects them."""

from __future__ import annotations

import math
from typing import Any

_NAMES = {
    "roc_auc": "area under the ROC curve",
    "roc_auc_ovr": "area under the ROC curve, one class against the rest",
    "r2": "R²",
    "f1": "F1",
    "f1_macro": "F1, mean of the classes",
    "average_precision": "average precision",
    "neg_brier_score": "Brier score",
    "matthews_corrcoef": "Matthews correlation",
}

# What a metric says, in few words.
_MEANINGS = {
    "neg_log_loss": "mean surprise by the truth; certain mistakes cost most; 0 is perfect",
    "neg_brier_score": "mean squared error of the probability; 0 is perfect",
    "roc_auc": "how often a row of the class has a higher probability than another; 0.5 is chance",
    "average_precision": "mean precision while more and more rows are flagged; 1 is perfect",
    "accuracy": "share of rows whose most probable class is right",
    "balanced_accuracy": "the same for each class, and the mean of the classes",
    "f1": "precision and recall of the second class in one number; 1 is perfect",
    "f1_macro": "precision and recall in one number, the mean of the classes; 1 is perfect",
    "matthews_corrcoef": "agreement of predicted and true classes; 1 is perfect, 0 is chance",
    "neg_root_mean_squared_error": "size of the errors; large ones count most",
    "neg_mean_absolute_error": "mean size of the errors",
    "neg_median_absolute_error": "half of the errors are smaller",
    "r2": "share of the variance that is explained; 1 is perfect, the mean has 0",
}


def meaning(metric: str) -> str:
    """Return what a metric says; nothing for one that is not known.

    Examples
    --------
    >>> meaning("accuracy"), meaning("my_score")
    ('share of rows whose most probable class is right', '')
    """
    return _MEANINGS.get(metric, "")


def number(value: float) -> str:
    """Return a number with four digits.

    Examples
    --------
    >>> number(0.123456), number(12345.678), number(0.0), number(float("nan"))
    ('0.1235', '12,350', '0', '–')
    """
    if math.isnan(value):
        return "–"
    if value == 0:
        return "0"
    if 1e4 <= abs(value) < 1e15:
        return f"{float(f'{value:.4g}'):,.0f}"
    return f"{value:.4g}"


def short(value: float) -> str:
    """Return a number for the scale of a chart.

    Examples
    --------
    >>> short(250_000.0), short(0.30000000000000004), short(1e-7), short(3_000_000.0)
    ('250k', '0.3', '1e-07', '3M')
    """
    for size, sign in ((1e9, "G"), (1e6, "M"), (1e4, "k")):
        if size <= abs(value) < 1e12:
            return f"{value / (1e3 if sign == 'k' else size):.4g}{sign}"
    return f"{value:.4g}"


def percent(share: float) -> str:
    """Return a share in percent.

    Examples
    --------
    >>> percent(0.1234), percent(0.00021), percent(1.0), percent(float("nan"))
    ('12.3 %', '0.02 %', '100 %', '–')
    """
    if math.isnan(share):
        return "–"
    value = 100 * share
    digits = 0 if value in (0, 100) else 1 if value >= 1 else 2
    return f"{value:.{digits}f} %"


def count(value: int, noun: str) -> str:
    """Return a number of things.

    Examples
    --------
    >>> count(1, "row"), count(1200, "row")
    ('1 row', '1,200 rows')
    """
    return f"{value:,} {noun}{'' if value == 1 else 's'}"


def margin(value: float) -> str:
    """Return a standard error with two digits.

    Examples
    --------
    >>> margin(0.01953), margin(1234.5), margin(float("nan"))
    ('± 0.02', '± 1200', '–')
    """
    return "–" if math.isnan(value) else f"± {number(float(f'{value:.2g}'))}"


def seconds(value: float) -> str:
    """Return a time.

    Examples
    --------
    >>> seconds(0.04), seconds(12.34), seconds(300.0)
    ('0.04 s', '12.3 s', '5.0 min')
    """
    if value >= 120:
        return f"{value / 60:.1f} min"
    return f"{value:.1f} s" if value >= 0.1 else f"{value:.2f} s"


def is_loss(metric: str) -> bool:
    """Return whether a metric is shown as a loss or an error, which is better when smaller."""
    return metric.startswith("neg_")


def shown(score: float, metric: str) -> float:
    """Return a score in the field's words: losses and errors without the minus sign."""
    return -score + 0.0 if is_loss(metric) else score


def metric_name(metric: str) -> str:
    """Return the name of a metric in words.

    Examples
    --------
    >>> metric_name("neg_root_mean_squared_error"), metric_name("roc_auc")
    ('root mean squared error', 'area under the ROC curve')
    """
    return _NAMES.get(metric, metric.removeprefix("neg_").replace("_", " "))


def article(metric: str) -> str:
    """Return "a" or "an", as the name of a metric begins.

    Examples
    --------
    >>> article("accuracy"), article("neg_log_loss"), article("f1")
    ('an', 'a', 'an')
    """
    return "an" if metric_name(metric)[0] in "aeioF" else "a"


def capital(text: str) -> str:
    """Return a text with a capital first letter.

    Examples
    --------
    >>> capital("log loss"), capital("R²")
    ('Log loss', 'R²')
    """
    return text[:1].upper() + text[1:]


def class_names(model: Any) -> list[str]:
    """Return the classes as text: numbers and truth values with the name of the target."""
    target = getattr(model, "target_name_", None)
    labels = model.classes_.tolist()
    if target is None or all(isinstance(label, str) for label in labels):
        return [str(label) for label in labels]
    return [f"{cut(target, 24)} = {label}" for label in labels]


def cut(name: object, length: int = 34) -> str:
    """Return a name that is not too long for a chart.

    Examples
    --------
    >>> cut("a" * 50, 5)
    'aaaa…'
    """
    text = str(name)
    return text if len(text) <= length else text[: length - 1] + "…"
