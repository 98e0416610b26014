"""What a fitted committee can be asked besides predictions."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from committee.auto.class_sets import SetRule
from committee.auto.decision import Decision
from committee.auto.intervals import IntervalRule
from committee.base.arrays import Floats
from committee.base.params import check_bool, check_real
from committee.files.parts import Part, instance, maybe

if TYPE_CHECKING:
    from committee.auto.columns import FeatureReader
    from committee.tables.source import Source


class CommitteeAnswers:
    """Answers of both committees in one line."""

    _reader: FeatureReader

    @abstractmethod
    def _rows(self, X: Any) -> Source:
        """Return rows of a table with the columns of `fit`, in their order."""

    @abstractmethod
    def _values_of(self, source: Source) -> Floats:
        """Return the numbers or the probabilities that the committee predicts."""


class RegressorAnswers(CommitteeAnswers):
    """Answers of a committee that predicts numbers."""

    _stored_parts: ClassVar[dict[str, Part]] = {"_interval_rule": maybe(instance(IntervalRule))}

    _interval_rule: IntervalRule

    def predict_interval(self, X: Any, coverage: float = 0.9) -> Floats:
        """Return intervals that hold the target with a given probability.

        Conformal prediction with out-of-fold predictions of the training rows in the place of a
        calibration set. Intervals are wide where the committee expects large errors: a small
        forest has learnt that from the errors on unseen rows.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Rows with the columns of `fit`.
        coverage : float, default=0.9
            In (0, 1): how many of such intervals shall hold their target.

        Returns
        -------
        bounds : ndarray of float64, shape (n_rows, 2)
            Lower and upper bounds; infinite if there were too few training rows for the coverage
            (fewer than 9 for 0.9).

        Notes
        -----
        The probability is over training tables and new rows together, from one source: an average
        over rows, not a promise for each kind of row. It does not know that tomorrow may differ.

        Examples
        --------
        >>> from committee import CommitteeRegressor
        >>> rng = np.random.default_rng(0)
        >>> X = rng.uniform(0, 6, (400, 1))
        >>> y = np.sin(X[:, 0]) + rng.normal(size=400) * np.where(X[:, 0] < 3, 0.1, 1.0)
        >>> model = CommitteeRegressor(budget=0.2, random_state=0).fit(X, y)
        >>> bounds = model.predict_interval([[1.0], [5.0]])
        >>> widths = bounds[:, 1] - bounds[:, 0]
        >>> bool(widths[1] > 3 * widths[0])
        True
        """
        coverage = check_real("coverage", coverage, 0.0, 1.0, include_low=False, include_high=False)
        source = self._rows(X)
        predicted = self._values_of(source)[:, 0]
        features = self._reader.read(source)
        return self._interval_rule.bounds(features, predicted, coverage)


class ClassifierAnswers(CommitteeAnswers):
    """Answers of a committee that predicts classes."""

    _stored_parts: ClassVar[dict[str, Part]] = {
        "_set_rule": maybe(instance(SetRule)),
        "decision_": instance(Decision),
    }

    _set_rule: SetRule
    decision_: Decision

    def predict_set(
        self, X: Any, coverage: float = 0.9, *, by_class: bool = False, allow_empty: bool = False
    ) -> NDArray[np.bool_]:
        """Return sets of classes that hold the true class with a given probability.

        Conformal prediction with out-of-fold probabilities of the training rows in the place of a
        calibration set: a set has all classes above a limit of probability, which makes the
        smallest sets on average.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Rows with the columns of `fit`.
        coverage : float, default=0.9
            In (0, 1): how many of such sets shall hold the true class.
        by_class : bool, default=False
            Whether the rows of each class shall be covered that often, rare classes too. A class
            with too few rows for that is in every set.
        allow_empty : bool, default=False
            Whether a set may be empty, where no class is likely enough. Otherwise the
            likeliest class is put in, so that the coverage is never too low but may be higher.

        Returns
        -------
        sets : ndarray of bool, shape (n_rows, n_classes)
            Whether each class, in the order of `classes_`, is in the set. The labels of a row
            are ``model.classes_[sets[row]]``.

        Examples
        --------
        >>> from committee import CommitteeClassifier
        >>> from committee.datasets import load_penguins
        >>> table, species = load_penguins(backend="pandas")
        >>> model = CommitteeClassifier(budget=0.5, random_state=0).fit(table, species)
        >>> sets = model.predict_set(table.head(1), coverage=0.95)
        >>> model.classes_[sets[0]].tolist()
        ['Adelie']
        """
        coverage = check_real("coverage", coverage, 0.0, 1.0, include_low=False, include_high=False)
        by_class = check_bool("by_class", by_class)
        allow_empty = check_bool("allow_empty", allow_empty)
        shares = self._values_of(self._rows(X))
        return self._set_rule.sets(shares, coverage, by_class=by_class, allow_empty=allow_empty)
