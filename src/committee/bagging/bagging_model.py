"""What bagging classifiers and regressors share: samples, fitting, and combined predictions."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import get_tags

from committee.bagging.bagged_trees import grow_members, runs_in_engine
from committee.bagging.samples import Draws, SampleFits
from committee.bagging.slicing import SlicedBagging
from committee.base.arrays import Floats
from committee.base.params import (
    check_bool,
    check_choice,
    check_int,
    check_max_features,
    check_seed,
    check_verbose,
    is_false,
    is_int,
    is_real,
)
from committee.base.sampling import RowSampler, plan_features, plan_rows
from committee.base.slicing import Draws as MemberDraws
from committee.base.slicing import JoinedSampler, refuse_changes
from committee.base.warn import warn
from committee.base.work import (
    Progress,
    chunks,
    count_workers,
    in_order,
    resolve_threads,
    running_fit,
)
from committee.evaluation.oob import OobRecorder, weighted_median
from committee.evaluation.scored_target import ScoredTarget, resolve_metric
from committee.files.parts import FITTED, NOTHING, Part, array, instance, list_of, maybe, whole
from committee.members.meta_estimator import check_estimator_kind, takes_weights
from committee.members.output import MemberBlock, fitted_output
from committee.members.training import TrainingData, is_own, prepared
from committee.tables.native_table import AnyTable, data_fingerprint
from committee.tables.target import check_same_length, read_weights
from committee.trees.tree_members import TreeMembers

# Predictions are added up in blocks of so many members. The blocks do not depend on the number of
# workers, so neither do the roundings of the sums.
_BLOCK = 8

# Below this many rows times members, members of this library predict one after the other.
_SMALL_PREDICTION = 2**15


class BaggingModel(SlicedBagging):
    """Base class of the bagging estimators."""

    _stored_parts: ClassVar[dict[str, Part]] = {
        "n_features_in_": maybe(whole(1, size="features")),
        "estimators_": instance(TreeMembers) | list_of(FITTED, "members", least=1),
        "estimator_weights_": maybe(array("f8", "members", low=0.0, finite=True)),
        "_row_sampler": instance(RowSampler, JoinedSampler),
        "_feature_sampler": NOTHING | instance(RowSampler, JoinedSampler),
        "_seed": whole(),
        "_fingerprint": whole(-1),
    }

    # Scikit-learn's routing asks the members; the ensemble uses these where it is told to.
    __metadata_request__fit: ClassVar[dict[str, bool]] = {"sample_weight": False, "groups": False}

    estimator: Any
    n_estimators: int
    max_samples: Any
    max_features: Any
    bootstrap: bool
    bootstrap_features: bool
    oob_score: Any
    warm_start: bool
    n_jobs: int | None
    random_state: Any
    verbose: int
    partition: bool
    weighting: str | None

    # Fitted attributes.
    estimator_: Any
    n_features_in_: int
    feature_names_in_: NDArray[Any]
    estimator_weights_: Floats
    _row_sampler: MemberDraws
    _feature_sampler: MemberDraws | None
    _seed: int
    _fingerprint: int

    # ---- what classifiers and regressors do in their own way ----

    @abstractmethod
    def _read_target(self, y: Any) -> tuple[ScoredTarget, NDArray[Any], dict[str, Any]]:
        """Return the target, what members are fitted to, and fitted attributes."""

    def _strata(self, target: ScoredTarget) -> tuple[NDArray[np.int32] | None, bool]:
        """Return the strata to draw from, and whether they are balanced."""
        return None, False

    @property
    @abstractmethod
    def _n_values(self) -> int:
        """Number of columns of a prediction, after fitting."""

    @property
    def _n_classes(self) -> int:
        """Number of classes, after fitting; 0 for numbers."""
        return 0

    @property
    def _methods(self) -> tuple[str, ...]:
        """The methods of members of which the first that they have predicts."""
        return ("predict",)

    @property
    def _counts_votes(self) -> bool:
        """Whether classes of the members are counted, and no probabilities averaged."""
        return False

    def _uses_median(self) -> bool:
        return False

    @abstractmethod
    def _oob_attributes(self, recorder: OobRecorder) -> dict[str, Any]:
        """Return the fitted attributes of the out-of-bag estimates."""

    # ---- fitting ----

    def _fit(
        self, X: Any, y: Any, sample_weight: Any, groups: Any, fit_params: Mapping[str, Any]
    ) -> None:
        self._check_switches()
        table = AnyTable(X, is_table=None)
        running_fit().begin(table.n_rows, table.n_features)
        target, y_members, attributes = self._read_target(y)
        check_same_length(table.n_rows, target.n_rows)
        weights = read_weights(sample_weight, table.n_rows)
        target = ScoredTarget(target.codes, target.classes, target.reals, weights)
        first = self._n_kept()
        draws = self._draws(table, target, groups, is_new=first == 0)
        if first == self.n_estimators:
            warn("warm_start without a larger n_estimators adds no members")
            return
        if first:
            self._check_continues(table, target, draws, attributes)
        template, seeded = prepared(self._get_estimator(), attributes.get("classes_"))
        recorder = self._recorder(target)
        fit_params = {"": self._routed("fit", fit_params)}
        data = TrainingData(table, y_members, attributes.get("classes_"), fit_params=fit_params)
        fits = SampleFits(
            data,
            template,
            seeded,
            takes_weights(template),
            draws,
            self._methods,
            target.n_values,
            recorder is not None,
        )
        kept = self.estimators_ if first else None
        members: Sequence[Any]
        if runs_in_engine(fits) and (kept is None or isinstance(kept, TreeMembers)):
            members = self._grow_members(fits, kept, target, recorder)
        else:
            members = self._fit_members(fits, list(kept or ()), recorder)
        attributes |= {
            "estimator_": self.estimator_ if first else clone(self._get_estimator()),
            "estimators_": members,
            "_row_sampler": draws.rows,
            "_feature_sampler": draws.features,
            "_seed": draws.seed,
            "_fingerprint": data_fingerprint(table, target.table),
        }
        if table.is_table:
            attributes["n_features_in_"] = table.n_features
        if table.names is not None:
            attributes["feature_names_in_"] = np.array(table.names, dtype=object)
        if recorder is not None:
            attributes |= self._recorded(recorder)
        self._replace_fitted(attributes)
        running_fit().end("%d members", len(members))

    def _fit_members(
        self, fits: SampleFits, kept: list[Any], recorder: OobRecorder | None
    ) -> list[Any]:
        """Return all members: those kept from the last fit, and new ones; any estimator."""
        own, rows = is_own(fits.estimator), fits.draws.rows
        n_workers = count_workers(self.n_jobs, own)
        progress = self._progress()
        if recorder is not None and kept:
            parts = chunks(range(len(kept)), n_workers)
            old_calls = (([kept[number] for number in part], part) for part in parts)
            predicted = in_order(fits.predict_all, old_calls, n_workers, use_threads=True, own=own)
            for number, values in enumerate(_flat(predicted)):
                recorder.add(values, rows.counts(number))
        members = list(kept)
        calls = ((part,) for part in chunks(range(len(kept), self.n_estimators), n_workers))
        fitted = in_order(fits.fit_all, calls, n_workers, use_threads=own, own=own)
        for member, values in _flat(fitted):
            if recorder is not None:
                recorder.add(values, rows.counts(len(members)))
            members.append(member)
            progress.show(len(members))
        return members

    def _grow_members(
        self,
        fits: SampleFits,
        kept: TreeMembers | None,
        target: ScoredTarget,
        recorder: OobRecorder | None,
    ) -> TreeMembers:
        """Return all members; trees of the engine."""
        n_threads = resolve_threads(self.n_jobs)
        progress = self._progress()
        members, table = grow_members(fits, kept, target, self.n_estimators, progress, n_threads)
        if recorder is None:
            return members
        for number in range(len(members)):
            tree = members.forest.part(number, number + 1)
            values = tree.predict(table, hard=self._counts_votes, n_threads=n_threads)
            recorder.add(values, fits.draws.rows.counts(number))
        return members

    def _progress(self) -> Progress:
        return Progress(type(self).__name__, "members", self.n_estimators, int(self.verbose))

    def _recorded(self, recorder: OobRecorder) -> dict[str, Any]:
        attributes: dict[str, Any] = {}
        if self.weighting is not None:
            if np.isnan(recorder.errors).all():
                raise ValueError(
                    'weighting="oob" needs out-of-bag rows of positive weight, but every member '
                    "drew all rows; add members, lower max_samples or set weighting=None"
                )
            weights = np.array(recorder.weights)
            attributes["estimator_weights_"] = weights / weights.sum()
            attributes["oob_member_errors_"] = np.array(recorder.errors)
        if not is_false(self.oob_score):
            attributes |= self._oob_attributes(recorder)
        return attributes

    # ---- checks before fitting ----

    def _check_switches(self) -> None:
        check_int("n_estimators", self.n_estimators, 1)
        for name in ("bootstrap", "bootstrap_features", "warm_start", "partition"):
            check_bool(name, getattr(self, name))
        check_choice("weighting", self.weighting, ("oob",), none=True)
        check_verbose(self.verbose)
        resolve_metric(self.oob_score)
        check_estimator_kind(self._get_estimator(), get_tags(self).estimator_type)
        if self.partition and self.max_samples is not None:
            raise ValueError(
                "max_samples must be None with partition=True, where each member gets one of "
                f"n_estimators portions; got {self.max_samples!r}"
            )
        if self.partition and self.warm_start:
            raise ValueError(
                "warm_start must be False with partition=True: the rows are dealt out to all "
                "members at once"
            )

    def _n_kept(self) -> int:
        """Return how many members stay: those of the last fit with warm_start, else none."""
        n_kept = len(self.estimators_) if self.warm_start and hasattr(self, "estimators_") else 0
        if n_kept > self.n_estimators:
            raise ValueError(
                f"n_estimators={self.n_estimators} must be larger or equal to "
                f"len(estimators_)={n_kept} when warm_start=True"
            )
        return n_kept

    def _draws(self, table: AnyTable, target: ScoredTarget, groups: Any, is_new: bool) -> Draws:
        seed = check_seed(self.random_state) if is_new else self._seed
        strata, balanced = self._strata(target)
        if target.weights is not None and (self.partition or not self.bootstrap):
            warn(
                "sample_weight with rows drawn without replacement: a row of weight two is more "
                "likely to be drawn, but never counts twice. Use bootstrap=True for that"
            )
        rows = plan_rows(
            table.n_rows,
            seed,
            bootstrap=self.bootstrap,
            max_samples=self.max_samples,
            weights=target.weights,
            groups=groups,
            strata=strata,
            balanced=balanced,
            n_portions=self.n_estimators if self.partition else 0,
        )
        wants_oob = not is_false(self.oob_score) or self.weighting is not None
        if wants_oob and not rows.leaves_rows_out:
            name = 'weighting="oob"' if is_false(self.oob_score) else "oob_score"
            raise ValueError(
                f"{name} needs rows that some member has not drawn, but every sample holds all "
                "rows: there is a single row or group, or nothing is left out. Set bootstrap=True "
                "or lower max_samples, and have several rows or groups"
            )
        return Draws(rows, self._feature_draws(table, seed), seed)

    def _feature_draws(self, table: AnyTable, seed: int) -> RowSampler | None:
        """Return the draws of features; None where each member has all of them."""
        if not table.is_table:
            share = self.max_features
            has_all = share is None or (is_real(share) and not is_int(share) and share == 1.0)
            if self.bootstrap_features or not has_all:
                raise ValueError(
                    "max_features must be 1.0 or None, and bootstrap_features False, where X is no "
                    f"table of columns; got {self.max_features!r} and {self.bootstrap_features!r}"
                )
            return None
        n_drawn = check_max_features(self.max_features, table.n_features)
        if is_int(self.max_features) and self.max_features > table.n_features:
            raise ValueError(
                f"max_features must be <= n_features, here {table.n_features}; "
                f"got {self.max_features}"
            )
        if not self.bootstrap_features and n_drawn == table.n_features:
            return None
        return plan_features(table.n_features, seed, n_drawn, bootstrap=self.bootstrap_features)

    def _check_continues(
        self, table: AnyTable, target: ScoredTarget, draws: Draws, attributes: dict[str, Any]
    ) -> None:
        """Check that new members can join those of the last fit."""
        names = getattr(self, "feature_names_in_", None)
        known = None if names is None else tuple(names)
        old, new = self._feature_sampler, draws.features
        has_same_draws = draws.rows.draws_like(self._row_sampler) and (
            old is new is None or bool(old and new and new.draws_like(old))
        )
        changed = {
            "the columns of X": (table.n_features, table.names) != (self._n_features, known),
            "what is drawn (the number of rows, weights, groups, or the parameters of draws)": (
                not has_same_draws
            ),
        }
        for name in attributes.keys() & {"classes_", "n_outputs_"}:
            value, now = getattr(self, name), attributes[name]
            changed[f"{name}, {value!r} and now {now!r}"] = not np.array_equal(value, now)
        found = [what for what, has_changed in changed.items() if has_changed]
        if not found and data_fingerprint(table, target.table) != self._fingerprint:
            found = ["the cells of X or the target, or members were left out or joined"]
        refuse_changes("members", found)

    def _was_fitted_to(self, X: Any, y: Any) -> bool:
        """Whether this is the training table, in its order; never of tables that are no arrays."""
        table = self._open(X)
        cells = table.native
        if not isinstance(cells, np.ndarray) or cells.dtype.kind not in "fiub":
            return False
        return data_fingerprint(table, self._read_target(y)[0].table) == self._fingerprint

    def _recorder(self, target: ScoredTarget) -> OobRecorder | None:
        if is_false(self.oob_score) and self.weighting is None:
            return None
        return OobRecorder(
            target,
            self.oob_score,
            self.n_estimators,
            use_median=self._uses_median(),
            is_weighted=self.weighting is not None,
        )

    # ---- predictions of the members ----

    def _open(self, X: Any) -> AnyTable:
        self._check_fitted()
        names = getattr(self, "feature_names_in_", None)
        return AnyTable.of_batch(X, names, self._n_features, type(self).__name__)

    def _weights(self) -> Floats:
        equal = np.ones(len(self.estimators_))
        return np.asarray(getattr(self, "estimator_weights_", equal))

    @property
    def _member_weights(self) -> Floats:
        return self._weights()

    def _in_blocks(
        self, work: Any, table: AnyTable, params: Mapping[str, Any], methods: tuple[str, ...] = ()
    ) -> Iterator[Any]:
        """Yield the result of `work`, a method of MemberBlock, for each block of members."""
        n_members, weights = len(self.estimators_), self._weights()
        first = self.estimators_[0]
        output = fitted_output(first, methods or self._methods, self._n_classes)
        own = is_own(first)
        n_workers = count_workers(self.n_jobs, own)
        if own and table.n_rows * n_members < _SMALL_PREDICTION:
            n_workers = 1
        calls = []
        for start in range(0, n_members, _BLOCK):
            block = slice(start, start + _BLOCK)
            columns = [self._columns(number) for number in range(n_members)[block]]
            members = self.estimators_[block]
            calls.append((MemberBlock(members, columns, weights[block], table, output, params),))
        return in_order(work, calls, min(n_workers, len(calls)), use_threads=True, own=own)

    def _each_prediction(self, X: Any) -> Floats:
        """Return the predictions of each member, shape (n_members, n_rows, n_values)."""
        members = self.estimators_
        if isinstance(members, TreeMembers):
            return members.each(X, type(self).__name__, self._counts_votes, 1)
        return np.concatenate(list(self._in_blocks(MemberBlock.each, self._open(X), {})))

    def _combined(self, X: Any, params: Mapping[str, Any]) -> Floats:
        """Return the common prediction of the members: weighted means or medians."""
        members = self.__dict__.get("estimators_")
        if isinstance(members, TreeMembers):
            return self._combined_trees(members, X)
        table = self._open(X)
        if self._uses_median():
            predicted = np.concatenate(list(self._in_blocks(MemberBlock.each, table, params)))
            return weighted_median(
                predicted, np.repeat(self._weights()[:, None], table.n_rows, axis=1)
            )
        total = np.zeros((table.n_rows, self._n_values))
        for part in self._in_blocks(MemberBlock.sum, table, params):
            total = total + part
        return np.asarray(total / self._weights().sum())

    def _combined_trees(self, members: TreeMembers, X: Any) -> Floats:
        """Return the same for trees of the engine, which all read the table once."""
        name, weights, n_threads = (
            type(self).__name__,
            self._weights(),
            resolve_threads(self.n_jobs),
        )
        if self._uses_median():
            predicted = members.each(X, name, False, n_threads)
            n_rows = predicted.shape[1]
            return weighted_median(predicted, np.repeat(weights[:, None], n_rows, axis=1))
        total = members.values(X, name, weights, self._counts_votes, n_threads)
        return np.asarray(total / weights.sum())

    def _columns(self, number: int) -> NDArray[np.int64] | None:
        return None if self._feature_sampler is None else self._feature_sampler.rows(number)

    @property
    def estimators_samples_(self) -> list[NDArray[np.int64]]:
        """The rows that each member has drawn, ascending, a row drawn twice twice.

        Samples are not stored: this draws them again.
        """
        self._check_fitted()
        return [self._row_sampler.rows(number) for number in range(len(self.estimators_))]

    @property
    def estimators_features_(self) -> list[NDArray[np.int64]]:
        """The features that each member has drawn, ascending."""
        self._check_fitted()
        everything = np.arange(self.n_features_in_)
        columns = [self._columns(number) for number in range(len(self.estimators_))]
        return [everything.copy() if each is None else each for each in columns]

    def _validate_loaded(self) -> None:
        """Check that the parts of a loaded model fit each other."""
        if not hasattr(self, "estimators_"):
            return
        members, draws = self.estimators_, self._feature_sampler
        if len(self._weights()) != len(members) or not self._weights().any():
            raise ValueError("the weights do not fit the members")
        if draws is not None:
            draws.check_columns(self._n_features, len(members))
        if not isinstance(members, TreeMembers):
            for number, member in enumerate(members):
                columns = self._columns(number)
                n_columns = self._n_features if columns is None else len(columns)
                self._check_loaded_member(member, n_columns)
        elif members.forest.n_values != self._n_values or draws is not members.features is None:
            raise ValueError("the trees do not fit the classes, outputs or draws")
        else:
            members.schema.check_model(self)
            self._check_loaded_member(members[0], members[0].n_features_in_)

    @abstractmethod
    def _check_loaded_member(self, member: Any, n_columns: int) -> None:
        """Raise ValueError unless a member of a file predicts what the ensemble combines."""


def _flat(parts: Iterator[list[Any]]) -> Iterator[Any]:
    for part in parts:
        yield from part
