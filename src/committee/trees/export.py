"""A fitted tree in words: as an indented text, or as a set of IF ... THEN rules."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from committee.base.arrays import Floats
from committee.tables.frame import make_frame
from committee.trees.conditions import (
    Condition,
    branch_text,
    class_names_of,
    feature_names_of,
    number_text,
    start_condition,
    trimmed,
)
from committee.trees.tree_view import TreeView

__all__ = ["Rule", "RuleSet", "export_rules", "export_text"]


def export_text(
    tree: Any,
    *,
    feature_names: Sequence[str] | None = None,
    max_depth: int = 10,
    spacing: int = 3,
    decimals: int = 2,
    show_weights: bool = False,
    class_names: Sequence[str] | None = None,
) -> str:
    """Print a tree as indented text.

    Parameters
    ----------
    tree : fitted DecisionTreeClassifier, DecisionTreeRegressor, or the ``tree_`` of one
        The tree to print.
    feature_names : sequence of str, default=None
        Names to print; those of the training table when None.
    max_depth : int, default=10
        Branches deeper than this are cut off.
    spacing : int, default=3
        Width of one level of indentation.
    decimals : int, default=2
        Digits after the point of thresholds and values. Numbers that these would round to zero
        get significant digits instead.
    show_weights : bool, default=False
        Print the weight of each class at the leaves of a classification tree.
    class_names : sequence of str, default=None
        Names of the classes; the labels themselves when None.

    Returns
    -------
    text : str
        The tree, one branch or leaf a line. " or missing" marks the way of missing values when
        training saw some, " or other" that of levels which training did not see.

    Examples
    --------
    >>> from committee import DecisionTreeClassifier, export_text
    >>> model = DecisionTreeClassifier().fit([["red"], ["blue"], ["red"]], ["stop", "go", "stop"])
    >>> print(export_text(model, feature_names=["light"]))
    |--- light in {blue}
    |   |--- class: go
    |--- light in {red} or other
    |   |--- class: stop
    <BLANKLINE>
    """
    view = view_of(tree)
    check_at_least("max_depth", max_depth, 0)
    check_at_least("spacing", spacing, 1)
    check_at_least("decimals", decimals, 0)
    names = feature_names_of(view, feature_names)
    classes = class_names_of(view, class_names)
    heights = _subtree_heights(view)
    lines: list[str] = []
    # Each entry: node, its depth, the branch line that leads to it, conditions so far.
    stack: list[tuple[int, int, str | None, dict[int, Condition]]] = [(0, 1, None, {})]
    while stack:
        node, depth, line, path = stack.pop()
        if line is not None:
            lines.append(line)
        indent = (("|" + " " * spacing) * depth)[:-spacing] + "-" * spacing
        if heights[node] == 1:
            lines.append(indent + _leaf_text(view, node, classes, decimals, show_weights))
            continue
        if depth > max_depth + 1:
            lines.append(f"{indent} truncated branch of depth {heights[node]}")
            continue
        for child in reversed(view.children(node)):
            branch = view.branch(node, child)
            before = path.get(branch.feature)
            condition = before or start_condition(view, branch.feature, names, decimals)
            condition = condition.narrowed(branch)
            text = f"{indent} {branch_text(branch, condition, decimals)}"
            stack.append((child, depth + 1, text, path | {branch.feature: condition}))
    return "\n".join(lines) + "\n"


@dataclass(frozen=True, slots=True, eq=False)
class Rule:
    """One leaf of a tree as a rule.

    Attributes
    ----------
    conditions : tuple of Condition
        What a row must meet, one condition a feature, in the order of the path.
    prediction : object
        Class label or number that is predicted; a tuple of them for several outputs.
    value : ndarray of shape (n_outputs, max_n_classes)
        Class fractions or numbers of the leaf.
    n_rows : int
        Training rows that the rule covers: its support.
    weight : float
        Their weight.
    purity : float or None
        Share of the predicted class in the leaf; None for regression and several outputs.
    leaf : int
        Node number of the leaf.
    text : str
        The conclusion in words, such as "species = Adelie".
    accuracy : float or None, default=None
        Accuracy to expect on new rows, for rules that were simplified.
    """

    conditions: tuple[Condition, ...]
    prediction: Any
    value: Floats
    n_rows: int
    weight: float
    purity: float | None
    leaf: int
    text: str
    accuracy: float | None = None

    def matches(self, row: Mapping[str, Any] | Sequence[Any]) -> bool:
        """Whether the rule covers a row.

        Parameters
        ----------
        row : mapping from feature names to values, or sequence of values in column order
            One row of a table.

        Returns
        -------
        covered : bool
            True when the row meets every condition.
        """
        if hasattr(row, "to_dict"):  # a row of a pandas frame
            row = row.to_dict()
        if isinstance(row, Mapping):
            missing = [c.name for c in self.conditions if c.name not in row]
            if missing:
                raise KeyError(f"row has no value for {missing[0]!r}, which the rule needs")
            return all(condition.matches(row[condition.name]) for condition in self.conditions)
        return all(condition.matches(row[condition.feature]) for condition in self.conditions)

    def __str__(self) -> str:
        premise = " AND ".join(map(str, self.conditions)) or "anything"
        rows = "1 row" if self.n_rows == 1 else f"{self.n_rows} rows"
        shares = f"support {rows}"
        if self.purity is not None:
            shares += f", {_percent(self.purity)} pure"
        if self.accuracy is not None:
            shares += f", expected accuracy {_percent(self.accuracy)}"
        return f"IF {premise} THEN {self.text}  ({shares})"


class RuleSet(Sequence[Rule]):
    """The rules of a tree, in the order of its leaves.

    Every row meets the conditions of exactly one rule, also when it has missing values or levels
    that training did not see. Trees after Quinlan are an exception: there a row ends in several
    leaves where C4.5 misses a value, or in none where a node has no branch for its level, and then
    it meets no rule. ``str`` gives one rule a line, a notebook shows a table.

    Parameters
    ----------
    rules : sequence of Rule
        The rules.
    """

    def __init__(self, rules: Sequence[Rule]) -> None:
        self._rules = tuple(rules)

    def __len__(self) -> int:
        return len(self._rules)

    @overload
    def __getitem__(self, index: int) -> Rule: ...
    @overload
    def __getitem__(self, index: slice) -> RuleSet: ...
    def __getitem__(self, index: int | slice) -> Rule | RuleSet:
        if isinstance(index, slice):
            return RuleSet(self._rules[index])
        return self._rules[index]

    def match(self, row: Mapping[str, Any] | Sequence[Any]) -> Rule | None:
        """Return the rule that covers a row.

        Parameters
        ----------
        row : mapping from feature names to values, or sequence of values in column order
            One row of a table.

        Returns
        -------
        rule : Rule or None
            The rule; None only when this is a part of the rules of a tree, or those of a tree after
            Quinlan that has no single leaf for the row.
        """
        return next((rule for rule in self._rules if rule.matches(row)), None)

    def to_frame(self, backend: str | None = None) -> Any:
        """Return the rules as a data frame.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, default=None
            Kind of frame; the first of these that is installed when None.

        Returns
        -------
        frame : DataFrame or Table
            Columns ``rule``, ``prediction``, ``rows``, ``weight``, ``purity`` and ``leaf``.
        """
        columns = self._columns() | {"leaf": [rule.leaf for rule in self._rules]}
        return make_frame(columns, backend)

    def _columns(self) -> dict[str, list[Any]]:
        return {
            "rule": [" AND ".join(map(str, rule.conditions)) for rule in self._rules],
            "prediction": [_plain(rule.prediction) for rule in self._rules],
            "rows": [rule.n_rows for rule in self._rules],
            "weight": [rule.weight for rule in self._rules],
            "purity": [rule.purity for rule in self._rules],
        }

    def __str__(self) -> str:
        return "\n".join(map(str, self._rules))

    def __repr__(self) -> str:
        return f"<RuleSet of {len(self)} rules>\n{self}"

    def _repr_html_(self) -> str:
        rows = "".join(
            "<tr>"
            f"<td>{_html_conditions(rule)}</td>"
            f"<td>{html.escape(rule.text)}</td><td>{rule.n_rows}</td>"
            f"<td>{'' if rule.purity is None else f'{100 * rule.purity:.1f} %'}</td></tr>"
            for rule in self._rules
        )
        head = "<tr><th>If</th><th>Then</th><th>Rows</th><th>Pure</th></tr>"
        return f"<table><thead>{head}</thead><tbody>{rows}</tbody></table>"


def export_rules(
    tree: Any,
    *,
    feature_names: Sequence[str] | None = None,
    class_names: Sequence[str] | None = None,
    target_name: str | None = None,
    decimals: int = 2,
) -> RuleSet:
    """Write a tree as IF ... THEN rules, one for each leaf.

    All conditions of a path on one feature are merged into one, so a rule is usually shorter than
    its path.

    Parameters
    ----------
    tree : fitted DecisionTreeClassifier, DecisionTreeRegressor, or the ``tree_`` of one
        The tree to write.
    feature_names : sequence of str, default=None
        Names to print; those of the training table when None.
    class_names : sequence of str, default=None
        Names of the classes; the labels themselves when None.
    target_name : str, default=None
        Name of what is predicted; "class" or "value" when None.
    decimals : int, default=2
        Digits after the point of thresholds and values.

    Returns
    -------
    rules : RuleSet
        The rules, in the order of the leaves.

    Examples
    --------
    >>> from committee import DecisionTreeClassifier, export_rules
    >>> model = DecisionTreeClassifier().fit([[1.0], [2.0], [8.0]], ["low", "low", "high"])
    >>> print(export_rules(model, feature_names=["size"], target_name="price"))
    IF size <= 5 THEN price = low  (support 2 rows, 100 % pure)
    IF size > 5 THEN price = high  (support 1 row, 100 % pure)
    """
    view = view_of(tree)
    check_at_least("decimals", decimals, 0)
    names = feature_names_of(view, feature_names)
    classes = class_names_of(view, class_names)
    target = target_name or ("value" if classes is None else "class")
    rules: list[Rule] = []
    stack: list[tuple[int, dict[int, Condition]]] = [(0, {})]
    while stack:
        node, path = stack.pop()
        children = view.children(node)
        if not children:
            rules.append(_leaf_rule(view, node, path, classes, target, decimals))
        for child in reversed(children):
            branch = view.branch(node, child)
            before = path.get(branch.feature)
            condition = before or start_condition(view, branch.feature, names, decimals)
            stack.append((child, path | {branch.feature: condition.narrowed(branch)}))
    return RuleSet(rules)


def view_of(tree: Any) -> TreeView:
    """Return the view of a fitted tree estimator, or the view itself."""
    if isinstance(tree, TreeView):
        return tree
    if hasattr(tree, "fit"):
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(tree)
    view = getattr(tree, "tree_", None)
    if not isinstance(view, TreeView):
        raise TypeError(
            "tree must be a fitted DecisionTreeClassifier or DecisionTreeRegressor of committee, "
            f"or its tree_; got {type(tree).__name__}"
        )
    return view


def _leaf_text(
    view: TreeView,
    node: int,
    classes: list[list[str]] | None,
    decimals: int,
    show_weights: bool,
) -> str:
    value = view.value[node]
    if classes is None:
        return f" value: {_listed(value[:, 0], decimals)}"
    labels = [classes[output][best] for output, best in enumerate(value.argmax(axis=1))]
    text = f" class: {labels[0] if len(labels) == 1 else '[' + ', '.join(labels) + ']'}"
    if not show_weights:
        return text
    weights = value * view.weighted_n_node_samples[node]
    lists = [
        _listed(row[:n], decimals) for row, n in zip(weights, view.n_classes.tolist(), strict=True)
    ]
    return f" weights: {', '.join(lists)}{text}"


def _leaf_rule(
    view: TreeView,
    leaf: int,
    path: dict[int, Condition],
    classes: list[list[str]] | None,
    target: str,
    decimals: int,
) -> Rule:
    value = view.value[leaf]
    prediction: list[Any]
    if classes is None:
        prediction = value[:, 0].tolist()
        words = [trimmed(number_text(number, decimals)) for number in prediction]
    else:
        assert view.classes is not None
        best = value.argmax(axis=1)
        prediction = [labels[i] for labels, i in zip(view.classes, best, strict=True)]
        words = [labels[i] for labels, i in zip(classes, best, strict=True)]
    several = len(words) > 1
    return Rule(
        conditions=tuple(path.values()),
        prediction=tuple(prediction) if several else prediction[0],
        value=value,
        n_rows=int(view.n_node_samples[leaf]),
        weight=float(view.weighted_n_node_samples[leaf]),
        purity=None if several or classes is None else float(value.max()),
        leaf=leaf,
        text=", ".join(
            f"{target}_{output} = {word}" if several else f"{target} = {word}"
            for output, word in enumerate(words)
        ),
    )


def _subtree_heights(view: TreeView) -> NDArray[np.int64]:
    """Levels of the subtree below each node, the node included: 1 at leaves."""
    heights = np.ones(view.node_count, dtype=np.int64)
    for node in range(view.node_count - 1, -1, -1):  # children come after their parent
        children = view.children(node)
        if children:
            heights[node] = 1 + heights[children.start : children.stop].max()
    return heights


def _listed(numbers: Floats, decimals: int) -> str:
    return "[" + ", ".join(_fixed(number, decimals) for number in numbers) + "]"


def _fixed(number: float, decimals: int) -> str:
    """Return a number as scikit-learn prints it, but no other number as zero."""
    text = f"{number:.{decimals}f}"
    return number_text(number, decimals) if number != 0 and float(text) == 0 else text


def _percent(share: float) -> str:
    return f"{trimmed(f'{100 * share:.1f}')} %"


def _html_conditions(rule: Rule) -> str:
    return " <b>and</b> ".join(html.escape(str(item)) for item in rule.conditions) or "always"


def _plain(value: Any) -> Any:
    """Return a value that any data frame takes: numpy scalars unpacked, tuples as text."""
    if isinstance(value, tuple):
        return ", ".join(str(_plain(item)) for item in value)
    return value.item() if isinstance(value, np.generic) else value


def check_at_least(name: str, value: Any, least: int) -> None:
    """Raise unless a parameter is a whole number of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise ValueError(f"{name} must be an int >= {least}; got {value!r}")
