"""Every ensemble-learning method on one fast engine."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

# Where each public name lives. Names are imported on first use, so that `import committee` and
# the command line start fast.
_HOMES = {
    "AdaBoostClassifier": "committee.adaboost",
    "AdaBoostRegressor": "committee.adaboost",
    "BaggingClassifier": "committee.bagging",
    "BaggingRegressor": "committee.bagging",
    "BootstrapScore": "committee.evaluation",
    "C45Classifier": "committee.quinlan",
    "DecisionTreeClassifier": "committee.trees",
    "DecisionTreeRegressor": "committee.trees",
    "Diversity": "committee._diversity",
    "DynamicSelectionClassifier": "committee.dynamic",
    "DynamicSelectionRegressor": "committee.dynamic",
    "EnsembleSelectionClassifier": "committee.selection",
    "EnsembleSelectionRegressor": "committee.selection",
    "ExtraTreesClassifier": "committee.forests",
    "ExtraTreesRegressor": "committee.forests",
    "GradientBoostingClassifier": "committee.boosting",
    "GradientBoostingRegressor": "committee.boosting",
    "ID3Classifier": "committee.quinlan",
    "ModelFileError": "committee._model_file",
    "PruningPath": "committee.pruning",
    "RandomForestClassifier": "committee.forests",
    "RandomForestRegressor": "committee.forests",
    "StackingClassifier": "committee.stacking",
    "StackingRegressor": "committee.stacking",
    "VotingClassifier": "committee.voting",
    "VotingRegressor": "committee.voting",
    "bootstrap_score": "committee.evaluation",
    "diversity": "committee._diversity",
    "export_rules": "committee.export",
    "export_text": "committee.export",
    "load": "committee._model_file",
    "plot_adaboost": "committee.adaboost_plots",
    "plot_contributions": "committee.forest_plots",
    "plot_diversity": "committee.diversity_plots",
    "plot_importances": "committee.forest_plots",
    "plot_intervals": "committee.forest_plots",
    "plot_margins": "committee.adaboost_plots",
    "plot_oob_curve": "committee.forest_plots",
    "plot_proximity": "committee.forest_plots",
    "plot_pruning": "committee.forest_plots",
    "plot_rounds": "committee.adaboost_plots",
    "plot_stack": "committee.team_plots",
    "plot_training": "committee.boosting_plots",
    "plot_tree": "committee.plots",
    "plot_tuning": "committee.forest_plots",
    "plot_votes": "committee.forest_plots",
    "prune_ensemble": "committee.pruning",
    "save": "committee._model_file",
    "tune_max_features": "committee.tuning",
}

__all__ = [
    "AdaBoostClassifier",
    "AdaBoostRegressor",
    "BaggingClassifier",
    "BaggingRegressor",
    "BootstrapScore",
    "C45Classifier",
    "DecisionTreeClassifier",
    "DecisionTreeRegressor",
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
    "StackingClassifier",
    "StackingRegressor",
    "VotingClassifier",
    "VotingRegressor",
    "__version__",
    "bootstrap_score",
    "diversity",
    "export_rules",
    "export_text",
    "load",
    "plot_adaboost",
    "plot_contributions",
    "plot_diversity",
    "plot_importances",
    "plot_intervals",
    "plot_margins",
    "plot_oob_curve",
    "plot_proximity",
    "plot_pruning",
    "plot_rounds",
    "plot_stack",
    "plot_training",
    "plot_tree",
    "plot_tuning",
    "plot_votes",
    "prune_ensemble",
    "save",
    "tune_max_features",
]

if TYPE_CHECKING:
    from committee._diversity import Diversity, diversity
    from committee._model_file import ModelFileError, load, save
    from committee.adaboost import AdaBoostClassifier, AdaBoostRegressor
    from committee.adaboost_plots import plot_adaboost, plot_margins, plot_rounds
    from committee.bagging import BaggingClassifier, BaggingRegressor
    from committee.boosting import GradientBoostingClassifier, GradientBoostingRegressor
    from committee.boosting_plots import plot_training
    from committee.diversity_plots import plot_diversity
    from committee.dynamic import DynamicSelectionClassifier, DynamicSelectionRegressor
    from committee.evaluation import BootstrapScore, bootstrap_score
    from committee.export import export_rules, export_text
    from committee.forest_plots import (
        plot_contributions,
        plot_importances,
        plot_intervals,
        plot_oob_curve,
        plot_proximity,
        plot_pruning,
        plot_tuning,
        plot_votes,
    )
    from committee.forests import (
        ExtraTreesClassifier,
        ExtraTreesRegressor,
        RandomForestClassifier,
        RandomForestRegressor,
    )
    from committee.plots import plot_tree
    from committee.pruning import PruningPath, prune_ensemble
    from committee.quinlan import C45Classifier, ID3Classifier
    from committee.selection import EnsembleSelectionClassifier, EnsembleSelectionRegressor
    from committee.stacking import StackingClassifier, StackingRegressor
    from committee.team_plots import plot_stack
    from committee.trees import DecisionTreeClassifier, DecisionTreeRegressor
    from committee.tuning import tune_max_features
    from committee.voting import VotingClassifier, VotingRegressor


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'committee' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
