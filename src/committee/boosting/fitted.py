"""What a fitted boosting model has: scores, trees, importances, contributions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from copy import copy
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from committee.base.arrays import Floats
from committee.base.params import Estimator, check_choice
from committee.base.slicing import sliced
from committee.base.work import resolve_threads
from committee.boosting.additive_model import BoostingStart, LearnerSum, TreeSum
from committee.boosting.defaults import check_chosen
from committee.boosting.intervals import HeldOutErrors
from committee.boosting.rounds import RoundChoice
from committee.boosting.task import BoostingParameters
from committee.evaluation.training_log import TrainingLog
from committee.files.parts import NOTHING, Part, any_of, instance, maybe, whole
from committee.losses.loss import Loss
from committee.losses.objective import Objective
from committee.tables.table import TableSchema, fingerprint
from committee.tables.target import read_known_classes, read_reals
from committee.trees.importances import split_counts
from committee.trees.trees import DecisionTreeRegressor

# A prediction of fewer rows is not worth asking how many threads there are.
_FEW_ROWS = 32


# What shapes a tree of a round, by the names of its parameters.
_TREE_PARAMS = (
    "max_depth",
    "max_leaf_nodes",
    "max_features",
    "min_samples_split",
    "min_samples_leaf",
    "min_weight_fraction_leaf",
    "min_impurity_decrease",
    "ccp_alpha",
    "split_finding",
    "max_bins",
    "monotonic_cst",
)


def params_until(
    made: list[tuple[int, dict[str, Any]]], n_rounds: int
) -> list[tuple[int, dict[str, Any]]]:
    """Return the parameters of the first rounds.

    Examples
    --------
    >>> params_until([(10, {"max_depth": 1}), (20, {"max_depth": 2})], 15)
    [(10, {'max_depth': 1}), (15, {'max_depth': 2})]
    """
    begins = [0, *(end for end, _ in made)]
    pairs = zip(begins, made, strict=False)
    return [(min(end, n_rounds), params) for begin, (end, params) in pairs if begin < n_rounds]


class FittedBoosting(Estimator, ABC):
    """Base class of the boosting estimators, as far as it does not fit."""

    _stored_parts: ClassVar[dict[str, Part]] = {
        "n_features_in_": whole(1, size="features"),
        "n_outputs_": whole(1),
        "n_estimators_": whole(1),
        "schema_": maybe(instance(TableSchema)),
        "training_log_": instance(TrainingLog),
        "round_choice_": maybe(NOTHING | instance(RoundChoice)),
        "chosen_params_": maybe(instance(dict)),
        "_sum": instance(TreeSum, LearnerSum),
        "_start": instance(BoostingStart),
        "_loss": any_of(Loss),
        "_given_loss": any_of(Loss),
        "_seed": whole(),
        "_fingerprint": whole(-1),
        "_n_rows": whole(1),
        "_errors": maybe(instance(HeldOutErrors)),
    }
    _fitted_attribute = "_sum"

    # Only a later fit of the same object compares its parameters with these.
    _derived_attributes = ("_params_of_rounds",)

    n_jobs: int | None
    init: Any

    # Fitted attributes.
    _sum: TreeSum | LearnerSum
    _start: BoostingStart
    _loss: Loss
    _given_loss: Loss
    _seed: int
    _fingerprint: int
    _n_rows: int
    _errors: HeldOutErrors
    # Up to which round, and with which parameters; several after warm starts that changed them.
    _params_of_rounds: list[tuple[int, dict[str, Any]]]
    training_log_: TrainingLog
    round_choice_: RoundChoice | None
    chosen_params_: dict[str, Any]
    best_iteration_: int
    n_estimators_: int
    schema_: TableSchema
    n_features_in_: int
    n_outputs_: int
    n_trees_per_iteration_: int
    feature_names_in_: NDArray[Any]
    classes_: NDArray[Any]

    def _class_labels(self) -> list[NDArray[Any]] | None:
        """Class labels, None for regression."""
        return [self.classes_] if self._has_classes else None

    def _threads(self) -> int:
        return resolve_threads(self.n_jobs)

    @property
    def _objective(self) -> Objective:
        """The loss, to make predictions of scores; without rows."""
        return Objective((self._loss,) * self.n_outputs_, np.empty((0, self.n_outputs_)), None)

    def _was_fitted_to(self, X: Any, y: Any) -> bool:
        """Whether this is the training table, in its order; never where rows had weights."""
        self._check_fitted()
        if not isinstance(self._sum, TreeSum) or not self._sum.n_rounds:
            return False
        labels = self._class_labels()
        try:
            table = self._read(X)
            target = read_reals(y)[0] if labels is None else read_known_classes(y, labels[0])
        except ValueError:
            return False
        columns = np.asfortranarray(target)
        losses = (self._given_loss,) * self.n_outputs_
        columns = Objective.centred(losses, columns, None, 1).y
        return fingerprint(self._sum.forests[0], table, columns) == self._fingerprint

    # ---- scores ----

    def _read(self, X: Any) -> Any:
        self._check_fitted()
        return self._sum.read(X, type(self).__name__)

    def _first_scores(self, X: Any, n_rows: int) -> Floats:
        return self._start.scores(X, n_rows, self._loss)

    def _scores(self, X: Any) -> Floats:
        """Return the raw scores, n_rows x n_columns."""
        table = self._read(X)
        n_threads = 1 if table.n_rows < _FEW_ROWS else self._threads()
        scores = self._sum.sums(table, n_threads)
        if self._start.model is None:
            scores += self._start.constants
        else:
            scores += self._first_scores(X, table.n_rows)
        return scores

    def _staged_scores(self, X: Any) -> Iterator[Floats]:
        """Yield the raw scores after the first round, the first two, and so on."""
        table = self._read(X)
        start = self._first_scores(X, table.n_rows)
        for sums in self._sum.staged(table, self._threads()):
            sums += start
            yield sums

    # ---- the log ----

    @property
    def train_score_(self) -> Floats:
        """Loss of the training rows after each round that was kept; of those drawn in it."""
        return self._logged("train_loss")

    @property
    def oob_improvement_(self) -> Floats:
        """By how much each round lowered the loss of the rows it had not drawn.

        Zero for rounds that drew all rows, before a warm start with ``subsample < 1.0``.
        """
        return np.nan_to_num(self._logged_out_of_bag("oob_improvement"))

    @property
    def oob_scores_(self) -> Floats:
        """Loss after each round of the rows that it had not drawn; NaN where it drew all."""
        return self._logged_out_of_bag("oob_loss")

    @property
    def oob_score_(self) -> float:
        """The last of `oob_scores_`."""
        return float(self.oob_scores_[-1])

    def _logged(self, name: str) -> Floats:
        self._check_fitted()
        return self.training_log_.columns()[name][: self.n_estimators_]

    def _logged_out_of_bag(self, name: str) -> Floats:
        values = self._logged(name)
        if np.isnan(values).all():
            raise AttributeError("out-of-bag losses need subsample < 1.0")
        return values

    # ---- the members ----

    @property
    def init_(self) -> Any:
        """Where boosting started: a fitted estimator, or "zero"."""
        self._check_fitted()
        if self._start.model is not None:
            return self._start.model
        if self._start.is_zero:
            return "zero"
        return self._constant_model()

    @abstractmethod
    def _constant_model(self) -> Any:
        """Return a model that always predicts what the first scores stand for."""

    @property
    def estimators_(self) -> NDArray[Any]:
        """The members, rounds x trees of a round; made on access."""
        self._check_fitted()
        shape = (self._sum.n_rounds, self._sum.n_columns)
        members = np.empty(shape, dtype=object)
        for place in np.ndindex(shape):
            members[place] = self._member(*place)
        return members

    @estimators_.setter
    def estimators_(self, trees: Any) -> None:
        raise AttributeError(
            f"estimators_ of {type(self).__name__} cannot be set: the trees are kept in one piece. "
            "model[:50] is the model after the first 50 rounds; to add rounds, fit with "
            "warm_start=True and a larger n_estimators"
        )

    def __len__(self) -> int:
        """Return the number of rounds."""
        self._check_fitted()
        return self._sum.n_rounds

    def __getitem__(self, index: int | slice) -> Any:
        """Return the members of a round, or a model: ``model[:50]`` is that after 50 rounds."""
        self._check_fitted()
        if isinstance(index, slice):
            n_rounds = len(sliced(index, len(self), type(self).__name__, only_first=True))
            return self._after(n_rounds)
        number = range(len(self))[index]  # raises IndexError, knows negative numbers
        members = np.empty(self._sum.n_columns, dtype=object)
        members[:] = [self._member(number, column) for column in range(self._sum.n_columns)]
        return members

    def __iter__(self) -> Iterator[NDArray[Any]]:
        return (self[number] for number in range(len(self)))

    def _after(self, n_rounds: int) -> Self:
        """Return the model after the first rounds."""
        small = copy(self)
        small._sum = self._sum.head(n_rounds)
        small.training_log_ = self.training_log_.head(n_rounds)
        if n_rounds != len(self):
            small.__dict__.pop("_errors", None)  # of all rounds
        small.best_iteration_ = min(self.best_iteration_, n_rounds)
        small.n_estimators_ = n_rounds
        small.chosen_params_ = self.chosen_params_ | {"n_estimators": n_rounds}
        small._params_of_rounds = params_until(self._params_of_rounds, n_rounds)
        small.set_params(n_estimators=n_rounds)
        return small

    def _member(self, number: int, column: int) -> Any:
        if isinstance(self._sum, LearnerSum):
            return self._sum.rounds[number][column]
        tree = self._sum.forests[column].tree(number)
        model = DecisionTreeRegressor(**self._params_of_trees(number))
        model._adopt(tree, self._sum.tree_schema, None, n_outputs_=1)
        return model

    def _params_of_trees(self, number: int) -> dict[str, Any]:
        """Return the parameters of the trees of a round, as far as trees have them."""
        params = next((params for end, params in self._params_of_rounds if number < end), {})
        return {name: value for name, value in params.items() if name in _TREE_PARAMS}

    def _trees(self, what: str) -> TreeSum:
        self._check_fitted()
        if isinstance(self._sum, LearnerSum):
            raise AttributeError(f"{what} is for trees of this library; estimator must be None")
        return self._sum

    def _validate_loaded(self) -> None:
        """Check that the parts of a loaded model fit each other."""
        if not hasattr(self, "_sum"):
            return
        # Files from before the number of rounds was chosen have neither.
        self.__dict__.setdefault("round_choice_", None)
        self.__dict__.setdefault("chosen_params_", {})
        self._params_of_rounds = []
        total, start = self._sum, self._start
        if self.chosen_params_:
            check_chosen(self.chosen_params_)
            params = BoostingParameters.of(self)
            self._params_of_rounds = [(self.n_estimators_, params.of_rounds(self.chosen_params_))]
        if self.n_outputs_ > total.n_columns:
            raise ValueError("the trees do not fit the outputs")
        n_columns = self._objective.n_columns
        if not total.n_columns == n_columns == len(start.constants):
            raise ValueError("the trees do not fit the loss")
        if isinstance(total, TreeSum):
            self.schema_.check_model(self)
            if total.schema != self.schema_:
                raise ValueError("the trees do not fit the schema")
        elif total.n_features != self.n_features_in_:
            raise ValueError("the members are fitted to other columns")
        if self.n_estimators_ != total.n_rounds:
            raise ValueError("the number of rounds is wrong")
        start.check_fits(self.n_features_in_, self._loss.n_classes)

    # ---- predictions ----

    def apply(self, X: Any) -> NDArray[np.int64]:
        """Return the leaf that each row reaches in each tree.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Rows with the columns of `fit`.

        Returns
        -------
        leaves : ndarray of int64, shape (n_rows, n_rounds) or (n_rows, n_rounds, n_columns)
            Node numbers in the `tree_` of each tree. A classifier has the third axis always, a
            regressor if it has several trees a round.
        """
        total = self._trees("apply")
        table = self._read(X)
        n_threads = self._threads()
        parts = [forest.apply(table, n_threads=n_threads) for forest in total.forests]
        leaves = np.stack(parts, axis=2).astype(np.int64)
        return leaves if self._has_classes or leaves.shape[2] > 1 else leaves[:, :, 0]

    @property
    def _has_classes(self) -> bool:
        return self._loss.n_classes is not None

    @property
    def feature_importances_(self) -> Floats:
        """Share of each feature in the decrease of the loss by splits: `importances("gain")`."""
        if hasattr(self, "_sum") and isinstance(self._sum, LearnerSum):
            raise AttributeError("feature_importances_ needs trees; estimator must be None")
        return self.importances("gain")

    def importances(self, kind: str = "gain") -> Floats:
        """Return how much the trees use each feature.

        Parameters
        ----------
        kind : {"gain", "cover", "split"}, default="gain"
            By how much splits of the feature lower the loss, how much weight of rows they part,
            or how many there are.

        Returns
        -------
        importances : ndarray of float64, shape (n_features,)
            Shares that add up to one; zeros if there is no split.

        Notes
        -----
        All three are of the training rows and favour features of many values. For what a feature
        is worth on new rows, use ``sklearn.inspection.permutation_importance``.
        """
        check_choice("kind", kind, ("gain", "cover", "split"))
        total = self._trees("importances")
        n_threads = self._threads()
        sums = np.zeros(self.n_features_in_)
        for forest in total.forests:
            if kind == "gain":
                parts = forest.impurity_decreases(n_threads).sum(axis=0)
            else:
                parts = split_counts(forest, weighted=kind == "cover")
            sums += total.by_column(parts[np.newaxis])[0]
        whole = float(sums.sum())
        return sums / whole if whole > 0 else np.zeros_like(sums)

    def predict_contributions(self, X: Any) -> Floats:
        """Return what each feature adds to the score of each row.

        These are Shapley values (SHAP values, by the path-dependent TreeSHAP): the difference
        between the score of a row and the mean score, shared out fairly among the features.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Rows with the columns of `fit`; reordered columns are matched by name.

        Returns
        -------
        contributions : ndarray of float64
            Of shape (n_rows, n_features + 1), with a third axis where a row has several scores
            (more than two classes, outputs, quantiles). The last entry of the second axis is the
            mean score of the training rows. The sum over this axis is the raw score: the
            `decision_function` of a classifier, `predict` of a regressor, or its logarithm for
            "poisson", "gamma" and "tweedie".
        """
        total = self._trees("predict_contributions")
        table = self._read(X)
        n_threads = self._threads()
        parts = [forest.contributions(table, n_threads=n_threads) for forest in total.forests]
        values = np.concatenate(parts, axis=2)
        means = values[:, -1:] + self._first_scores(X, table.n_rows)[:, np.newaxis]
        values = np.concatenate([total.by_column(values[:, :-1]), means], axis=1)
        return values[:, :, 0] if values.shape[2] == 1 else values
