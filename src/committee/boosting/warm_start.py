"""Warm starts: the last fit of an estimator, whose rounds a new fit keeps and adds to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from committee.base.arrays import Floats
from committee.base.warn import warn
from committee.boosting.additive_model import BoostingStart, LearnerSum, TreeSum
from committee.boosting.fitted import params_until
from committee.boosting.rounds import RoundChoice
from committee.boosting.training_data import TrainingRows, TrainingTable
from committee.evaluation.early_stopping import Stopper, Watch
from committee.evaluation.training_log import TrainingLog


@dataclass(frozen=True, eq=False)
class LastFit:
    """The fitted attributes that a warm start continues from.

    Parameters
    ----------
    attributes : dict
        All attributes of the fitted estimator.
    """

    attributes: Mapping[str, Any]

    @property
    def sum(self) -> TreeSum | LearnerSum:
        """The rounds."""
        total: TreeSum | LearnerSum = self.attributes["_sum"]
        return total

    @property
    def start(self) -> BoostingStart:
        """The scores before the first round."""
        start: BoostingStart = self.attributes["_start"]
        return start

    @property
    def seed(self) -> int:
        """The seed of all draws."""
        return int(self.attributes["_seed"])

    @property
    def round_choice(self) -> RoundChoice | None:
        """How the number of rounds was chosen."""
        choice: RoundChoice | None = self.attributes["round_choice_"]
        return choice

    @property
    def chosen_params(self) -> dict[str, Any]:
        """The values of parameters that may be "auto"."""
        return dict(self.attributes["chosen_params_"])

    @property
    def log(self) -> TrainingLog:
        """The log of the rounds that are kept."""
        log: TrainingLog = self.attributes["training_log_"]
        return log.head(self.sum.n_rounds)

    @property
    def params_of_rounds(self) -> list[tuple[int, dict[str, Any]]]:
        """The parameters of the rounds that are kept, see `FittedBoosting`."""
        return params_until(self.attributes.get("_params_of_rounds", []), self.sum.n_rounds)

    def count_kept(self, n_estimators: int) -> int:
        """Return how many rounds are kept; ValueError if there are to be fewer."""
        n_kept = self.sum.n_rounds
        if n_kept > n_estimators:
            raise ValueError(
                f"n_estimators={n_estimators} must be larger or equal to "
                f"estimators_.shape[0]={n_kept} when warm_start==True"
            )
        if n_kept == n_estimators:
            warn("Warm-start fitting without increasing n_estimators does not fit new trees.")
        return n_kept

    def check_continues(
        self, table: TrainingTable, rows: TrainingRows, init: Any, attributes: Mapping[str, Any]
    ) -> None:
        """Raise ValueError unless new rounds learn what the rounds of the last fit learned.

        Parameters
        ----------
        table : TrainingTable
            The features, in bins.
        rows : TrainingRows
            Target, weights and loss.
        init : None, "zero", "mean" or estimator
            The parameter of the estimator.
        attributes : dict
            Fitted attributes that describe the target.
        """
        known = self.attributes
        changed = {
            f"the number of rows, {known['_n_rows']} and now {rows.n_rows}": (
                rows.n_rows != known["_n_rows"]
            ),
            "the columns of X": not self._has_columns_of(table),
            "how categories are encoded": not self._has_statistics_of(table),
            f"the loss, {known['_given_loss']!r} and now {rows.loss!r}": not (
                rows.loss is known["_given_loss"] or rows.loss == known["_given_loss"]
            ),
            "init": not self.start.is_of(init),
            "the weak learner": isinstance(self.sum, TreeSum) != (table.schema is not None),
        }
        for name, value in attributes.items():
            label = f"{name}, {known[name]!r} and now {value!r}"
            changed[label] = not np.array_equal(known[name], value)
        found = [what for what, has_changed in changed.items() if has_changed]
        if not found and table.fingerprint(rows, self.sum) != known["_fingerprint"]:
            found = ["the cells of X, the target or the weights of rows"]
        if found:
            raise ValueError(
                "warm_start=True adds rounds that learn from the table of the last fit in the same "
                f"way, but these have changed: {'; '.join(found)}. Set warm_start=False to start "
                "anew"
            )

    def _has_columns_of(self, table: TrainingTable) -> bool:
        known = self.attributes
        is_same = table.n_features == known["n_features_in_"] and _names_of(known) == table.names
        return is_same and (table.schema is None or known.get("schema_") in (None, table.schema))

    def warn_of_changes(self, params: Mapping[str, Any]) -> None:
        """Warn if new rounds are shaped by other parameters than those of the last fit."""
        made: list[tuple[int, dict[str, Any]]] = self.attributes.get("_params_of_rounds", [])
        known = made[-1][1] if made else {}
        changes = [
            f"{name} was {value!r} and is {params[name]!r}"
            for name, value in known.items()
            if not _is_same(value, params[name])
        ]
        if changes:
            warn(
                "warm_start=True adds rounds with other parameters than those of the last fit: "
                f"{'; '.join(changes)}. One fit with these parameters gives another model"
            )

    def _has_statistics_of(self, table: TrainingTable) -> bool:
        """Whether the trees of the last fit read the columns as new ones will."""
        total = self.sum
        fitted = total.statistics if isinstance(total, TreeSum) else None
        return table.statistics is None if fitted is None else fitted.is_like(table.statistics)

    def stopper(
        self, watch: Watch | None, scores: Floats, patience: int | None, tol: float
    ) -> Stopper:
        """Return a stopper that has counted the rounds that are kept.

        Parameters
        ----------
        watch : Watch or None
            The validation rows.
        scores : ndarray of float64
            Scores of the training rows after these rounds.
        patience : int or None
            See `Stopper`.
        tol : float
            See `Stopper`.
        """
        n_kept = self.sum.n_rounds
        if watch is None:
            return Stopper(patience, tol, n_kept)
        now = watch.badness(watch.look(scores), n_kept)
        before = watch.history(self.log)
        if before[-1] != now or np.isnan(before).any():
            before = np.array([now])  # other validation rows, or none: only this round is known
        stopper = Stopper(patience, tol, n_kept - len(before))
        for value in before.tolist():
            stopper.add(value)
        return stopper


def _names_of(attributes: Mapping[str, Any]) -> tuple[str, ...] | None:
    names = attributes.get("feature_names_in_")
    return None if names is None else tuple(names)


def _is_same(a: Any, b: Any) -> bool:
    """Whether two values of a parameter mean the same."""
    if hasattr(a, "get_params") and hasattr(b, "get_params"):
        given, other = a.get_params(), b.get_params()
        return type(a) is type(b) and all(_is_same(v, other.get(k)) for k, v in given.items())
    if any(isinstance(value, list | tuple) or hasattr(value, "__array__") for value in (a, b)):
        return bool(np.array_equal(np.asarray(a, object), np.asarray(b, object)))
    return a is b or bool(a == b) or (a != a and b != b)
