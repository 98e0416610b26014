r"""How different the members of a committee are, and what that is worth.

Two members of a classifier are compared by a table of two times two: on which rows both are right
(n11), only the first (n10), only the second (n01), or none (n00), as shares of the weight of all
rows. Everything here is a sum over rows, so that rows come in blocks, and a row of weight two is
that row twice.

Products of pairs are symmetric to the last bit, and the same on every processor.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from committee.base.arrays import Floats
from committee.base.params import check_choice
from committee.base.products import row_products, weighted_products
from committee.evaluation.member_errors import MemberErrors, MemberTally, ratio
from committee.inspection.ensemble_members import EnsembleMembers, members_of
from committee.inspection.studied_rows import Block, Codes, StudiedRows

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
    rows = StudiedRows(X, y, sample_weight, members.labels)
    tally = DiversityTally(members, rows.n_classes)
    for block in rows.blocks(committee, members):
        tally.add(block)
    return tally.result()


class DiversityTally:
    """Adds up what `Diversity` needs, block of rows by block.

    Parameters
    ----------
    members : EnsembleMembers
        The members.
    n_classes : int
        Number of classes; 0 for numbers.
    """

    def __init__(self, members: EnsembleMembers, n_classes: int) -> None:
        n_members = len(members)
        self._members, self._n_classes = members, n_classes
        self._errors = MemberTally(members.weights, max(n_classes, 1))
        self._total, self._own_right = 0.0, 0.0
        self._both = np.zeros((3, n_members, n_members))  # n11, n10, n00
        self._agree = np.zeros((n_members, n_members))
        self._predicted = np.zeros((n_members, n_classes))

    def add(self, block: Block) -> None:
        """Add rows."""
        self._errors.add(block.predictions, block.truth, block.weights, block.own)
        self._total += float(block.weights.sum())
        if block.codes is not None and block.true_codes is not None:
            self._own_right += float(block.weights[block.own_codes == block.true_codes].sum())
            is_right = block.codes == block.true_codes[:, np.newaxis]
            self._compare(block.codes, is_right, block.weights)

    def _compare(self, codes: Codes, is_right: NDArray[np.bool_], weights: Floats) -> None:
        right, wrong = is_right.T.astype(np.float64), (~is_right).T.astype(np.float64)
        # Each sum by itself: none is a difference, so that an empty cell is zero to the last bit.
        self._both += [
            weighted_products(right, weights),
            row_products(right * weights, wrong),
            weighted_products(wrong, weights),
        ]
        for code in range(self._n_classes):
            is_code = (codes == code).T.astype(np.float64)
            self._agree += weighted_products(is_code, weights)
            self._predicted[:, code] += (is_code * weights).sum(axis=1)

    def errors(self) -> MemberErrors:
        """Return the squared errors of all rows that were added."""
        return self._errors.result()

    def result(self) -> Diversity:
        """Return the diversity on all rows that were added."""
        members, found = self._members, self.errors()
        is_class = members.labels is not None
        n11, n10, n00 = self._both / self._total
        n01 = n10.T
        return Diversity(
            members.names,
            members.weights,
            np.diag(n11).copy() if is_class else None,
            found.errors,
            found.combined_error,
            found.mean_error,
            found.ambiguity,
            self._own_right / self._total if is_class else None,
            found.committee_error,
            ratio(n11 * n00 - n10 * n01, n11 * n00 + n10 * n01) if is_class else None,
            self._kappa() if is_class else None,
            n10 + n01 if is_class else None,
            n00 if is_class else None,
            _phi(n11, n10, n00) if is_class else found.correlation,
            found.n_rows,
        )

    def _kappa(self) -> Floats:
        shares = self._predicted / self._total
        chance = weighted_products(shares, np.ones(self._n_classes))
        return ratio(self._agree / self._total - chance, 1.0 - chance)


def _phi(n11: Floats, n10: Floats, n00: Floats) -> Floats:
    """Return the correlation of being right."""
    n01 = n10.T
    right, wrong = np.diag(n11), np.diag(n00)
    spread = np.sqrt(right * wrong)
    return ratio(n11 * n00 - n10 * n01, np.outer(spread, spread))


def _mean(values: Floats) -> float:
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else np.nan
