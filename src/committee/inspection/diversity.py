r"""How different the members of a committee are, and what that is worth.

Two members of a classifier are compared by a table of two times two: on which rows both are right
(n11), only the first (n10), only the second (n01), or none (n00), as shares of the weight of all
rows. Everything here is a sum over rows, so that rows come in blocks, and a row of weight two is
that row twice.

Products of pairs are symmetric to the last bit, and the same on every processor.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from committee.base.arrays import Floats
from committee.base.params import check_choice
from committee.base.products import row_products, weighted_products
from committee.inspection.ensemble_members import EnsembleMembers, members_of
from committee.tables.native_table import AnyTable
from committee.tables.target import check_same_length, read_classes, read_reals, read_weights

Codes = NDArray[np.intp]

_BLOCK_CELLS = 2**24  # predictions held at a time
_MEASURES = ("q", "kappa", "disagreement", "double_fault", "correlation")


@dataclass(frozen=True, eq=False, repr=False)
class Diversity:
    r"""How different the members of a committee are; see `diversity`.

    Measures of pairs are matrices of n_members x n_members, for classes:

    - `q`: Yule's Q, (n11 n00 - n10 n01) / (n11 n00 + n10 n01); 1 where two err on the same rows, 0
      where they err independently, negative where on different ones.
    - `kappa`: Cohen's kappa of the classes that they predict, whether right or wrong; 1 where they
      always agree, 0 where as often as by chance.
    - `disagreement`: share of rows on which one is right and one wrong, n10 + n01.
    - `double_fault`: share of rows on which both are wrong, n00.
    - `correlation`: of being right; for numbers, of their errors.

    A value that is not defined is NaN: Q if its denominator is zero, kappa if both always predict
    one and the same class, a correlation if a member is right always or never, or if its error is
    always the same. Means over pairs leave these out.

    Attributes
    ----------
    names : tuple of str
        The members.
    weights : ndarray of float64, shape (n_members,)
        Their weights in the committee, with a sum of one.
    accuracy : ndarray of float64, shape (n_members,), or None
        Share of rows that each gets right; None for numbers.
    error : ndarray of float64, shape (n_members,)
        Squared error of each: of its prediction, or of its probabilities summed over the classes
        (Brier score). A vote counts as a probability of one.
    combined_error : float
        The same of the weighted mean of all predictions: E_c.
    mean_error : float
        Weighted mean of `error`: E_av.
    ambiguity : float
        Weighted mean of the squared distance of the members from their mean: A. E_c = E_av - A,
        whatever the members: the mean is better than the average member by how much they differ.
    committee_accuracy : float or None
        Accuracy of the committee's own `predict`; None for numbers.
    committee_error : float
        Squared error of its own `predict_proba` or `predict`. This is `combined_error` where the
        committee takes the mean; it differs for medians, AdaBoost and stacks, and is NaN for a
        classifier without probabilities.
    q, kappa, disagreement, double_fault : ndarray of float64 or None
        See above; None for numbers.
    correlation : ndarray of float64, shape (n_members, n_members)
        See above.
    n_rows : int
        Rows of positive weight.
    """

    names: tuple[str, ...]
    weights: Floats
    accuracy: Floats | None
    error: Floats
    combined_error: float
    mean_error: float
    ambiguity: float
    committee_accuracy: float | None
    committee_error: float
    q: Floats | None
    kappa: Floats | None
    disagreement: Floats | None
    double_fault: Floats | None
    correlation: Floats
    n_rows: int

    @property
    def measures(self) -> tuple[str, ...]:
        """The measures of pairs that there are."""
        return tuple(name for name in _MEASURES if getattr(self, name) is not None)

    @property
    def means(self) -> dict[str, float]:
        """Mean of each measure over all pairs of two members; NaN if it is defined for none."""
        return {name: _mean(self._of_pairs(name)) for name in self.measures}

    def matrix(self, measure: str) -> Floats:
        """Return a measure of pairs by its name.

        Parameters
        ----------
        measure : {"q", "kappa", "disagreement", "double_fault", "correlation"}
            Which; only "correlation" for numbers.

        Returns
        -------
        values : ndarray of float64, shape (n_members, n_members)
            Symmetric.
        """
        check_choice("measure", measure, self.measures)
        return np.asarray(getattr(self, measure))

    def _of_pairs(self, measure: str) -> Floats:
        return np.asarray(self.matrix(measure)[np.triu_indices(len(self.names), 1)])

    def to_frame(self) -> Any:
        """Return a pandas data frame of the members.

        The columns are their weights, accuracies, errors, and the mean of each measure over the
        pairs that a member is in.
        """
        import pandas as pd

        columns = {"weight": self.weights}
        if self.accuracy is not None:
            columns["accuracy"] = self.accuracy
        columns["error"] = self.error
        is_self = np.eye(len(self.names), dtype=bool)
        for name in self.measures:
            others = np.where(is_self, np.nan, self.matrix(name))
            columns[name] = np.array([_mean(row) for row in others])
        return pd.DataFrame(columns, index=pd.Index(self.names, name="member"))

    def pairs(self) -> Any:
        """Return a pandas data frame with a row for each pair of two members."""
        import pandas as pd

        first, second = np.triu_indices(len(self.names), 1)
        names = np.array(self.names, dtype=object)
        columns = {"first": names[first], "second": names[second]}
        columns |= {name: self._of_pairs(name) for name in self.measures}
        return pd.DataFrame(columns)

    def __repr__(self) -> str:
        means = ", ".join(f"{name} {value:.3g}" for name, value in self.means.items())
        lines = [f"Diversity of {len(self.names)} members on {self.n_rows} rows; means of pairs:"]
        lines.append(f"  {means}")
        if self.accuracy is not None:
            lines.append(
                f"  accuracy: members {self.accuracy.min():.3g} to {self.accuracy.max():.3g}, "
                f"committee {self.committee_accuracy:.3g}"
            )
        kind = "squared error" if self.accuracy is None else "Brier score"
        lines.append(
            f"  {kind}: mean of members {self.combined_error:.4g} = average member "
            f"{self.mean_error:.4g} - ambiguity {self.ambiguity:.4g}"
        )
        return "\n".join(lines)


def diversity(committee: Any, X: Any, y: Any, sample_weight: Any = None) -> Diversity:
    r"""Measure how different the members of a fitted committee are.

    Parameters
    ----------
    committee : fitted committee, or list of fitted estimators
        Forests, bagging, AdaBoost, votes, stacks (their first layer) and selections of this
        library or of scikit-learn: anything with fitted `estimators_`. A list holds fitted
        classifiers or fitted regressors, or pairs of names and these, and counts as a mean with
        equal weights. Gradient boosting has no members with predictions of their own.
    X : table of shape (n_rows, n_features)
        Rows that the committee has not been fitted to; on its training rows members look better
        and more alike than they are.
    y : array-like of shape (n_rows,)
        Class labels or numbers.
    sample_weight : array-like of shape (n_rows,) or None, default=None
        Weights of the rows; a row of weight zero is absent.

    Returns
    -------
    result : Diversity
        Measures of pairs, errors of members, and the decomposition of the committee's error.

    Notes
    -----
    With weights :math:`w_i` that add up to one and :math:`\bar f = \sum_i w_i f_i`,

    .. math:: (\bar f - y)^2 = \sum_i w_i (f_i - y)^2 - \sum_i w_i (f_i - \bar f)^2

    on every row (Krogh and Vedelsby 1995). It holds for the mean of probabilities too, summed over
    the classes. Members have votes in place of probabilities where the committee counts
    votes (``voting="hard"``, AdaBoost) or a member has no `predict_proba`. Weights may be negative
    in AdaBoost; then so may be the ambiguity.

    Examples
    --------
    >>> from committee import RandomForestClassifier, diversity
    >>> from committee.datasets import load_penguins
    >>> X, y = load_penguins()
    >>> forest = RandomForestClassifier(20, random_state=0).fit(X[::3], y[::3])
    >>> found = diversity(forest, X[1::3], y[1::3])
    >>> gap = found.combined_error - (found.mean_error - found.ambiguity)
    >>> abs(gap) < 1e-12, bool(found.committee_accuracy > found.accuracy.mean())
    (True, True)
    """
    members = members_of(committee)
    table = AnyTable(X)
    target = _Target(y, members.labels)
    check_same_length(table.n_rows, target.n_rows)
    weights = read_weights(sample_weight, table.n_rows)
    own = _own_prediction(committee, X)
    if weights is None:
        weights = np.ones(table.n_rows)
    tally = _Tally(members, target.n_classes)
    for rows in _blocks(np.flatnonzero(weights), len(members) * max(target.n_classes, 1)):
        predictions, codes = _predict_all(members, AnyTable(table.take(rows, None)), target)
        answers = None if own is None else target.of_committee(own, rows)
        tally.add(predictions, codes, target.rows(rows), weights[rows], answers)
    return tally.result()


def _blocks(rows: NDArray[np.int64], n_cells: int) -> Iterator[NDArray[np.int64]]:
    size = max(1, _BLOCK_CELLS // n_cells)
    for begin in range(0, len(rows), size):
        yield rows[begin : begin + size]


def _own_prediction(committee: Any, X: Any) -> tuple[NDArray[Any], Floats | None] | None:
    """Return what the committee itself predicts, and its probabilities where it has them."""
    if isinstance(committee, list | tuple):
        return None
    has_shares = hasattr(committee, "classes_") and hasattr(committee, "predict_proba")
    shares = np.asarray(committee.predict_proba(X), np.float64) if has_shares else None
    return np.asarray(committee.predict(X)), shares


def _predict_all(
    members: EnsembleMembers, table: AnyTable, target: _Target
) -> tuple[Floats, Codes | None]:
    """Return predictions (n_members x n_rows x n_values) and codes (n_rows x n_members)."""
    pairs = [members.predict(number, table) for number in range(len(members))]
    predictions = np.stack([target.spread(prediction) for prediction, _ in pairs])
    if members.labels is None:
        return predictions, None
    return predictions, np.column_stack([codes for _, codes in pairs if codes is not None])


class _Target:
    """The truth: a number, or a one for the class of a row; members may lack labels."""

    def __init__(self, y: Any, known: NDArray[Any] | None) -> None:
        if known is None:
            values, _ = read_reals(y)
            if values.shape[1] > 1:
                raise ValueError(f"y should be a 1d array, got {values.shape[1]} columns instead")
            self.n_classes, self.n_rows, self._values = 0, len(values), values
            return
        found = read_classes(y)
        if found.n_outputs > 1:
            raise ValueError(f"y should be a 1d array, got {found.n_outputs} columns instead")
        labels = known.tolist()
        self._code_of = {label: code for code, label in enumerate(labels)}
        for label in found.classes[0].tolist():
            self._code_of.setdefault(label, len(self._code_of))
        codes = np.array([self._code_of[label] for label in found.classes[0].tolist()])
        self.codes: Codes = codes[found.codes[:, 0]]
        self.n_classes, self.n_rows = len(self._code_of), len(self.codes)

    def rows(self, rows: NDArray[np.int64]) -> tuple[Floats, Codes | None]:
        """Return the truth of some rows as numbers and, for classes, as codes."""
        if not self.n_classes:
            return self._values[rows], None
        codes = self.codes[rows]
        return np.eye(self.n_classes)[codes], codes

    def spread(self, prediction: Floats) -> Floats:
        """Return a prediction with a column for every class."""
        n_more = self.n_classes - prediction.shape[1]
        return np.pad(prediction, ((0, 0), (0, n_more))) if n_more > 0 else prediction

    def of_committee(
        self, own: tuple[NDArray[Any], Floats | None], rows: NDArray[np.int64]
    ) -> tuple[Floats | None, Codes | None]:
        predicted, shares = own
        if not self.n_classes:
            return np.asarray(predicted, np.float64).reshape(-1, 1)[rows], None
        codes = np.array([self._code_of[label] for label in predicted[rows].tolist()], np.intp)
        return (None if shares is None else self.spread(shares[rows])), codes


class _Tally:
    """Adds up what `Diversity` needs, block of rows by block."""

    def __init__(self, members: EnsembleMembers, n_classes: int) -> None:
        n_members = len(members)
        self._members, self._n_classes = members, n_classes
        self._n_rows, self._total = 0, 0.0
        self._error, self._spread = np.zeros(n_members), np.zeros(n_members)
        self._combined, self._own, self._own_right = 0.0, 0.0, 0.0
        self._both = np.zeros((3, n_members, n_members))  # n11, n10, n00
        self._agree = np.zeros((n_members, n_members))
        self._predicted = np.zeros((n_members, n_classes))
        self._moments = _Moments(n_members)

    def add(
        self,
        predictions: Floats,
        codes: Codes | None,
        truth: tuple[Floats, Codes | None],
        weights: Floats,
        own: tuple[Floats | None, Codes | None] | None,
    ) -> None:
        values, true_codes = truth
        errors = predictions - values  # first, or small errors of large numbers lose their digits
        mean = np.einsum("m,mrv->rv", self._members.weights, errors)
        self._error += _weighted_sum((errors**2).sum(axis=2), weights)
        self._spread += _weighted_sum(((errors - mean) ** 2).sum(axis=2), weights)
        self._combined += float(_weighted_sum((mean**2).sum(axis=1), weights))
        self._total += float(weights.sum())
        self._n_rows += len(weights)
        mixture, chosen = (mean + values, None) if own is None else own
        if mixture is None:
            self._own = np.nan
        else:
            self._own += float(_weighted_sum(((mixture - values) ** 2).sum(axis=1), weights))
        if codes is None or true_codes is None:
            self._moments.add(errors[:, :, 0].T, weights)
            return
        if chosen is None:
            chosen = (mean + values).argmax(axis=1)
        self._own_right += float(weights[chosen == true_codes].sum())
        self._compare(codes, codes == true_codes[:, np.newaxis], weights)

    def _compare(self, codes: Codes, is_right: NDArray[np.bool_], weights: Floats) -> None:
        right, wrong = is_right.astype(np.float64), (~is_right).astype(np.float64)
        # Each sum by itself: none is a difference, so that an empty cell is zero to the last bit.
        self._both += [
            _symmetric_product(right, weights),
            _product(right, wrong, weights),
            _symmetric_product(wrong, weights),
        ]
        for code in range(self._n_classes):
            is_code = (codes == code).astype(np.float64)
            self._agree += _symmetric_product(is_code, weights)
            self._predicted[:, code] += _weighted_sum(is_code.T, weights)

    def result(self) -> Diversity:
        members, total = self._members, self._total
        is_class = members.labels is not None
        n11, n10, n00 = self._both / total
        n01 = n10.T
        return Diversity(
            members.names,
            members.weights,
            np.diag(n11).copy() if is_class else None,
            self._error / total,
            self._combined / total,
            float(_weighted_sum(self._error, members.weights)) / total,
            float(_weighted_sum(self._spread, members.weights)) / total,
            self._own_right / total if is_class else None,
            self._own / total,
            _ratio(n11 * n00 - n10 * n01, n11 * n00 + n10 * n01) if is_class else None,
            self._kappa() if is_class else None,
            n10 + n01 if is_class else None,
            n00 if is_class else None,
            _phi(n11, n10, n00) if is_class else self._moments.correlation(),
            self._n_rows,
        )

    def _kappa(self) -> Floats:
        shares = self._predicted / self._total
        chance = _symmetric_product(shares.T, np.ones(self._n_classes))
        return _ratio(self._agree / self._total - chance, 1.0 - chance)


def _phi(n11: Floats, n10: Floats, n00: Floats) -> Floats:
    """Return the correlation of being right."""
    n01 = n10.T
    right, wrong = np.diag(n11), np.diag(n00)
    spread = np.sqrt(right * wrong)
    return _ratio(n11 * n00 - n10 * n01, np.outer(spread, spread))


class _Moments:
    """Means and products of errors about them, block by block without cancellation."""

    def __init__(self, n_members: int) -> None:
        self._weight, self._means = 0.0, np.zeros(n_members)
        self._products, self._squares = np.zeros((n_members, n_members)), np.zeros(n_members)

    def add(self, errors: Floats, weights: Floats) -> None:
        weight = float(weights.sum())
        means = _weighted_sum(errors.T, weights) / weight
        products = _symmetric_product(errors - means, weights)
        step = means - self._means
        both = self._weight + weight
        self._products += products + np.outer(step, step) * (self._weight * weight / both)
        self._means = self._means + step * (weight / both)
        self._squares += _weighted_sum(errors.T**2, weights)
        self._weight = both

    def correlation(self) -> Floats:
        squares = np.diag(self._products)
        # What is left of a constant error after the mean was taken off is rounding.
        spread = np.sqrt(np.where(squares > 1e-28 * self._squares, squares, 0.0))
        return np.clip(_ratio(self._products, np.outer(spread, spread)), -1.0, 1.0)


def _weighted_sum(values: Floats, weights: Floats) -> Floats:
    """Return the sum over the last axis."""
    return np.asarray(np.einsum("...r,r->...", values, weights))


def _product(left: Floats, right: Floats, weights: Floats) -> Floats:
    """Return the sums over rows of products of a column of `left` and one of `right`."""
    return row_products(left.T * weights, right.T)


def _symmetric_product(values: Floats, weights: Floats) -> Floats:
    """Return the sums over rows of products of two columns."""
    return weighted_products(values.T, weights)


def _ratio(above: Floats, below: Floats) -> Floats:
    """Return quotients; NaN where there is nothing to divide by."""
    return np.asarray(np.divide(above, below, out=np.full_like(above, np.nan), where=below != 0))


def _mean(values: Floats) -> float:
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else np.nan
