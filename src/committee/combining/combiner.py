"""What committees of named members share: from a table to a team, and asking the members."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from committee.base.params import check_int, check_seed
from committee.base.sampling import SeedUse, parameter_seed
from committee.base.work import Progress
from committee.combining.level_one_plan import LevelOnePlan, PlanRows, check_cv, plan_level_one
from committee.members.named_members import Named, NamedMembers
from committee.members.output import Output, class_output, read_labels
from committee.members.team import Floats, Team
from committee.tables.native_table import AnyTable, outer_level, reads_tables
from committee.tables.target import check_same_length, read_reals, read_weights, warn_of_column


class CommitteeModel(NamedMembers):
    """Base class of voting, stacking, ensemble selection and dynamic selection."""

    cv: Any
    n_jobs: int | None
    verbose: int
    random_state: Any

    _outputs: Any  # fitted: how members are asked

    # ---- what classifiers and regressors do in their own way ----

    @abstractmethod
    def _read_target(self, y: Any, pairs: Named) -> tuple[NDArray[Any], Any]:
        """Return class codes and labels, or numbers and None.

        Rows that can have several labels: a column of codes for each, and a list of what these
        stand for.
        """

    @abstractmethod
    def _output(self, name: str, estimator: Any, labels: NDArray[Any] | None) -> Output:
        """Return how a member is asked."""

    @abstractmethod
    def _fit(
        self, X: Any, y: Any, sample_weight: Any, groups: Any, fit_params: Mapping[str, Any]
    ) -> None:
        """Do what `fit` promises."""

    # ---- fitting ----

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None, **fit_params: Any
    ) -> Self:
        """Fit the members, and learn from rows that they have not seen how to combine them.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            A NumPy array, a pandas, polars or pyarrow table, a SciPy sparse matrix or a list.
        y : array-like of shape (n_rows,)
            Class labels, or finite numbers. `StackingClassifier` also takes several labels a row,
            a column of 0 and 1 for each.
        sample_weight : array-like of shape (n_rows,) or None, default=None
            Weights of the rows, for members and for what is learnt from them; a row of weight zero
            is absent.
        groups : array-like of shape (n_rows,) or None, default=None
            Rows with the same value are never on both sides of a split.
        **fit_params : dict
            Arguments for the `fit` of members that request them, with scikit-learn's metadata
            routing switched on.

        Returns
        -------
        self : estimator
            The fitted estimator.
        """
        self._fit(X, y, sample_weight, groups, fit_params)
        return self

    def _check_switches(self) -> None:
        check_cv(self.cv)
        is_switch = isinstance(self.verbose, bool | np.bool_)
        check_int("verbose", int(self.verbose) if is_switch else self.verbose, 0)

    @property
    def _is_prefit(self) -> bool:
        return isinstance(self.cv, str) and self.cv == "prefit"

    def _assemble(
        self, X: Any, y: Any, sample_weight: Any, fit_params: Mapping[str, Any], pairs: Named
    ) -> tuple[Team, int]:
        """Read table, target and weights; return what members are fitted with, and the seed."""
        table = AnyTable(X)
        codes, labels = self._read_target(y, pairs)
        check_same_length(table.n_rows, len(codes))
        weights = read_weights(sample_weight, table.n_rows)
        seed = check_seed(self.random_state)
        member_seed = None if self.random_state is None else seed
        params = self._routed(fit_params)
        values = labels if isinstance(labels, list) else None
        labels = None if isinstance(labels, list) else labels
        team = Team(table, codes, labels, weights, self.n_jobs, member_seed, params, values)
        return team, seed

    def _plan(self, team: Team, groups: Any, seed: int, n_layers: int = 1) -> LevelOnePlan:
        """Return which rows members learn from, and which they are asked about."""
        rows = PlanRows(
            len(team.y),
            team.y,
            team.labels is not None,
            team.weights,
            groups,
            team.table.native,
            parameter_seed(seed, SeedUse.SPLITS),
        )
        return plan_level_one(self.cv, rows, n_layers)

    def _outputs_of(self, team: Team, pairs: Named) -> list[Output]:
        return [self._output(name, each, team.labels) for name, each in pairs]

    def _progress(self, n_all: int, noun: str = "fits") -> Progress:
        return Progress(type(self).__name__, noun, max(1, n_all), int(self.verbose))

    def _adopt(self, team: Team, attributes: dict[str, Any]) -> None:
        """Set all fitted attributes together, when nothing can fail any more."""
        table = team.table
        attributes["n_features_in_"] = table.n_features
        if team.labels is not None or team.values is not None:
            attributes["classes_"] = team.labels if team.values is None else team.values
        if table.names is not None:
            attributes["feature_names_in_"] = np.array(table.names, dtype=object)
        self._replace_fitted(attributes)

    # ---- asking ----

    @property
    def _member_outputs(self) -> list[Output]:
        """How each of `estimators_` is asked."""
        outputs: list[Output] = self._outputs
        return outputs

    def _open(self, X: Any) -> AnyTable:
        """Return a table to predict, with the columns of `fit`."""
        self._check_fitted()
        found = getattr(self, "feature_names_in_", None)
        names = None if found is None else tuple(found)
        name = type(self).__name__
        return AnyTable(X).matched(names, self.n_features_in_, name, outer_level())


class OfClassifiers(CommitteeModel):
    """A committee of classifiers."""

    _member_kind = "classifier"

    @abstractmethod
    def _ways_to_ask(self) -> tuple[str, ...]:
        """Return what members are asked, the first of these that each has."""

    def _read_target(self, y: Any, pairs: Named) -> tuple[NDArray[Any], Any]:
        warn_of_column(y, stacklevel=5)
        return read_labels(y, pairs if self._is_prefit else [], type(self).__name__)

    def _output(self, name: str, estimator: Any, labels: NDArray[Any] | None) -> Output:
        assert labels is not None
        return class_output(name, estimator, labels, self._ways_to_ask(), is_prefit=self._is_prefit)


class OfRegressors(CommitteeModel):
    """A committee of regressors."""

    _member_kind = "regressor"

    def _read_target(self, y: Any, pairs: Named) -> tuple[NDArray[Any], Any]:
        warn_of_column(y, stacklevel=5)
        values, _ = read_reals(y)
        if values.shape[1] > 1:
            raise ValueError(
                f"y should be a 1d array, got {values.shape[1]} columns instead: "
                "sklearn.multioutput.MultiOutputRegressor makes a committee for each of them"
            )
        return values[:, 0], None

    def _output(self, name: str, estimator: Any, labels: NDArray[Any] | None) -> Output:
        return Output("predict", 0)


def ask_each(
    members: Sequence[Any], outputs: Sequence[Output], table: AnyTable
) -> Iterator[Floats]:
    """Yield what each fitted member says about the rows of a table."""
    for member, output in zip(members, outputs, strict=True):
        shown = table.shown_to(member) if reads_tables(member) else table.native
        with table.quiet():
            prediction = output.ask(member, shown)
        yield prediction
