"""The training table of a forest, passed once more.

Out-of-bag results need to know which rows each tree has not seen. Draws are made again from the
seed; the rows come from the caller, who passes the table and the target of `fit`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from committee.base.arrays import Floats
from committee.base.slicing import JoinedSampler
from committee.evaluation.importance import one_hot
from committee.tables.table import fingerprint
from committee.tables.target import check_same_length, read_classes, read_reals, read_weights

if TYPE_CHECKING:
    from committee import _core
    from committee.base.sampling import RowSampler
    from committee.base.slicing import Draws
    from committee.tables.table import TableSchema


class TrainingTable:
    """What the methods of a fitted forest share: its parts, and how its training table is read."""

    _forest: _core.Forest
    schema_: TableSchema
    n_outputs_: int
    _fingerprint: int

    if TYPE_CHECKING:  # of ForestModel

        def _read(self, X: Any) -> _core.Table: ...
        def _threads(self) -> int: ...
        def _sampler(self) -> Draws | None: ...
        def _class_labels(self) -> list[NDArray[Any]] | None: ...
        def _check_fitted(self) -> None: ...

    def _training_sampler(self, caller: str, n_rows: int) -> RowSampler:
        """Return the draws of the trees, if there are any and the table can be that of `fit`."""
        sampler = self._sampler()
        if sampler is None or not sampler.leaves_rows_out:
            raise ValueError(
                f"{caller} needs out-of-bag rows, but every tree has learnt from all rows; fit "
                "with bootstrap=True or a lower max_samples"
            )
        if isinstance(sampler, JoinedSampler) or sampler.numbers is not None:
            raise ValueError(
                f"{caller} needs the draws of all trees, but this forest was pruned, cut "
                "or joined; use the forest that it came from"
            )
        if sampler.n_rows != n_rows:
            raise ValueError(
                f"{caller} takes the training table, whose {sampler.n_rows} rows are matched with "
                f"the draws of the trees; got {n_rows} rows"
            )
        return sampler

    def _check_training(
        self,
        caller: str,
        table: _core.Table,
        classes: NDArray[np.int32] | None,
        reals: Floats | None,
    ) -> None:
        """Raise unless the table and the target are those of `fit`, row by row."""
        target = reals if classes is None else classes
        assert target is not None
        if fingerprint(self._forest, table, target) != self._fingerprint:
            raise ValueError(
                f"{caller} takes the training table and its target, in the order of fit, because "
                "rows are matched with the draws of the trees; these are others"
            )

    def _was_fitted_to(self, X: Any, y: Any) -> bool:
        """Whether this is the training table, in its order."""
        try:
            table = self._read(X)
            self._check_training("", table, *self._engine_target(y, table.n_rows))
        except ValueError:
            return False
        return True

    def _first_leaves(self) -> NDArray[np.int64]:
        """Return the first leaf of each tree when all leaves are numbered through."""
        return np.concatenate([[0], np.cumsum(self._forest.leaf_counts())]).astype(np.int64)

    def _out_of_bag(self, sampler: Draws) -> NDArray[np.bool_]:
        """Return whether each row is out of the bag of each tree."""
        trees = range(self._forest.n_trees)
        return np.column_stack([sampler.counts(tree) == 0 for tree in trees])

    def _engine_target(self, y: Any, n_rows: int) -> tuple[NDArray[np.int32] | None, Floats | None]:
        """Read the target as the engine takes it: codes of classes, or numbers."""
        labels = self._class_labels()
        if labels is None:
            reals, _ = read_reals(y)
            check_same_length(n_rows, len(reals))
            self._check_outputs(reals.shape[1])
            return None, reals
        target = read_classes(y)
        check_same_length(n_rows, len(target.codes))
        self._check_outputs(target.n_outputs)
        codes = np.empty_like(target.codes)
        for output, (known, found) in enumerate(zip(labels, target.classes, strict=True)):
            place = {label: code for code, label in enumerate(known.tolist())}
            unknown = [label for label in found.tolist() if label not in place]
            if unknown:
                raise ValueError(f"y must hold classes of the fit; it holds {unknown[0]!r}")
            new_codes = np.array([place[label] for label in found.tolist()], np.int32)
            codes[:, output] = new_codes[target.codes[:, output]]
        return codes, None

    def _check_outputs(self, n_outputs: int) -> None:
        if n_outputs != self.n_outputs_:
            raise ValueError(f"y must have {self.n_outputs_} outputs as in fit; got {n_outputs}")

    def _values_of(self, y: Any, n_rows: int) -> Floats:
        """Return the target in the shape of predictions: numbers, or ones among zeros."""
        codes, reals = self._engine_target(y, n_rows)
        if reals is not None:
            return reals
        labels = self._class_labels()
        assert codes is not None
        assert labels is not None
        return one_hot(codes, [len(each) for each in labels])

    def _row_weights(self, sample_weight: Any, n_rows: int) -> Floats:
        weights = read_weights(sample_weight, n_rows)
        return np.ones(n_rows) if weights is None else weights
