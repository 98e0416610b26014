"""What each column adds to the predictions of a committee, row by row.

Trees, forests and boosting of this library know Shapley values exactly. For other members columns
are set, one after the other and in random orders, from values that are common in the training table
to those of the row; the mean change is the contribution (Strumbelj and Kononenko 2014). Either way
contributions and a base add up to the prediction of the member, and those of members are averaged
with their weights.

Probabilities are no sums: a temperature bends the mean of the members, see `inspection/parts.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from committee.auto.columns import ColumnUse
from committee.auto.given import native_table
from committee.auto.portfolio import FEATURES, MATRIX
from committee.auto.profile import ColumnProfile, feature_column
from committee.base.arrays import Floats, Rows
from committee.evaluation.calibration import with_temperature
from committee.inspection.parts import Parts, bent_parts, exact_parts
from committee.members.output import Output
from committee.tables.column import Column
from committee.tables.native_table import AnyTable
from committee.tables.source import Columns, Source, read_once

_LEAST = 1e-9  # a probability on the way is no smaller
_MOST_ALONE = 50  # columns that are set alone; the least important of more are set together
_CELLS = 2_000_000  # cells of a table that sampling makes

Predicting = Callable[[Source], Floats]


@dataclass(frozen=True, eq=False)
class CommitteeParts:
    """Explains predictions of a fitted committee.

    Parameters
    ----------
    fitted : mapping
        Its fitted attributes.
    features : Source
        Rows, as models see them.
    table : AnyTable
        The same rows, as they came.
    n_samples : int
        Orders of columns that other members than trees are explained by.
    seed : int
        Of these orders.
    """

    fitted: Mapping[str, Any]
    features: Source
    table: AnyTable
    n_samples: int
    seed: int

    def explain(self) -> tuple[Parts, dict[str, str]]:
        """Return the parts of the committee, and how each member was explained."""
        fitted = self.fitted
        weights = fitted["weights_"] / fitted["weights_"].sum()
        found, methods = [], {}
        members = zip(
            fitted["members_"],
            fitted["_outputs"],
            fitted["_reads"],
            fitted["member_names_"],
            strict=True,
        )
        for member, output, reads, name in members:
            parts = self._exact(member, output) if reads == FEATURES else None
            methods[name] = "exact"
            if parts is None and reads in (FEATURES, MATRIX):
                methods[name] = "sampled"
                parts = self._sampled(self._predicting(member, output, reads))
            elif parts is None:
                methods[name] = "equal shares"
                parts = self._whole(member, output)
            found.append(parts)
        base = sum(w * parts.base for w, parts in zip(weights, found, strict=True))
        columns = sum(w * parts.of_columns for w, parts in zip(weights, found, strict=True))
        mean = Parts(np.asarray(base), np.asarray(columns))
        temperature = fitted["_temperature"]
        if temperature == 1.0:
            return mean, methods
        return bent_parts(
            mean,
            lambda shares: with_temperature(np.asarray(shares), temperature),
            lambda shares: 1.0 / (temperature * np.maximum(shares, _LEAST)),
        ), methods

    # ---- columns and features ----

    @property
    def _uses(self) -> tuple[ColumnUse, ...]:
        uses: tuple[ColumnUse, ...] = self.fitted["columns_"]
        return uses

    def _by_column(self, of_features: Floats) -> Floats:
        """Add up what the features of each column add."""
        ends = np.cumsum([0, *(len(use.parts) for use in self._uses)]).tolist()
        parts = [of_features[:, a:b].sum(axis=1) for a, b in pairwise(ends)]
        return np.stack(parts, axis=1)

    # ---- members ----

    def _predicting(self, member: Any, output: Output, reads: str) -> Predicting:
        """Return what predicts features by a member."""
        encoder = self.fitted["_encoder"]

        def predict(features: Source) -> Floats:
            table = encoder.apply(features) if reads == MATRIX else features
            return output.predict(member, table)

        return predict

    def _exact(self, member: Any, output: Output) -> Parts | None:
        """Return the mean of the Shapley values of the models of the folds, if they know these."""
        models = getattr(member, "estimators", [member])
        if not all(hasattr(model, "predict_contributions") for model in models):
            return None
        found = [self._of_model(model, output) for model in models]
        if any(parts is None for parts in found):
            return None
        base = np.mean([parts.base for parts in found if parts], axis=0)
        return Parts(base, np.mean([parts.of_columns for parts in found if parts], axis=0))

    def _of_model(self, model: Any, output: Output) -> Parts | None:
        parts = exact_parts(model, output, self.features)
        return None if parts is None else Parts(parts.base, self._by_column(parts.of_columns))

    def _whole(self, member: Any, output: Output) -> Parts:
        """Return the prediction of a member that nothing is known of: its mean, and the rest."""
        predicted = output.predict(member, native_table(self.table).native)
        base = predicted.mean(axis=0)
        of_columns = np.zeros((len(predicted), len(self._uses), predicted.shape[1]))
        of_columns += (predicted - base)[:, np.newaxis] / len(self._uses)
        return Parts(base, of_columns)

    # ---- sampling ----

    def _sampled(self, predict: Predicting) -> Parts:
        """Return mean changes while the columns are set one after the other."""
        walk = ColumnWalk.of(self.fitted, self.features)
        generator = np.random.default_rng(self.seed)
        draws = [p.draws(self.n_samples, generator) for p in walk.profiles]
        orders = [generator.permutation(len(walk.groups)) for _ in range(self.n_samples)]
        blocks, base = [], np.zeros(0)
        size = max(1, _CELLS // ((len(walk.groups) + 1) * self.features.n_features))
        for begin in range(0, self.features.n_rows, size):
            rows = np.arange(begin, min(begin + size, self.features.n_rows))
            block = np.zeros(0)
            bases = []
            for sample, order in enumerate(orders):
                table = walk.table(rows, order, [float(each[sample]) for each in draws])
                values = predict(table).reshape(len(order) + 1, len(rows), -1)
                steps = np.zeros((len(rows), len(self._uses), values.shape[2]))
                for change, group in zip(np.diff(values, axis=0), order.tolist(), strict=True):
                    places = walk.groups[group]
                    for place in places:
                        steps[:, place] = change / len(places)
                bases.append(values[0, 0])
                block = steps if sample == 0 else block + steps
            base = np.mean(bases, axis=0)
            blocks.append(block / self.n_samples)
        return Parts(base, np.concatenate(blocks))


@dataclass(frozen=True, eq=False)
class ColumnWalk:
    """Tables between common values and those of some rows.

    Parameters
    ----------
    uses : sequence of ColumnUse
        How the columns are used.
    profiles : sequence of ColumnProfile
        Common values of those that are used.
    groups : list of list of int
        Places of columns that are set together: each alone, and of many the least important.
    features : Source
        The rows.
    """

    uses: Sequence[ColumnUse]
    profiles: Sequence[ColumnProfile]
    groups: list[list[int]]
    features: Source

    @classmethod
    def of(cls, fitted: Mapping[str, Any], features: Source) -> ColumnWalk:
        """Set up walks for the rows of a table."""
        uses, profiles = fitted["columns_"], fitted["_profiles"]
        places = {use.name: k for k, use in enumerate(uses) if use.use != "dropped"}
        known = fitted["importances_"].ranking()
        ranked = [name for name in known if name in places]
        ranked += [profile.name for profile in profiles if profile.name not in set(ranked)]
        alone, rest = ranked[:_MOST_ALONE], ranked[_MOST_ALONE:]
        groups = [[places[name]] for name in alone]
        if rest:
            groups.append([places[name] for name in rest])
        return cls(uses, profiles, groups, read_once(features))

    def table(self, rows: Rows, order: NDArray[np.int64], drawn: Sequence[float]) -> Columns:
        """Return the rows before any column is set, after the first one is, and so on.

        Parameters
        ----------
        rows : ndarray of int
            Which rows.
        order : ndarray of int
            Groups in the order in which they are set.
        drawn : sequence of float
            The common value of each profile.
        """
        n_rows, n_steps = len(rows), len(order) + 1
        rank = {place: r for r, g in enumerate(order.tolist()) for place in self.groups[g]}
        place_of = {use.name: k for k, use in enumerate(self.uses) if use.use != "dropped"}
        owner = {
            p.first + part: (number, part)
            for number, p in enumerate(self.profiles)
            for part in range(p.n_features)
        }

        def read(position: int, where: str) -> Column:
            own = self.features.column(position).take(rows)
            number, part = owner[position]
            place = place_of[self.profiles[number].name]
            n_before = rank[place] + 1
            values = np.full(n_before * n_rows, drawn[number])
            before = feature_column(self.uses[place], part, own, values)
            after = own.take(np.tile(np.arange(n_rows), n_steps - n_before))
            return _joined(before, after)

        names = self.features.names
        return Columns(n_rows * n_steps, self.features.n_features, names, read)


def _joined(first: Column, second: Column) -> Column:
    """Return the cells of two columns of one kind, one after the other."""
    values = np.concatenate([first.values, second.values])
    mask = None
    if first.mask is not None or second.mask is not None:
        parts = [first.missing(), second.missing()]
        mask = np.concatenate(parts).astype(np.uint8)
    return replace(second, values=values, mask=mask)
