"""The conditions on a path through a tree, and their text.

A *condition* merges all splits of a path on one feature: an interval `lower < x <= upper`
or a set of levels, and whether missing values and unseen levels pass. The text of conditions,
thresholds and levels is made here for rules, printed trees, plots and notebook pictures alike.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from committee.tables.table import FeatureInfo
    from committee.trees.branch import Branch
    from committee.trees.tree_view import TreeView

_SHOWN_LEVELS = 12


@dataclass(frozen=True, slots=True)
class Condition:
    """All splits of a path on one feature.

    Attributes
    ----------
    feature : int
        Column the condition is about.
    name : str
        Its name.
    kind : str
        How its values read: "number", "integer", "boolean", "datetime", "timedelta", "ordered" or
        "category".
    lower, upper : float, int or None
        Values in ``lower < x <= upper`` pass; None where there is no bound. Dates and durations
        are in microseconds, ordered levels are their ranks.
    levels : tuple or None
        Known levels that pass, None for numbers.
    excluded : tuple
        Known levels that do not pass.
    takes_missing, takes_unseen : bool
        Whether missing values and levels never seen in training pass.
    names_missing : bool
        Whether the text names missing values.
    decimals : int
        Digits after the point in the text.
    order : tuple or None
        The levels of an ordered feature, by rank.
    """

    feature: int
    name: str
    kind: str
    lower: float | int | None = None
    upper: float | int | None = None
    levels: tuple[Any, ...] | None = None
    excluded: tuple[Any, ...] = ()
    takes_missing: bool = True
    takes_unseen: bool = True
    names_missing: bool = False
    decimals: int = 2
    order: tuple[Any, ...] | None = None

    def narrowed(self, branch: Branch) -> Condition:
        """Return the condition after one more branch on the same feature."""
        takes_missing = self.takes_missing and branch.takes_missing
        if branch.levels is not None:
            going = set(branch.levels)
            known = self.levels or ()
            return replace(
                self,
                levels=tuple(level for level in known if level in going),
                excluded=self.excluded + tuple(level for level in known if level not in going),
                takes_missing=takes_missing,
                takes_unseen=self.takes_unseen and branch.takes_unseen,
            )
        if branch.asks_presence and branch.operator == "<=":
            return replace(self, takes_missing=takes_missing)
        lower = branch.threshold if branch.operator == ">" else branch.lower
        upper = None if branch.operator == ">" else branch.threshold
        return replace(
            self,
            lower=_tightest(max, self.lower, lower),
            upper=_tightest(min, self.upper, upper),
            takes_missing=takes_missing,
        )

    def matches(self, value: Any) -> bool:
        """Whether a value passes.

        Parameters
        ----------
        value : object
            One cell of the table; None, NaN, NaT and the like are missing.

        Returns
        -------
        passes : bool
            True when a row with this value goes on.
        """
        if is_missing(value):
            return self.takes_missing
        if self.levels is not None:
            return value in self.levels or (self.takes_unseen and value not in self.excluded)
        if self.order is not None:
            if value not in self.order:
                return self.takes_missing
            value = self.order.index(value)
        number = _as_number(value, self.kind)
        if isinstance(self.lower, int) or isinstance(self.upper, int):
            number = math.ceil(number)  # as the core does for features of whole numbers
        return (self.lower is None or number > self.lower) and (
            self.upper is None or number <= self.upper
        )

    def __str__(self) -> str:
        name = clean_name(self.name)
        text = f"{name} {self.predicate()}"
        is_interval = self.lower is not None and self.upper is not None
        if is_interval and self.kind != "boolean" and not self._passes_no_value():
            low, high = self._bounds()
            text = f"{low} < {name} <= {high}"
        exceptions = self.exceptions().strip()  # in brackets, so that AND cannot be misread
        return f"{text} ({exceptions})" if exceptions else text

    def predicate(self) -> str:
        """Return the condition without the name of the feature and without exceptions."""
        if self.levels is not None:
            return self._level_predicate()
        if self._passes_no_value():
            return "is missing"
        if self.lower is None and self.upper is None:
            return "is anything" if self.takes_missing else "is present"
        if self.kind == "boolean":
            return "is False" if self.upper is not None else "is True"
        low, high = self._bounds()
        if low is None:
            return f"<= {high}"
        return f"> {low}" if high is None else f"in ({low}, {high}]"

    def exceptions(self) -> str:
        """Return which cells without a known value pass, such as " or missing"."""
        missing = self.takes_missing and self.names_missing
        if self._passes_no_value() or (self.levels, self.lower, self.upper) == (None, None, None):
            return ""  # the predicate itself is about these
        if self.levels is None:
            return " or missing" if missing else ""
        if not self.levels:  # the predicate itself is about these
            return ""
        if self.takes_unseen:
            return " or missing or other" if missing else " or other"
        return " or missing" if missing else ""

    def _passes_no_value(self) -> bool:
        """Whether the path went right where a node looked only whether there is a value."""
        top = 2**63 - 1 if isinstance(self.lower, int) else math.inf
        return self.lower is not None and self.lower == top

    def _level_predicate(self) -> str:
        assert self.levels is not None
        if not self.levels:
            parts = ["missing"] * self.takes_missing + ["other"] * self.takes_unseen
            return "is " + (" or ".join(parts) if parts else "nothing")
        return f"in {levels_text(self.levels)}"

    def _bounds(self) -> tuple[str | None, str | None]:
        """Both bounds as text, with as many digits as it takes to tell them apart."""
        for decimals in range(self.decimals, 18):
            low, high = (
                None if bound is None else self._bound_text(bound, decimals)
                for bound in (self.lower, self.upper)
            )
            if low is None or low != high:
                break
        return low, high

    def _bound_text(self, bound: float | int, decimals: int) -> str:
        """Return a bound without idle zeros; small ones keep significant digits."""
        if self.kind in ("number", "boolean") and 0 < abs(bound) < 0.1:
            return f"{bound:.{decimals + 1}g}"
        text = threshold_text(bound, self.kind, decimals, self.order)
        return trimmed(text) if self.kind == "number" else text


def branch_text(branch: Branch, condition: Condition, decimals: int) -> str:
    """Return a branch in words; of levels only those that can still arrive at the node."""
    name = clean_name(condition.name)
    if branch.asks_presence:
        return f"{name} is {'present' if branch.operator == '<=' else 'missing'}"
    if branch.operator == "in" or branch.kind == "boolean":
        return f"{name} {condition.predicate()}{condition.exceptions()}"
    assert branch.threshold is not None
    threshold = threshold_text(branch.threshold, branch.kind, decimals, condition.order)
    missing = " or missing" if condition.names_missing and condition.takes_missing else ""
    return f"{name} {branch.operator:<2} {threshold}{missing}"


def _tightest(choose: Any, *bounds: float | int | None) -> float | int | None:
    given = [bound for bound in bounds if bound is not None]
    return choose(given) if given else None


def start_condition(
    view: TreeView, feature: int, names: Sequence[str], decimals: int = 2
) -> Condition:
    """Return the condition that every value of a feature passes."""
    info = view.schema.features[feature]
    levels = None if info.levels is None else tuple(info.levels)
    return Condition(
        feature,
        names[feature],
        info.label,
        levels=levels,
        names_missing=has_missing(info),
        decimals=decimals,
        order=info.order,
    )


def has_missing(info: FeatureInfo) -> bool:
    """Whether the training column had missing values, so that their way is worth telling."""
    return info.has_missing


def feature_names_of(view: TreeView, feature_names: Sequence[str] | None) -> list[str]:
    """Return the names to print: the given ones, those of the table, or numbered ones."""
    if feature_names is None:
        if view.schema.names is None:
            return [f"feature_{i}" for i in range(view.n_features)]
        return [str(name) for name in view.schema.names]
    if len(feature_names) != view.n_features:
        raise ValueError(
            f"feature_names must contain {view.n_features} elements, got {len(feature_names)}"
        )
    return [str(name) for name in feature_names]


def class_names_of(view: TreeView, class_names: Sequence[str] | None) -> list[list[str]] | None:
    """Return the class names of each output, None for regression."""
    if view.classes is None:
        return None
    if class_names is None:
        return [[level_text(label) for label in labels.tolist()] for labels in view.classes]
    if view.n_outputs > 1:
        raise ValueError(
            f"class_names must be None for a tree with {view.n_outputs} outputs; "
            f"got {len(class_names)} names"
        )
    if len(class_names) != view.n_classes[0]:
        raise ValueError(
            f"class_names must contain {view.n_classes[0]} elements, one for each class; "
            f"got {len(class_names)}"
        )
    return [[str(name) for name in class_names]]


def threshold_text(
    threshold: float | int, kind: str, decimals: int, order: Sequence[Any] | None = None
) -> str:
    """Return a threshold as a person would write it; of ordered levels, the highest below it."""
    if order is not None:
        return level_text(order[math.floor(threshold)])
    if kind == "datetime":
        return _date_text(int(threshold))
    if kind == "timedelta":
        return _duration_text(int(threshold))
    if kind == "integer" and math.isfinite(threshold):
        return str(math.floor(threshold))  # x <= 3.5 and x <= 3 are the same for whole numbers
    return number_text(threshold, decimals)


def number_text(value: float | int, decimals: int) -> str:
    """Return a number with `decimals` digits, or in short form when these would not show it."""
    if isinstance(value, int):
        return str(value)
    text = f"{value:.{decimals}f}"
    if (value != 0 and float(text) == 0) or abs(value) >= 1e15:
        return f"{value:.{max(decimals, 1) + 1}g}"
    return text


def trimmed(text: str) -> str:
    """Return a decimal number without the zeros at its end."""
    return text.rstrip("0").rstrip(".") if "." in text and "e" not in text else text


def levels_text(levels: Sequence[Any], limit: int = _SHOWN_LEVELS) -> str:
    """Return a set of levels in braces, shortened when there are many."""
    shown = [level_text(level) for level in levels[:limit]]
    if len(levels) > limit:
        shown.append(f"... {len(levels) - limit} more")
    return "{" + ", ".join(shown) + "}"


def level_text(level: Any) -> str:
    """Return a level as text; quoted when it could be misread inside a set."""
    text = str(level)
    plain = text.isprintable() and text == text.strip() and not set(text) & set("{},\"'")
    return text if text and plain else repr(text)


def clean_name(name: str) -> str:
    """Return a feature name on one line."""
    return name if name.isprintable() else repr(name)[1:-1]


def is_missing(value: Any) -> bool:
    """Whether a cell holds no value: None, NaN, NaT, pandas.NA."""
    if value is None:
        return True
    try:
        return bool(value != value)
    except TypeError:  # pandas.NA refuses to be true or false
        return True


def _as_number(value: Any, kind: str) -> Any:
    if kind == "datetime":
        if isinstance(value, dt.datetime) and value.tzinfo is not None:
            value = value.astimezone(dt.UTC).replace(tzinfo=None)
        return int(np.datetime64(value, "us").astype(np.int64))
    if kind == "timedelta":
        return int(np.timedelta64(value, "us").astype(np.int64))
    return value


def _date_text(microseconds: int) -> str:
    try:
        moment = dt.datetime(1970, 1, 1) + dt.timedelta(microseconds=microseconds)
    except OverflowError:  # beyond the years datetime knows
        return str(np.datetime64(microseconds, "us"))
    text = moment.isoformat(sep=" ")
    return text.rstrip("0") if moment.microsecond else text.removesuffix(" 00:00:00")


def _duration_text(microseconds: int) -> str:
    try:
        return str(dt.timedelta(microseconds=microseconds)).removesuffix(", 0:00:00")
    except OverflowError:
        return f"{microseconds / 86_400_000_000:.6g} days"


def stump_text(tree: Any, decimals: int = 2) -> str:
    """Return a tree of one split in a line; of deeper ones, their size.

    Examples
    --------
    >>> from committee import DecisionTreeClassifier
    >>> stump_text(DecisionTreeClassifier(max_depth=1).fit([[1.0], [2.0]], ["no", "yes"]))
    'feature_0 <= 1.5: no, else yes'
    """
    view = tree.tree_
    if view.node_count == 1:
        return f"always {_prediction_text(view, 0, decimals)}"
    if view.n_leaves > 2:
        return f"a tree of {view.n_leaves} leaves"
    names = feature_names_of(view, None)
    first = view.branch(0, 1)
    condition = start_condition(view, first.feature, names, decimals).narrowed(first)
    predictions = [_prediction_text(view, child, decimals) for child in view.children(0)]
    return f"{condition}: {predictions[0]}, else {predictions[1]}"


def _prediction_text(view: TreeView, node: int, decimals: int) -> str:
    classes = class_names_of(view, None)
    if classes is None:
        return number_text(float(view.value[node].ravel()[0]), decimals)
    return classes[0][int(view.best_class[0][node])]
