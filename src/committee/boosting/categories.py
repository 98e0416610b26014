"""Long categories: which ones boosting encodes, and the numbers in the place of their levels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from committee import _core
from committee.base.arrays import Floats
from committee.evaluation.scored_target import ScoredTarget
from committee.files.codec_classes import register
from committee.files.parts import TEXT, Part, array, list_of, tuple_of, whole
from committee.losses.objective import Objective
from committee.tables.table import FeatureInfo, Kind, TableSchema

if TYPE_CHECKING:
    from committee import _core


# "auto" encodes categories with more levels than this. Up to it, subsets of levels did as well or
# better on the tables that defaults were tuned on.
_MOST_SUBSET_LEVELS = 16

# So many more rows with a slope of zero in the mean of each level.
_SMOOTHING = 1.0


@register("TargetStatistics")
@dataclass(frozen=True, eq=False)
class TargetStatistics:
    """What the levels of some categories have become.

    Parameters
    ----------
    features : tuple of int
        Positions of the encoded columns, ascending.
    values : list of ndarray of float64, shape (n_levels + 2, n_numbers)
        For each encoded column the numbers of its levels, then of levels unseen in training, then
        of missing values.
    names : tuple of str
        What each number is, for people.

    Examples
    --------
    >>> table = _core.Table(4)
    >>> table.add_column(2, np.array([1, 0, -2, -1], np.int32))
    >>> means = TargetStatistics((0,), [np.array([[0.5], [-0.5], [0.0], [0.1]])], ("mean",))
    >>> means.numbers(table)[0][:, 0].tolist()
    [-0.5, 0.5, 0.0, 0.1]
    """

    features: tuple[int, ...]
    values: list[Floats]
    names: tuple[str, ...]

    _stored_parts: ClassVar[dict[str, Part]] = {
        "features": tuple_of(whole(), "columns"),
        "values": list_of(array("f8", None, "numbers", finite=True), "columns"),
        "names": tuple_of(TEXT, "numbers", least=1),
    }

    @property
    def n_more(self) -> int:
        """Number of features that follow the user's columns."""
        return len(self.features) * (len(self.names) - 1)

    def origins(self, n_features: int) -> NDArray[np.intp]:
        """Return the user's column that each feature of the engine comes from."""
        more = np.repeat(np.array(self.features, np.intp), len(self.names) - 1)
        return np.concatenate([np.arange(n_features), more])

    def schema(self, own: TableSchema) -> TableSchema:
        """Return the features of the engine; `own` are those of the user."""
        features = list(own.features)
        for position in self.features:
            name = own.features[position].name
            infos = [
                FeatureInfo(f"{name} ({what})", Kind.REAL, None, "number") for what in self.names
            ]
            features[position] = infos[0]
            features += infos[1:]
        names = None if own.names is None else tuple(feature.name for feature in features)
        return TableSchema(tuple(features), names)

    def own_schema(self, own: TableSchema, seen: TableSchema) -> TableSchema:
        """Return the user's features, with missing values as binning has found them."""
        pairs = enumerate(zip(own.features, seen.features, strict=False))
        features = tuple(a if i in self.features else b for i, (a, b) in pairs)
        return TableSchema(features, own.names)

    def numbers(self, table: _core.Table) -> list[Floats]:
        """Return the numbers of new rows, one array for each encoded column."""
        # Missing is -1 and unseen is -2: they point to the last two rows.
        pairs = zip(self.features, self.values, strict=True)
        return [np.asfortranarray(values[table.levels(i)]) for i, values in pairs]

    def encode(self, table: _core.Table, numbers: Sequence[Floats] | None = None) -> _core.Table:
        """Return a table of the user's columns as the engine reads it.

        Parameters
        ----------
        table : _core.Table
            The user's columns.
        numbers : list of ndarray or None, default=None
            What levels become in each row; None: what they become in new rows.
        """
        numbers = self.numbers(table) if numbers is None else numbers
        first = dict(zip(self.features, numbers, strict=True))
        encoded = _core.Table(table.n_rows)
        for feature in range(table.n_features):
            if feature in first:
                encoded.add_column(int(Kind.REAL), first[feature][:, 0])
            else:
                encoded.add_from(table, feature)
        for each in numbers:
            for column in range(1, each.shape[1]):
                encoded.add_column(int(Kind.REAL), each[:, column])
        return encoded

    def gather(self, values: Floats, n_features: int) -> Floats:
        """Add what features of the engine have in the second axis to the columns they come from."""
        gathered = values[:, :n_features].copy()
        for index, origin in enumerate(self.origins(n_features)[n_features:]):
            gathered[:, origin] += values[:, n_features + index]
        return gathered

    def widen(self, settings: dict[str, Any], n_features: int) -> None:
        """Turn settings for the user's columns into settings for the features of the engine."""
        if self.n_more == 0:
            return
        share = 1 + self.n_more / n_features
        for name in ("features_per_tree", "features_per_level", "features_per_node"):
            if name in settings:
                settings[name] = round(settings[name] * share)
        if "monotonic" in settings:
            settings["monotonic"] = [*settings["monotonic"], *[0] * self.n_more]
        origins = self.origins(n_features)
        if "interactions" in settings:
            groups = settings["interactions"]
            settings["interactions"] = [
                np.flatnonzero(np.isin(origins, g)).tolist() for g in groups
            ]

    def is_like(self, other: TargetStatistics | None) -> bool:
        """Whether both encode the same columns in the same way, so that trees of both may meet."""
        return (
            other is not None
            and (self.features, self.names) == (other.features, other.names)
            and all(map(np.array_equal, self.values, other.values))
        )

    def fits(self, own: TableSchema) -> bool:
        """Whether these are statistics of categories of this table."""
        for position, values in zip(self.features, self.values, strict=True):
            if not 0 <= position < own.n_features:
                return False
            levels = own.features[position].levels
            if levels is None or len(values) != len(levels) + 2:
                return False
        return True

    def _validate_loaded(self) -> None:
        if list(self.features) != sorted(set(self.features)):
            raise ValueError("the columns are not ascending")


def columns_to_encode(
    choice: str, table: _core.Table, schema: TableSchema, weights: Floats | None
) -> tuple[int, ...]:
    """Return the positions of the categories that get statistics.

    Parameters
    ----------
    choice : {"auto", "subsets", "target"}
        Those of many levels, none or all.
    table : _core.Table
        The training table.
    schema : TableSchema
        Its features.
    weights : ndarray of float64 or None
        Rows of weight zero are absent: their levels do not count.
    """
    categories = [i for i, info in enumerate(schema.features) if info.levels is not None]
    if choice == "subsets":
        return ()
    least = _MOST_SUBSET_LEVELS + 1 if choice == "auto" else 1
    return tuple(i for i in categories if _count_levels(table.levels(i), weights) >= least)


def _count_levels(levels: NDArray[np.int32], weights: Floats | None) -> int:
    present = levels if weights is None else levels[weights > 0]
    return len(np.flatnonzero(np.bincount(present[present >= 0])))


def encode_training(
    table: _core.Table,
    schema: TableSchema,
    features: tuple[int, ...],
    slopes: Floats,
    weights: Floats | None,
    names: tuple[str, ...],
    seed: int,
) -> tuple[TargetStatistics, _core.Table, TableSchema]:
    """Encode the training table, without a row ever seeing its own target.

    Parameters
    ----------
    table : _core.Table
        The user's columns.
    schema : TableSchema
        The features.
    features : tuple of int
        Categories to encode.
    slopes : ndarray of float64, shape (n_rows, n_numbers)
        What is averaged.
    weights : ndarray of float64 or None
        Rows of weight zero are absent; they get what new rows get.
    names : tuple of str
        What each number is.
    seed : int
        Of the random orders, one for each category.

    Returns
    -------
    statistics : TargetStatistics
        What levels become in new rows.
    encoded : _core.Table
        The training table as the engine reads it.
    schema : TableSchema
        With the missing values found in the encoded columns.
    """
    present = np.arange(table.n_rows) if weights is None else np.flatnonzero(weights)
    centred, exponents = _centred(slopes, present, weights)
    rng = np.random.default_rng(seed)
    numbers, values, infos = [], [], list(schema.features)
    for feature in features:
        levels = table.levels(feature)
        order = rng.permutation(present).astype(np.uint32)
        n_levels = len(schema.features[feature].levels or ())
        pairs = [
            _core.ordered_means(levels, n_levels, order, each, weights, smoothing=_SMOOTHING)
            for each in centred.T
        ]
        of_rows, of_levels = (np.column_stack(part) for part in zip(*pairs, strict=True))
        numbers.append(np.asfortranarray(np.ldexp(of_rows, exponents)))
        values.append(np.ldexp(of_levels, exponents))
        has_missing = bool((levels[present] < 0).any())
        infos[feature] = replace(infos[feature], has_missing=has_missing)
    statistics = TargetStatistics(features, values, names)
    return statistics, statistics.encode(table, numbers), replace(schema, features=tuple(infos))


def _centred(
    slopes: Floats, present: NDArray[np.intp], weights: Floats | None
) -> tuple[Floats, NDArray[np.intc]]:
    """Return slopes with a mean of zero in each column, so that smoothing pulls towards the mean.

    They are divided by powers of two, whose exponents are returned: sums of huge ones overflow.
    """
    own = slopes[present]
    exponents = np.frexp(np.abs(own).max(axis=0, initial=0.0))[1]
    own = np.ldexp(own, -exponents)
    mean = np.average(own, axis=0, weights=None if weights is None else weights[present])
    centred = np.zeros(slopes.shape, order="F")  # absent rows, of any size, are not averaged
    centred[present] = own - mean
    return centred, exponents


# Slopes of so many classes become numbers, those of the heaviest ones: a feature each.
_MOST_CLASSES = 10


def encode_categories(
    choice: str,
    table: _core.Table,
    schema: TableSchema,
    objective: Objective,
    target: ScoredTarget,
    seed: int,
) -> tuple[TargetStatistics | None, _core.Table, TableSchema]:
    """Put target statistics in the place of the categories that shall have them.

    Parameters
    ----------
    choice : {"auto", "subsets", "target"}
        Which categories.
    table : _core.Table
        The training table.
    schema : TableSchema
        Its features.
    objective : Objective
        The loss, the target and the weights of the rows.
    target : ScoredTarget
        The target, for the names of classes.
    seed : int
        Of the random orders of rows.

    Returns
    -------
    statistics : TargetStatistics or None
        What levels become; None if no category is encoded.
    table : _core.Table
        What the engine learns from.
    schema : TableSchema
        The user's features, with the missing values found in those that are encoded.
    """
    weights = objective.weights
    features = columns_to_encode(choice, table, schema, weights)
    if not features:
        return None, table, schema
    chosen, names = _numbers(objective, target)
    slopes = slopes_of(objective)[:, chosen]
    return encode_training(table, schema, features, slopes, weights, names, seed)


def slopes_of(objective: Objective) -> Floats:
    """Return the negative gradients at the best constants, one column a score.

    They are the target in terms of the loss: for squared error the target minus its mean, for
    classes one or zero minus the share of the class. An outlier that moves no median moves no
    statistic either.

    Examples
    --------
    >>> from committee.losses import BinaryLogLoss
    >>> rows = np.asfortranarray([[1.0], [0.0], [0.0], [0.0]])
    >>> slopes_of(Objective((BinaryLogLoss(),), rows, None))[:, 0].round(6).tolist()
    [0.75, -0.25, -0.25, -0.25]
    """
    scores = np.empty((len(objective.y), objective.n_columns), order="F")
    scores[:] = objective.initial_scores()
    pairs = objective.prepared(scores).gradients(scores)
    return -np.column_stack([gradient for gradient, _ in pairs])


def _numbers(objective: Objective, target: ScoredTarget) -> tuple[list[int], tuple[str, ...]]:
    """Return the columns of scores whose slopes become statistics, and the names of these."""
    n_columns = objective.n_columns
    chosen, what = list(range(n_columns)), "target statistic"
    if n_columns == 1:
        return chosen, (what,)
    labels: list[Any] = [f"output {k}" for k in chosen]
    if target.classes:
        assert target.codes is not None
        totals = np.bincount(target.codes[:, 0], objective.weights, n_columns)
        chosen = sorted(np.argsort(-totals, kind="stable")[:_MOST_CLASSES].tolist())
        labels = target.classes[0].tolist()
    return chosen, tuple(f"{what} of {labels[k]}" for k in chosen)
