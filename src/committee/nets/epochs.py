"""Epochs of one net, or of the nets of all folds: how many there are is decided on unseen rows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from committee import _core
from committee.base.arrays import Floats
from committee.base.work import in_order

Parameters = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class UnseenRows:
    """Rows that a net is measured on.

    Parameters
    ----------
    codes, fractions : ndarray
        The rows as the net reads them.
    classes : ndarray of int32 or None
        Their classes.
    reals : ndarray of float64, shape (n_rows, 1), or None
        Their targets in the units of the net.
    weights : ndarray of float64 or None
        Their weights.
    """

    codes: NDArray[np.uint32]
    fractions: NDArray[np.float32]
    classes: NDArray[np.int32] | None
    reals: Floats | None
    weights: Floats | None

    @property
    def total(self) -> float:
        """Sum of the weights."""
        return float(len(self.codes)) if self.weights is None else math.fsum(self.weights)

    def loss(self, net: _core.Net, n_threads: int) -> float:
        """Return the mean log loss, or half the mean squared error."""
        is_class = self.classes is not None
        predicted = net.predict(self.codes, self.fractions, is_class=is_class, n_threads=n_threads)
        if self.classes is not None:
            own = np.take_along_axis(predicted, self.classes[:, np.newaxis].astype(np.intp), 1)
            losses = _core.minus_logs(np.ascontiguousarray(own[:, 0]))
        else:
            assert self.reals is not None
            gap = (predicted - self.reals)[:, 0]
            losses = 0.5 * gap * gap
        if self.weights is not None:
            losses = losses * self.weights
        # Exact sums: neither the order of the rows nor the processor matters.
        return math.fsum(losses) / self.total if np.isfinite(losses).all() else math.inf


@dataclass(eq=False)
class NetRun:
    """A net on its way through the epochs.

    Parameters
    ----------
    shape : _core.NetShape
        Its sizes.
    trainer : _core.NetTrainer
        Learns.
    rows : ndarray of uint32
        Rows to learn from, in an order that their content decides.
    unseen : UnseenRows or None
        Rows to measure it on.
    learning_rate : float
        Of each step.
    """

    shape: _core.NetShape
    trainer: _core.NetTrainer
    rows: NDArray[np.uint32]
    unseen: UnseenRows | None
    learning_rate: float

    def advance(self, n_threads: int) -> tuple[Parameters, float]:
        """Run an epoch; return the parameters, and the loss on unseen rows (NaN without any)."""
        self.trainer.run_epoch(self.rows, self.learning_rate, n_threads)
        parameters = self.trainer.average()
        if self.unseen is None:
            return parameters, math.nan
        return parameters, self.unseen.loss(_core.Net(self.shape, parameters), n_threads)


@dataclass(frozen=True, eq=False)
class EpochChoice:
    """Nets after the best epoch.

    Attributes
    ----------
    n_epochs : int
        Its number, from one; 0 if no loss was finite.
    losses : tuple of float
        Mean loss on unseen rows after each epoch that was run.
    parameters : list of ndarray
        Of each net.
    """

    n_epochs: int = 0
    losses: tuple[float, ...] = ()
    parameters: Sequence[Parameters] = ()


class EpochSearch:
    """Runs epochs of all nets until their mean loss has not fallen for some.

    Parameters
    ----------
    runs : sequence of NetRun
        The nets. Without unseen rows they run all epochs.
    max_epochs : int
        The most epochs.
    patience : int
        Epochs without a lower loss that end it.
    n_threads : int
        Threads: several nets run side by side, a single one uses all.

    Attributes
    ----------
    choice : EpochChoice
        The nets after the best epoch so far.
    is_done : bool
        Whether it has ended.
    """

    def __init__(
        self, runs: Sequence[NetRun], max_epochs: int, patience: int, n_threads: int
    ) -> None:
        self.runs, self.max_epochs, self.patience = runs, max_epochs, patience
        self.choice, self.is_done = EpochChoice(), False
        self._least = math.inf
        self._n_workers = min(n_threads, len(runs))
        self._own_threads = n_threads if len(runs) == 1 else 1
        self._totals = [1.0 if run.unseen is None else run.unseen.total for run in runs]

    def step(self) -> None:
        """Run one epoch of all nets."""
        calls = [(run, self._own_threads) for run in self.runs]
        done: list[Any] = list(
            in_order(NetRun.advance, calls, self._n_workers, use_threads=True, own=True)
        )
        loss = self._mean([loss for _, loss in done])
        before = self.choice
        losses = (*before.losses, loss)
        if self.runs[0].unseen is None or loss < self._least:
            self._least = loss
            self.choice = EpochChoice(len(losses), losses, [parameters for parameters, _ in done])
        else:
            self.choice = replace(before, losses=losses)
        waited = len(losses) - self.choice.n_epochs
        self.is_done = len(losses) == self.max_epochs or waited >= self.patience

    def _mean(self, losses: Sequence[float]) -> float:
        parts = [total * loss for total, loss in zip(self._totals, losses, strict=True)]
        # One infinite loss is enough; without unseen rows it is NaN.
        if not np.isfinite(parts).all():
            return sum(parts)
        return math.fsum(parts) / math.fsum(self._totals)
