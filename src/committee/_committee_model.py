"""What committees of named members share: from a table to a team, and asking the members."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from committee._any_table import AnyTable, reads_tables
from committee._level_one_plan import LevelOnePlan, PlanRows, check_cv, plan_level_one
from committee._named_members import Named, NamedMembers
from committee._params import check_int, check_seed
from committee._progress import Progress
from committee._sampling import parameter_seed
from committee._target import check_same_length
from committee._team import Floats, Team
from committee._voice import Voice
from committee._weights import read_weights

_SPLITS = 11  # what a seed of its own is made for


class CommitteeModel(NamedMembers):
    """Base class of voting, stacking, ensemble selection and dynamic selection."""

    cv: Any
    n_jobs: int | None
    verbose: int
    random_state: Any

    _voices: Any  # fitted: how members are asked

    # ---- what classifiers and regressors do in their own way ----

    @abstractmethod
    def _read_target(self, y: Any, pairs: Named) -> tuple[NDArray[Any], NDArray[Any] | None]:
        """Return class codes and labels, or numbers and None."""

    @abstractmethod
    def _voice(self, name: str, estimator: Any, labels: NDArray[Any] | None) -> Voice:
        """Return how a member is asked."""

    # ---- fitting ----

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
        return Team(table, codes, labels, weights, self.n_jobs, member_seed, params), seed

    def _plan(self, team: Team, groups: Any, seed: int, n_layers: int = 1) -> LevelOnePlan:
        """Return which rows members learn from, and which they are asked about."""
        rows = PlanRows(
            len(team.y),
            team.y,
            team.labels is not None,
            team.weights,
            groups,
            team.table.native,
            parameter_seed(seed, _SPLITS),
        )
        return plan_level_one(self.cv, rows, n_layers)

    def _voices_of(self, team: Team, pairs: Named) -> list[Voice]:
        return [self._voice(name, each, team.labels) for name, each in pairs]

    def _progress(self, n_all: int, noun: str = "fits") -> Progress:
        return Progress(type(self).__name__, noun, max(1, n_all), int(self.verbose))

    def _adopt(self, team: Team, attributes: dict[str, Any], stale: Sequence[str] = ()) -> None:
        """Set all fitted attributes together, when nothing can fail any more."""
        table = team.table
        attributes["n_features_in_"] = table.n_features
        if team.labels is not None:
            attributes["classes_"] = team.labels
        if table.names is not None:
            attributes["feature_names_in_"] = np.array(table.names, dtype=object)
        for name in ("feature_names_in_", *stale):
            self.__dict__.pop(name, None)
        self.__dict__.update(attributes)

    # ---- asking ----

    @property
    def _member_voices(self) -> list[Voice]:
        """How each of `estimators_` is asked."""
        voices: list[Voice] = self._voices
        return voices

    def _open(self, X: Any) -> AnyTable:
        """Return a table to predict, with the columns of `fit`."""
        self._check_fitted()
        names = getattr(self, "feature_names_in_", None)
        return AnyTable(X).matched(
            None if names is None else tuple(names), self.n_features_in_, type(self).__name__, 6
        )


def ask_each(members: Sequence[Any], voices: Sequence[Voice], table: AnyTable) -> Iterator[Floats]:
    """Yield what each fitted member says about the rows of a table."""
    for member, voice in zip(members, voices, strict=True):
        yield voice.ask(member, table.shown_to(member) if reads_tables(member) else table.native)
