"""Every ensemble-learning method on one fast engine."""

from __future__ import annotations

import logging
from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

# Fits log what they decide; nothing is printed unless the program sets logging up.
logging.getLogger(__name__).addHandler(logging.NullHandler())

# Where each public name lives. Names are imported on first use, so that `import committee` and
# the command line start fast.
_HOMES = {
    "AdaBoostClassifier": "committee.adaboost.classifier",
    "AdaBoostRegressor": "committee.adaboost.regressor",
    "BaggingClassifier": "committee.bagging.classifier",
    "BaggingRegressor": "committee.bagging.regressor",
    "BootstrapScore": "committee.evaluation.bootstrap",
    "C45Classifier": "committee.trees.quinlan.quinlan",
    "CommitteeClassifier": "committee.auto.committee",
    "CommitteeRegressor": "committee.auto.committee",
    "DecisionTreeClassifier": "committee.trees.trees",
    "DecisionTreeRegressor": "committee.trees.trees",
    "Diagnosis": "committee.inspection.diagnosis",
    "Diversity": "committee.inspection.diversity",
    "DynamicSelectionClassifier": "committee.combining.dynamic.dynamic",
    "DynamicSelectionRegressor": "committee.combining.dynamic.dynamic",
    "EnsembleSelectionClassifier": "committee.combining.selection.selection",
    "EnsembleSelectionRegressor": "committee.combining.selection.selection",
    "ExtraTreesClassifier": "committee.forests.extra_trees",
    "ExtraTreesRegressor": "committee.forests.extra_trees",
    "GradientBoostingClassifier": "committee.boosting.classifier",
    "GradientBoostingRegressor": "committee.boosting.regressor",
    "ID3Classifier": "committee.trees.quinlan.quinlan",
    "ModelFileError": "committee.files.model_file",
    "PruningPath": "committee.inspection.pruning",
    "RandomForestClassifier": "committee.forests.random_forest",
    "RandomForestRegressor": "committee.forests.random_forest",
    "RowExplanation": "committee.inspection.row_explanation",
    "StackingClassifier": "committee.combining.stacking.classifier",
    "StackingRegressor": "committee.combining.stacking.regressor",
    "VotingClassifier": "committee.combining.voting.classifier",
    "VotingRegressor": "committee.combining.voting.regressor",
    "bootstrap_score": "committee.evaluation.bootstrap",
    "diagnose": "committee.inspection.diagnose",
    "diversity": "committee.inspection.diversity",
    "explain_rows": "committee.inspection.explain_rows",
    "export_rules": "committee.trees.export",
    "export_text": "committee.trees.export",
    "join": "committee.inspection.joining",
    "load": "committee.files.model_file",
    "plot_adaboost": "committee.plots.adaboost",
    "plot_average_variance": "committee.plots.theory",
    "plot_bias_variance": "committee.plots.bias_variance",
    "plot_calibration": "committee.plots.calibration",
    "plot_committee_error": "committee.plots.theory",
    "plot_contribution_summary": "committee.plots.contributions",
    "plot_contributions": "committee.plots.contributions",
    "plot_decision": "committee.plots.decision",
    "plot_diagnosis": "committee.plots.diagnosis",
    "plot_diversity": "committee.plots.diversity",
    "plot_importances": "committee.plots.importances",
    "plot_intervals": "committee.plots.intervals",
    "plot_majority": "committee.plots.theory",
    "plot_majority_error": "committee.plots.theory",
    "plot_margins": "committee.plots.margins",
    "plot_oob_curve": "committee.plots.forest",
    "plot_proximity": "committee.plots.forest",
    "plot_pruning": "committee.plots.forest",
    "plot_residuals": "committee.plots.residuals",
    "plot_rounds": "committee.plots.rounds",
    "plot_stack": "committee.plots.stack",
    "plot_training": "committee.plots.boosting",
    "plot_tree": "committee.plots.tree",
    "plot_tuning": "committee.plots.forest",
    "plot_votes": "committee.plots.votes",
    "prune_ensemble": "committee.inspection.pruning",
    "save": "committee.files.model_file",
    "train": "committee.auto.train",
    "tune_max_features": "committee.forests.tuning",
}

# What `from committee import *` brings: all but `load` and `save`, which other libraries have too.
__all__ = [
    "AdaBoostClassifier",
    "AdaBoostRegressor",
    "BaggingClassifier",
    "BaggingRegressor",
    "BootstrapScore",
    "C45Classifier",
    "CommitteeClassifier",
    "CommitteeRegressor",
    "DecisionTreeClassifier",
    "DecisionTreeRegressor",
    "Diagnosis",
    "Diversity",
    "DynamicSelectionClassifier",
    "DynamicSelectionRegressor",
    "EnsembleSelectionClassifier",
    "EnsembleSelectionRegressor",
    "ExtraTreesClassifier",
    "ExtraTreesRegressor",
    "GradientBoostingClassifier",
    "GradientBoostingRegressor",
    "ID3Classifier",
    "ModelFileError",
    "PruningPath",
    "RandomForestClassifier",
    "RandomForestRegressor",
    "RowExplanation",
    "StackingClassifier",
    "StackingRegressor",
    "VotingClassifier",
    "VotingRegressor",
    "__version__",
    "bootstrap_score",
    "diagnose",
    "diversity",
    "explain_rows",
    "export_rules",
    "export_text",
    "join",
    "plot_adaboost",
    "plot_average_variance",
    "plot_bias_variance",
    "plot_calibration",
    "plot_committee_error",
    "plot_contribution_summary",
    "plot_contributions",
    "plot_decision",
    "plot_diagnosis",
    "plot_diversity",
    "plot_importances",
    "plot_intervals",
    "plot_majority",
    "plot_majority_error",
    "plot_margins",
    "plot_oob_curve",
    "plot_proximity",
    "plot_pruning",
    "plot_residuals",
    "plot_rounds",
    "plot_stack",
    "plot_training",
    "plot_tree",
    "plot_tuning",
    "plot_votes",
    "prune_ensemble",
    "train",
    "tune_max_features",
]

if TYPE_CHECKING:
    from committee.adaboost.classifier import AdaBoostClassifier
    from committee.adaboost.regressor import AdaBoostRegressor
    from committee.auto.committee import CommitteeClassifier, CommitteeRegressor
    from committee.auto.train import train
    from committee.bagging.classifier import BaggingClassifier
    from committee.bagging.regressor import BaggingRegressor
    from committee.boosting.classifier import GradientBoostingClassifier
    from committee.boosting.regressor import GradientBoostingRegressor
    from committee.combining.dynamic.dynamic import (
        DynamicSelectionClassifier,
        DynamicSelectionRegressor,
    )
    from committee.combining.selection.selection import (
        EnsembleSelectionClassifier,
        EnsembleSelectionRegressor,
    )
    from committee.combining.stacking.classifier import StackingClassifier
    from committee.combining.stacking.regressor import StackingRegressor
    from committee.combining.voting.classifier import VotingClassifier
    from committee.combining.voting.regressor import VotingRegressor
    from committee.evaluation.bootstrap import BootstrapScore, bootstrap_score
    from committee.files.model_file import ModelFileError
    from committee.files.model_file import load as load
    from committee.files.model_file import save as save
    from committee.forests.extra_trees import ExtraTreesClassifier, ExtraTreesRegressor
    from committee.forests.random_forest import RandomForestClassifier, RandomForestRegressor
    from committee.forests.tuning import tune_max_features
    from committee.inspection.diagnose import diagnose
    from committee.inspection.diagnosis import Diagnosis
    from committee.inspection.diversity import Diversity, diversity
    from committee.inspection.explain_rows import explain_rows
    from committee.inspection.joining import join
    from committee.inspection.pruning import PruningPath, prune_ensemble
    from committee.inspection.row_explanation import RowExplanation
    from committee.plots.adaboost import plot_adaboost
    from committee.plots.bias_variance import plot_bias_variance
    from committee.plots.boosting import plot_training
    from committee.plots.calibration import plot_calibration
    from committee.plots.contributions import plot_contribution_summary, plot_contributions
    from committee.plots.decision import plot_decision
    from committee.plots.diagnosis import plot_diagnosis
    from committee.plots.diversity import plot_diversity
    from committee.plots.forest import plot_oob_curve, plot_proximity, plot_pruning, plot_tuning
    from committee.plots.importances import plot_importances
    from committee.plots.intervals import plot_intervals
    from committee.plots.margins import plot_margins
    from committee.plots.residuals import plot_residuals
    from committee.plots.rounds import plot_rounds
    from committee.plots.stack import plot_stack
    from committee.plots.theory import (
        plot_average_variance,
        plot_committee_error,
        plot_majority,
        plot_majority_error,
    )
    from committee.plots.tree import plot_tree
    from committee.plots.votes import plot_votes
    from committee.trees.export import export_rules, export_text
    from committee.trees.quinlan.quinlan import C45Classifier, ID3Classifier
    from committee.trees.trees import DecisionTreeClassifier, DecisionTreeRegressor


_MODULES = ("datasets", "losses", "theory")


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"committee.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module 'committee' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES, *_MODULES})
