"""Some members of a bagged ensemble, and the members of several ones, as one ensemble."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from copy import copy
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from committee.base.arrays import Floats
from committee.base.slicing import Draws, join_draws
from committee.evaluation.oob import OOB_ATTRIBUTES
from committee.members.meta_estimator import MetaEstimator
from committee.trees.tree_members import TreeMembers


class SlicedBagging(MetaEstimator):
    """Bagged ensembles that can be cut and joined."""

    estimators_: Any
    estimator_weights_: Floats
    _row_sampler: Draws
    _feature_sampler: Draws | None
    _fingerprint: int

    @abstractmethod
    def _weights(self) -> Floats:
        """Return the weights of the members."""

    def _picked(self, numbers: NDArray[np.int64]) -> Self:
        """Return an ensemble of some of the members; out-of-bag estimates are of all of them."""
        small, rows, features = copy(self), self._row_sampler, self._feature_sampler
        for name in (*OOB_ATTRIBUTES, "estimator_weights_"):
            small.__dict__.pop(name, None)
        if hasattr(self, "estimator_weights_"):
            weights = self.estimator_weights_[numbers]
            small.estimator_weights_ = weights / weights.sum()
        members = self.estimators_
        if isinstance(members, TreeMembers):
            small.estimators_ = members.picked(numbers)
        else:
            small.estimators_ = [members[number] for number in numbers]
        if (numbers != np.arange(len(numbers))).any():  # the first are those of a smaller fit
            small._row_sampler = rows.picked(numbers)
            small._feature_sampler = None if features is None else features.picked(numbers)
            small._fingerprint = -1  # of no table: members can no longer join those of the last fit
        small.set_params(n_estimators=len(numbers), warm_start=False)
        return small

    def _joined(self, others: Sequence[Self]) -> Self:
        """Return an ensemble of the members of several ones."""
        models, whole = [self, *others], copy(self)
        for name in (*OOB_ATTRIBUTES, "estimator_weights_"):
            whole.__dict__.pop(name, None)
        sizes = [len(model) for model in models]
        if any(hasattr(model, "estimator_weights_") for model in models):
            parts = [model._weights() / model._weights().sum() * len(model) for model in models]
            whole.estimator_weights_ = np.concatenate(parts) / sum(sizes)
        rows = join_draws(
            [each._row_sampler for each in models],
            sizes,
            [each._row_sampler.n_rows for each in models],
        )
        assert rows is not None
        whole._row_sampler = rows
        features = [model._feature_sampler for model in models]
        whole._feature_sampler = join_draws(features, sizes, [self._n_features] * len(models))
        members = [model.estimators_ for model in models]
        forests = [each for each in members if isinstance(each, TreeMembers)]
        if len(forests) == len(members):
            whole.estimators_ = TreeMembers.joined(forests, whole._feature_sampler)
        else:
            whole.estimators_ = [member for each in members for member in each]
        whole._fingerprint = -1  # of no table
        whole.set_params(n_estimators=sum(sizes), warm_start=False)
        return whole
