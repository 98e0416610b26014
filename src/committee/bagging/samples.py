"""The samples of a bagged ensemble, and the fit of a member to its sample.

Member i is a function of these and of i, so that members can be fitted in any order, by threads
or by other processes, and be the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from committee.base.arrays import Floats, Rows
from committee.base.sampling import RowSampler, member_seed, parameter_seed
from committee.members.output import Output, fitted_output
from committee.members.training import Task, Template, TrainingData, is_own


@dataclass(frozen=True, eq=False)
class Draws:
    """The rows and features of the members.

    Parameters
    ----------
    rows : RowSampler
        Draws of rows.
    features : RowSampler or None
        Draws of features; None if each member has all of them.
    seed : int
        Seed of the ensemble.
    """

    rows: RowSampler
    features: RowSampler | None
    seed: int

    def columns(self, number: int) -> Rows | None:
        """Return the features of a member; None is all."""
        return None if self.features is None else self.features.rows(number)


@dataclass(frozen=True, eq=False)
class SampleFits:
    """Fits of members to their samples.

    Parameters
    ----------
    data : TrainingData
        The rows, with the arguments of `fit` under the name "".
    estimator : estimator
        Template of the members, see `prepared`.
    seeded : tuple of str
        Parameters of the template that are random states.
    takes_weights : bool
        Whether `fit` takes a sample_weight: then a row is given once, with its number of draws.
    draws : Draws
        Rows and features.
    methods : tuple of str
        Methods of members of which the first that they have predicts.
    n_values : int
        Columns of a prediction: classes, or outputs of a regression.
    wants_values : bool
        Whether to return the predictions on all training rows.
    """

    data: TrainingData
    estimator: Any
    seeded: tuple[str, ...]
    takes_weights: bool
    draws: Draws
    methods: tuple[str, ...]
    n_values: int
    wants_values: bool

    def fit(self, number: int) -> tuple[Any, Floats | None]:
        """Fit a member; return it and, if wanted, its prediction on the training rows."""
        counts = self.draws.rows.counts(number)
        drawn = np.flatnonzero(counts)
        try:
            member = self.data.fit(self._task(number, drawn, counts))
        except Exception as error:  # other libraries have kinds of their own
            member = self._fit_one_class(number, counts)
            if member is None:
                if 0 < self._n_classes(counts) < self.n_values and hasattr(error, "__notes__"):
                    error.__notes__[-1] += '; stratify="classes" keeps every class in every sample'
                raise
        return member, self.predict(member, number) if self.wants_values else None

    def predict(self, member: Any, number: int) -> Floats:
        """Return the prediction of a fitted member on the training rows."""
        output = self.output_of(member)
        return self.data.predict(member, output, columns=self.draws.columns(number))

    def output_of(self, member: Any) -> Output:
        """Return what a fitted member predicts."""
        return fitted_output(member, self.methods, self.n_values if self.is_classifier else 0)

    def fit_all(self, numbers: Sequence[int]) -> list[tuple[Any, Floats | None]]:
        """Fit some members."""
        return [self.fit(number) for number in numbers]

    def predict_all(self, members: Sequence[Any], numbers: Sequence[int]) -> list[Floats]:
        """Return the predictions of fitted members on the training rows."""
        pairs = zip(members, numbers, strict=True)
        return [self.predict(member, number) for member, number in pairs]

    @property
    def is_classifier(self) -> bool:
        """Whether members predict classes."""
        return self.data.labels is not None

    def _task(self, number: int, rows: Rows, counts: NDArray[Any]) -> Task:
        """Return the fit of a member to rows, each so often as it was drawn."""
        weights = None
        if (counts[rows] != 1).any():
            if self.takes_weights:
                weights = counts[rows].astype(np.float64)
            else:
                rows = np.repeat(rows, counts[rows])
        seed = member_seed(self.draws.seed, number)
        seeds = {name: parameter_seed(seed, k) for k, name in enumerate(self.seeded)}
        if is_own(self.estimator) and self.seeded == ("random_state",):
            seeds = {"random_state": seed}
        template = Template("", number, self.estimator, seeds)
        return Task(template, rows, weights, self.draws.columns(number))

    def _fit_one_class(self, number: int, counts: NDArray[np.uint32]) -> Any | None:
        """Fit a member whose sample has a single class to rows of the others too, of weight zero.

        Many classifiers refuse a single class and take this.
        """
        if not (self.takes_weights and self._n_classes(counts) == 1 < self.n_values):
            return None
        firsts = np.unique(self.data.y, return_index=True)[1]
        rows = np.union1d(np.flatnonzero(counts), firsts)
        try:
            return self.data.fit(self._task(number, rows, counts))
        except Exception:  # a single class was not the reason
            return None

    def _n_classes(self, counts: NDArray[np.uint32]) -> int:
        return len(np.unique(self.data.y[counts > 0])) if self.is_classifier else 0
