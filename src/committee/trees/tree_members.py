"""`TreeMembers`: trees of the engine as a list of estimators."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, overload

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from committee import _core
from committee.base.arrays import Floats
from committee.base.sampling import RowSampler, member_seed
from committee.base.slicing import Draws, JoinedSampler
from committee.files.codec_classes import register
from committee.files.parts import LABELS, NOTHING, Part, instance, whole
from committee.members.alike import common_schema
from committee.tables.table import TableSchema
from committee.trees.trees import DecisionTreeClassifier, DecisionTreeRegressor

_FEATURE_BITS = 24  # of feature_and_flags, see src/core/tree/tree.hpp


@register("TreeMembers")
@dataclass(frozen=True, eq=False)
class TreeMembers(Sequence[Any]):
    """The members of an ensemble of trees; each is made when it is read.

    Parameters
    ----------
    forest : _core.Forest
        The trees, over all features of the table.
    schema : TableSchema
        The features.
    template : estimator
        A tree that is not fitted, with the parameters of the members.
    seed : int
        Seed of the ensemble.
    features : RowSampler, JoinedSampler or None
        The features of each member; None if each has all of them.
    classes : ndarray or None, default=None
        Labels of the classes that members predict; None for their codes.
    """

    forest: _core.Forest
    schema: TableSchema
    template: Any
    seed: int
    features: Draws | None
    classes: NDArray[Any] | None = None

    _later_fields: ClassVar[tuple[str, ...]] = ("classes",)
    _stored_parts: ClassVar[dict[str, Part]] = {
        "forest": instance(_core.Forest),
        "schema": instance(TableSchema),
        "template": instance(DecisionTreeClassifier, DecisionTreeRegressor),
        "seed": whole(),
        "features": NOTHING | instance(RowSampler, JoinedSampler),
        "classes": NOTHING | LABELS,
    }

    def __len__(self) -> int:
        return self.forest.n_trees

    @overload
    def __getitem__(self, index: int) -> Any: ...

    @overload
    def __getitem__(self, index: slice) -> list[Any]: ...

    def __getitem__(self, index: int | slice) -> Any:
        numbers = range(len(self))[index]  # raises IndexError, knows negative numbers and slices
        if isinstance(numbers, range):
            return [self._member(number) for number in numbers]
        return self._member(numbers)

    def __repr__(self) -> str:
        return f"<{len(self)} members: {self.template!r}>"

    def _member(self, number: int) -> Any:
        model = clone(self.template)
        model.set_params(random_state=member_seed(self.seed, number))
        tree, schema = self.forest.tree(number), self.schema
        if self.features is not None:
            tree, schema = _on_columns(tree, schema, self.features.rows(number))
        if isinstance(model, DecisionTreeRegressor):
            model._adopt(tree, schema, None, n_outputs_=tree.n_values)
        else:
            labels = np.arange(tree.n_values) if self.classes is None else self.classes
            n_classes = len(labels)
            model._adopt(
                tree, schema, [labels], classes_=labels, n_classes_=n_classes, n_outputs_=1
            )
        return model

    def picked(self, numbers: NDArray[np.int64]) -> TreeMembers:
        """Return some of the members, in the given order."""
        parts = [self.forest.part(int(number), int(number) + 1) for number in numbers]
        features = self.features
        if features is not None and (numbers != np.arange(len(numbers))).any():
            features = features.picked(numbers)
        return replace(self, forest=_core.Forest.join(parts), features=features)

    @classmethod
    def joined(cls, parts: Sequence[TreeMembers], features: Draws | None) -> TreeMembers:
        """Return the members of several ensembles, with the features that each has drawn."""
        schema = common_schema([part.schema for part in parts])
        forest = _core.Forest.join([part.forest for part in parts])
        return replace(parts[0], forest=forest, schema=schema, features=features)

    def values(self, X: Any, name: str, weights: Floats, hard: bool, n_threads: int) -> Floats:
        """Return weighted sums of the predictions of all members."""
        table = self.schema.read(X, name)
        return self.forest.predict(table, hard=hard, tree_weights=weights, n_threads=n_threads)

    def each(self, X: Any, name: str, hard: bool, n_threads: int) -> Floats:
        """Return the prediction of each member, shape (n_members, n_rows, n_values)."""
        table = self.schema.read(X, name)
        predicted = self.forest.predict_each(table, n_threads)
        if hard:
            predicted = np.eye(predicted.shape[2])[predicted.argmax(axis=2)]
        return np.ascontiguousarray(predicted.transpose(1, 0, 2))

    def _validate_loaded(self) -> None:
        self.schema.check_trees(self.forest)
        if self.features is not None:
            self.features.check_columns(self.schema.n_features, len(self))
        if self.classes is not None and len(self.classes) != self.forest.n_values:
            raise ValueError("the labels do not fit the trees")


def _on_columns(
    tree: _core.Tree, schema: TableSchema, columns: NDArray[np.int64]
) -> tuple[_core.Tree, TableSchema]:
    """Return a tree that knows only its columns, numbered anew."""
    arrays = dict(tree.arrays())
    flags = arrays["feature_and_flags"]
    place = np.zeros(schema.n_features, np.uint32)
    place[columns] = np.arange(len(columns), dtype=np.uint32)
    feature = flags & ((1 << _FEATURE_BITS) - 1)
    is_split = arrays["first_child"] > 0
    renumbered = (flags >> _FEATURE_BITS << _FEATURE_BITS) | place[feature]
    arrays["feature_and_flags"] = np.where(is_split, renumbered, flags).astype(np.uint32)
    kinds = tree.kinds
    features = tuple(schema.features[column] for column in columns)
    names = None if schema.names is None else tuple(schema.names[column] for column in columns)
    own = _core.Tree(len(columns), [kinds[column] for column in columns], arrays)
    return own, TableSchema(features, names)
