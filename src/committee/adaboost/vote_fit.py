"""One fit of AdaBoost for classes: from a table to fitted attributes.

`VoteFit` makes the weak learner, runs the rounds and chooses the temperature of probabilities. It
does not change the estimator, but returns its fitted attributes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from committee import _core
from committee.adaboost.fit_data import FitData
from committee.adaboost.learners import (
    AnyLearner,
    StumpLearner,
    TreeLearner,
    WeakLearner,
    WeakModel,
)
from committee.adaboost.rounds import Rounds, run_rounds
from committee.adaboost.validation import ValidationRows
from committee.adaboost.vote_link import best_temperature, link
from committee.adaboost.vote_rule import VoteRule, WeightedVote
from committee.adaboost.votes import AnyVotes, TreeVotes, make_votes, votes_of
from committee.base.arrays import Floats
from committee.base.warn import warn
from committee.base.work import Progress, running_fit
from committee.evaluation.content_folds import content_folds
from committee.evaluation.content_order import row_keys, table_keys
from committee.evaluation.scored_target import ScoredTarget
from committee.tables.class_weights import class_weights
from committee.tables.target import (
    ClassTarget,
    RowWeights,
    read_classes,
    read_known_classes,
    warn_of_column,
)
from committee.trees.engine_settings import EngineTarget
from committee.trees.tree_members import TreeMembers
from committee.trees.trees import DecisionTreeClassifier

# Rows a leaf of the committee has on average where training rows are good enough to choose the
# temperature by: votes for new rows are then as reliable as for these.
_ROWS_PER_LEAF = 50
_N_FOLDS = 3

# Share of the weight that "real" adds to each class of a leaf, half a row at least. Without it a
# class that a leaf hardly has gets a vote against it that no later round makes good again: on 15
# tables the log loss of 200 stumps was up to two thirds lower with it, and never more than 2 %
# higher.
_SMOOTHING = 0.02


class VoteFit(FitData):
    """One fit of AdaBoost for classes, see `FitData`."""

    def __init__(
        self,
        model: Any,
        X: Any,
        y: Any,
        sample_weight: Any,
        eval_set: Any,
        fit_params: Mapping[str, Any],
    ) -> None:
        super().__init__(model, X, y, sample_weight, eval_set, fit_params)
        self.labels: NDArray[Any] = self.target.classes[0]
        self.codes = _first_column(self.target)
        self.n_classes = len(self.labels)
        self.rule = VoteRule(
            model.variant,
            model.multiclass,
            self.n_classes,
            float(model.learning_rate),
            max(_SMOOTHING, 0.5 / self.n_counted),
        )

    def run(self) -> dict[str, Any]:
        """Run the rounds; return the fitted attributes."""
        model = self.model
        held_out = None if self.validation is None else ValidationVotes(self)
        progress = Progress(self.name, "rounds", model.n_estimators, int(model.verbose))
        rows = self._rows(self.weights)
        rounds = run_rounds(
            self._learner(self.counted),
            rows,
            self.rule,
            model.n_estimators,
            validate=held_out,
            keep_weights=model.keep_weights,
            progress=progress,
        )
        if rounds.is_chance:
            _warn_of_chance(rounds, self.rule)
        n_kept = len(rounds.members) if held_out is None else held_out.best
        running_fit().end("%d of %d rounds: %s", n_kept, len(rounds.members), rounds.ending)
        log = rounds.log.head(n_kept)
        members = self._members(rounds.members[:n_kept])
        weights = np.array(log.weight)
        attributes = self._table_attributes() | {
            "classes_": self.labels,
            "n_classes_": self.n_classes,
            "estimators_": members,
            "estimator_weights_": weights,
            "estimator_errors_": np.array(log.error),
            "temperature_": self._temperature(members, weights, rows, held_out),
            "_rule": self.rule,
            "_log": log,
            "_votes": self._votes(members, weights),
        }
        if held_out is not None:
            attributes["validation_scores_"] = np.array(rounds.log.validation_score)
        return attributes

    # ---- rows ----

    def _read_target(self, y: Any, weights: Floats | None) -> ScoredTarget:
        warn_of_column(y)
        labels = read_classes(y)
        if labels.n_outputs > 1:
            raise ValueError(
                f"y should be a 1d array, got {labels.n_outputs} columns instead: "
                "sklearn.multioutput.MultiOutputClassifier boosts each of them"
            )
        return ScoredTarget(labels.codes, labels.classes, None, weights)

    def _class_factors(self) -> Floats | None:
        assert self.target.codes is not None
        labels = ClassTarget(self.target.codes, self.target.classes, 1)
        return class_weights(self.model.class_weight, labels, self.target.weights)

    def _read_more(self, y: Any, weights: Floats | None) -> ScoredTarget:
        labels = self.target.classes
        return ScoredTarget(read_known_classes(y, labels[0]), labels, None, weights)

    def _rows(self, weights: Floats | None) -> _core.BoostedRows:
        return _core.BoostedRows(self.codes, self.n_classes, weights, self.n_threads)

    # ---- learners ----

    def _learner(self, counted: RowWeights) -> WeakLearner:
        """Return the learner of rows with these weights."""
        sample = self._sample(counted.weights)
        if self.schema is None:
            fitter = self._fitter(self.labels[self.codes], counted, sample)
            return AnyLearner(fitter, self.labels, self.rule.variant != "discrete")
        codes = self.codes[:, np.newaxis]
        settings = self._tree_settings(EngineTarget(codes, [self.n_classes], None), counted)
        if sample is None and _is_stump(self.template):
            return StumpLearner(
                self.dataset, settings["criterion"], settings["level_penalty"], self.n_threads
            )
        return TreeLearner(
            self.table,
            self.dataset,
            codes,
            self.n_classes,
            settings,
            None if counted.weights is None else counted.repetitions,
            sample,
            self.seed,
            float(self.template.ccp_alpha),
            self.n_threads,
        )

    def _members(self, members: list[Any]) -> TreeMembers | list[Any]:
        return self._gathered(members, [self.n_classes], self.labels)

    def _votes(self, members: TreeMembers | list[Any], weights: Floats) -> TreeVotes | AnyVotes:
        return make_votes(members, weights, self.labels, self.rule)

    # ---- probabilities ----

    def _temperature(
        self,
        members: TreeMembers | list[Any],
        weights: Floats,
        rows: _core.BoostedRows,
        held_out: ValidationVotes | None,
    ) -> float:
        """Choose the temperature of probabilities, see `vote_link.py`."""
        choice = self.model.calibration
        if choice is None or self.n_classes == 1:
            return 1.0
        if choice == "auto" and held_out is not None:
            return held_out.temperature(held_out.best_votes)
        own = np.ones(len(self.codes)) if self.weights is None else self.weights
        scale = self.n_counted / own.sum()
        if choice == "train" or (choice == "auto" and self._is_plenty(members)):
            votes = rows.scores() if held_out is None else self._table_votes(members, weights)
            return best_temperature(votes, self.codes, own * scale)
        return self._fold_temperature(weights, own, scale)

    def _is_plenty(self, members: TreeMembers | list[Any]) -> bool:
        if not isinstance(members, TreeMembers):
            return False
        n_leaves = int(members.forest.leaf_counts().sum())
        return self.n_counted >= _ROWS_PER_LEAF * n_leaves

    def _table_votes(self, members: TreeMembers | list[Any], weights: Floats) -> Floats:
        return self._votes(members, weights).total(self.table, self.n_threads)

    def _fold_temperature(self, members_weights: Floats, own: Floats, scale: float) -> float:
        """Fit to all folds but one in turns, and choose by the votes for that one.

        With less rows errors are smaller and votes weigh more: those of a fold are brought to the
        sum of weights of the committee that they stand for.
        """
        counts = np.where(own > 0, self.counted.repetitions, 0)
        folds = content_folds(self._keys(), self.codes, counts.astype(np.uint32), _N_FOLDS)
        if len(folds) < 2:
            return 1.0
        votes, codes, weights = [], [], []
        for fold in folds:
            shares = fold / np.maximum(counts, 1)
            learnt = own * (1 - shares)
            counted = RowWeights(self.n_rows, learnt, (counts - fold).astype(np.uint32))
            rounds = run_rounds(
                self._learner(counted), self._rows(learnt), self.rule, len(members_weights)
            )
            size = np.abs(members_weights).sum() / np.abs(rounds.weights).sum()
            members = self._members(rounds.members)
            held_out = np.flatnonzero(fold)
            part = self.open_rows(held_out)
            votes.append(size * self._votes(members, rounds.weights).total(part, self.n_threads))
            codes.append(self.codes[held_out])
            weights.append((own * shares)[held_out] * scale)
        return best_temperature(
            np.concatenate(votes), np.concatenate(codes), np.concatenate(weights)
        )

    def _keys(self) -> NDArray[np.uint64]:
        if self.schema is not None:
            return row_keys(self.table, self.schema, n_threads=self.n_threads)
        try:
            return table_keys(self.table.opened())
        except (TypeError, ValueError):  # only the estimator can read it: rows count as distinct
            return np.random.default_rng(self.seed).permutation(self.table.n_rows).astype(np.uint64)


class ValidationVotes(ValidationRows):
    """Validation rows of classes, and their votes.

    Parameters
    ----------
    fit : VoteFit
        What is fitted.
    """

    def __init__(self, fit: VoteFit) -> None:
        assert fit.validation is not None
        super().__init__(fit.model, *fit.validation)
        self._rule, self._labels, self._n_threads = fit.rule, fit.labels, fit.n_threads
        # Accuracy needs no probabilities; other scores are those of the model's probabilities.
        self._is_tempered = not self.has_default_score and fit.model.calibration is not None
        self._votes = np.zeros((self.target.n_rows, len(fit.labels)))
        self.best_votes = self._votes

    def temperature(self, votes: Floats) -> float:
        """Return the temperature that these rows choose."""
        return best_temperature(votes, _first_column(self.target), self.weights)

    def __call__(self, model: WeakModel, vote: WeightedVote, n_rounds: int) -> tuple[float, bool]:
        """Take the votes of one more round; return the score, and whether to stop."""
        if isinstance(model.member, _core.Tree):
            self._votes += vote.votes[model.member.apply(self.table, self._n_threads)]
        else:
            self._votes += votes_of(
                model.member,
                self.table.shown_to(model.member),
                vote.weight,
                self._labels,
                self._rule,
            )
        temperature = self.temperature(self._votes) if self._is_tempered else 1.0
        found = self.take(link(self._votes, temperature), n_rounds)
        if self.best == n_rounds:
            self.best_votes = self._votes.copy()
        return found


def _first_column(target: ScoredTarget) -> NDArray[np.int32]:
    assert target.codes is not None
    return np.ascontiguousarray(target.codes[:, 0])


def _warn_of_chance(rounds: Rounds, rule: VoteRule) -> None:
    error = f"the first learner has an error of {rounds.log.error[0]:.3g}"
    if rule.multiclass == "M1" and rule.n_classes > 2:
        reason = f'{error}, and multiclass="M1" needs less than 1/2'
        advice = 'let learners be stronger, or take multiclass="SAMME"'
    else:
        reason = f"{error}, no better than chance"
        advice = "let learners be stronger, or check whether X is related to y"
    warn(f"{reason}, so it is the only member: {advice}")


def _is_stump(tree: DecisionTreeClassifier) -> bool:
    """Whether a tree is one split without further conditions."""
    params = tree.get_params(deep=False)
    free = {"criterion", "split_finding", "max_bins", "level_penalty", "categorical_features"}
    free |= {"numeric_text", "n_jobs", "random_state"}
    plain = DecisionTreeClassifier(max_depth=1).get_params(deep=False)
    return all(name in free or params[name] == value for name, value in plain.items())
