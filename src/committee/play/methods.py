"""The methods of the playground and their settings, which the page draws and the server checks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from committee.base.params import check_int
from committee.play.bags import bagging_stages, forest_stages
from committee.play.boosts import adaboost_stages, boosting_stages
from committee.play.checks import as_number, as_object, refuse_unknown, shortened
from committee.play.single_tree import tree_stages
from committee.play.stages import Stages, Task
from committee.play.teams import MEMBERS, stacking_stages, voting_stages

MAX_ROUNDS = 100

_WEIGHTS = (0.05, 1.0)


@dataclass(frozen=True)
class Whole:
    """A setting that is a whole number from `low` to `high`."""

    name: str
    label: str
    default: int
    low: int
    high: int

    def check(self, value: Any) -> int:
        """Return a value if it is one of this setting."""
        return check_int(self.name, value, self.low, self.high)

    def to_json(self) -> dict[str, Any]:
        """Return what the page draws."""
        return {"kind": "whole", **vars(self)}


@dataclass(frozen=True)
class Number:
    """A setting that is a number from `low` to `high`; the page offers steps of `step`."""

    name: str
    label: str
    default: float
    low: float
    high: float
    step: float

    def check(self, value: Any) -> float:
        """Return a value if it is one of this setting."""
        return as_number(self.name, value, self.low, self.high)

    def to_json(self) -> dict[str, Any]:
        """Return what the page draws."""
        return {"kind": "number", **vars(self)}


@dataclass(frozen=True)
class Choice:
    """A setting that is one of a few words, each with what people call it."""

    name: str
    label: str
    options: Mapping[str, str]

    @property
    def default(self) -> str:
        """The first one."""
        return next(iter(self.options))

    def check(self, value: Any) -> str:
        """Return a value if it is one of this setting."""
        if not isinstance(value, str) or value not in self.options:
            accepted = ", ".join(f'"{each}"' for each in self.options)
            raise ValueError(f"{self.name} must be one of {accepted}; got {shortened(value)}")
        return value

    def to_json(self) -> dict[str, Any]:
        """Return what the page draws."""
        return {"kind": "choice", **vars(self), "default": self.default}


@dataclass(frozen=True)
class Members:
    """The members of a team: some names in their order."""

    name: str
    label: str
    default: tuple[str, ...]
    least: int

    def check(self, value: Any) -> tuple[str, ...]:
        """Return a value if it is one of this setting."""
        names = list(MEMBERS)
        if not isinstance(value, list) or any(each not in names for each in value):
            raise ValueError(f"{self.name} must be some of {names}; got {shortened(value)}")
        if len(set(value)) != len(value) or len(value) < self.least:
            accepted = f"{self.least} or more, each once"
            raise ValueError(f"{self.name} must be {accepted}; got {shortened(value)}")
        return tuple(value)

    def to_json(self) -> dict[str, Any]:
        """Return what the page draws."""
        options = {name: label for name, (label, _) in MEMBERS.items()}
        return {"kind": "members", **vars(self), "options": options}


@dataclass(frozen=True)
class Weights:
    """A weight for each possible member of a team."""

    name: str
    label: str

    @property
    def default(self) -> dict[str, float]:
        """All the same."""
        return dict.fromkeys(MEMBERS, 1.0)

    def check(self, value: Any) -> dict[str, float]:
        """Return a value if it is one of this setting; members without a weight have one."""
        given = as_object(self.name, value)
        refuse_unknown(self.name, given, MEMBERS)
        checked = {
            key: as_number(f"{self.name} of {key}", each, *_WEIGHTS) for key, each in given.items()
        }
        return self.default | checked

    def to_json(self) -> dict[str, Any]:
        """Return what the page draws."""
        low, high = _WEIGHTS
        return {
            "kind": "weights", **vars(self), "default": self.default, "low": low, "high": high,
            "step": low,
        }  # fmt: skip


Setting = Whole | Number | Choice | Members | Weights


@dataclass(frozen=True)
class Method:
    """A way to combine models.

    Attributes
    ----------
    name, label : str
        By which it is asked for, and what people call it.
    rounds : Whole or None
        How many rounds; None where the members decide.
    settings : tuple of settings
        What can be set besides.
    fit : callable
        Fits it.
    """

    name: str
    label: str
    rounds: Whole | None
    settings: tuple[Setting, ...]
    fit: Callable[[Task], Stages]

    def check(self, values: Any) -> dict[str, Any]:
        """Return checked values of all settings; those that are absent have their defaults."""
        given = as_object("settings", values)
        refuse_unknown("settings", given, [each.name for each in self.settings])
        return {each.name: each.check(given.get(each.name, _raw(each))) for each in self.settings}

    def to_json(self) -> dict[str, Any]:
        """Return what the page draws."""
        return {
            "name": self.name,
            "label": self.label,
            "rounds": None if self.rounds is None else self.rounds.to_json(),
            "settings": [each.to_json() for each in self.settings],
        }


def _raw(setting: Setting) -> Any:
    """Return a default as it would come from the page."""
    return list(setting.default) if isinstance(setting, Members) else setting.default


def _rounds(label: str, default: int) -> Whole:
    return Whole("rounds", label, default, 1, MAX_ROUNDS)


_VOTING = Choice("voting", "Votes", {"soft": "probabilities", "hard": "classes"})

_ALL = (
    Method(
        "tree",
        "Tree",
        _rounds("Splits", 12),
        (
            Choice(
                "criterion",
                "Criterion",
                {"gini": "Gini", "entropy": "entropy", "error": "error"},
            ),
            Whole("min_samples_leaf", "Points in a leaf", 1, 1, 20),
        ),
        tree_stages,
    ),
    Method(
        "bagging",
        "Bagging",
        _rounds("Trees", 21),
        (
            Whole("max_depth", "Depth", 6, 1, 12),
            Number("max_samples", "Share drawn", 1.0, 0.1, 1.0, 0.05),
            _VOTING,
        ),
        bagging_stages,
    ),
    Method(
        "forest",
        "Forest",
        _rounds("Trees", 30),
        (
            Whole("max_depth", "Depth", 8, 1, 12),
            Whole("max_features", "Features tried", 1, 1, 2),
            Choice("thresholds", "Thresholds", {"best": "best", "random": "random (extra-trees)"}),
        ),
        forest_stages,
    ),
    Method(
        "adaboost",
        "AdaBoost",
        _rounds("Rounds", 30),
        (
            Whole("max_depth", "Depth of learners", 1, 1, 4),
            Number("learning_rate", "Learning rate", 1.0, 0.05, 1.0, 0.05),
        ),
        adaboost_stages,
    ),
    Method(
        "boosting",
        "Gradient boosting",
        _rounds("Rounds", 40),
        (
            Number("learning_rate", "Learning rate", 0.3, 0.05, 1.0, 0.05),
            Whole("max_depth", "Depth", 2, 1, 6),
            Number("l2_regularization", "L2", 1.0, 0.0, 10.0, 0.5),
        ),
        boosting_stages,
    ),
    Method(
        "voting",
        "Voting",
        None,
        (
            Members("members", "Members", ("tree", "logistic", "neighbors", "bayes"), 1),
            _VOTING,
            Weights("weights", "Weights"),
        ),
        voting_stages,
    ),
    Method(
        "stacking",
        "Stacking",
        None,
        (
            Members("members", "Members", ("tree", "logistic", "neighbors", "bayes"), 2),
            Whole("folds", "Folds", 5, 2, 10),
            Choice("final", "Meta-learner", {"logistic": "logistic", "convex": "weights"}),
        ),
        stacking_stages,
    ),
)

METHODS = {method.name: method for method in _ALL}
