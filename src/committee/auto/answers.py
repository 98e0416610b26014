"""What a fitted committee can be asked besides predictions."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.metrics import get_scorer_names

from committee.auto.class_sets import SetRule
from committee.auto.columns import ColumnUse
from committee.auto.contributions import CommitteeParts
from committee.auto.decision import Decision
from committee.auto.decision_rules import scoring_of
from committee.auto.distillation import KINDS as DISTILLED
from committee.auto.distillation import Distillation, Student, distilled
from committee.auto.explanation import Explanation
from committee.auto.findings.findings import Findings
from committee.auto.findings.importances import ColumnImportances
from committee.auto.intervals import IntervalRule
from committee.auto.leaderboard import Leaderboard
from committee.auto.leaks import Leak
from committee.auto.novelty import Novelty, find_novelty
from committee.auto.profile import ColumnProfile
from committee.auto.small_tree import SmallTree
from committee.base.arrays import Floats
from committee.base.params import check_bool, check_choice, check_int, check_real, check_seed
from committee.base.sampling import SeedUse, parameter_seed
from committee.evaluation.scored_target import ScoredTarget
from committee.files.parts import Part, declared_parts, instance, maybe, tuple_of
from committee.inspection.row_explanation import RowExplanation, cells_of
from committee.tables.target import check_same_length

if TYPE_CHECKING:
    from committee.auto.columns import FeatureReader
    from committee.tables.native_table import AnyTable

_LEAST_ROWS = 20  # that a student learns from

_NO_RULE = "{} needs the errors of the model: distil the committee with a target, distill(X, y)"


class CommitteeAnswers:
    """Answers of CommitteeClassifier and CommitteeRegressor."""

    _stored_parts: ClassVar[dict[str, Part]] = {
        "_profiles": tuple_of(instance(ColumnProfile), least=1),
        "leaks_": tuple_of(instance(Leak)),
        "distillation_": maybe(instance(Distillation)),
        "small_tree_": maybe(instance(SmallTree)),
    }

    columns_: tuple[ColumnUse, ...]
    findings_: Findings
    importances_: ColumnImportances
    leaderboard_: Leaderboard
    leaks_: tuple[Leak, ...]
    _reader: FeatureReader
    _profiles: tuple[ColumnProfile, ...]

    n_jobs: int | None
    distillation_: Distillation
    small_tree_: SmallTree
    _default_scoring: str

    @abstractmethod
    def _read_target_again(self, y: Any, weights: Floats | None) -> ScoredTarget:
        """Read a target in the classes of `fit`."""

    if TYPE_CHECKING:  # of `Estimator`

        def _check_fitted(self) -> None: ...

    def _check_answers(self) -> None:
        """Raise ValueError unless what a file holds for answers fits the rest of it."""
        n_features = self._reader.schema.n_features
        if self._reader.plan.names != tuple(
            part for use in self.columns_ for part in use.parts
        ) or [use.use for use in self.columns_] != [use.use for use in self._reader.plan.uses]:
            raise ValueError("columns_ has other columns than are read")
        used = {use.name: use for use in self.columns_ if use.use != "dropped"}
        if [profile.name for profile in self._profiles] != list(used):
            raise ValueError("the profiles are of other columns")
        place = 0
        for profile in self._profiles:
            info = self._reader.schema.features[place]
            if (profile.first, profile.n_features) != (place, len(used[profile.name].parts)):
                raise ValueError("the profiles are of other features")
            if len(profile.shares) and len(profile.shares) != len(info.levels or ()):
                raise ValueError("a profile has another number of levels")
            place += profile.n_features
        if place != n_features:
            raise ValueError("the profiles are of fewer features")
        rule = getattr(self, "_interval_rule", None)
        if rule is not None:
            rule.check_loaded(n_features)
        sets, classes = getattr(self, "_set_rule", None), getattr(self, "classes_", ())
        if sets is not None:
            sets.check_loaded(len(classes))
        decision = getattr(self, "decision_", None)
        if decision is not None and len(decision.names) != len(classes):
            raise ValueError("the decision is for another number of classes")

    @abstractmethod
    def _matched(self, X: Any) -> AnyTable:
        """Return a table with the columns of `fit`."""

    @abstractmethod
    def _values_of(self, table: AnyTable) -> Floats:
        """Return the numbers or the probabilities that the committee predicts."""

    def explain(
        self, X: Any = None, *, n_samples: int = 10, random_state: Any = 0
    ) -> Explanation | RowExplanation:
        """Explain the committee, or its predictions for some rows.

        Parameters
        ----------
        X : table of shape (n_rows, n_features) or None, default=None
            Rows with the columns of `fit`. None explains the committee as a whole, by what was
            measured in `fit` on rows that its models have not seen.
        n_samples : int, default=10
            Orders in which columns are set, for members that are no trees of this library.
        random_state : int, RandomState or None, default=0
            Sets these orders.

        Returns
        -------
        explanation : Explanation or RowExplanation
            Of the committee: `importances` and `effects`. Of rows: `contributions` of each
            column, which add up to `predictions` with `base`, and how they were found in `methods`.
            `print` shows the largest, `to_frame()` all.

        Notes
        -----
        Contributions are Shapley values: the difference between a prediction and the mean one,
        shared out among the columns. Trees, forests and boosting know them exactly; other members
        are asked for predictions while their columns are set one after the other, from common
        values of the training table to those of the row. A column of a date or text has the sum
        over the features made of it. They are about the committee, not about what would happen if
        a column were changed.

        Examples
        --------
        >>> from committee import CommitteeRegressor
        >>> X = np.random.default_rng(0).normal(size=(300, 3))
        >>> model = CommitteeRegressor(budget=0.2, random_state=0).fit(X, 3 * X[:, 1] + X[:, 0])
        >>> model.explain().importances.ranking()[0]
        'x1'
        >>> found = model.explain([[0.0, 2.0, 0.0]])
        >>> int(abs(found.contributions[0]).argmax())
        1
        >>> bool(np.isclose(found.base + found.contributions.sum(), found.predictions[0]))
        True
        """
        n_samples = check_int("n_samples", n_samples, 1)
        seed = check_seed(random_state)
        self._check_fitted()
        if X is None:
            return Explanation(self.leaderboard_.metric, self.importances_, self.findings_.effects)
        self._check_fitted()
        return self._explain_rows(X, n_samples, seed)

    def _explain_rows(self, X: Any, n_samples: int, seed: int) -> RowExplanation:
        table = self._matched(X)
        features = self._reader.read(table.opened())
        parts, methods = CommitteeParts(vars(self), features, table, n_samples, seed).explain()
        predicted = self._values_of(table)
        names = tuple(use.name for use in self.columns_)
        cells = cells_of(table.opened())
        classes = getattr(self, "classes_", None)
        if classes is None:
            base, columns = float(parts.base[0]), parts.of_columns[:, :, 0]
            return RowExplanation(
                names, columns, base, predicted[:, 0], None, "prediction", methods, cells
            )
        labels = tuple(classes.tolist())
        return RowExplanation(
            names, parts.of_columns, parts.base, predicted, labels, "probability", methods, cells
        )

    def distill(
        self,
        X: Any,
        y: Any = None,
        *,
        kind: str = "tree",
        max_leaf_nodes: int | None = None,
        random_state: Any = 0,
    ) -> Any:
        """Return one small model that imitates the committee.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Rows to learn from: the more, the better. They need no target. Rows of `fit` will do,
            but the committee knows their targets, and agreement with it is measured too low.
        y : array-like of shape (n_rows,) or None, default=None
            Their target, if it is known. The student does not learn from it; it is what the
            student is scored by.
        kind : {"tree", "boosting"}, default="tree"
            A single decision tree, or boosting of 150 small trees.
        max_leaf_nodes : int or None, default=None
            Leaves of a tree; None is 32, and 16 of each tree of boosting.
        random_state : int, RandomState or None, default=0
            Sets folds and draws.

        Returns
        -------
        student : CommitteeClassifier or CommitteeRegressor
            A committee of one member, ``student.members_[0].estimators[0]``, which reads the same
            tables and can be saved. `distillation_` says what it is worth on rows that it has
            not seen, fold by fold: how well it agrees with the committee, and, with `y`, how its
            score compares with that of the committee. Without `y`, its `score_`, `leaderboard_` and
            `findings_` compare it with the predictions of the committee, and it gives no intervals.

        Examples
        --------
        >>> from committee import CommitteeClassifier
        >>> from committee.datasets import load_penguins
        >>> table, species = load_penguins(backend="pandas")
        >>> model = CommitteeClassifier(budget=0.5, random_state=0).fit(table, species)
        >>> student = model.distill(table, species, max_leaf_nodes=6)
        >>> student.distillation_.agreement > 0.9
        True
        >>> student.members_[0].estimators[0].tree_.n_leaves
        6
        """
        self._check_fitted()
        check_choice("kind", kind, DISTILLED)
        leaves = check_int("max_leaf_nodes", max_leaf_nodes, 2, none=True)
        seed = parameter_seed(check_seed(random_state), SeedUse.DISTILLATION)
        self._check_fitted()
        table = self._matched(X)
        if table.n_rows < _LEAST_ROWS:
            raise ValueError(f"X must have {_LEAST_ROWS} rows or more; got {table.n_rows}")
        target = None if y is None else self._read_target_again(y, None)
        classes = getattr(self, "classes_", None)
        n_classes = 0 if classes is None else len(classes)
        if target is not None:
            check_same_length(table.n_rows, target.n_rows)
        student = Student(kind, leaves, n_classes, seed, self.n_jobs)
        values = self._values_of(table)
        found = distilled(vars(self), table, values, target, student, self._scored_by(classes))
        kept = {
            name: value
            for name, value in vars(self).items()
            if name in (*declared_parts(type(self)), "classes_", "feature_names_in_")
        }
        gone = () if y is not None else ("_interval_rule", "_set_rule")
        for name in ("small_tree_", *gone):
            kept.pop(name, None)
        made: Any = clone(self)
        made._replace_fitted(kept | found)
        return made

    def _scored_by(self, classes: Any) -> Any:
        """Return the metric of the leaderboard, or the usual one where it was no scorer's name."""
        name = self.leaderboard_.metric
        known = name if name in get_scorer_names() else self._default_scoring
        if classes is None:
            return known
        return scoring_of(known, getattr(self, "positive", None), classes)

    def novelty(self, X: Any) -> Novelty:
        """Count cells that are unlike those of the training table.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Rows with the columns of `fit`.

        Returns
        -------
        novelty : Novelty
            For each column the levels that `fit` did not see, numbers and dates out of its range,
            and missing cells where it saw none; and the rows with such cells.

        Examples
        --------
        >>> from committee import CommitteeClassifier
        >>> from committee.datasets import load_penguins
        >>> table, species = load_penguins(backend="pandas")
        >>> model = CommitteeClassifier(budget=0.2, random_state=0).fit(table, species)
        >>> model.novelty(table.head(3).assign(island="Elba", year=[2007, 2031, 2009]))
        3 of 3 rows have new values
        island: 3 with unseen levels
        year: 1 above the range
        """
        self._check_fitted()
        return find_novelty(self._profiles, self._reader.read(self._matched(X).opened()))


class RegressorAnswers(CommitteeAnswers):
    """Answers of a committee that predicts numbers."""

    _stored_parts: ClassVar[dict[str, Part]] = {"_interval_rule": maybe(instance(IntervalRule))}

    _interval_rule: IntervalRule

    def predict_interval(self, X: Any, coverage: float = 0.9) -> Floats:
        """Return intervals that hold the target with a given probability.

        Conformal prediction with out-of-fold predictions of the training rows in the place of a
        calibration set. Intervals are wide where the committee expects large errors: a small
        forest has learnt that from the errors on unseen rows.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Rows with the columns of `fit`.
        coverage : float, default=0.9
            In (0, 1): how many of such intervals shall hold their target.

        Returns
        -------
        bounds : ndarray of float64, shape (n_rows, 2)
            Lower and upper bounds; infinite if there were too few training rows for the coverage
            (fewer than 9 for 0.9).

        Notes
        -----
        The probability is over training tables and new rows together, from one source: an average
        over rows, not a promise for each kind of row. It does not know that tomorrow may differ.

        Examples
        --------
        >>> from committee import CommitteeRegressor
        >>> rng = np.random.default_rng(0)
        >>> X = rng.uniform(0, 6, (400, 1))
        >>> y = np.sin(X[:, 0]) + rng.normal(size=400) * np.where(X[:, 0] < 3, 0.1, 1.0)
        >>> model = CommitteeRegressor(budget=0.2, random_state=0).fit(X, y)
        >>> bounds = model.predict_interval([[1.0], [5.0]])
        >>> widths = bounds[:, 1] - bounds[:, 0]
        >>> bool(widths[1] > 3 * widths[0])
        True
        """
        self._check_fitted()
        coverage = check_real("coverage", coverage, 0.0, 1.0, include_low=False, include_high=False)
        self._check_fitted()
        table = self._matched(X)
        predicted = self._values_of(table)[:, 0]
        features = self._reader.read(table.opened())
        if not hasattr(self, "_interval_rule"):
            raise ValueError(_NO_RULE.format("predict_interval"))
        return self._interval_rule.bounds(features, predicted, coverage)


class ClassifierAnswers(CommitteeAnswers):
    """Answers of a committee that predicts classes."""

    _stored_parts: ClassVar[dict[str, Part]] = {
        "_set_rule": maybe(instance(SetRule)),
        "decision_": instance(Decision),
    }

    _set_rule: SetRule
    decision_: Decision

    def predict_set(
        self, X: Any, coverage: float = 0.9, *, by_class: bool = False, allow_empty: bool = False
    ) -> NDArray[np.bool_]:
        """Return sets of classes that hold the true class with a given probability.

        Conformal prediction with out-of-fold probabilities of the training rows in the place of a
        calibration set: a set has all classes above a limit of probability, which makes the
        smallest sets on average.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            Rows with the columns of `fit`.
        coverage : float, default=0.9
            In (0, 1): how many of such sets shall hold the true class.
        by_class : bool, default=False
            Whether the rows of each class shall be covered that often, rare classes too. A class
            with too few rows for that is in every set.
        allow_empty : bool, default=False
            Whether a set may be empty, where no class is likely enough. Otherwise the
            likeliest class is put in, so that the coverage is never too low but may be higher.

        Returns
        -------
        sets : ndarray of bool, shape (n_rows, n_classes)
            Whether each class, in the order of `classes_`, is in the set. The labels of a row
            are ``model.classes_[sets[row]]``.

        Examples
        --------
        >>> from committee import CommitteeClassifier
        >>> from committee.datasets import load_penguins
        >>> table, species = load_penguins(backend="pandas")
        >>> model = CommitteeClassifier(budget=0.5, random_state=0).fit(table, species)
        >>> sets = model.predict_set(table.head(1), coverage=0.95)
        >>> model.classes_[sets[0]].tolist()
        ['Adelie']
        """
        self._check_fitted()
        coverage = check_real("coverage", coverage, 0.0, 1.0, include_low=False, include_high=False)
        by_class = check_bool("by_class", by_class)
        allow_empty = check_bool("allow_empty", allow_empty)
        shares = self._values_of(self._matched(X))
        if not hasattr(self, "_set_rule"):
            raise ValueError(_NO_RULE.format("predict_set"))
        return self._set_rule.sets(shares, coverage, by_class=by_class, allow_empty=allow_empty)
