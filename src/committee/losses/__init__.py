"""Losses for gradient boosting, by name or as objects.

A user names a loss as in scikit-learn ("squared_error", "log_loss", ...), makes one of the classes
here, such as ``Quantile((0.1, 0.5, 0.9))``, or derives a class of their own from `Loss`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from committee.base.params import check_choice, check_int
from committee.losses.classes import BinaryLogLoss, Exponential, MultinomialLogLoss, class_loss
from committee.losses.log_link import Gamma, Poisson, Tweedie
from committee.losses.loss import Loss
from committee.losses.residual import AbsoluteError, Huber, Quantile, SquaredError

__all__ = [
    "AbsoluteError",
    "BinaryLogLoss",
    "Exponential",
    "Gamma",
    "Huber",
    "Loss",
    "MultinomialLogLoss",
    "Poisson",
    "Quantile",
    "SquaredError",
    "Tweedie",
    "get_loss",
]

# Losses of numbers by scikit-learn's names, each with the settings that it takes.
_NUMBER_LOSSES: dict[str, tuple[type[Loss], dict[str, str]]] = {
    "squared_error": (SquaredError, {}),
    "absolute_error": (AbsoluteError, {}),
    "huber": (Huber, {"quantile": "quantile", "delta": "delta"}),
    "quantile": (Quantile, {"quantile": "q"}),
    "poisson": (Poisson, {}),
    "gamma": (Gamma, {}),
    "tweedie": (Tweedie, {"power": "power"}),
}


def get_loss(
    loss: str | Loss,
    *,
    n_classes: int | None = None,
    quantile: float | Sequence[float] | None = None,
    delta: float | None = None,
    power: float | None = None,
) -> Loss:
    """Return the loss of a name; a loss object is returned as it is.

    Parameters
    ----------
    loss : str or Loss
        For numbers "squared_error", "absolute_error", "huber", "quantile", "poisson", "gamma" or
        "tweedie"; for classes "log_loss" or "exponential" (two classes only).
    n_classes : int or None, default=None
        Number of classes of a classifier; None for a regressor.
    quantile : float, sequence of float or None, default=None
        For "quantile" the quantile or quantiles (default 0.5); for "huber" the share of inliers
        (default 0.9).
    delta : float or None, default=None
        For "huber", a fixed `delta`.
    power : float or None, default=None
        For "tweedie" (default 1.5).

    Returns
    -------
    loss : Loss
        Ready for use.

    Examples
    --------
    >>> get_loss("quantile", quantile=0.9)
    Quantile(q=0.9)
    >>> get_loss("log_loss", n_classes=2), get_loss("log_loss", n_classes=3)
    (BinaryLogLoss(), MultinomialLogLoss(n_classes=3))
    >>> get_loss(Poisson())
    Poisson(refits_leaves=False)
    """
    settings = {"quantile": quantile, "delta": delta, "power": power}
    given = {name: value for name, value in settings.items() if value is not None}
    if n_classes is not None:
        check_int("n_classes", n_classes, 1)
        found = class_loss(loss, n_classes)
        _refuse(given, repr(loss) if isinstance(loss, Loss) else f'"{loss}"')
        return found
    if isinstance(loss, Loss):
        _refuse(given, repr(loss))
        if loss.n_classes is not None:
            raise ValueError(f"loss must be a loss of numbers for a regressor; got {loss!r}")
        return loss
    if not isinstance(loss, str):
        names = ", ".join(f'"{name}"' for name in _NUMBER_LOSSES)
        raise TypeError(f"loss must be {names} or a Loss; got {loss!r}")
    check_choice("loss", loss, tuple(_NUMBER_LOSSES))
    made, parameters = _NUMBER_LOSSES[loss]
    _refuse({name: value for name, value in given.items() if name not in parameters}, f'"{loss}"')
    return made(**{parameters[name]: value for name, value in given.items()})


def _refuse(settings: dict[str, Any], loss: str) -> None:
    for name, value in settings.items():
        raise ValueError(f"{name} must be None for loss {loss}; got {value!r}")
