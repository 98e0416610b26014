"""Names of metrics that users of LightGBM, XGBoost and CatBoost type, as scikit-learn's scorers."""

from __future__ import annotations

from typing import Any

# The greater a score the better: an error stands for minus the error.
_SCORERS = {
    "roc_auc": ("auc",),
    "average_precision": ("aucpr", "prauc", "auc_pr"),
    "accuracy": ("acc", "error", "merror", "binary_error", "multi_error", "zero_one_loss"),
    "neg_log_loss": (
        "logloss",
        "mlogloss",
        "log_loss",
        "binary_logloss",
        "multi_logloss",
        "multiclass",
        "cross_entropy",
        "crossentropy",
    ),
    "neg_brier_score": ("brier", "brier_score", "brier_score_loss"),
    "neg_mean_squared_error": ("mse", "l2", "mean_squared_error"),
    "neg_root_mean_squared_error": ("rmse", "l2_root", "root_mean_squared_error"),
    "neg_mean_absolute_error": ("mae", "l1", "mean_absolute_error"),
    "neg_median_absolute_error": ("medae", "median_absolute_error"),
    "neg_mean_absolute_percentage_error": ("mape", "mean_absolute_percentage_error"),
    "neg_mean_squared_log_error": ("msle", "mean_squared_log_error"),
    "neg_root_mean_squared_log_error": ("rmsle", "root_mean_squared_log_error"),
    "neg_mean_poisson_deviance": ("poisson", "poisson-nloglik", "mean_poisson_deviance"),
    "neg_mean_gamma_deviance": ("gamma_deviance", "gamma-deviance", "mean_gamma_deviance"),
}
_NAMES = {name: scorer for scorer, names in _SCORERS.items() for name in names}


def scorer_name(scoring: Any) -> Any:
    """Return scikit-learn's name of a scorer; what is no such name is returned as it is.

    Parameters
    ----------
    scoring : str, callable or other
        A metric.

    Returns
    -------
    scoring : str, callable or other
        The same metric, the greater the better.

    Examples
    --------
    >>> scorer_name("auc"), scorer_name("RMSE"), scorer_name("f1")
    ('roc_auc', 'neg_root_mean_squared_error', 'f1')
    """
    return _NAMES.get(scoring.lower(), scoring) if isinstance(scoring, str) else scoring
