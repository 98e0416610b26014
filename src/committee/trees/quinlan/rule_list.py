"""From a tree to a short list of rules, after C4.5rules (Quinlan 1993, chapter 5).

A *test* is a branch of a node: (node, number of the branch). Every leaf is a rule at first: the
tests on the way to it, and its class. Then

1. each rule loses the tests without which it is expected to make no more errors;
2. for each class, the rules are kept that describe its rows in the fewest bits;
3. classes are put in order, those with the fewest false alarms first, and rules without use
   go; rows that no rule covers get the default class.
"""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from scipy.special import gammaln

from committee import _core
from committee.base.arrays import Floats
from committee.tables.frame import make_frame
from committee.tables.target import are_repetitions
from committee.trees.conditions import (
    Condition,
    class_names_of,
    feature_names_of,
    start_condition,
)
from committee.trees.export import Rule, RuleSet
from committee.trees.quinlan.pessimistic import pessimistic_errors

if TYPE_CHECKING:
    from committee.trees.quinlan.quinlan_view import QuinlanView

Mask = NDArray[np.bool_]
Test = tuple[int, int]

_THEORY_WEIGHT = 0.5  # rules are redundant: each bit of theory counts half, as in C4.5rules


class RuleList(RuleSet):
    """Rules in order: the first that covers a row decides, the default class where none does.

    Parameters
    ----------
    rules : sequence of Rule
        The rules.
    default : object
        The class of rows that no rule covers.
    view : QuinlanView
        The tree whose tests the rules use.
    tests : sequence of tuple
        The tests of each rule.

    Examples
    --------
    >>> from committee import C45Classifier
    >>> X = [["red", 1], ["red", 2], ["red", 3], ["green", 1], ["green", 2], ["green", 3]]
    >>> y = ["stop", "stop", "stop", "go", "go", "go"]
    >>> rules = C45Classifier().fit(X, y).extract_rules(X, y)
    >>> print(rules)
    IF feature_0 in {green} THEN class = go  (support 3 rows, 100 % pure, expected accuracy 63 %)
    DEFAULT class = stop
    >>> rules.predict([["red", 9], ["green", 9]]).tolist()
    ['stop', 'go']
    """

    def __init__(
        self,
        rules: Sequence[Rule],
        default: Any,
        view: QuinlanView,
        tests: Sequence[tuple[Test, ...]],
    ) -> None:
        super().__init__(rules)
        self.default = default
        self._view = view
        self._tests = tuple(tests)

    def decide(self, X: Any) -> NDArray[np.int64]:
        """Return the number of the rule that decides each row.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Rows with the columns of `fit`.

        Returns
        -------
        numbers : ndarray of int64, shape (n_rows,)
            Rows in the list, -1 where the default class decides.
        """
        found = TestedRows(self._view, self._view.read(X))
        return _deciding([found.covered(tests) for tests in self._tests], found.n_rows)

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class of each row.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Rows with the columns of `fit`.

        Returns
        -------
        y : ndarray of shape (n_rows,)
            Class labels.
        """
        assert self._view.classes is not None
        labels = self._view.classes[0]
        codes = [int(np.flatnonzero(labels == rule.prediction)[0]) for rule in self]
        codes.append(int(np.flatnonzero(labels == self.default)[0]))  # where -1 points to
        predicted: NDArray[Any] = labels[np.array(codes)[self.decide(X)]]
        return predicted

    def to_frame(self, backend: str | None = None) -> Any:
        """Return the rules as a data frame, without the default class.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, default=None
            Kind of frame; the first of these that is installed when None.

        Returns
        -------
        frame : DataFrame or Table
            Columns ``rule``, ``prediction``, ``rows``, ``weight``, ``purity`` and ``accuracy``, the
            accuracy to expect.
        """
        columns = self._columns() | {"accuracy": [rule.accuracy for rule in self._rules]}
        return make_frame(columns, backend)

    def __str__(self) -> str:
        rules = super().__str__()
        return f"{rules}\nDEFAULT class = {self.default}" if rules else f"class = {self.default}"

    def __repr__(self) -> str:
        return f"<RuleList of {len(self)} rules>\n{self}"

    def _repr_html_(self) -> str:
        default = html.escape(f"class = {self.default}")
        last = f"<tr><td>otherwise</td><td>{default}</td><td></td><td></td></tr>"
        return super()._repr_html_().replace("</tbody>", f"{last}</tbody>")


class TestedRows:
    """Which rows pass which tests of a tree.

    Parameters
    ----------
    view : QuinlanView
        The tree.
    table : _core.Table
        The rows, as the tree reads them.
    """

    __test__ = False  # no test of pytest's

    def __init__(self, view: QuinlanView, table: _core.Table) -> None:
        self._view = view
        self._table = table
        self._branches: dict[int, NDArray[np.int32]] = {}
        self.n_rows = table.n_rows

    def passed(self, test: Test) -> Mask:
        """Return which rows pass a test; a missing value passes none."""
        node, branch = test
        if node not in self._branches:
            self._branches[node] = _core.node_branches(self._view.tree, self._table, node)
        return np.equal(self._branches[node], branch)

    def covered(self, tests: Sequence[Test]) -> Mask:
        """Return which rows pass all tests."""
        covered = np.ones(self.n_rows, bool)
        for test in tests:
            covered &= self.passed(test)
        return covered


@dataclass(frozen=True, eq=False)
class TrainingRows:
    """The rows that rules are tested on.

    Parameters
    ----------
    tested : TestedRows
        Which rows pass which tests.
    classes : ndarray of int32
        Class codes.
    n_classes : int
        Number of classes.
    weights : ndarray of float64
        Weights of the rows in cases.
    confidence : float
        Confidence of the upper limit of errors.
    """

    tested: TestedRows
    classes: NDArray[np.int32]
    n_classes: int
    weights: Floats
    confidence: float

    def counts(self, covered: Mask) -> Floats:
        """Return the weight of each class among covered rows."""
        weights = self.weights[covered]
        counts = np.bincount(self.classes[covered], weights, minlength=self.n_classes)
        return np.asarray(counts, np.float64)

    def count_rows(self, covered: Mask) -> int:
        """Return how many rows are covered; whole weights are repetitions."""
        weights = self.weights[covered]
        is_counted = are_repetitions(self.weights)
        return int(weights.sum() if is_counted else np.count_nonzero(weights))

    def error_rate(self, weight: Floats, errors: Floats) -> Floats:
        """Return the error rates to expect; 1 where nothing is covered."""
        expected = pessimistic_errors(np.maximum(weight, 1e-300), errors, self.confidence)
        return np.where(weight > 0, expected / np.maximum(weight, 1e-300), 1.0)


@dataclass(frozen=True, eq=False)
class _Draft:
    tests: tuple[Test, ...]
    label: int
    covered: Mask
    error_rate: float


def extract_rules(view: QuinlanView, rows: TrainingRows) -> RuleList:
    """Turn a tree into a list of rules.

    Parameters
    ----------
    view : QuinlanView
        The tree.
    rows : TrainingRows
        What rules are tested on.

    Returns
    -------
    rules : RuleList
        The rules in order.
    """
    drafts = _simplified_leaves(view, rows)
    n_tests = max(len({test for draft in drafts for test in draft.tests}), 1)
    chosen: list[list[_Draft]] = []
    for label in range(rows.n_classes):
        of_class = [draft for draft in drafts if draft.label == label]
        kept = _fewest_bits(of_class, rows, label, math.log2(n_tests))
        chosen.append(sorted(kept, key=lambda draft: draft.error_rate))
    ordered = _in_order(chosen, rows)
    ordered, default = _polished(ordered, rows)
    return _in_words(view, ordered, default, rows)


# ---- 1. tests ----


def _simplified_leaves(view: QuinlanView, rows: TrainingRows) -> list[_Draft]:
    drafts: dict[tuple[int, tuple[Test, ...]], _Draft] = {}
    counts = rows.counts(np.ones(rows.tested.n_rows, bool))
    shares = counts / counts.sum()
    stack: list[tuple[int, tuple[Test, ...]]] = [(0, ())]
    while stack:
        node, tests = stack.pop()
        children = view.children(node)
        if not children:
            draft = _simplified(tests, int(view.best_class[0][node]), rows)
            # A rule that is right no more often than its class is common is of no use.
            if draft.tests and 1 - draft.error_rate > shares[draft.label]:
                drafts.setdefault((draft.label, draft.tests), draft)
        stack += [
            (child, (*tests, (node, number))) for number, child in reversed([*enumerate(children)])
        ]
    return list(drafts.values())


def _simplified(tests: Sequence[Test], label: int, rows: TrainingRows) -> _Draft:
    """Drop one test after the other: the one whose loss leaves the lowest expected error rate."""
    tests = list(tests)
    failed = np.empty((len(tests), rows.tested.n_rows), bool)
    for i, test in enumerate(tests):
        failed[i] = ~rows.tested.passed(test)
    n_failed = failed.sum(axis=0)
    wrong = rows.classes != label
    while True:
        covered = n_failed == 0
        weight = float(rows.weights[covered].sum())
        errors = float(rows.weights[covered & wrong].sum())
        rate = float(rows.error_rate(np.array([weight]), np.array([errors]))[0])
        if not tests:
            break
        # Without test i the rule covers, besides, the rows that fail this test only.
        nearly = np.flatnonzero(n_failed == 1)
        only = failed[:, nearly].argmax(axis=0)
        more = np.bincount(only, rows.weights[nearly], minlength=len(tests))
        more_errors = np.bincount(only, rows.weights[nearly] * wrong[nearly], minlength=len(tests))
        rates = rows.error_rate(
            np.asarray(weight + more, np.float64), np.asarray(errors + more_errors, np.float64)
        )
        best = int(rates.argmin())
        if rates[best] > rate + 1e-12:
            break
        n_failed = n_failed - failed[best]
        failed = np.delete(failed, best, axis=0)
        del tests[best]
    return _Draft(tuple(tests), label, covered, rate)


# ---- 2. rules of a class ----


def _fewest_bits(
    drafts: list[_Draft], rows: TrainingRows, label: int, test_bits: float
) -> list[_Draft]:
    """Return the rules of a class that, with their exceptions, take the fewest bits.

    One rule after the other joins or leaves, whichever saves most; from none and from all.
    """
    if not drafts:
        return []
    covers = np.array([draft.covered for draft in drafts])
    sizes = [len(draft.tests) for draft in drafts]
    theory = np.array([size * test_bits - math.lgamma(size + 1) / math.log(2) for size in sizes])
    theory = _THEORY_WEIGHT * np.maximum(theory, 0.0)
    # One column for the rows of the class, one for the others.
    columns = np.column_stack(
        [rows.weights * (rows.classes == label), rows.weights * (rows.classes != label)]
    )
    best: tuple[float, Mask] | None = None
    for start in (np.zeros(len(drafts), bool), np.ones(len(drafts), bool)):
        bits, kept = _improved(start, covers, theory, columns)
        if best is None or bits < best[0] - 1e-9:
            best = bits, kept
    assert best is not None
    return [draft for draft, is_kept in zip(drafts, best[1], strict=True) if is_kept]


def _improved(kept: Mask, covers: Mask, theory: Floats, columns: Floats) -> tuple[float, Mask]:
    total = columns.sum(axis=0)
    masks = csr_matrix(covers, dtype=np.float64)  # rules of many levels cover few rows each
    kept = kept.copy()
    depth = covers[kept].sum(axis=0)  # how many kept rules cover each row
    hits = columns[depth > 0].sum(axis=0)
    bits = float(_exception_bits(hits[None], total)[0]) + float(theory[kept].sum())
    while True:
        joining = masks @ (columns * (depth == 0)[:, None])
        leaving = masks @ (columns * (depth == 1)[:, None])
        new_hits = hits + np.where(kept[:, None], -leaving, joining)
        new_theory = theory[kept].sum() + np.where(kept, -theory, theory)
        new_bits = _exception_bits(new_hits, total) + new_theory
        change = int(new_bits.argmin())
        if new_bits[change] >= bits - 1e-9:
            return bits, kept
        depth = depth + np.where(kept[change], -1, 1) * covers[change]
        kept[change] = not kept[change]
        hits, bits = new_hits[change], float(new_bits[change])


def _exception_bits(hits: Floats, total: Floats) -> Floats:
    """Bits that encode which covered rows are of another class, and which others of this one."""
    covered = hits.sum(axis=1)
    return _log2_choose(covered, hits[:, 1]) + _log2_choose(
        total.sum() - covered, total[0] - hits[:, 0]
    )


def _log2_choose(n: Floats, k: Floats) -> Floats:
    n = np.maximum(n, 0.0)
    k = np.clip(k, 0.0, n)
    bits: Floats = (gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)) / math.log(2)
    return bits


# ---- 3. all rules ----


def _in_order(chosen: list[list[_Draft]], rows: TrainingRows) -> list[_Draft]:
    """Classes with the fewest false alarms among the rows still undecided come first."""
    waiting = {label: drafts for label, drafts in enumerate(chosen) if drafts}
    open_rows = np.ones(rows.tested.n_rows, bool)
    ordered: list[_Draft] = []
    while waiting:
        covered = {
            label: np.any([draft.covered for draft in drafts], axis=0) & open_rows
            for label, drafts in waiting.items()
        }
        alarms = {
            label: rows.weights[mask & (rows.classes != label)].sum()
            for label, mask in covered.items()
        }
        first = min(waiting, key=lambda label: (alarms[label], label))
        ordered += waiting.pop(first)
        open_rows &= ~covered[first]
    return ordered


def _polished(ordered: list[_Draft], rows: TrainingRows) -> tuple[list[_Draft], int]:
    """Leave out, from the last to the first, rules without which errors do not rise."""
    default, errors = _default_of(ordered, rows)
    for position in reversed(range(len(ordered))):
        without = ordered[:position] + ordered[position + 1 :]
        new_default, new_errors = _default_of(without, rows)
        if new_errors <= errors + 1e-9:
            ordered, default, errors = without, new_default, new_errors
    return ordered, default


def _default_of(ordered: list[_Draft], rows: TrainingRows) -> tuple[int, float]:
    """Return the commonest class of the rows that no rule covers, and the errors of all."""
    deciding = _deciding([draft.covered for draft in ordered], rows.tested.n_rows)
    undecided = deciding < 0
    counts = rows.counts(undecided)
    if not counts.any():
        counts = rows.counts(np.ones_like(undecided))
    default = int(counts.argmax())
    labels = np.array([draft.label for draft in ordered] + [default])
    wrong = labels[deciding] != rows.classes
    return default, float(rows.weights[wrong].sum())


def _deciding(covers: Sequence[Mask], n_rows: int) -> NDArray[np.int64]:
    """Return the first rule that covers each row, -1 for none."""
    deciding = np.full(n_rows, -1, np.int64)
    for number in reversed(range(len(covers))):
        deciding[covers[number]] = number
    return deciding


# ---- words ----


def _in_words(
    view: QuinlanView, ordered: list[_Draft], default: int, rows: TrainingRows
) -> RuleList:
    names = feature_names_of(view, None)
    classes = class_names_of(view, None)
    assert classes is not None
    assert view.classes is not None
    labels = view.classes[0]
    rules = []
    for draft in ordered:
        conditions: dict[int, Condition] = {}
        for node, number in draft.tests:
            branch = view.branch(node, view.children(node)[number])
            before = conditions.get(branch.feature)
            condition = before or start_condition(view, branch.feature, names)
            conditions[branch.feature] = condition.narrowed(branch)
        counts = rows.counts(draft.covered)
        rules.append(
            Rule(
                conditions=tuple(conditions.values()),
                prediction=labels[draft.label],
                value=(counts / counts.sum())[None],
                n_rows=rows.count_rows(draft.covered),
                weight=float(counts.sum()),
                purity=float(counts[draft.label] / counts.sum()),
                leaf=-1,
                text=f"class = {classes[0][draft.label]}",
                accuracy=1 - draft.error_rate,
            )
        )
    return RuleList(rules, labels[default], view, [draft.tests for draft in ordered])
