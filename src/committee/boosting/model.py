"""What gradient boosting estimators share: their parameters, and `fit`.

Fitted attributes are set together at the very end, so a fit that fails or is interrupted leaves
the estimator as it was.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from committee.base.params import check_bool, check_choice, check_int, check_real
from committee.boosting.fit import BoostingFit, check_rows
from committee.boosting.fitted import FittedBoosting
from committee.boosting.rounds import Callback
from committee.evaluation.scored_target import ScoredTarget, resolve_metric
from committee.losses.loss import Loss
from committee.members.meta_estimator import check_estimator_kind

Floats = NDArray[np.float64]


class BoostingModel(FittedBoosting):
    """Base class of the gradient boosting estimators."""

    loss: str | Loss
    learning_rate: float | str
    n_estimators: int | str
    subsample: float | str
    criterion: str
    min_samples_split: int | float
    min_samples_leaf: int | float | str
    min_weight_fraction_leaf: float
    max_depth: int | None
    min_impurity_decrease: float
    init: Any
    random_state: Any
    max_features: int | float | str | None
    verbose: int
    max_leaf_nodes: int | str | None
    warm_start: bool
    validation_fraction: float
    n_iter_no_change: int | None
    tol: float
    ccp_alpha: float
    split_finding: str
    growth: str
    max_splits: int | None
    min_child_weight: float
    l1_regularization: float
    l2_regularization: float | str
    max_bins: int
    features_per_tree: int | float | str | None
    features_per_level: int | float | str | None
    monotonic_cst: Any
    interaction_cst: Any
    categorical_features: Any
    category_smoothing: float
    category_encoding: str
    early_stopping: bool | str
    validation_part: str
    scoring: Any
    estimator: Any
    callbacks: Any

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags

    @property
    def _reads_tables(self) -> bool:
        """Whether tables may have been opened before: the engine reads them, nobody else."""
        return self.estimator is None and (self.init is None or isinstance(self.init, str))

    # ---- what classifiers and regressors do in their own way ----

    @abstractmethod
    def _read_target(self, y: Any, weights: Floats | None) -> ScoredTarget:
        """Read the target."""

    @abstractmethod
    def _read_new_target(self, y: Any, weights: Floats | None, known: ScoredTarget) -> ScoredTarget:
        """Read the target of validation rows."""

    @abstractmethod
    def _make_loss(self, target: ScoredTarget) -> Loss:
        """Return the loss that the parameters ask for, which this target must suit."""

    def _class_factors(self, target: ScoredTarget) -> Floats | None:
        """Return what class weights multiply rows by."""
        return None

    def _target_attributes(self, target: ScoredTarget) -> dict[str, Any]:
        """Return the fitted attributes that tell of the target."""
        return {"n_outputs_": target.n_outputs}

    # ---- fitting ----

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        eval_set: Any = None,
        groups: Any = None,
    ) -> Self:
        """Boost: fit one round of trees after another to what is still wrong.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            A NumPy array, a pandas, polars or pyarrow table, a SciPy sparse matrix or a list.
        y : array-like of shape (n_rows,) or (n_rows, n_outputs)
            Class labels, or finite numbers.
        sample_weight : array-like of shape (n_rows,) or None, default=None
            Weights of the rows. A row of weight two counts as the row twice, a row of weight zero
            is absent. Weights that are not whole numbers are brought to a mean of one.
        eval_set : tuple (X, y) or (X, y, sample_weight), or None, default=None
            Validation rows, whose loss is noted after each round; early stopping looks at them
            instead of holding out a part of the training rows. With ``n_estimators="auto"`` they
            say when to stop, unless ``early_stopping=False``.
        groups : array-like of shape (n_rows,) or None, default=None
            Rows with the same value are held out together, or not at all, and drawn together with
            `subsample`.

        Returns
        -------
        self : estimator
            The fitted estimator.
        """
        self._check_switches()
        if groups is not None and self.validation_part == "last":
            raise ValueError('groups must be None with validation_part="last"')
        attributes = BoostingFit(self, X, y, sample_weight, eval_set, groups).attributes()
        self._replace_fitted(attributes)
        return self

    def _check_switches(self) -> None:
        check_bool("warm_start", self.warm_start)
        if not (isinstance(self.early_stopping, str) and self.early_stopping == "auto"):
            _check_stopping(self.early_stopping)
        # Splits are found by second-order gain, whatever this says.
        check_choice("criterion", self.criterion, ("friedman_mse", "squared_error", "deprecated"))
        check_choice("split_finding", self.split_finding, ("hist", "exact"))
        check_choice("category_encoding", self.category_encoding, ("auto", "subsets", "target"))
        check_choice("validation_part", self.validation_part, ("random", "last"))
        share = self.validation_fraction
        check_real("validation_fraction", share, 0, 1, include_low=False, include_high=False)
        check_real("tol", self.tol, 0.0)
        check_real("ccp_alpha", self.ccp_alpha, 0.0)
        is_switch = isinstance(self.verbose, bool | np.bool_)
        check_int("verbose", int(self.verbose) if is_switch else self.verbose, 0)
        if self.scoring is not None and isinstance(resolve_metric(self.scoring, "scoring"), bool):
            raise TypeError(
                f"scoring must be None, a metric or the name of a scorer; got {self.scoring!r}"
            )
        if self.estimator is not None:
            check_estimator_kind(self.estimator, "regressor")
            for name in ("monotonic_cst", "interaction_cst"):
                if getattr(self, name) is not None:
                    raise ValueError(
                        f"{name} must be None with estimator={self.estimator!r}: constraints are "
                        "for the trees of this library"
                    )
        self._callbacks()

    def _callbacks(self) -> list[Callback]:
        given = self.callbacks
        calls = [] if given is None else [given] if callable(given) else given
        if not isinstance(calls, list | tuple) or not all(map(callable, calls)):
            raise TypeError(
                "callbacks must be None, a function of (round, log) or a list of these; got "
                f"{given!r}"
            )
        return list(calls)

    def _check_loss(self, loss: Loss, target: ScoredTarget) -> None:
        """Raise unless the loss is defined for the target, and constraints for the loss."""
        if target.n_outputs > 1 and loss.n_scores > 1:
            raise ValueError(
                f"loss {loss!r} has {loss.n_scores} scores a row and y has {target.n_outputs} "
                "outputs; boost the outputs one by one"
            )
        if self.scoring is not None and loss.n_classes is None and loss.n_scores > 1:
            raise ValueError(
                f"scoring must be None with {loss!r}, which has {loss.n_scores} scores a row: a "
                "scorer compares one prediction a row, while the loss looks at all of them"
            )
        check_rows(loss, target)

    @property
    def _stops(self) -> bool:
        """Whether the fit may end before all rounds are done."""
        if isinstance(self.early_stopping, str):
            return self.n_iter_no_change is not None
        return bool(self.early_stopping)

    def _stops_on(self, eval_set: Any) -> bool:
        """Whether given validation rows say when to stop, because nothing else does."""
        is_open = isinstance(self.n_estimators, str) and isinstance(self.early_stopping, str)
        return is_open and eval_set is not None

    @property
    def _is_warm(self) -> bool:
        return self.warm_start and hasattr(self, "_sum")


def _check_stopping(value: Any) -> None:
    if isinstance(value, str):
        raise ValueError(f'early_stopping must be True, False or "auto"; got {value!r}')
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f'early_stopping must be True, False or "auto"; got {value!r}')
