"""Losses for gradient boosting, by name or as objects.

A user names a loss as in scikit-learn ("squared_error", "log_loss", ...), makes one of the classes
here, such as ``Quantile((0.1, 0.5, 0.9))``, or derives a class of their own from `Loss`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from committee.base.params import check_choice, check_int
from committee.losses.classes import BinaryLogLoss, Exponential, MultinomialLogLoss
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

# Losses of numbers, by scikit-learn's names, and what each is told.
_REGRESSION: dict[str, tuple[type[Loss], dict[str, str]]] = {
    "squared_error": (SquaredError, {}),
    "absolute_error": (AbsoluteError, {}),
    "huber": (Huber, {"quantile": "quantile", "delta": "delta"}),
    "quantile": (Quantile, {"quantile": "q"}),
    "poisson": (Poisson, {}),
    "gamma": (Gamma, {}),
    "tweedie": (Tweedie, {"power": "power"}),
}
_CLASSIFICATION = ("log_loss", "exponential")


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
    if n_classes is not None:
        check_int("n_classes", n_classes, 1)
    settings = {"quantile": quantile, "delta": delta, "power": power}
    given = {name: value for name, value in settings.items() if value is not None}
    if isinstance(loss, Loss):
        _refuse(given, repr(loss))
        _check_task(loss, n_classes)
        return loss
    if not isinstance(loss, str):
        names = ", ".join(f'"{name}"' for name in _names(n_classes))
        raise TypeError(f"loss must be {names} or a Loss; got {loss!r}")
    if n_classes is not None:
        check_choice("loss", loss, _names(n_classes))
        _refuse(given, f'"{loss}"')
        return _loss_of_classes(loss, n_classes)
    check_choice("loss", loss, _names(None))
    made, parameters = _REGRESSION[loss]
    _refuse({name: value for name, value in given.items() if name not in parameters}, f'"{loss}"')
    return made(**{parameters[name]: value for name, value in given.items()})


def _names(n_classes: int | None) -> tuple[str, ...]:
    return tuple(_REGRESSION) if n_classes is None else _CLASSIFICATION


def _loss_of_classes(name: str, n_classes: int) -> Loss:
    if name == "exponential":
        if n_classes > 2:
            raise ValueError(f'loss "exponential" is for two classes; got {n_classes} classes')
        return Exponential()
    return BinaryLogLoss() if n_classes <= 2 else MultinomialLogLoss(n_classes)


def _check_task(loss: Loss, n_classes: int | None) -> None:
    """Raise if a loss object is not for so many classes, or not for numbers."""
    if n_classes is None and loss.n_classes is not None:
        raise ValueError(f"loss must be a loss of numbers for a regressor; got {loss!r}")
    if n_classes is not None and loss.n_classes is None:
        raise ValueError(f"loss must be a loss of classes for a classifier; got {loss!r}")
    if n_classes is not None and loss.n_classes != max(n_classes, 2):
        raise ValueError(f"loss must be for {n_classes} classes; got {loss!r}")


def _refuse(settings: dict[str, Any], loss: str) -> None:
    for name, value in settings.items():
        raise ValueError(f"{name} must be None for loss {loss}; got {value!r}")
